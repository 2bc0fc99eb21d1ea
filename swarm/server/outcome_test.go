package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// bubble runs a test on a swarm whose time is the bubble's.
func bubble(t *testing.T, test func(t *testing.T, s *swarmtest.Swarm)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, swarmtest.Start(t, nil)) })
}

// reply gives a handler that answers after a while, whatever becomes of ctx.
func reply(after time.Duration, text string) agent.HandlerFunc {
	return func(context.Context, *agent.Task) (string, error) {
		time.Sleep(after)
		return text, nil
	}
}

func delegate(t *testing.T, d swarm.Delegator, r swarm.Request) *swarm.Outcome {
	t.Helper()
	o, err := d.Delegate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantState(t *testing.T, o *swarm.Outcome, want swarm.State) {
	t.Helper()
	if o.State != want {
		t.Fatalf("state %s (%v), want %s", o.State, o.Error, want)
	}
}

func wantCode(t *testing.T, err error, want swarm.Code) {
	t.Helper()
	if got := swarm.CodeOf(err); got != want {
		t.Errorf("code %q (%v), want %q", got, err, want)
	}
}

// An answer after the deadline is a timeout first, then waits for its
// requester, who gets it once.
func TestLateReply(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		slow := s.Work("slow", reply(45*time.Second, "at last"))
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		start := time.Now()
		o := delegate(t, c, swarm.Request{To: slow.Address(), Task: "take your time", Timeout: 30 * time.Second})
		wantState(t, o, swarm.StateTimeout)
		wantCode(t, o.Error, swarm.CodeTimeout)
		if waited := time.Since(start); waited < 29*time.Second || waited > 31*time.Second {
			t.Errorf("told of the timeout after %v, want 30 s", waited)
		}
		collect := func(want, response string) {
			t.Helper()
			got, err := c.Collect(t.Context(), o.ID)
			if err != nil || got.Status != want || got.Response != response {
				t.Errorf("collect gave %+v, %v; want %s %q", got, err, want, response)
			}
		}
		collect(swarm.CollectedPendingLate, "")
		time.Sleep(20 * time.Second)

		if got, err := s.Client(swarmtest.NewKey(t)).Collect(t.Context(), o.ID); err != nil || got.Status != swarm.CollectedNotFound {
			t.Errorf("a stranger got %+v, %v; want not_found", got, err)
		}
		s.Down()
		s.Up() // late answers survive a restart
		collect(swarm.CollectedLate, "at last")
		collect(swarm.CollectedNotFound, "")

		late, err := c.Get(t.Context(), o.ID)
		if err != nil || late.State != swarm.StateTimeout || !late.Late() || late.Output != "at last" {
			t.Errorf("record %+v, %v: want the timeout to stay, with the late answer", late, err)
		}
		ends := 0
		for ev, err := range c.Stream().Watch(t.Context(), o.ID, "") {
			if failed, ok := errors.AsType[*stream.RunError](err); ok && failed.Code == string(swarm.CodeTimeout) {
				break // it is the last item
			}
			if err != nil {
				t.Fatal(err)
			}
			if ev.Terminal() {
				ends++
			}
		}
		if ends != 1 {
			t.Errorf("the stream has %d ends, want 1", ends)
		}
	})
}

// The statuses of check_collaboration_result while a task runs, and after.
func TestCollect(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		ok := s.Work("ok", reply(10*time.Second, "fine"))
		bad := s.Work("bad", func(context.Context, *agent.Task) (string, error) { return "", errors.New("no coffee") })
		c := s.Client(swarmtest.NewKey(t))
		collect := func(id, want, response string) {
			t.Helper()
			got, err := c.Collect(t.Context(), id)
			if err != nil || got.Status != want || got.Response != response {
				t.Errorf("collect gave %+v, %v; want %s %q", got, err, want, response)
			}
		}
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: ok.Address(), Task: "x"})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if _, err := c.Submit(t.Context(), signed, swarm.Request{}); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(time.Second)
		id := signed.Delegation.ID()
		collect(id, swarm.CollectedPending, "")
		<-done
		collect(id, swarm.CollectedCompleted, "fine")
		collect(id, swarm.CollectedNotFound, "")
		collect(strings.Repeat("0", 32), swarm.CollectedNotFound, "")

		o := delegate(t, c, swarm.Request{To: bad.Address(), Task: "x"})
		wantState(t, o, swarm.StateFailed)
		wantCode(t, o.Error, swarm.CodeWorker)
		collect(o.ID, swarm.CollectedError, "no coffee")
	})
}

