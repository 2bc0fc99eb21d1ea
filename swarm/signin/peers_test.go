package signin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm/signin"
	"github.com/swarmseal/swarmseal/wallet"
)

// theirs is what testdata/signin.mjs reads and writes.
type theirs struct {
	Requests []*theirRequest `json:"requests,omitempty"`
	Messages []*theirMessage `json:"messages,omitempty"`
}

type theirRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body,omitempty"` // base64
	Key     string            `json:"key,omitempty"`
	ChainID uint64            `json:"chainId"`
	Options map[string]any    `json:"options,omitempty"`
	Now     int64             `json:"now"`
	Signer  string            `json:"signer,omitempty"`
}

// received gives the request as a server gets it.
func (r *theirRequest) received(t *testing.T) *http.Request {
	t.Helper()
	body, err := base64.StdEncoding.DecodeString(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := httptest.NewRequest(r.Method, r.URL, bytes.NewReader(body))
	for name, value := range r.Headers {
		got.Header.Set(name, value)
	}
	return got
}

type theirMessage struct {
	Fields    map[string]any   `json:"fields,omitempty"`
	Text      string           `json:"text,omitempty"`
	Signature wallet.Signature `json:"signature,omitzero"`
	Key       string           `json:"key,omitempty"`
	Signer    wallet.Address   `json:"signer,omitzero"`
	Domain    string           `json:"domain,omitempty"`
	Nonce     string           `json:"nonce,omitempty"`
	Now       int64            `json:"now"`
	Valid     bool             `json:"valid"`
}

// peer runs signin.mjs. Whoever has no Node.js, or no viem, skips the test,
// unless SWARMSEAL_PEERS is "required", as in CI.
func peer(t *testing.T, mode string, in theirs) theirs {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat("../testdata/node_modules/@slicekit/erc8128")
	}
	if err != nil {
		text := fmt.Sprintf("install Node.js 20 or later, then run npm ci --prefix swarm/testdata (%v)", err)
		if os.Getenv("SWARMSEAL_PEERS") == "required" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "signin.mjs", mode)
	cmd.Dir, cmd.Stdin = "../testdata", bytes.NewReader(data)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node signin.mjs %s: %v\n%.4000s", mode, err, &errs)
	}
	var got theirs
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

