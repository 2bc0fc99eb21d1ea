package agent_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// Every delegation that the server has is named in the signed result, in the
// form that the worker knows it by, and no other one: the bundle says so.
func TestChildrenAreNamed(t *testing.T) {
	cut := func(way loss) func(*http.Request) loss {
		return func(r *http.Request) loss {
			if r.Method == http.MethodPost && r.URL.Path == "/delegations" {
				return way
			}
			return nothing
		}
	}
	for _, tt := range []struct {
		name string
		lose func(*http.Request) loss
		call func(ctx context.Context, task *agent.Task, ask func(timeout time.Duration) swarm.Request) error
		hops int    // in the bundle
		last string // state of the last hop, as a report tells it
	}{
		{"answered", nil, func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			_, err := task.Delegate(ctx, ask(time.Minute))
			return err
		}, 2, "completed"},
		{"timed out", nil, func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			_, err := task.Delegate(ctx, ask(5*time.Second))
			return err
		}, 2, "none"},
		{"refused", nil, func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			r := ask(time.Minute)
			r.To = task.From // no agent
			if _, err := task.Delegate(ctx, r); swarm.CodeOf(err) != swarm.CodeAgentNotFound {
				return errors.Join(errors.New("want a refusal"), err)
			}
			return nil
		}, 1, "completed"},
		{"given up while it runs", nil, func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			if _, err := task.Delegate(ctx, ask(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
				return errors.Join(errors.New("want the ctx's end"), err)
			}
			return nil
		}, 2, "none"},
		{"answer of its submission lost", cut(answer), func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
			defer cancel()
			if _, err := task.Delegate(ctx, ask(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
				return errors.Join(errors.New("want the ctx's end"), err)
			}
			return nil
		}, 2, "completed"},
		{"never sent", cut(request), func(ctx context.Context, task *agent.Task, ask func(time.Duration) swarm.Request) error {
			ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
			defer cancel()
			if _, err := task.Delegate(ctx, ask(time.Minute)); !errors.Is(err, context.DeadlineExceeded) {
				return errors.Join(errors.New("want the ctx's end"), err)
			}
			return nil
		}, 1, "completed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
				leaf := s.Work("leaf", after(10*time.Second, "leaf's"))
				w, _ := workOver(t, s, tt.lose, func(ctx context.Context, task *agent.Task) (string, error) {
					return "whole", tt.call(ctx, task, func(timeout time.Duration) swarm.Request {
						return swarm.Request{To: leaf.Address(), Task: "part", Timeout: timeout}
					})
				})
				c := s.Client(swarmtest.NewKey(t))
				o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
				wantOutput(t, o, "whole")
				bundle := verified(t, c, o.ID)
				if len(bundle.Hops) != tt.hops || len(o.Result.Result.Children) != tt.hops-1 {
					t.Fatalf("%d hops, and %d children named; want %d and %d", len(bundle.Hops), len(o.Result.Result.Children), tt.hops, tt.hops-1)
				}
				if got := bundle.Verify(swarm.Expect{}).Hops[tt.hops-1].State; got != tt.last {
					t.Errorf("the last hop is %q, want %q", got, tt.last)
				}
			})
		})
	}
}

// A worker that takes a task over names what the one before it delegated.
func TestChildrenOfAnEarlierAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		leaf := s.Work("leaf", after(time.Second, "leaf's"))
		key := swarmtest.NewKey(t)
		delegated := make(chan struct{})
		first := s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "frail"},
			Handler: agent.HandlerFunc(func(ctx context.Context, task *agent.Task) (string, error) {
				_, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "part"})
				close(delegated)
				<-ctx.Done()
				return "", err
			})})
		c := s.Client(swarmtest.NewKey(t))
		outcome := make(chan *swarm.Outcome)
		go func() {
			o, err := c.Delegate(t.Context(), swarm.Request{To: key.Address(), Task: "x"})
			if err != nil {
				t.Error(err)
			}
			outcome <- o
		}()
		<-delegated
		first.Stop()
		s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "frail"},
			Handler: agent.HandlerFunc(func(ctx context.Context, task *agent.Task) (string, error) {
				o, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "part"})
				if err != nil {
					return "", err
				}
				return strings.ToUpper(o.Output), nil
			})})
		o := <-outcome
		wantOutput(t, o, "LEAF'S")
		if bundle := verified(t, c, o.ID); len(bundle.Hops) != 3 {
			t.Errorf("%d hops, want the task and both attempts' parts", len(bundle.Hops))
		}
	})
}

// Under an idempotency key a task has one part, however often it asks for it,
// also over attempts; and a key that another task used spoils nothing.
func TestChildrenUnderIdempotencyKeys(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		leaf := s.Work("leaf", after(5*time.Second, "leaf's"))
		silent := s.Work("silent", after(30*time.Second, ""))
		key := swarmtest.NewKey(t)
		crashed := make(chan struct{})
		work := func(crash bool) *swarmtest.Worker {
			return s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "careful"},
				Handler: agent.HandlerFunc(func(ctx context.Context, task *agent.Task) (string, error) {
					for range 2 {
						o, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "part", IdempotencyKey: "a"})
						if task.Input == "second" {
							if swarm.CodeOf(err) != swarm.CodeNonceConflict {
								return "", errors.Join(errors.New("want a conflict"), err)
							}
							continue
						}
						if err != nil {
							return "", err
						}
						if o.Output != "leaf's" {
							return "", o.Error
						}
						for range 2 { // one that ends without a result
							if _, err := task.Delegate(ctx, swarm.Request{To: silent.Address(), Task: "part", IdempotencyKey: "b", Timeout: 5 * time.Second}); err != nil {
								return "", err
							}
						}
						if crash {
							close(crashed)
							<-ctx.Done()
							return "", nil
						}
					}
					return "whole", nil
				})})
		}
		first := work(true)
		go func() {
			<-crashed
			first.Stop()
			work(false)
		}()
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: key.Address(), Task: "first"})
		wantOutput(t, o, "whole")
		if bundle := verified(t, c, o.ID); len(bundle.Hops) != 3 {
			t.Errorf("first: %d hops, want 3", len(bundle.Hops))
		}
		o = delegate(t, c, swarm.Request{To: key.Address(), Task: "second"})
		wantOutput(t, o, "whole")
		if bundle := verified(t, c, o.ID); len(bundle.Hops) != 1 {
			t.Errorf("second: %d hops, want 1", len(bundle.Hops))
		}
	})
}
