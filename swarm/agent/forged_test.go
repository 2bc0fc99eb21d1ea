package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
)

// forger is a server that sends tasks as it likes.
type forger struct {
	key    *wallet.Key
	frames []string // data of the tasks on the inbox
	posts  chan string
}

func (f *forger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/.well-known/swarmseal":
		_ = json.NewEncoder(w).Encode(swarm.Info{Server: f.key.Address(), Limits: swarm.Limits{BodyBytes: swarm.MaxBodyBytes}})
	case r.URL.Path == "/sessions":
		_ = json.NewEncoder(w).Encode(swarm.Token{Token: "swt_x", ExpiresAt: uint64(time.Now().Add(time.Hour).Unix())})
	case strings.HasSuffix(r.URL.Path, "/inbox"):
		w.Header().Set("Content-Type", "text/event-stream")
		for _, frame := range f.frames {
			fmt.Fprintf(w, "event: task\ndata: %s\n\n", frame)
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case r.Method == http.MethodPost:
		f.posts <- r.URL.Path
		fmt.Fprintln(w, "{}")
	default:
		fmt.Fprintln(w, "{}")
	}
}

// A task is run only where every signature above it, the server, the wallet
// and the bytes hold; others are passed over, and what comes behind them is
// not held up.
func TestForgedTasks(t *testing.T) {
	worker, server := swarmtest.NewKey(t), swarmtest.NewKey(t)
	user, middle, stranger := swarmtest.NewKey(t), swarmtest.NewKey(t), swarmtest.NewKey(t)
	domain := swarm.Domain(0)
	now := uint64(time.Now().Unix())
	var nonce byte
	sign := func(by *wallet.Key, parent *swarm.SignedDelegation, to wallet.Address, input string, change func(*swarm.Delegation)) swarm.SignedDelegation {
		t.Helper()
		nonce++
		d := swarm.Delegation{
			TaskID: wallet.Digest{1}, MaxHops: 5, To: to, Server: server.Address(),
			IssuedAt: now, ExpiresAt: now + 60, Nonce: wallet.Digest{nonce},
		}
		if parent != nil {
			digest := parent.Delegation.Digest(domain)
			d.Root, d.Parent, d.Hop = digest, digest, 1
		}
		if change != nil {
			change(&d)
		}
		signed, err := swarm.SignDelegation(t.Context(), by, domain, d, input)
		if err != nil {
			t.Fatal(err)
		}
		return *signed
	}
	task := func(signed swarm.SignedDelegation, chain ...swarm.SignedDelegation) swarm.Task {
		id := signed.Delegation.ID()
		for i := range chain {
			chain[i].Input = ""
		}
		return swarm.Task{ID: id, RootID: id, Attempt: 1, Signed: signed, Chain: append([]swarm.SignedDelegation{}, chain...), Children: []wallet.Digest{}}
	}
	encode := func(task swarm.Task) string {
		t.Helper()
		data, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	top := sign(user, nil, middle.Address(), "x", nil)
	below := func(by *wallet.Key, parent *swarm.SignedDelegation, change func(*swarm.Delegation)) swarm.SignedDelegation {
		return sign(by, parent, worker.Address(), "forged", change)
	}
	plain := below(user, nil, nil)
	other := below(user, nil, nil)

	swapped := task(plain)
	swapped.Signed.Signature = other.Signature
	renamed := task(plain)
	renamed.ID = strings.Repeat("0", 32)
	reworded := task(plain)
	reworded.Signed.Input = "something else"
	forgedTop := top
	forgedTop.Signature = plain.Signature
	widened := top
	widened.Delegation.ExpiresAt += 60
	for _, tt := range []struct {
		name, frame, says string
	}{
		{"no JSON", `{"id":`, "unexpected EOF"},
		{"unknown member", strings.Replace(encode(task(plain)), `{"id"`, `{"sudo":true,"id"`, 1), "sudo"},
		{"member twice", strings.Replace(encode(task(plain)), `{"id"`, `{"id":"","id"`, 1), "duplicate"},
		{"signature of another delegation", encode(swapped), "hop 0:"},
		{"other server", encode(task(below(user, nil, func(d *swarm.Delegation) { d.Server = stranger.Address() }))), "was made to the server"},
		{"other wallet", encode(task(sign(user, nil, stranger.Address(), "forged", nil))), "the task is for"},
		{"other id", encode(renamed), "the delegation's id is"},
		{"other input", encode(reworded), "does not have the signed hash"},
		{"chain missing", encode(task(below(middle, &top, nil))), "hop 0: "},
		{"chain's signature", encode(task(below(middle, &top, nil), forgedTop)), "hop 0:"},
		{"chain changed after signing", encode(task(below(middle, &top, nil), widened)), "hop 0:"},
		{"by somebody outside the chain", encode(task(below(stranger, &top, nil), top)), "only"},
		{"more time than above", encode(task(below(middle, &top, func(d *swarm.Delegation) { d.ExpiresAt++ }), top)), "expiresAt"},
		{"chain not its own", encode(task(below(user, nil, nil), top)), "hop is 0"},
		{"to its own sender", encode(task(sign(worker, nil, worker.Address(), "forged", nil))), "can't delegate to itself"},
		{"loop", encode(task(below(middle, new(sign(worker, nil, middle.Address(), "x", nil)), nil))), "hop 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			good := sign(middle, &top, worker.Address(), "honest", nil)
			f := &forger{key: server, frames: []string{tt.frame, encode(task(good, top))}, posts: make(chan string, 16)}
			ts := httptest.NewServer(f)
			defer ts.Close()
			var log bytes.Buffer
			ran := make(chan string, 2)
			w := &agent.Worker{
				Server: ts.URL, HTTP: ts.Client(), Key: worker, Card: swarm.Card{Name: "careful"},
				Log: slog.New(slog.NewTextHandler(&log, nil)),
				Handler: agent.HandlerFunc(func(_ context.Context, task *agent.Task) (string, error) {
					ran <- task.Input
					return "", nil
				}),
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = w.Run(ctx)
			}()
			defer func() { cancel(); <-ended }()
			result := "/delegations/" + good.Delegation.ID() + "/result"
			for path := range f.posts {
				if !strings.Contains(path, good.Delegation.ID()) {
					t.Errorf("the forger heard %s", path)
				}
				if path == result {
					break
				}
			}
			cancel()
			<-ended
			if input := <-ran; input != "honest" || len(ran) > 0 {
				t.Errorf("ran %q and %d more, want the honest task alone", input, len(ran))
			}
			if text := log.String(); !strings.Contains(text, "task refused") || !strings.Contains(text, tt.says) {
				t.Errorf("log %q, want a refusal that says %q", text, tt.says)
			}
		})
	}
}
