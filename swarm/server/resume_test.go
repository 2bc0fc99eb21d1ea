package server_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// watch opens a run's stream after an id as a browser does.
func watch(t testing.TB, s *swarmtest.Swarm, id, after string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", swarmtest.BaseURL+"/delegations/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// frame is one frame as it came, with a type to tell it by.
type frame struct{ id, kind, data string }

func (f frame) String() string { return f.id + " " + f.kind }

// next reads n frames.
func next(t testing.TB, s *stream.Scanner, n int) (out []frame) {
	t.Helper()
	for range n {
		f, err := s.Next()
		if err != nil {
			t.Fatalf("after %v: %v", out, err)
		}
		out = append(out, frameOf(f))
	}
	return out
}

func frameOf(f stream.Frame) frame {
	kind := gjson.GetBytes(f.Data, "type").Str
	if string(f.Data) == "[DONE]" {
		kind = "[DONE]"
	}
	return frame{f.ID, kind, string(f.Data)}
}

// framesOf reads a stream to its end, which must be clean.
func framesOf(t testing.TB, r io.Reader) (out []frame) {
	t.Helper()
	s := stream.NewScanner(r)
	for {
		f, err := s.Next()
		if err == io.EOF && !s.Truncated() {
			return out
		}
		if err != nil {
			t.Fatalf("after %v: %v", out, err)
		}
		out = append(out, frameOf(f))
	}
}

// rest gives what a stream has after an id, to its end.
func rest(t testing.TB, s *swarmtest.Swarm, id, after string) []frame {
	t.Helper()
	resp := watch(t, s, id, after)
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return framesOf(t, resp.Body)
	case http.StatusNoContent:
		return nil
	}
	body, _ := io.ReadAll(resp.Body)
	t.Fatalf("stream of %s after %q: %s %s", id, after, resp.Status, body)
	return nil
}

// same compares frames; got may also have the stamps of another rendering.
func same(t testing.TB, what string, got, want []frame) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

// puppet is a worker whose task does what the test says, step by step. What it
// reports is in the journal when a step has returned.
type puppet struct {
	*swarmtest.Worker
	steps chan func(context.Context, *agent.Task)
	name  string // what the test calls the run
	id    string // of the run
	begun []frame
	seen  chan frame // the run as whoever started it sees it; closed when it has ended
}

