package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

// execute runs a command line in this process and gives its stdout.
func execute(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(""))
	root.SetOut(&out)
	root.SetErr(&errs)
	err := root.ExecuteContext(t.Context())
	t.Logf("swarm %s: %v\n%s", strings.Join(args, " "), err, &errs)
	return out.String(), err
}

// signingServer is a Web3Signer with one key, as package external's tests have
// it at length. It gives --key's text.
func signingServer(t *testing.T) (*wallet.Key, string) {
	t.Helper()
	key := swarmtest.NewKey(t)
	secret, err := crypto.HexToECDSA(key.Reveal()[2:])
	if err != nil {
		t.Fatal(err)
	}
	public := "0x" + hex.EncodeToString(crypto.FromECDSAPub(&secret.PublicKey)[1:])
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/eth1/publicKeys", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, "[%q]", public) })
	mux.HandleFunc("POST /api/v1/eth1/sign/"+public, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Data string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		data, err := hex.DecodeString(strings.TrimPrefix(body.Data, "0x"))
		if err != nil {
			t.Error(err)
		}
		sig, err := key.SignDigest(r.Context(), wallet.Keccak256(data))
		if err != nil {
			t.Error(err)
		}
		fmt.Fprint(w, sig)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return key, "web3signer:" + server.URL + "#" + key.Address().String()
}

// The user's key and the agent's are in signing servers; the receipt holds all the
// same.
func TestKeysElsewhere(t *testing.T) {
	s := swarmtest.Start(t, nil)
	_, agentRef := signingServer(t)
	agentKey, err := external.Open(agentRef)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(&agent.Worker{Key: agentKey, Card: swarm.Card{Name: "count", Summary: "counts"}, Handler: agent.HandlerFunc(
		func(_ context.Context, task *agent.Task) (string, error) {
			return fmt.Sprint(len(strings.Fields(task.Input))), nil
		})})
	server := httptest.NewServer(s.Server.Handler())
	t.Cleanup(server.Close)
	user, userRef := signingServer(t)

	out, err := execute(t, "delegate", agentKey.Address().String(), "to be or not to be", "--json", "--server", server.URL, "--key", userRef)
	if err != nil {
		t.Fatal(err)
	}
	var outcome swarm.Outcome
	if err := json.Unmarshal([]byte(out), &outcome); err != nil || outcome.Output != "6" || outcome.Requester != user.Address() {
		t.Errorf("outcome %s, %v", out, err)
	}
	bundle, err := s.Client(nil).Receipt(t.Context(), outcome.ID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	from, to := user.Address(), agentKey.Address()
	if report := swarm.VerifyJSON(data, swarm.Expect{From: &from, To: &to}); !report.Verified {
		t.Errorf("the receipt does not verify: %+v", report)
	}
}

func TestWalletWithKeysElsewhere(t *testing.T) {
	key, ref := signingServer(t)
	sig, err := execute(t, "wallet", "sign", "hello", "--key", ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := execute(t, "wallet", "verify", key.Address().String(), strings.TrimSpace(sig), "hello"); err != nil {
		t.Error(err)
	}
	if out, err := execute(t, "wallet", "show", "--key", ref, "--json"); err != nil ||
		out != fmt.Sprintf(`{"wallet":"%v","signer":%q}`+"\n", key.Address(), ref) {
		t.Errorf("show: %s, %v", out, err)
	}
	rpc := func(message string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":%q}}`, message)
		}))
		t.Cleanup(server.Close)
		return "clef:" + server.URL + "#" + key.Address().String()
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		code   swarm.Code
		says   string
	}{
		{"denied", []string{"sign", "x", "--key", rpc("request denied")}, exitRefused, swarm.CodeForbidden, "denied"},
		{"no account", []string{"sign", "x", "--key", rpc("unknown account")}, exitFailed, swarm.CodeInvalid, "no key of this account"},
		// Not "is a server running there?": it is not the server that was not reached.
		{"nobody there", []string{"sign", "x", "--key", "web3signer:http://127.0.0.1:1#" + key.Address().String()}, exitFailed, swarm.CodeInvalid, "connection refused"},
		{"plain HTTP", []string{"sign", "x", "--key", "web3signer:http://192.0.2.1#" + key.Address().String()}, exitUsage, swarm.CodeInvalid, "want https"},
		{"no address", []string{"sign", "x", "--key", "clef:/run/clef.ipc"}, exitUsage, swarm.CodeInvalid, "want clef:ENDPOINT#ADDRESS"},
		{"export", []string{"export", "--yes", "--key", ref}, exitFailed, swarm.CodeInvalid, "is not here"},
		{"derive", []string{"derive", "0", "--key", ref}, exitUsage, swarm.CodeInvalid, "want a seed file"},
		{"new", []string{"new", ref}, exitUsage, swarm.CodeInvalid, "is no file"},
	} {
		out, err := execute(t, append([]string{"wallet"}, c.args...)...)
		if err == nil {
			t.Errorf("%s: it printed %q", c.name, out)
			continue
		}
		var line bytes.Buffer
		status := complain(&line, err, false)
		if _, code := classify(err); status != c.status || code != c.code || !strings.Contains(line.String(), c.says) || strings.Contains(line.String(), "swarm serve") || out != "" {
			t.Errorf("%s: status %d, code %s, %s; want %d, %s, %q", c.name, status, code, &line, c.status, c.code, c.says)
		}
	}
}
