package agent_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A search that is given up loses nothing of what was reported before it, and
// one that meets a server that is being restarted waits for it.
func TestFindGivenUpAndOverRestart(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		s.Work("helper", echo)
		searching := make(chan struct{})
		w := s.Work("searcher", func(ctx context.Context, task *agent.Task) (string, error) {
			task.Text("said before")
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := task.Find(ended, swarm.Query{Text: "helper"}); err == nil {
				t.Error("a search whose ctx has ended found something")
			}
			task.Text(", and after")
			time.Sleep(time.Second)
			close(searching)
			time.Sleep(time.Second)
			found, err := task.Find(ctx, swarm.Query{Text: "helper"})
			if err != nil || len(found.Results) == 0 {
				t.Errorf("found %+v, %v", found, err)
			}
			return "done", nil
		})
		go func() {
			<-searching
			s.Down()
			time.Sleep(4 * time.Second)
			s.Up()
		}()
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
		wantOutput(t, o, "done")
		text := ""
		for ev, err := range c.Stream().Watch(t.Context(), o.ID, "") {
			if err != nil {
				t.Fatal(err)
			}
			text += ev.Text()
		}
		if text != "said before, and after" {
			t.Errorf("streamed %q", text)
		}
	})
}

// A handler that returns while it still delegates has a result that names what
// was taken, and ends it: the bundle verifies, and nothing starts after.
func TestHandlerThatLeavesDelegationsBehind(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		leaf := s.Work("leaf", after(20*time.Second, "too late"))
		late := make(chan error, 1)
		w := s.Work("hasty", func(ctx context.Context, task *agent.Task) (string, error) {
			for range 5 {
				go func() { _, _ = task.Delegate(context.Background(), swarm.Request{To: leaf.Address(), Task: "part"}) }()
			}
			if task.Input == "waits a little" {
				time.Sleep(time.Second)
			}
			go func() {
				time.Sleep(5 * time.Second)
				_, err := task.Delegate(context.Background(), swarm.Request{To: leaf.Address(), Task: "part"})
				late <- err
			}()
			return "first", nil
		})
		c := s.Client(swarmtest.NewKey(t))
		for _, input := range []string{"waits a little", "leaves at once"} {
			o := delegate(t, c, swarm.Request{To: w.Address(), Task: input})
			wantOutput(t, o, "first")
			bundle := verified(t, c, o.ID)
			if input == "waits a little" && len(bundle.Hops) != 6 {
				t.Errorf("%d hops, want 6", len(bundle.Hops))
			}
			if err := <-late; err == nil {
				t.Error("a delegation was made after the handler had returned")
			}
			var ends []string
			for ev, err := range c.Stream().Watch(t.Context(), o.ID, "") {
				if err != nil {
					t.Fatal(err)
				}
				ends = append(ends, ev.Type)
			}
			if i := slices.Index(ends, "done"); i != len(ends)-3 {
				t.Errorf("done is frame %d of %d; want it before the receipt and [DONE]", i+1, len(ends))
			}
		}
	})
}
