package client_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A caller's requests with one key are one delegation, also after its end and
// over a restart; with another task the key is refused.
func TestIdempotencyKey(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		var runs atomic.Int32
		count := func(_ context.Context, task *agent.Task) (string, error) {
			runs.Add(1)
			time.Sleep(5 * time.Second)
			return task.Input + "!", nil
		}
		w, other := s.Work("counted", count), s.Work("other", count)
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		request := func(change func(*swarm.Request)) swarm.Request {
			r := swarm.Request{To: w.Address(), Task: "x", IdempotencyKey: "order-17"}
			if change != nil {
				change(&r)
			}
			return r
		}
		ids := make(chan string, 3)
		for i := range 3 {
			go func() {
				time.Sleep(time.Duration(i) * 2 * time.Second) // the last one after a second's wait for the end
				o, err := c.Delegate(t.Context(), request(nil))
				if err != nil {
					t.Error(err)
					o = &swarm.Outcome{}
				}
				ids <- o.ID
			}()
		}
		id := <-ids
		for range 2 {
			if got := <-ids; got != id {
				t.Errorf("delegations %s and %s under one key", id, got)
			}
		}
		s.Down()
		s.Up()
		o, err := s.Client(key).Delegate(t.Context(), request(nil)) // another process of the same wallet
		wantOutput(t, o, err, "x!")
		if o.ID != id || runs.Load() != 1 {
			t.Errorf("id %s after %d runs, want %s after one", o.ID, runs.Load(), id)
		}
		for name, change := range map[string]func(*swarm.Request){
			"task":  func(r *swarm.Request) { r.Task = "y" },
			"agent": func(r *swarm.Request) { r.To = other.Address() },
		} {
			_, err := c.Delegate(t.Context(), request(change))
			if wantCode(t, err, swarm.CodeNonceConflict, "the idempotency key was used for another task"); t.Failed() {
				t.Log("with another", name)
			}
		}
		// The key is its caller's own.
		o, err = s.Client(swarmtest.NewKey(t)).Delegate(t.Context(), request(nil))
		wantOutput(t, o, err, "x!")
		if o.ID == id {
			t.Error("two callers share a delegation")
		}
	})
}

func TestDelegateRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("echo", echo)
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		for _, tt := range []struct {
			name string
			r    swarm.Request
			code swarm.Code
			says string
		}{
			{"short", swarm.Request{To: w.Address(), Timeout: time.Millisecond}, swarm.CodeInvalid, "timeout is 1ms; allowed are whole seconds from 1 s to 5m0s"},
			{"long", swarm.Request{To: w.Address(), Timeout: time.Hour}, swarm.CodeInvalid, "timeout is 1h0m0s"},
			{"uneven", swarm.Request{To: w.Address(), Timeout: 1500 * time.Millisecond}, swarm.CodeInvalid, "timeout is 1.5s"},
			{"negative", swarm.Request{To: w.Address(), Timeout: -time.Second}, swarm.CodeInvalid, "timeout is -1s"},
			{"no UTF-8", swarm.Request{To: w.Address(), Task: "\xff"}, swarm.CodeInvalid, "must be UTF-8"},
			{"nobody", swarm.Request{Task: "x"}, swarm.CodeInvalid, "zero address"},
			{"oneself", swarm.Request{To: key.Address(), Task: "x"}, swarm.CodeSelfRequest, "itself"},
			{"unknown", swarm.Request{To: swarmtest.NewKey(t).Address(), Task: "x"}, swarm.CodeAgentNotFound, "no agent is registered"},
			{"skill", swarm.Request{To: w.Address(), Task: "x", Skill: "juggling"}, swarm.CodeInvalid, "juggling"},
			{"too large", swarm.Request{To: w.Address(), Task: strings.Repeat("x", swarm.MaxBodyBytes)}, swarm.CodeTooLarge, "10485760 bytes"},
		} {
			start := time.Now()
			_, err := c.Delegate(t.Context(), tt.r)
			if wantCode(t, err, tt.code, tt.says); time.Since(start) > time.Second {
				t.Errorf("%s: told after %v", tt.name, time.Since(start))
			}
		}
	})
}

