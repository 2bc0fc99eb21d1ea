package agent_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A handler that runs past its deadline keeps its slot, though the server has
// given it to another task.
func TestSlotPastTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		var running, most atomic.Int32
		w := s.Start(&agent.Worker{
			Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "deaf"}, Concurrency: 1,
			Handler: agent.HandlerFunc(func(context.Context, *agent.Task) (string, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(20 * time.Second) // it does not look at ctx
				return "done", nil
			}),
		})
		c := s.Client(swarmtest.NewKey(t))
		first := delegate(t, c, swarm.Request{To: w.Address(), Task: "x", Timeout: 5 * time.Second})
		if first.State != swarm.StateTimeout {
			t.Errorf("the first is %s, want timeout", first.State)
		}
		second := delegate(t, c, swarm.Request{To: w.Address(), Task: "y", Timeout: time.Minute})
		wantOutput(t, second, "done")
		if most.Load() != 1 {
			t.Errorf("%d handlers ran at once, want 1", most.Load())
		}
	})
}
