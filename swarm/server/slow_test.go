package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// overTCP serves the swarm on a real port besides, with small socket buffers,
// and gives a client whose buffers are small, too.
func overTCP(t *testing.T, s *swarmtest.Swarm, config func(*http.Server)) (url string, c *http.Client) {
	t.Helper()
	front := httptest.NewUnstartedServer(s.Server.Handler())
	front.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
		}
	}
	if config != nil {
		config(front.Config)
	}
	front.Start()
	t.Cleanup(front.Close)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return front.URL, &http.Client{Transport: transport}
}

func get(t *testing.T, c *http.Client, url, after string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", after)
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// One reader of a run never reads. It is cut off, no other reader of the run
// waits for it, and what it had not taken it gets when it comes back.
func TestOneReaderThatNeverReads(t *testing.T) {
	const bound = time.Second
	s := swarmtest.Start(t, func(c *server.Config) { c.WriteTimeout = bound })
	url, small := overTCP(t, s, nil)
	p := play(t, s)
	path := url + "/delegations/" + p.id + "/events"
	stuck := stream.NewScanner(get(t, small, path, "").Body)
	had := next(t, stuck, 1)
	resp := get(t, http.DefaultClient, path, "")
	others := make(chan frame, 1000)
	go func() {
		defer close(others)
		for scanner := stream.NewScanner(resp.Body); ; {
			f, err := scanner.Next()
			if err != nil {
				if err != io.EOF || scanner.Truncated() {
					t.Errorf("the reader that reads: %v", err)
				}
				return
			}
			others <- frameOf(f)
		}
	}()
	whole := []frame{<-others, <-others}

	var slowest time.Duration
	for range 40 { // 640 KB, more than all buffers hold
		start := time.Now()
		p.steps <- func(_ context.Context, task *agent.Task) {
			if err := task.Emit(map[string]any{"type": "trace", "message": strings.Repeat("x", 16<<10)}); err != nil {
				t.Error(err)
			}
		}
		p.next(t, 1)
		whole = append(whole, <-others)
		slowest = max(slowest, time.Since(start))
	}
	if slowest > bound {
		t.Errorf("the reader that reads waited %v for an event", slowest)
	}
	time.Sleep(2 * bound)
	// What was on its way when it was cut off can still be read.
	var err error
	for err == nil {
		var f stream.Frame
		if f, err = stuck.Next(); err == nil {
			had = append(had, frameOf(f))
		}
	}
	if err == io.EOF && !stuck.Truncated() || len(had) > 20 {
		t.Errorf("the reader that never read had %d frames of %d, and then %v", len(had), len(whole), err)
	}
	p.end(t)
	for f := range others {
		whole = append(whole, f)
	}
	same(t, "the reader that was cut off", append(had, framesOf(t, get(t, http.DefaultClient, path, stuck.LastEventID()).Body)...), whole)
}

// A server's bounds on short answers kill no stream of a run or an inbox,
// however silent it is.
func TestServerWriteTimeoutKillsNoStream(t *testing.T) {
	const bound = 200 * time.Millisecond
	s := swarmtest.Start(t, nil)
	url, c := overTCP(t, s, func(h *http.Server) {
		h.ReadTimeout, h.WriteTimeout, h.IdleTimeout = bound, bound, bound
	})
	p := play(t, s)
	inboxes := make(chan error, 10)
	other := &agent.Worker{
		Server: url, HTTP: c, Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "behind it"},
		Handler:   agent.HandlerFunc(func(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil }),
		OnConnect: func() { inboxes <- nil },
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = other.Run(ctx)
	}()
	scanner := stream.NewScanner(get(t, c, url+"/delegations/"+p.id+"/events", "").Body)
	same(t, "the beginning", next(t, scanner, 2), p.begun)
	for range 3 {
		time.Sleep(2 * bound)
		said := p.say(t, 1)
		same(t, "after a silence", next(t, scanner, 1), said)
	}
	end := p.end(t)
	same(t, "the end", next(t, scanner, len(end)), end)
	if n := len(inboxes); n != 1 {
		t.Errorf("the inbox was opened %d times", n)
	}
	cancel()
	<-ended
}

// A silent run's stream is kept alive by comments.
func TestPingsOfASilentRun(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		p := play(t, s)
		resp := watch(t, s, p.id, "")
		scanner := stream.NewScanner(resp.Body)
		time.AfterFunc(95*time.Second, func() { close(p.steps) })
		start := time.Now()
		for {
			if _, err := scanner.Next(); err != nil {
				break
			}
		}
		if n := scanner.Comments(); n != 9 {
			t.Errorf("%d comments in %v, want 9", n, time.Since(start))
		}
	})
}
