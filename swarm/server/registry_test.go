package server_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// Compose's search gives up to 50 agents, and 8 where nothing is said; the
// tools' own argument up to 20.
func TestSearchLimits(t *testing.T) {
	s := swarmtest.Start(t, nil)
	for i := range 30 {
		s.Work(fmt.Sprintf("counter %d", i), func(context.Context, *agent.Task) (string, error) { return "", nil })
	}
	for params, want := range map[string]int64{"": 8, "&limit=25": 25, "&limit=50": 30, "&limit=1": 1, "&top_k=20": 20, "&top_k=": 5} {
		status, _, answer := exchange(t, s, "GET", "/agents/search?q=counter"+params, "")
		if got := gjson.Get(answer, "results.#").Int(); status != 200 || got != want {
			t.Errorf("%q: %d, %d agents, want %d (%s)", params, status, got, want, gjson.Get(answer, "message"))
		}
	}
}