var peerRequests = []theirRequest{
	{Method: "GET", URL: "http://swarm.example:8420/agents"},
	{Method: "GET", URL: "https://swarm.example:443/agents/%61?q=%20a&q=b+c"},
	{Method: "DELETE", URL: "https://swarm.example/agents/0x1"},
	{Method: "POST", URL: "https://swarm.example/delegations", Body: base64.StdEncoding.EncodeToString([]byte(`{"input":"天"}`))},
	{Method: "PUT", URL: "https://swarm.example/x?a=1", Body: base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x\x00"), 50_000))},
}

// What ERC-8128's own library signs, we take; changed, we don't.
func TestPeersSignRequests(t *testing.T) {
	now := time.Now().Unix()
	var in theirs
	for i, r := range peerRequests {
		r.Key, r.ChainID, r.Headers = fmt.Sprintf("0x%064x", i+1), 84532, map[string]string{}
		r.Options = map[string]any{"created": now, "expires": now + 60}
		in.Requests = append(in.Requests, &r)
	}
	for i, r := range peer(t, "sign", in).Requests {
		got := r.received(t)
		v := signin.Requests{Authorities: []string{"swarm.example", "swarm.example:8420"}, Nonces: new(memory)}
		if who, err := v.Verify(got); err != nil || who != key(t, i+1).Address() {
			t.Errorf("%s %s: %v (%v), want %v; header %v", r.Method, r.URL, who, err, key(t, i+1).Address(), r.Headers)
		}
		got.Method = "PATCH"
		if _, err := v.Verify(got); err == nil {
			t.Errorf("%s: it holds for PATCH, too", r.URL)
		}
	}
}

// What we sign, ERC-8128's own library takes.
func TestPeersVerifyRequests(t *testing.T) {
	var in theirs
	for i, r := range peerRequests {
		body, err := base64.StdEncoding.DecodeString(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		ours := request(t, r.Method, r.URL, string(body))
		if err := signin.SignRequest(t.Context(), key(t, i+1), 84532, ours); err != nil {
			t.Fatal(err)
		}
		r.Headers, r.Now = make(map[string]string), time.Now().Unix()
		for _, name := range []string{signin.DigestHeader, signin.SignatureInputHeader, signin.SignatureHeader} {
			if value := ours.Header.Get(name); value != "" {
				r.Headers[name] = value
			}
		}
		in.Requests = append(in.Requests, &r)
	}
	for i, r := range peer(t, "verify", in).Requests {
		if want := key(t, i+1).Address().String(); !strings.EqualFold(r.Signer, want) {
			t.Errorf("%s %s: signed by %s, want %s", r.Method, r.URL, r.Signer, want)
		}
	}
}

// Messages that viem makes and signs, we take, and the other way round.
func TestPeersMessages(t *testing.T) {
	k := key(t, 1)
	now := time.Now().UTC().Truncate(time.Millisecond)
	stamp := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339Nano) }
	fields := func(more map[string]any) map[string]any {
		m := map[string]any{"domain": "app.example", "address": k.Address().String(), "uri": "https://swarm.example/login", "chainId": 84532,
			"nonce": "abcdefgh12", "issuedAt": stamp(0)}
		for name, value := range more {
			m[name] = value
		}
		return m
	}
	var in theirs
	for _, f := range []map[string]any{
		fields(nil),
		fields(map[string]any{"scheme": "https", "statement": "Sign in to run agents: https://swarm.example/terms"}),
		fields(map[string]any{"expirationTime": stamp(time.Hour), "notBefore": stamp(-time.Minute), "requestId": "a-1"}),
		fields(map[string]any{"resources": []string{"https://swarm.example/a", "ipfs://x/"}}),
	} {
		in.Messages = append(in.Messages, &theirMessage{Fields: f, Key: fmt.Sprintf("0x%064x", 1)})
	}
	for _, m := range peer(t, "sign", in).Messages {
		site := signin.Site{Origins: []string{"https://app.example"}, URIs: []string{"https://swarm.example"}, ChainID: 84532, Nonces: new(memory)}
		signedIn, err := site.Verify(t.Context(), m.Text, m.Signature)
		if err != nil || signedIn.Wallet != k.Address() {
			t.Errorf("signed in as %+v (%v) by\n%s", signedIn, err, m.Text)
		}
		read, err := signin.ParseMessage(m.Text)
		if err != nil || read.Nonce != "abcdefgh12" || !read.IssuedAt.Equal(now) {
			t.Errorf("read as %+v (%v)", read, err)
		}
	}

	in = theirs{}
	for _, m := range []*signin.Message{
		{Domain: "app.example", URI: "https://swarm.example/"},
		{Domain: "app.example", URI: "https://swarm.example/", Scheme: "https", Statement: "Sign in."},
		{Domain: "app.example", URI: "https://swarm.example/", ExpirationTime: now.Add(time.Hour), NotBefore: now.Add(-time.Minute), RequestID: "a-1",
			Resources: []string{"https://swarm.example/a"}},
	} {
		m.Address, m.ChainID, m.Nonce, m.IssuedAt = k.Address(), 84532, "abcdefgh12", now
		sig, err := k.Sign(t.Context(), wallet.PersonalMessage(m.String()))
		if err != nil {
			t.Fatal(err)
		}
		in.Messages = append(in.Messages, &theirMessage{Text: m.String(), Signature: sig, Domain: "app.example", Nonce: m.Nonce, Now: now.Unix()})
	}
	for _, m := range peer(t, "verify", in).Messages {
		if m.Signer != k.Address() || !m.Valid || m.Fields["uri"] != "https://swarm.example/" || m.Fields["address"] != k.Address().String() {
			t.Errorf("signed by %v, valid %v, read as %v:\n%s", m.Signer, m.Valid, m.Fields, m.Text)
		}
	}
}

var update = flag.Bool("update", false, "write testdata/requests.json anew, with ERC-8128's library")

// Some of theirs stay, for whoever has no Node.js: requests of the first second
// of 2000, when a bubble's clock starts, with what ERC-8128's library made of
// them.
func TestRequestVectors(t *testing.T) {
	const path = "testdata/requests.json"
	if *update {
		var in theirs
		for i, r := range peerRequests[:4] {
			r.Key, r.ChainID, r.Headers = fmt.Sprintf("0x%064x", i+1), 84532, map[string]string{}
			r.Options = map[string]any{"created": 946684800, "expires": 946684860, "nonce": fmt.Sprintf("nonce-%d", i)}
			in.Requests = append(in.Requests, &r)
		}
		data, err := json.MarshalIndent(peer(t, "sign", in).Requests, "", "  ")
		if err == nil {
			err = os.WriteFile(path, append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []theirRequest
	if err := json.Unmarshal(data, &list); err != nil || len(list) == 0 {
		t.Fatalf("%d requests, %v", len(list), err)
	}
	synctest.Test(t, func(t *testing.T) {
		v := signin.Requests{Authorities: []string{"swarm.example", "swarm.example:8420"}, Nonces: new(memory)}
		for i, r := range list {
			if who, err := v.Verify(r.received(t)); err != nil || who != key(t, i+1).Address() {
				t.Errorf("%s %s: %v (%v), want %v", r.Method, r.URL, who, err, key(t, i+1).Address())
			}
		}
	})
}
