package agent_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

func TestReconnects(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		var opened atomic.Int32
		w := s.Start(&agent.Worker{
			Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "steady"}, Handler: agent.HandlerFunc(echo),
			OnConnect: func() { opened.Add(1) },
		})
		for n := range int32(4) {
			c := s.Client(swarmtest.NewKey(t))
			wantOutput(t, delegate(t, c, swarm.Request{To: w.Address(), Task: "still there?"}), "still there?")
			if got := opened.Load(); got != n+1 {
				t.Errorf("connected %d times after %d restarts", got, n)
			}
			s.Down()
			time.Sleep(time.Duration(n) * 20 * time.Second)
			s.Up()
		}
	})
}

// However often a task is delivered, and whatever is lost on the way, its
// handler runs once, and its result is posted again as it was.
func TestDeliveredTwice(t *testing.T) {
	for _, tt := range []struct {
		name    string
		lose    func(*http.Request) loss
		cutAt   []time.Duration // since the task came; it takes 5 s
		results int             // posts of the result
	}{
		{"inbox cut in mid task", nil, []time.Duration{time.Second, 2 * time.Second}, 1},
		{"answer to the result lost", firstOf(1, "POST", "result", answer), nil, 2},
		{"result lost and inbox cut", firstOf(3, "POST", "result", request), []time.Duration{5*time.Second + 10*time.Millisecond}, 0},
		{"acknowledgement lost", firstOf(2, "POST", "events", request), nil, 1},
		{"answer to the acknowledgement lost", firstOf(2, "POST", "events", answer), nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
				var runs atomic.Int32
				w, n := workOver(t, s, tt.lose, func(context.Context, *agent.Task) (string, error) {
					runs.Add(1)
					time.Sleep(5 * time.Second)
					return time.Now().String(), nil
				})
				for _, d := range tt.cutAt {
					time.AfterFunc(d, n.cut)
				}
				c := s.Client(swarmtest.NewKey(t))
				o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
				if o.State != swarm.StateCompleted {
					t.Errorf("outcome is %s (%v)", o.State, o.Error)
				}
				time.Sleep(time.Minute)
				results := n.sent("POST result")
				if tt.results > 0 && len(results) != tt.results {
					t.Errorf("the result was posted %d times, want %d", len(results), tt.results)
				}
				if len(slices.Compact(slices.Clone(results))) != 1 {
					t.Errorf("results differ: %q", results)
				}
				if runs.Load() != 1 {
					t.Errorf("the handler ran %d times", runs.Load())
				}
				verified(t, c, o.ID)
			})
		})
	}
}

func TestFailures(t *testing.T) {
	const limit = 1 << 20
	for _, tt := range []struct {
		name   string
		handle agent.HandlerFunc
		says   string
	}{
		{"error", func(context.Context, *agent.Task) (string, error) { return "", errors.New("no coffee") }, "no coffee"},
		{"error that is no UTF-8", func(context.Context, *agent.Task) (string, error) { return "", errors.New("no \xff") }, "no \uFFFD"},
		{"panic", func(context.Context, *agent.Task) (string, error) { panic("the password is hunter2") }, "the agent failed on this task"},
		{"no UTF-8", func(context.Context, *agent.Task) (string, error) { return "\xff\xfe", nil }, "not UTF-8"},
		{"too large", func(context.Context, *agent.Task) (string, error) { return strings.Repeat("x", limit+1), nil }, "1048577 bytes is more than the server takes (1048576"},
		{"too large once quoted", func(context.Context, *agent.Task) (string, error) { return strings.Repeat("\n", limit*2/3), nil }, "more than the server takes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := swarmtest.Start(t, func(c *server.Config) { c.MaxBodyBytes = limit })
				w := s.Work("failing", tt.handle)
				c := s.Client(swarmtest.NewKey(t))
				o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
				wantFailure(t, o, tt.says)
				if strings.Contains(o.Error.Message, "hunter2") {
					t.Errorf("the panic's text got out: %q", o.Error.Message)
				}
				bundle, err := c.Receipt(t.Context(), o.ID)
				if err != nil {
					t.Fatal(err)
				}
				for _, check := range bundle.Verify(swarm.Expect{}).Broken() {
					if check.Rule != swarm.RuleResult { // which asks for a completed one
						t.Errorf("%+v", check)
					}
				}
			})
		})
	}
}

// The handler's ctx ends with the reason as its cause.
func TestCauses(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		causes := make(chan error, 1)
		w := s.Work("patient", func(ctx context.Context, _ *agent.Task) (string, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "", context.Cause(ctx)
		})
		c := s.Client(swarmtest.NewKey(t))
		start := func(timeout time.Duration) string {
			t.Helper()
			signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "wait", Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = c.Submit(t.Context(), signed, swarm.Request{}) }()
			time.Sleep(time.Second)
			return signed.Delegation.ID()
		}

		begin := time.Now()
		start(10 * time.Second)
		if cause := <-causes; swarm.CodeOf(cause) != swarm.CodeTimeout || time.Since(begin) != 10*time.Second {
			t.Errorf("cause %v after %v, want the deadline's after 10 s", cause, time.Since(begin))
		}
		id := start(time.Minute)
		if _, err := c.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if cause := <-causes; swarm.CodeOf(cause) != swarm.CodeCancelled || !strings.Contains(cause.Error(), "by the requester") {
			t.Errorf("cause %v, want the cancellation's", cause)
		}
		start(time.Minute)
		w.Stop()
		if cause := <-causes; swarm.CodeOf(cause) != swarm.CodeInternal || !errors.Is(cause, context.Canceled) {
			t.Errorf("cause %v, want that of Run's own ctx", cause)
		}
	})
}

