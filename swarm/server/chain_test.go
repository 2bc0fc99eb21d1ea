package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
)

// A handler finds and delegates many at once, one of its peers delegates on,
// one fails: the stream shows every call with its end, and the bundle proves
// all of it.
func TestFanOut(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		leaf := s.Work("digit counter", func(_ context.Context, task *agent.Task) (string, error) {
			task.Text("counting")
			end := task.Tool("scan", map[string]string{"text": task.Input}, "scans")
			end(map[string]int{"digits": 3}, nil)
			return "3 digits", nil
		})
		s.Work("letter counter", func(ctx context.Context, task *agent.Task) (string, error) {
			o, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "abc123"})
			if err != nil {
				return "", err
			}
			return "3 letters, " + o.Output, nil
		})
		s.Work("poem counter", func(context.Context, *agent.Task) (string, error) {
			return "", errors.New("there is no poem")
		})
		boss := s.Work("boss", func(ctx context.Context, task *agent.Task) (string, error) {
			parts := []string{"letter counter", "poem counter"}
			answers := make([]string, len(parts))
			var wg sync.WaitGroup
			for i, part := range parts {
				wg.Go(func() {
					found, err := task.Find(ctx, swarm.Query{Text: part})
					if err != nil || len(found.Results) == 0 {
						answers[i] = fmt.Sprint("not found: ", err)
						return
					}
					o, err := task.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: "count the parts of abc123"})
					switch {
					case err != nil:
						answers[i] = err.Error()
					case o.Error != nil:
						answers[i] = "failed: " + o.Error.Message
					default:
						answers[i] = o.Output
					}
				})
			}
			wg.Wait()
			return strings.Join(answers, "; "), nil
		})
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: boss.Address(), Task: "count"})
		wantState(t, o, swarm.StateCompleted)
		if want := "3 letters, 3 digits; failed: there is no poem"; o.Output != want {
			t.Errorf("output %q, want %q", o.Output, want)
		}

		var tracker events.Tracker
		types := map[string]int{}
		var ids []string
		seq := 0
		for ev, err := range c.Stream().Watch(t.Context(), o.ID, "") {
			if err != nil {
				t.Fatal(err)
			}
			seq++
			types[ev.Type]++
			ids = append(ids, ev.ID)
			if te, err := events.ParseToolEvent(ev); err == nil {
				tracker.Add(seq, te)
				if te.Delegates() {
					if _, err := wallet.ParseAddress(te.Agent()); err != nil || te.Action == "" || te.Display == nil {
						t.Errorf("delegation without agent, action or display: %s", ev.Data)
					}
				}
			}
		}
		for _, call := range tracker.Calls() {
			if call.Start == 0 || call.End == 0 {
				t.Errorf("half a call: %+v", call)
			}
		}
		if n := len(tracker.Calls()); n != 5 { // two finds, three delegations
			t.Errorf("%d calls, want 5", n)
		}
		for kind, want := range map[string]int{
			"tool_start": 4, "tool_end": 4, "swarm_child_start": 3, "swarm_child_done": 2, "swarm_child_error": 1,
			"swarm_child_tool_start": 2, "swarm_child_tool_end": 2, "swarm_child_delta": 1, "done": 1, "receipt": 1, "[DONE]": 1,
		} {
			if types[kind] != want {
				t.Errorf("%d %s, want %d (%v)", types[kind], kind, want, types)
			}
		}

		// Resumed from any id, a stream goes on with what came after it.
		for i, id := range ids {
			rest := 0
			for _, err := range c.Stream().Watch(t.Context(), o.ID, id) {
				if err != nil {
					t.Fatal(err)
				}
				rest++
			}
			if len(ids)-1-i != rest {
				t.Errorf("from id %s (frame %d of %d): %d frames came", id, i+1, len(ids), rest)
			}
		}

		bundle, err := c.Receipt(t.Context(), o.ID)
		if err != nil {
			t.Fatal(err)
		}
		root := o.Result.Result.Delegation
		report := bundle.Verify(swarm.Expect{Root: &root})
		if !report.Verified || len(report.Hops) != 4 {
			t.Errorf("%d hops, broken: %+v", len(report.Hops), report.Broken())
		}
	})
}