func TestWaitOverRestart(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("slow", after(4*time.Minute, "at last"))
		c := s.Client(swarmtest.NewKey(t))
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "x", Timeout: 5 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Submit(ctx, signed, swarm.Request{}); err != context.DeadlineExceeded {
			t.Errorf("the end of ctx gave %v", err)
		}
		for d := range 3 {
			time.AfterFunc(time.Duration(d+1)*time.Minute, func() {
				s.Down()
				time.Sleep(20 * time.Second)
				s.Up()
			})
		}
		o, err := s.Client(nil).Wait(t.Context(), signed.Delegation.ID())
		wantOutput(t, o, err, "at last")
	})
}

// A server, or a proxy, that does not hold its answers back is not asked
// without a pause.
func TestWaitPauses(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("slow", after(20*time.Second, "at last"))
		c := s.Client(swarmtest.NewKey(t))
		asked := 0
		c.HTTP = &http.Client{Transport: &proxy{s.HTTP.Transport, func(r *http.Request) (*http.Response, error) {
			r.Header.Del("Prefer")
			asked++
			return nil, nil
		}}}
		o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "x"})
		wantOutput(t, o, err, "at last")
		if asked > 25 {
			t.Errorf("asked %d times within 20 s", asked)
		}
	})
}

// An id is anybody's text; none names another route.
func TestIDs(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("echo", echo)
		c := s.Client(swarmtest.NewKey(t))
		o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "x"})
		wantOutput(t, o, err, "x")
		for _, id := range []string{"17", "x?y", "../agents", o.ID + "/receipt", strings.ToUpper(o.ID), "%2e%2e"} {
			for name, call := range map[string]func() error{
				"Get":     func() error { _, err := c.Get(t.Context(), id); return err },
				"Wait":    func() error { _, err := c.Wait(t.Context(), id); return err },
				"Cancel":  func() error { _, err := c.Cancel(t.Context(), id); return err },
				"Collect": func() error { _, err := c.Collect(t.Context(), id); return err },
				"Receipt": func() error { _, err := c.Receipt(t.Context(), id); return err },
			} {
				if err := call(); swarm.CodeOf(err) != swarm.CodeInvalid || !strings.Contains(err.Error(), "run id") {
					t.Errorf("%s(%q) gave %v, want an error about the run id", name, id, err)
				}
			}
		}
		unknown := strings.Repeat("0", 32)
		_, err = c.Get(t.Context(), unknown)
		wantCode(t, err, swarm.CodeNotFound, unknown)
		_, err = c.Wait(t.Context(), unknown)
		wantCode(t, err, swarm.CodeNotFound, unknown)
		_, err = c.Receipt(t.Context(), unknown)
		wantCode(t, err, swarm.CodeNotFound, unknown)
		_, err = c.Cancel(t.Context(), unknown)
		wantCode(t, err, swarm.CodeNotFound, unknown)
		_, err = s.Client(swarmtest.NewKey(t)).Cancel(t.Context(), o.ID)
		wantCode(t, err, swarm.CodeForbidden, "may cancel")
		// To cancel what has its outcome changes nothing.
		o, err = c.Cancel(t.Context(), o.ID)
		wantOutput(t, o, err, "x")
		if got, err := c.Collect(t.Context(), o.ID); err != nil || got.Status != swarm.CollectedCompleted || got.Response != "x" {
			t.Errorf("Collect gave %+v, %v", got, err)
		}
		if got, err := c.Collect(t.Context(), o.ID); err != nil || got.Status != swarm.CollectedNotFound {
			t.Errorf("a second Collect gave %+v, %v", got, err)
		}
	})
}
