package swarmtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A test of an agent that is too slow. It takes 45 s of the bubble's time and
// some milliseconds of ours.
func Example() {
	test := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := swarmtest.Start(t, nil)
			slow := s.Work("slow", func(ctx context.Context, _ *agent.Task) (string, error) {
				time.Sleep(45 * time.Second)
				return "at last", nil
			})
			c := s.Client(swarmtest.NewKey(t))
			outcome, err := c.Delegate(t.Context(), swarm.Request{
				To: slow.Address(), Task: "take your time", Timeout: 30 * time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			if outcome.State != swarm.StateTimeout {
				t.Errorf("state %s, want timeout", outcome.State)
			}
		})
	}
	_ = test // go test calls it where it is named Test…
}
