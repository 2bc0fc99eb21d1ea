package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
)

// liar is a server that does a task honestly and then tells of it what lie
// makes of the outcome.
type liar struct {
	t             *testing.T
	server, agent *wallet.Key
	lie           func(l *liar, o *swarm.Outcome, d *swarm.Delegation)
}

func (l *liar) answer(signed swarm.SignedDelegation, status swarm.Status, output string, by *wallet.Key, change func(*swarm.Result)) *swarm.SignedResult {
	d := &signed.Delegation
	r := swarm.Result{Delegation: d.Digest(swarm.Domain(0)), TaskID: d.TaskID, To: d.From, Status: status, Last: true, IssuedAt: d.IssuedAt}
	if change != nil {
		change(&r)
	}
	result, err := swarm.SignResult(l.t.Context(), by, swarm.Domain(0), r, output)
	if err != nil {
		l.t.Error(err)
	}
	return result
}

func (l *liar) arrive(result *swarm.SignedResult, by *wallet.Key, late bool) *swarm.SignedArrival {
	arrival, err := swarm.SignArrival(l.t.Context(), by, swarm.Domain(0), swarm.Arrival{
		Result: result.Result.Digest(swarm.Domain(0)), ReceivedAt: result.Result.IssuedAt, Late: late,
	})
	if err != nil {
		l.t.Error(err)
	}
	return arrival
}

// resign makes the agent's and the server's signatures fit a result that was
// changed.
func (l *liar) resign(o *swarm.Outcome, d *swarm.Delegation, status swarm.Status, output string, late bool, change func(*swarm.Result)) {
	o.Result = l.answer(swarm.SignedDelegation{Delegation: *d}, status, output, l.agent, change)
	o.Arrival = l.arrive(o.Result, l.server, late)
	o.Output = ""
	if status == swarm.StatusCompleted {
		o.Output = output
	}
}

func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	write := func(v any) {
		if err := json.NewEncoder(w).Encode(v); err != nil {
			l.t.Error(err)
		}
	}
	if r.URL.Path == "/.well-known/swarmseal" {
		write(swarm.Info{Server: l.server.Address()})
		return
	}
	var signed swarm.SignedDelegation
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&signed); err != nil {
			l.t.Error(err)
		}
	}
	d := &signed.Delegation
	o := &swarm.Outcome{ID: d.ID(), RootID: d.ID(), Agent: d.To, Requester: d.From, State: swarm.StateCompleted, ExpiresAt: d.ExpiresAt}
	l.resign(o, d, swarm.StatusCompleted, "42", false, nil)
	l.lie(l, o, d)
	write(o)
}

func TestLyingServer(t *testing.T) {
	failure := swarm.Errorf(swarm.CodeWorker, "no")
	for _, tt := range []struct {
		name string
		lie  func(l *liar, o *swarm.Outcome, d *swarm.Delegation)
		rule swarm.Rule // "" for the truth
	}{
		{"truth", func(*liar, *swarm.Outcome, *swarm.Delegation) {}, ""},
		{"true failure", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			o.State, o.Error = swarm.StateFailed, failure
			l.resign(o, d, swarm.StatusFailed, "no", false, nil)
		}, ""},
		{"true timeout", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) {
			o.State, o.Error, o.Output, o.Result, o.Arrival = swarm.StateTimeout, failure, "", nil, nil
		}, ""},
		{"true late answer", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			o.State, o.Error = swarm.StateTimeout, failure
			l.resign(o, d, swarm.StatusCompleted, "42", true, nil)
		}, ""},
		{"signed by another", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			o.Result = l.answer(swarm.SignedDelegation{Delegation: *d}, swarm.StatusCompleted, "42", l.server, nil)
		}, swarm.RuleResultSignature},
		{"signature of another result", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			o.Result.Signature = l.answer(swarm.SignedDelegation{Delegation: *d}, swarm.StatusCompleted, "43", l.agent, nil).Signature
		}, swarm.RuleResultSignature},
		{"result changed", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Result.Result.IssuedAt++ }, swarm.RuleResultSignature},
		{"of another delegation", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", false, func(r *swarm.Result) { r.Delegation[0] ^= 1 })
		}, swarm.RuleResultParties},
		{"of another task", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", false, func(r *swarm.Result) { r.TaskID[0] ^= 1 })
		}, swarm.RuleResultParties},
		{"for another requester", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", false, func(r *swarm.Result) { r.To = l.server.Address() })
		}, swarm.RuleResultParties},
		{"output changed", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Result.Output, o.Output = "41", "41" }, swarm.RuleOutput},
		{"no status", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) { l.resign(o, d, 0, "42", false, nil) }, swarm.RuleResultStatus},
		{"in parts", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", false, func(r *swarm.Result) { r.Last = false })
		}, swarm.RuleResultStatus},
		{"dearer", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", false, func(r *swarm.Result) { r.Price[31] = 1 })
		}, swarm.RuleResultPrice},
		{"not dated", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Arrival = nil }, swarm.RuleArrivalResult},
		{"dated by another", func(l *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Arrival = l.arrive(o.Result, l.agent, false) }, swarm.RuleArrivalSignature},
		{"date of another result", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			o.Arrival = l.arrive(l.answer(swarm.SignedDelegation{Delegation: *d}, swarm.StatusCompleted, "43", l.agent, nil), l.server, false)
		}, swarm.RuleArrivalResult},
		{"about another id", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.ID = strings.Repeat("0", 32) }, swarm.RuleExpected},
		{"by another agent", func(l *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Agent = l.server.Address() }, swarm.RuleExpected},
		{"unsigned output", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Output = "41" }, swarm.RuleExpected},
		{"no result", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Result, o.Arrival, o.Output = nil, nil, "" }, swarm.RuleExpected},
		{"output without result", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.Result, o.Arrival = nil, nil }, swarm.RuleExpected},
		{"failure as success", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusFailed, "no", false, nil)
		}, swarm.RuleExpected},
		{"success as failure", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) { o.State, o.Error = swarm.StateFailed, failure }, swarm.RuleExpected},
		{"late as in time", func(l *liar, o *swarm.Outcome, d *swarm.Delegation) {
			l.resign(o, d, swarm.StatusCompleted, "42", true, nil)
		}, swarm.RuleExpected},
		{"end without a cause", func(_ *liar, o *swarm.Outcome, _ *swarm.Delegation) {
			o.State, o.Output, o.Result, o.Arrival = swarm.StateCancelled, "", nil, nil
		}, swarm.RuleExpected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &liar{t: t, server: swarmtest.NewKey(t), agent: swarmtest.NewKey(t), lie: tt.lie}
			ts := httptest.NewServer(l)
			defer ts.Close()
			c := &client.Client{BaseURL: ts.URL, Signer: swarmtest.NewKey(t), HTTP: ts.Client()}
			o, err := c.Delegate(t.Context(), swarm.Request{To: l.agent.Address(), Task: "6 × 7"})
			if tt.rule == "" {
				if err != nil {
					t.Errorf("the truth gave %v", err)
				}
				return
			}
			unproven, ok := errors.AsType[*client.UnprovenError](err)
			if !ok || unproven.Rule != tt.rule || o != nil {
				t.Errorf("gave %+v, %v; want an error that names %s", o, err, tt.rule)
			}
		})
	}
}

