package swarm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

var update = flag.Bool("update", false, "write testdata/signatures.json anew")

// vector is a message with what its signer must sign and give. Other
// implementations can be tested against the file as well. An attachment is
// signed as a part of others alone, and has a hash and no signature.
type vector struct {
	Type       string           `json:"type"`
	ChainID    uint64           `json:"chainId"`
	Message    any              `json:"message"`
	Key        string           `json:"key,omitempty"` // of a test, guarding nothing
	Signer     wallet.Address   `json:"signer,omitzero"`
	StructHash wallet.Digest    `json:"structHash"`
	Digest     wallet.Digest    `json:"digest,omitzero"`
	Signature  wallet.Signature `json:"signature,omitzero"`
}

// fill adds what the message and the key give.
func (v *vector) fill(tb testing.TB) {
	tb.Helper()
	switch m := v.Message.(type) {
	case *swarm.Attachment:
		v.StructHash = swarm.StructHash(m)
		return
	case *swarm.Delegation:
		v.StructHash = swarm.StructHash(m)
	case *swarm.Result:
		v.StructHash = swarm.StructHash(m)
	case *swarm.Arrival:
		v.StructHash = swarm.StructHash(m)
	case *swarm.Registration:
		v.StructHash = swarm.StructHash(m)
	case *swarm.Session:
		v.StructHash = swarm.StructHash(m)
	default:
		tb.Fatalf("%T is no message", m)
	}
	key, err := wallet.ParseKey(v.Key)
	if err != nil {
		tb.Fatal(err)
	}
	v.Signer, v.Digest = key.Address(), v.Message.(signed).Digest(swarm.Domain(v.ChainID))
	if v.Signature, err = key.SignDigest(tb.Context(), v.Digest); err != nil {
		tb.Fatal(err)
	}
}

// goldenVectors gives messages of each type: plain ones, and those that
// encoders get wrong.
func goldenVectors() []*vector {
	d := root()
	d.InputHash, d.Attachments = wallet.Keccak256([]byte("Summarise the page.")), []swarm.Attachment{}
	full := d
	full.Hop, full.Root, full.Parent, full.Skill = 2, wallet.Digest{3}, wallet.Digest{4}, "résumé-天气"
	full.MaxPrice = wallet.Amount{0: 0xff, 31: 0x01}
	full.Attachments = []swarm.Attachment{
		{Name: "page.html", MediaType: "text/html", Size: 1<<53 - 1, Hash: wallet.Keccak256([]byte("page"))}, {},
	}
	odd := full
	odd.Skill = "\"quoted\" <&> \\ \u0000\u001f\u2028\u2029 e\u0301 \ufeff\uffff \U0001f600\U0010ffff"
	odd.Hop, odd.MaxHops, odd.IssuedAt, odd.ExpiresAt = 255, 255, 1<<53-1, 0
	odd.Attachments = []swarm.Attachment{{Name: odd.Skill, MediaType: strings.Repeat("long ", 100)}}
	for i := range odd.MaxPrice {
		odd.MaxPrice[i], odd.Nonce[i] = 0xff, 0xff
	}
	r := swarm.Result{
		Delegation: wallet.Digest{5}, TaskID: d.TaskID, From: addressOf(coordinator), To: addressOf(user), Status: swarm.StatusCompleted, Last: true,
		OutputHash: wallet.Keccak256([]byte("A page.")), Attachments: full.Attachments, Children: []wallet.Digest{{6}, {7}},
		Price: wallet.Amount{31: 9}, IssuedAt: start + 10,
	}
	bare := r
	bare.Status, bare.Attachments, bare.Children = swarm.StatusFailed, []swarm.Attachment{}, []wallet.Digest{}
	registration := swarm.Registration{Wallet: addressOf(scout), Owner: addressOf(scout), Seq: 7,
		Endpoint: "https://example.org/a2a", CardHash: wallet.Keccak256([]byte("{}")), Replaces: addressOf(reader), Active: true,
		IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{9}}
	owned := registration
	owned.Owner, owned.Replaces, owned.Active, owned.Endpoint, owned.Seq = addressOf(user), wallet.Address{}, false, "", 1<<53-1
	session := swarm.Session{Origin: swarm.SessionOrigin(addressOf(server)), Wallet: addressOf(scout),
		Scope: []string{swarm.ScopeWorker}, IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{10}}
	keyed := session
	keyed.Origin, keyed.SessionKey, keyed.Scope = "https://swarm.example", addressOf(stranger), []string{"a", "", "é天\U0001f600"}
	none := session
	none.Scope = []string{}
	vectors := []*vector{
		{Type: "Delegation", ChainID: 0, Message: &d},
		{Type: "Delegation", ChainID: testChain, Message: &full},
		{Type: "Result", ChainID: 0, Message: &bare},
		{Type: "Result", ChainID: testChain, Message: &r},
		{Type: "Arrival", ChainID: testChain, Message: &swarm.Arrival{Result: wallet.Digest{8}, Server: addressOf(server), ReceivedAt: start + 11, Late: true}},
		{Type: "Registration", ChainID: 1, Message: &registration},
		{Type: "Session", ChainID: 1, Message: &session},
		{Type: "Delegation", ChainID: 1<<53 - 1, Message: &odd},
		{Type: "Arrival", ChainID: 0, Message: &swarm.Arrival{}},
		{Type: "Registration", ChainID: testChain, Message: &owned},
		{Type: "Session", ChainID: testChain, Message: &keyed},
		{Type: "Session", ChainID: 0, Message: &none},
	}
	for i, v := range vectors {
		v.Key = wallet.Keccak256([]byte{byte(i)}).String()
	}
	for i := range full.Attachments {
		vectors = append(vectors, &vector{Type: "Attachment", Message: &full.Attachments[i]})
	}
	return append(vectors, &vector{Type: "Attachment", Message: &odd.Attachments[0]})
}

// TestSignaturesStay guards what was signed once: a change here makes every
// bundle that anybody keeps worthless.
func TestSignaturesStay(t *testing.T) {
	vectors := goldenVectors()
	for _, v := range vectors {
		v.fill(t)
		structHash, digest := oracle(t, v.Type, v.ChainID, v.Message)
		if v.StructHash != structHash {
			t.Errorf("%s: struct hash %v, go-ethereum's is %v", v.Type, v.StructHash, structHash)
		}
		if v.Key != "" && v.Digest != digest {
			t.Errorf("%s: digest %v, go-ethereum's is %v", v.Type, v.Digest, digest)
		}
	}
	got, err := json.MarshalIndent(vectors, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	const path = "testdata/signatures.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the hashes or signatures differ from %s; -update writes it anew, and breaks every bundle there is.\n%s", path, got)
	}
}
