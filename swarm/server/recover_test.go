package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A record that can't be read, as one of a newer version, keeps no server from
// starting, also where it is the journal's last.
func TestUnreadableRecord(t *testing.T) {
	s := swarmtest.Start(t, nil)
	s.Down()
	eng, err := engine.Open(t.Context(), engine.Config{Dir: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eng.Create(t.Context(), strings.Repeat("a", 32), strings.Repeat("a", 32), []byte("no record")); err != nil {
		t.Fatal(err)
	}
	eng.Close()
	s.Up()
	w := s.Work("echo", func(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil })
	o := delegate(t, s.Client(swarmtest.NewKey(t)), swarm.Request{To: w.Address(), Task: "hello"})
	wantState(t, o, swarm.StateCompleted)
}

// A server that shuts down takes nothing new, but knows what it has taken.
func TestRetryWhileDraining(t *testing.T) {
	s := swarmtest.Start(t, nil)
	hold := make(chan struct{})
	w := s.Work("busy", func(context.Context, *agent.Task) (string, error) { <-hold; return "ok", nil })
	c := s.Client(swarmtest.NewKey(t))
	post := func(task string) (*swarm.SignedDelegation, func() int) {
		t.Helper()
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: task})
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(signed)
		if err != nil {
			t.Fatal(err)
		}
		return signed, func() int {
			status, _, _ := exchange(t, s, "POST", "/delegations", string(body))
			return status
		}
	}
	taken, again := post("x")
	if status := again(); status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	_, other := post("y")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Server.Drain(ctx); err == nil {
		t.Error("drained with a run in flight")
	}
	if status := other(); status != http.StatusServiceUnavailable {
		t.Errorf("a new one: status %d, want 503", status)
	}
	if status := again(); status != http.StatusAccepted {
		t.Errorf("the one that was taken: status %d, want 202", status)
	}
	close(hold)
	if o, err := c.Wait(t.Context(), taken.Delegation.ID()); err != nil || o.Output != "ok" {
		t.Errorf("%+v, %v", o, err)
	}
}