// Under an idempotency key, too, the server must show a delegation that this
// wallet has signed.
func TestLyingAboutAnEarlierTask(t *testing.T) {
	for name, forge := range map[string]bool{"truth": false, "forged delegation": true} {
		t.Run(name, func(t *testing.T) {
			l := &liar{t: t, server: swarmtest.NewKey(t), agent: swarmtest.NewKey(t)}
			user := swarmtest.NewKey(t)
			now := uint64(time.Now().Unix())
			earlier, err := swarm.SignDelegation(t.Context(), user, swarm.Domain(0), swarm.Delegation{
				TaskID: wallet.Digest{1}, MaxHops: 5, To: l.agent.Address(), Server: l.server.Address(),
				IssuedAt: now - 10, ExpiresAt: now + 10, Nonce: swarm.NonceOf("k"),
			}, "x")
			if err != nil {
				t.Fatal(err)
			}
			if forge {
				earlier.Delegation.TaskID[0]++ // such as that of a replayed answer
			}
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				d := &earlier.Delegation
				switch {
				case r.URL.Path == "/.well-known/swarmseal":
					_ = json.NewEncoder(w).Encode(swarm.Info{Server: l.server.Address()})
				case r.Method == http.MethodPost:
					w.WriteHeader(http.StatusConflict)
					_ = json.NewEncoder(w).Encode(map[string]any{"error": swarm.Errorf(swarm.CodeNonceConflict, "used")})
				case strings.HasSuffix(r.URL.Path, "/receipt"):
					_ = json.NewEncoder(w).Encode(swarm.Bundle{Format: swarm.BundleFormat, Hops: []swarm.BundleHop{{Delegation: *earlier}}})
				default:
					o := &swarm.Outcome{ID: d.ID(), Agent: d.To, Requester: d.From, State: swarm.StateCompleted}
					l.resign(o, d, swarm.StatusCompleted, "42", false, nil)
					_ = json.NewEncoder(w).Encode(o)
				}
			}))
			defer ts.Close()
			c := &client.Client{BaseURL: ts.URL, Signer: user, HTTP: ts.Client()}
			o, err := c.Delegate(t.Context(), swarm.Request{To: l.agent.Address(), Task: "x", IdempotencyKey: "k"})
			unproven, ok := errors.AsType[*client.UnprovenError](err)
			switch {
			case !forge && (err != nil || o.Output != "42"):
				t.Errorf("gave %+v, %v", o, err)
			case forge && (!ok || unproven.Rule != swarm.RuleDelegationSignature):
				t.Errorf("gave %+v, %v; want an error that names %s", o, err, swarm.RuleDelegationSignature)
			}
		})
	}
}
