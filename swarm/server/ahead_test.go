package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A worker whose clock is ahead answers before the deadline and says that it
// was after it: that would settle the run with a receipt that never verifies.
func TestClockAhead(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		key := swarmtest.NewKey(t)
		w := s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "ahead"}, Handler: agent.HandlerFunc(func(ctx context.Context, task *agent.Task) (string, error) {
			<-ctx.Done()
			return "", nil
		})})
		c := s.Client(swarmtest.NewKey(t))
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "x", Timeout: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = c.Submit(t.Context(), signed, swarm.Request{}) }()
		time.Sleep(10 * time.Second)
		d := &signed.Delegation
		result, err := swarm.SignResult(t.Context(), key, swarm.Domain(0), swarm.Result{
			Delegation: d.Digest(swarm.Domain(0)), TaskID: d.TaskID, To: d.From, Status: swarm.StatusCompleted, Last: true,
			IssuedAt: uint64(time.Now().Add(40 * time.Second).Unix()),
		}, "early")
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		status, _, answer := exchange(t, s, "POST", "/delegations/"+d.ID()+"/result", string(body))
		if status != 422 || !strings.Contains(answer, "the worker's clock is ahead") {
			t.Errorf("answered %d %s", status, answer)
		}
		o, err := c.Wait(t.Context(), d.ID())
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, o, swarm.StateTimeout)
	})
}