// What the rules of the chain refuse.
func TestChainRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		workers := make([]*swarmtest.Worker, 7)
		codes := make(chan swarm.Code, 10)
		// Each hands the task to the next in line, or to whoever the task names.
		for i := range workers {
			workers[i] = s.Work(fmt.Sprintf("worker %d", i), func(ctx context.Context, task *agent.Task) (string, error) {
				to := task.Input
				if next, rest, more := strings.Cut(task.Input, " "); more {
					to = next
					_, err := task.Delegate(ctx, swarm.Request{To: wallet.MustParseAddress(to), Task: rest})
					codes <- swarm.CodeOf(err)
					return "", err
				}
				return to, nil
			})
		}
		path := func(order ...int) string {
			var names []string
			for _, i := range order {
				names = append(names, workers[i].Address().String())
			}
			return strings.Join(append(names, "end"), " ")
		}
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		first := workers[0].Address()

		wantState(t, delegate(t, c, swarm.Request{To: first, Task: path(1, 2, 3, 4)}), swarm.StateCompleted)
		for range 4 {
			wantCodeIs(t, <-codes, "")
		}
		// Five delegations are the most.
		delegate(t, c, swarm.Request{To: first, Task: path(1, 2, 3, 4, 5)})
		wantCodeIs(t, <-codes, swarm.CodeChainTooLong)
		for range 4 {
			<-codes
		}
		// Nobody twice: not the one before, not the first, not the user.
		delegate(t, c, swarm.Request{To: first, Task: path(1, 0)})
		wantCodeIs(t, <-codes, swarm.CodeLoop)
		<-codes
		delegate(t, c, swarm.Request{To: first, Task: path(0)})
		wantCodeIs(t, <-codes, swarm.CodeSelfRequest)
		user := s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "user"}, Handler: agent.HandlerFunc(
			func(context.Context, *agent.Task) (string, error) { return "", nil })})
		delegate(t, c, swarm.Request{To: first, Task: user.Address().String() + " end"})
		wantCodeIs(t, <-codes, swarm.CodeLoop)

		_, err := c.Delegate(t.Context(), swarm.Request{To: key.Address(), Task: "x"})
		wantCode(t, err, swarm.CodeSelfRequest)
		_, err = c.Delegate(t.Context(), swarm.Request{To: swarmtest.NewKey(t).Address(), Task: "x"})
		wantCode(t, err, swarm.CodeAgentNotFound)
		human := s.Start(&agent.Worker{Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "Ann", Kind: swarm.KindHuman},
			Handler: agent.HandlerFunc(func(context.Context, *agent.Task) (string, error) { return "", nil })})
		_, err = c.Delegate(t.Context(), swarm.Request{To: human.Address(), Task: "x"})
		wantCode(t, err, swarm.CodeHuman)

		workers[6].Stop()
		if o := delegate(t, c, swarm.Request{To: first, Task: "fine"}); o.Output != "fine" {
			t.Errorf("got %+v", o)
		}
		time.Sleep(20 * time.Second) // the lease
		_, err = c.Delegate(t.Context(), swarm.Request{To: workers[6].Address(), Task: "x"})
		wantCode(t, err, swarm.CodeNotAvailable)
	})
}

func wantCodeIs(t *testing.T, got, want swarm.Code) {
	t.Helper()
	if got != want {
		t.Errorf("code %q, want %q", got, want)
	}
}

