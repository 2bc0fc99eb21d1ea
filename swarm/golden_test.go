package swarm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

var update = flag.Bool("update", false, "write testdata/signatures.json anew")

// vector is a message with what its signer must sign and give. Other
// implementations can be tested against the file as well.
type vector struct {
	Type      string           `json:"type"`
	ChainID   uint64           `json:"chainId"`
	Message   any              `json:"message"`
	Key       string           `json:"key"` // of a test, guarding nothing
	Digest    wallet.Digest    `json:"digest"`
	Signature wallet.Signature `json:"signature"`
}

// TestSignaturesStay guards what was signed once: a change here makes every
// bundle that anybody keeps worthless.
func TestSignaturesStay(t *testing.T) {
	d := root()
	d.InputHash, d.Attachments = wallet.Keccak256([]byte("Summarise the page.")), []swarm.Attachment{}
	full := d
	full.Hop, full.Root, full.Parent, full.Skill = 2, wallet.Digest{3}, wallet.Digest{4}, "résumé-天气"
	full.MaxPrice = wallet.Amount{0: 0xff, 31: 0x01}
	full.Attachments = []swarm.Attachment{
		{Name: "page.html", MediaType: "text/html", Size: 1<<53 - 1, Hash: wallet.Keccak256([]byte("page"))}, {},
	}
	r := swarm.Result{
		Delegation: wallet.Digest{5}, TaskID: d.TaskID, From: addressOf(coordinator), To: addressOf(user), Status: swarm.StatusCompleted, Last: true,
		OutputHash: wallet.Keccak256([]byte("A page.")), Attachments: full.Attachments, Children: []wallet.Digest{{6}, {7}},
		Price: wallet.Amount{31: 9}, IssuedAt: start + 10,
	}
	bare := r
	bare.Status, bare.Attachments, bare.Children = swarm.StatusFailed, []swarm.Attachment{}, []wallet.Digest{}
	vectors := []*vector{
		{Type: "Delegation", ChainID: 0, Message: &d},
		{Type: "Delegation", ChainID: testChain, Message: &full},
		{Type: "Result", ChainID: 0, Message: &bare},
		{Type: "Result", ChainID: testChain, Message: &r},
		{Type: "Arrival", ChainID: testChain, Message: &swarm.Arrival{Result: wallet.Digest{8}, Server: addressOf(server), ReceivedAt: start + 11, Late: true}},
		{Type: "Registration", ChainID: 1, Message: &swarm.Registration{Wallet: addressOf(scout), Owner: addressOf(scout), Seq: 7,
			Endpoint: "https://example.org/a2a", CardHash: wallet.Keccak256([]byte("{}")), Replaces: addressOf(reader), Active: true,
			IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{9}}},
		{Type: "Session", ChainID: 1, Message: &swarm.Session{Origin: swarm.SessionOrigin(addressOf(server)), Wallet: addressOf(scout),
			Scope: []string{swarm.ScopeWorker}, IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{10}}},
	}
	for i, v := range vectors {
		v.Key = wallet.Keccak256([]byte{byte(i)}).String()
		key, err := wallet.ParseKey(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		v.Digest = v.Message.(signed).Digest(swarm.Domain(v.ChainID))
		if v.Signature, err = key.SignDigest(t.Context(), v.Digest); err != nil {
			t.Fatal(err)
		}
		if want := oracle(t, v.Type, v.ChainID, v.Message); v.Digest != want {
			t.Errorf("%s: digest %v, go-ethereum's is %v", v.Type, v.Digest, want)
		}
	}
	got, err := json.MarshalIndent(vectors, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const path = "testdata/signatures.json"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the digests or signatures differ from %s; -update writes it anew, and breaks every bundle there is.\n%s", path, got)
	}
}