func TestConcurrency(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		var now, most atomic.Int32
		w := s.Start(&agent.Worker{
			Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "two hands"}, Concurrency: 2,
			Handler: agent.HandlerFunc(func(context.Context, *agent.Task) (string, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for {
					if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
						break
					}
				}
				time.Sleep(time.Second)
				return "", nil
			}),
		})
		start := time.Now()
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() { delegate(t, s.Client(swarmtest.NewKey(t)), swarm.Request{To: w.Address(), Task: "x"}) })
		}
		wg.Wait()
		if most.Load() != 2 || time.Since(start).Round(time.Second) != 3*time.Second {
			t.Errorf("%d at once, 6 tasks of 1 s in %v; want 2 and 3 s", most.Load(), time.Since(start))
		}
	})
}

// Workers of one wallet share its tasks, also those that come back together
// when their server does, and register in the same moment.
func TestTwoWorkersOfOneWallet(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		key := swarmtest.NewKey(t)
		var tasks [2]atomic.Int32
		for i := range tasks {
			s.Start(&agent.Worker{
				Key: key, Card: swarm.Card{Name: "twin"}, Concurrency: 1,
				Handler: agent.HandlerFunc(func(context.Context, *agent.Task) (string, error) {
					tasks[i].Add(1)
					time.Sleep(10 * time.Second)
					return "", nil
				}),
			})
		}
		for round := range int32(3) {
			start := time.Now()
			var wg sync.WaitGroup
			for range tasks {
				wg.Go(func() {
					o := delegate(t, s.Client(swarmtest.NewKey(t)), swarm.Request{To: key.Address(), Task: "x"})
					wantOutput(t, o, "")
				})
			}
			wg.Wait()
			if took := time.Since(start).Round(time.Second); took != 10*time.Second {
				t.Errorf("two tasks of 10 s took %v, want 10 s", took)
			}
			if a, b := tasks[0].Load(), tasks[1].Load(); a != round+1 || b != round+1 {
				t.Errorf("%d and %d tasks, want %d each", a, b, round+1)
			}
			s.Down()
			s.Up()
			time.Sleep(10 * time.Second)
		}
	})
}

// What can't work is told at once, and not tried for ever.
func TestRunRefuses(t *testing.T) {
	good := func() *agent.Worker {
		return &agent.Worker{
			Server: "http://127.0.0.1:1", Key: swarmtest.NewKey(t),
			Card: swarm.Card{Name: "x"}, Handler: agent.HandlerFunc(echo),
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*agent.Worker)
		says   string
	}{
		{"no key", func(w *agent.Worker) { w.Key = nil }, "Worker.Key is nil"},
		{"no handler", func(w *agent.Worker) { w.Handler = nil }, "Worker.Handler is nil"},
		{"concurrency", func(w *agent.Worker) { w.Concurrency = 1001 }, "Worker.Concurrency is 1001; allowed are 1 to 1000"},
		{"negative concurrency", func(w *agent.Worker) { w.Concurrency = -1 }, "Worker.Concurrency is -1"},
		{"no name", func(w *agent.Worker) { w.Card.Name = "" }, "card.name is missing"},
		{"long name", func(w *agent.Worker) { w.Card.Name = strings.Repeat("x", 1000) }, "card.name has 1000 bytes"},
		{"no scheme", func(w *agent.Worker) { w.Server = "localhost:8420" }, "want http:// or https://"},
		{"no server", func(w *agent.Worker) { w.Server = "" }, "want http:// or https://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := good()
			tt.change(w)
			if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that says %q", err, tt.says)
			}
		})
	}
}

func TestRunTwice(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("once", echo)
		if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Run was called before") {
			t.Errorf("a second Run gave %v", err)
		}
		w.Stop()
		if err := w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "Run was called before") {
			t.Errorf("a Run after the end gave %v", err)
		}
	})
}

// Run gives the cause of its ctx, once every handler has returned.
func TestRunEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		var returned atomic.Bool
		started := make(chan struct{})
		w := &agent.Worker{
			Server: swarmtest.BaseURL, HTTP: s.HTTP, Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "x"},
			Handler: agent.HandlerFunc(func(ctx context.Context, _ *agent.Task) (string, error) {
				close(started)
				<-ctx.Done()
				time.Sleep(time.Second)
				returned.Store(true)
				return "", nil
			}),
		}
		connected := make(chan struct{})
		w.OnConnect = func() { close(connected) }
		ctx, cancel := context.WithCancelCause(t.Context())
		home := errors.New("going home")
		go func() {
			<-connected
			go func() {
				_, _ = s.Client(swarmtest.NewKey(t)).Delegate(ctx, swarm.Request{To: w.Key.Address(), Task: "x"})
			}()
			<-started
			cancel(home)
		}()
		if err := w.Run(ctx); !errors.Is(err, home) || !returned.Load() {
			t.Errorf("Run gave %v, handler returned: %v", err, returned.Load())
		}
	})
}