// Who is left out of a search.
func TestFindLeavesOut(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		quick := s.Work("quick counter", reply(0, "1"))
		slow := s.Work("slow counter", reply(20*time.Second, "2"))
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		find := func() string {
			t.Helper()
			found, err := c.Find(t.Context(), swarm.Query{Text: "counter"})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, m := range found.Results {
				names = append(names, m.Name)
			}
			return strings.Join(names, ", ")
		}
		want := func(when, want string) {
			t.Helper()
			if got := find(); got != want {
				t.Errorf("%s: found %q, want %q", when, got, want)
			}
		}
		want("at first", "quick counter, slow counter")
		done := make(chan *swarm.Outcome)
		go func() {
			o, err := c.Delegate(t.Context(), swarm.Request{To: slow.Address(), Task: "x", Timeout: 10 * time.Second})
			if err != nil {
				t.Error(err)
			}
			done <- o
		}()
		time.Sleep(time.Second)
		want("with a delegation open", "quick counter")
		wantState(t, <-done, swarm.StateTimeout)
		want("after a timeout", "quick counter")
		time.Sleep(15 * time.Second)
		want("after the late reply", "quick counter, slow counter")
		quick.Stop()
		time.Sleep(20 * time.Second)
		want("with a worker gone", "slow counter")

		// The caller itself.
		s.Start(&agent.Worker{Key: key, Card: swarm.Card{Name: "my counter"}, Handler: agent.HandlerFunc(
			func(context.Context, *agent.Task) (string, error) { return "", nil })})
		want("with an agent of the caller's", "slow counter")
	})
}

// A signed delegation runs once, however often it comes; its nonce is used up.
func TestOnce(t *testing.T) {
	s := swarmtest.Start(t, nil)
	var mu sync.Mutex
	runs := 0
	w := s.Work("once", func(context.Context, *agent.Task) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		runs++
		return fmt.Sprint("run ", runs), nil
	})
	c := s.Client(swarmtest.NewKey(t))
	r := swarm.Request{To: w.Address(), Task: "x"}
	signed, err := c.Sign(t.Context(), nil, r)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			o, err := c.Submit(t.Context(), signed, r)
			if err != nil || o.Output != "run 1" {
				t.Errorf("got %+v, %v; want the first run's output", o, err)
			}
		})
	}
	wg.Wait()
	if runs != 1 {
		t.Errorf("ran %d times", runs)
	}
	// Retried when the agent is gone and its lease over, it has the same answer.
	w.Stop()
	if o, err := c.Submit(t.Context(), signed, r); err != nil || o.Output != "run 1" {
		t.Errorf("retried later: %+v, %v", o, err)
	}

	w2 := s.Work("twice", func(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil })
	keyed := swarm.Request{To: w2.Address(), Task: "one", IdempotencyKey: "order 17"}
	first := delegate(t, c, keyed)
	time.Sleep(1100 * time.Millisecond) // issuedAt is another second's
	if again := delegate(t, c, keyed); again.ID != first.ID || again.Output != "one" {
		t.Errorf("same key: got %+v, want %s", again, first.ID)
	}
	keyed.Task = "two"
	_, err = c.Delegate(t.Context(), keyed)
	wantCode(t, err, swarm.CodeNonceConflict)
}

// Beyond the caps nothing is written.
func TestCaps(t *testing.T) {
	s := swarmtest.Start(t, func(c *server.Config) { c.MaxInFlight, c.MaxInFlightPerTo = 3, 2 })
	release := make(chan struct{})
	wait := func(context.Context, *agent.Task) (string, error) { <-release; return "", nil }
	a, b := s.Work("a", wait), s.Work("b", wait)
	c := s.Client(swarmtest.NewKey(t))
	var wg sync.WaitGroup
	for i, to := range []wallet.Address{a.Address(), a.Address(), b.Address()} {
		wg.Go(func() {
			if o, err := c.Delegate(t.Context(), swarm.Request{To: to, Task: "x"}); err != nil || o.State != swarm.StateCompleted {
				t.Errorf("%+v, %v", o, err)
			}
		})
		for s.Server.InFlight() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	signed, err := c.Sign(t.Context(), nil, swarm.Request{To: a.Address(), Task: "x"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(signed)
	if err != nil {
		t.Fatal(err)
	}
	status, header, answer := exchange(t, s, "POST", "/delegations", string(body))
	if status != http.StatusTooManyRequests || header.Get("Retry-After") == "" || !strings.Contains(answer, "3 runs are in flight") {
		t.Errorf("beyond the cap: %d %v %s", status, header, answer)
	}
	close(release)
	wg.Wait()
}
