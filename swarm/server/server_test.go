package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

func TestDelegate(t *testing.T) {
	s := swarmtest.Start(t, nil)
	upper := s.Work("upper case", func(_ context.Context, task *agent.Task) (string, error) {
		return strings.ToUpper(task.Input), nil
	})
	c := s.Client(swarmtest.NewKey(t))
	o, err := c.Delegate(t.Context(), swarm.Request{To: upper.Address(), Task: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if o.State != swarm.StateCompleted || o.Output != "HELLO" {
		t.Errorf("got %+v", o)
	}
	bundle, err := c.Receipt(t.Context(), o.ID)
	if err != nil {
		t.Fatal(err)
	}
	if report := bundle.Verify(swarm.Expect{}); !report.Verified {
		t.Errorf("%+v", report.Broken())
	}
	var types []string
	for ev, err := range c.Stream().Watch(t.Context(), o.ID, "") {
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, ev.Type)
	}
	if got, want := strings.Join(types, " "), "action action text-delta done receipt [DONE]"; got != want {
		t.Errorf("streamed %s, want %s", got, want)
	}
}
