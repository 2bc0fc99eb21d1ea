package agent_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs a test on a swarm whose time is the bubble's.
func bubble(t *testing.T, test func(t *testing.T, s *swarmtest.Swarm)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, swarmtest.Start(t, nil)) })
}

func delegate(t *testing.T, d swarm.Delegator, r swarm.Request) *swarm.Outcome {
	t.Helper()
	o, err := d.Delegate(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func wantOutput(t *testing.T, o *swarm.Outcome, want string) {
	t.Helper()
	if o.State != swarm.StateCompleted || o.Output != want {
		t.Errorf("outcome is %s %q (%v), want completed %q", o.State, o.Output, o.Error, want)
	}
}

// wantFailure asks for a failure that the worker signed.
func wantFailure(t *testing.T, o *swarm.Outcome, says string) {
	t.Helper()
	if o.State != swarm.StateFailed || o.Result == nil || o.Result.Output != o.Error.Message || !strings.Contains(o.Error.Message, says) {
		t.Errorf("outcome is %s (%v) with the result %+v, want a signed failure that says %q", o.State, o.Error, o.Result, says)
	}
}

// verified gives the bundle of a delegation, all of whose checks hold.
func verified(t *testing.T, c *client.Client, id string) *swarm.Bundle {
	t.Helper()
	bundle, err := c.Receipt(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if report := bundle.Verify(swarm.Expect{}); !report.Verified {
		t.Errorf("the bundle does not hold: %+v", report.Broken())
	}
	return bundle
}

// streamed gives a run's events.
func streamed(t *testing.T, c *client.Client, id string) []events.Event {
	t.Helper()
	var all []events.Event
	for ev, err := range c.Stream().Watch(t.Context(), id, "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ev.Clone())
	}
	return all
}

// loss is what becomes of a request.
type loss int

const (
	nothing loss = iota
	request      // it never gets there
	answer       // it gets there, and its answer does not come back
)

var errLost = errors.New("lost on the way")

// badNetwork is a transport that loses what it is told to, keeps what was
// posted, and cuts streams.
type badNetwork struct {
	next http.RoundTripper
	lose func(r *http.Request) loss // nil loses nothing

	mu     sync.Mutex
	bodies map[string][]string // by "METHOD route", of what was sent
	cuts   []context.CancelFunc
}

func (n *badNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		n.mu.Lock()
		if n.bodies == nil {
			n.bodies = make(map[string][]string)
		}
		route := r.Method + " " + r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		n.bodies[route] = append(n.bodies[route], string(body))
		n.mu.Unlock()
	}
	var lost loss
	if n.lose != nil {
		lost = n.lose(r)
	}
	if lost == request {
		return nil, errLost
	}
	ctx, cancel := context.WithCancel(r.Context())
	n.mu.Lock()
	n.cuts = append(n.cuts, cancel)
	n.mu.Unlock()
	resp, err := n.next.RoundTrip(r.WithContext(ctx))
	if err == nil && lost == answer {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		return nil, errLost
	}
	return resp, err
}

// cut breaks every connection that is open.
func (n *badNetwork) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, cancel := range n.cuts {
		cancel()
	}
	n.cuts = nil
}

func (n *badNetwork) sent(route string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.bodies[route]...)
}

// workOver starts a worker behind a bad network.
func workOver(t *testing.T, s *swarmtest.Swarm, lose func(*http.Request) loss, handle agent.HandlerFunc) (*swarmtest.Worker, *badNetwork) {
	t.Helper()
	n := &badNetwork{next: s.HTTP.Transport, lose: lose}
	w := s.Start(&agent.Worker{
		Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "far away"}, Handler: handle, HTTP: &http.Client{Transport: n},
	})
	t.Cleanup(n.cut)
	return w, n
}

// firstOf loses the first n requests to a route in the given way.
func firstOf(n int, method, route string, way loss) func(*http.Request) loss {
	var mu sync.Mutex
	return func(r *http.Request) loss {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == method && strings.HasSuffix(r.URL.Path, "/"+route) && n > 0 {
			n--
			return way
		}
		return nothing
	}
}

func echo(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil }

func after(d time.Duration, text string) agent.HandlerFunc {
	return func(context.Context, *agent.Task) (string, error) {
		time.Sleep(d)
		return text, nil
	}
}