// Cancelling reaches the worker, and those below it first.
func TestCancel(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		causes := make(chan string, 2)
		wait := func(name string) agent.HandlerFunc {
			return func(ctx context.Context, _ *agent.Task) (string, error) {
				<-ctx.Done()
				causes <- name + ": " + context.Cause(ctx).Error()
				return "", context.Cause(ctx)
			}
		}
		leaf := s.Work("leaf", wait("leaf"))
		middle := s.Work("middle", func(ctx context.Context, task *agent.Task) (string, error) {
			go func() { _, _ = task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "wait"}) }()
			return wait("middle")(ctx, task)
		})
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: middle.Address(), Task: "wait"})
		if err != nil {
			t.Fatal(err)
		}
		id := signed.Delegation.ID()
		outcomes := make(chan *swarm.Outcome, 1)
		go func() {
			o, err := c.Submit(t.Context(), signed, swarm.Request{})
			if err != nil {
				t.Error(err)
			}
			outcomes <- o
		}()
		time.Sleep(time.Second)
		_, err = s.Client(swarmtest.NewKey(t)).Cancel(t.Context(), id)
		wantCode(t, err, swarm.CodeForbidden)
		if _, err := c.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		wantState(t, <-outcomes, swarm.StateCancelled)
		for range 2 {
			if cause := <-causes; !strings.HasSuffix(cause, "cancelled: cancelled by the requester") {
				t.Errorf("handler's cause %q", cause)
			}
		}
		var last string
		starts, ends := 0, 0
		for ev, err := range c.Stream().Watch(t.Context(), id, "") {
			if err != nil {
				t.Fatal(err)
			}
			switch ev.Type {
			case "tool_start":
				starts++
			case "tool_end":
				ends++
			}
			if ev.Terminal() {
				last = ev.Type
			} else if last != "" && ev.Type != "[DONE]" {
				t.Errorf("%s after the end", ev.Type)
			}
		}
		if last != "stopped" || starts != 1 || ends != 1 {
			t.Errorf("stream ended by %q with %d starts and %d ends; want stopped, 1, 1", last, starts, ends)
		}
	})
}

// A worker that goes away with a task loses it to the next one, which is told
// so; one that comes back with the task still running goes on.
func TestRedelivery(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		key := swarmtest.NewKey(t)
		attempts := make(chan int, 10)
		card := swarm.Card{Name: "frail"}
		first := s.Start(&agent.Worker{Key: key, Card: card, Handler: agent.HandlerFunc(func(ctx context.Context, task *agent.Task) (string, error) {
			attempts <- task.Attempt
			<-ctx.Done()
			return "", context.Cause(ctx)
		})})
		c := s.Client(swarmtest.NewKey(t))
		outcomes := make(chan *swarm.Outcome, 1)
		go func() {
			o, err := c.Delegate(t.Context(), swarm.Request{To: first.Address(), Task: "x", Timeout: time.Minute})
			if err != nil {
				t.Error(err)
			}
			outcomes <- o
		}()
		if got := <-attempts; got != 1 {
			t.Errorf("attempt %d, want 1", got)
		}
		first.Stop()
		time.Sleep(5 * time.Second)
		s.Start(&agent.Worker{Key: key, Card: card, Handler: agent.HandlerFunc(func(_ context.Context, task *agent.Task) (string, error) {
			attempts <- task.Attempt
			return "done", nil
		})})
		if got := <-attempts; got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		wantState(t, <-outcomes, swarm.StateCompleted)
	})
}

// A server that dies in mid run goes on with it: the worker, the requester and
// whoever watches come back by themselves, the handler is not run twice, and
// the stream has every event once.
func TestRestartInMidRun(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		runs := make(chan struct{}, 10)
		steady := s.Work("steady", func(_ context.Context, task *agent.Task) (string, error) {
			runs <- struct{}{}
			for i := range 20 {
				task.Text(string(rune('a' + i)))
				time.Sleep(time.Second)
			}
			return "abcdefghijklmnopqrst", nil
		})
		c := s.Client(swarmtest.NewKey(t))
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: steady.Address(), Task: "x", Timeout: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		outcomes := make(chan *swarm.Outcome, 1)
		go func() {
			o, err := c.Submit(t.Context(), signed, swarm.Request{})
			if err != nil {
				t.Error(err)
			}
			outcomes <- o
		}()
		text := make(chan string, 1)
		time.Sleep(time.Second)
		go func() {
			var got strings.Builder
			for ev, err := range c.Stream().Watch(t.Context(), signed.Delegation.ID(), "") {
				if err != nil {
					t.Error(err)
					break
				}
				got.WriteString(ev.Text())
			}
			text <- got.String()
		}()
		for range 3 {
			time.Sleep(3 * time.Second)
			s.Down()
			time.Sleep(time.Second)
			s.Up()
		}
		wantState(t, <-outcomes, swarm.StateCompleted)
		if got := <-text; got != "abcdefghijklmnopqrst" {
			t.Errorf("streamed %q", got)
		}
		if len(runs) != 1 {
			t.Errorf("the handler ran %d times, want once", len(runs))
		}
	})
}

// A run whose deadline passes while the server is down ends when it is back.
func TestDeadlineWhileDown(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		slow := s.Work("slow", reply(time.Minute, ""))
		c := s.Client(swarmtest.NewKey(t))
		outcomes := make(chan *swarm.Outcome, 1)
		go func() {
			o, err := c.Delegate(t.Context(), swarm.Request{To: slow.Address(), Task: "x", Timeout: 10 * time.Second})
			if err != nil {
				t.Error(err)
			}
			outcomes <- o
		}()
		time.Sleep(5 * time.Second)
		s.Down()
		time.Sleep(15 * time.Second)
		s.Up()
		wantState(t, <-outcomes, swarm.StateTimeout)
	})
}