// play starts a run whose worker is the test's to lead.
func play(t testing.TB, s *swarmtest.Swarm) *puppet {
	t.Helper()
	p := &puppet{steps: make(chan func(context.Context, *agent.Task)), name: crand.Text()}
	p.Worker = s.Work("puppet", func(ctx context.Context, task *agent.Task) (string, error) {
		for {
			select {
			case step, ok := <-p.steps:
				if !ok {
					return "the end", nil
				}
				step(ctx, task)
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	})
	p.start(t, s)
	return p
}

// start begins the run over Compose's route, or, called again, finds it.
func (p *puppet) start(t testing.TB, s *swarmtest.Swarm) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", swarmtest.BaseURL+"/agent/"+p.Address().String()+"/stream", strings.NewReader(`{"message":"dance","runId":"`+p.name+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "localhost"
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	p.id, p.seen = resp.Header.Get("x-run-id"), make(chan frame, 1000)
	seen := p.seen
	go func() { // connections in memory hold nothing: unread, they would be cut off
		for scanner := stream.NewScanner(resp.Body); ; {
			f, err := scanner.Next()
			if err == io.EOF && !scanner.Truncated() {
				close(seen)
			}
			if err != nil {
				return
			}
			seen <- frameOf(f)
		}
	}()
	p.begun = p.next(t, 2) // created and claimed
}

// next gives the next n frames of the run.
func (p *puppet) next(t testing.TB, n int) (out []frame) {
	t.Helper()
	for range n {
		select {
		case f, ok := <-p.seen:
			if !ok {
				t.Fatalf("the run ended after %v", out)
			}
			out = append(out, f)
		case <-time.After(time.Minute):
			t.Fatalf("no frame after %v within a minute", out)
		}
	}
	return out
}

// say has the worker report n events, and gives their frames.
func (p *puppet) say(t testing.TB, n int) []frame {
	t.Helper()
	p.steps <- func(_ context.Context, task *agent.Task) {
		for i := range n {
			if err := task.Emit(map[string]any{"type": "trace", "message": fmt.Sprint(i)}); err != nil {
				t.Error(err)
			}
		}
	}
	return p.next(t, n)
}

// end lets the run complete.
func (p *puppet) end(t testing.TB) []frame {
	t.Helper()
	close(p.steps)
	var out []frame
	for len(out) == 0 || out[len(out)-1].kind != "[DONE]" {
		out = append(out, p.next(t, 1)...)
	}
	return out
}

// perform runs a delegation with everything in it that makes frames: searches,
// children of children, tools with and without an end, a failure.
func perform(t *testing.T, s *swarmtest.Swarm) (root string, runs []string) {
	t.Helper()
	var mu sync.Mutex
	note := func(task *agent.Task) {
		mu.Lock()
		defer mu.Unlock()
		runs = append(runs, task.ID)
	}
	leaf := s.Work("leaf", func(_ context.Context, task *agent.Task) (string, error) {
		note(task)
		for i := range 3 {
			task.Tool("left open", i, "never ends")
		}
		task.Text("some text\nwith lines")
		return "leaf's", nil
	})
	failing := s.Work("failing", func(_ context.Context, task *agent.Task) (string, error) {
		note(task)
		task.Tool("left open", 1, "never ends")
		return "", errors.New("failed on purpose")
	})
	middle := s.Work("middle", func(ctx context.Context, task *agent.Task) (string, error) {
		note(task)
		for range 2 {
			if _, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "x"}); err != nil {
				return "", err
			}
		}
		return "middle's", nil
	})
	boss := s.Work("boss", func(ctx context.Context, task *agent.Task) (string, error) {
		note(task)
		task.Tool("left open", 1, "never ends")
		task.Tool("left open too", 2, "never ends")
		if _, err := task.Find(ctx, swarm.Query{Text: "leaf"}); err != nil {
			return "", err
		}
		var wg sync.WaitGroup
		for _, w := range []*swarmtest.Worker{middle, failing} {
			wg.Go(func() {
				if _, err := task.Delegate(ctx, swarm.Request{To: w.Address(), Task: "y"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return "boss's", nil
	})
	o := delegate(t, s.Client(swarmtest.NewKey(t)), swarm.Request{To: boss.Address(), Task: "go"})
	wantState(t, o, swarm.StateCompleted)
	return o.ID, runs
}

// A stream that is cut anywhere, between two frames or within one, and taken
// up by the last id that came whole, gives each frame once: for a run and each
// below it, also after a restart.
func TestResumeAtEveryCut(t *testing.T) {
	s := swarmtest.Start(t, nil)
	_, runs := perform(t, s)
	if len(runs) != 5 {
		t.Fatalf("%d runs, want 5", len(runs))
	}
	check := func(t *testing.T) {
		for _, id := range runs {
			resp := watch(t, s, id, "")
			wire, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			whole := framesOf(t, bytes.NewReader(wire))
			ids := make(map[string]bool)
			for _, f := range whole {
				if f.id == "" || ids[f.id] {
					t.Fatalf("id %q is no frame's own in %v", f.id, whole)
				}
				ids[f.id] = true
			}
			cuts := []int{0, len(wire)}
			for i := range wire {
				if bytes.HasSuffix(wire[:i], []byte("\n\n")) || rand.N(200) == 0 {
					cuts = append(cuts, i)
				}
			}
			for _, cut := range cuts {
				scanner := stream.NewScanner(bytes.NewReader(wire[:cut]))
				var got []frame
				for {
					f, err := scanner.Next()
					if err != nil {
						break
					}
					got = append(got, frameOf(f))
				}
				same(t, fmt.Sprintf("cut at byte %d", cut), append(got, rest(t, s, id, scanner.LastEventID())...), whole)
			}
		}
	}
	t.Run("first", check)
	s.Down()
	s.Up()
	t.Run("after a restart", check)
}

// A run that goes on is cut again and again, at random bytes, while its worker
// reports in bursts that are larger than what may wait for a reader.
func TestResumeWhileItGoesOn(t *testing.T) {
	s := swarmtest.Start(t, nil)
	w := s.Work("talker", func(ctx context.Context, task *agent.Task) (string, error) {
		for i := range 400 {
			if i%100 == 0 {
				task.Tool("left open", i, "never ends")
				time.Sleep(5 * time.Millisecond)
			}
			if err := task.Emit(map[string]any{"type": "trace", "message": fmt.Sprint(i)}); err != nil {
				return "", err
			}
		}
		return "done", nil
	})
	signed, err := s.Client(swarmtest.NewKey(t)).Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "x"})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Client(swarmtest.NewKey(t))
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		_, _ = c.Submit(t.Context(), signed, swarm.Request{})
	}()
	id := signed.Delegation.ID()
	for s.Server.InFlight() == 0 {
		time.Sleep(time.Millisecond)
	}
	var wg sync.WaitGroup
	streams := make([][]frame, 4)
	for i := range streams {
		wg.Go(func() {
			last, cuts := "", 0
			for {
				resp := watch(t, s, id, last)
				if resp.StatusCode == http.StatusNoContent {
					break
				}
				scanner := stream.NewScanner(io.LimitReader(resp.Body, rand.N(int64(1_000*(i+1)*(i+1)))))
				for {
					f, err := scanner.Next()
					if err != nil {
						break
					}
					streams[i] = append(streams[i], frameOf(f))
				}
				if id := scanner.LastEventID(); id != "" {
					last = id
				}
				resp.Body.Close()
				cuts++
			}
			t.Logf("reader %d was cut %d times", i, cuts)
		})
	}
	wg.Wait()
	<-submitted
	whole := rest(t, s, id, "")
	if len(whole) < 400 {
		t.Fatalf("%d frames", len(whole))
	}
	for i, got := range streams {
		same(t, fmt.Sprintf("reader %d", i), got, whole)
	}
}
