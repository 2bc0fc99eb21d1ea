package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

// pipeServer is an HTTP server on pipes, so that its time is the test's.
type pipeServer struct {
	conns chan net.Conn
	down  atomic.Bool // connections are refused
	done  chan struct{}
}

func (p *pipeServer) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipeServer) Close() error   { return nil }
func (p *pipeServer) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p *pipeServer) dial(context.Context, string, string) (net.Conn, error) {
	if p.down.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	near, far := net.Pipe()
	p.conns <- far
	return near, nil
}

// inBubble runs f in a bubble with fake time and a server of h.
func inBubble(t *testing.T, h http.HandlerFunc, f func(*testing.T, *stream.Client, *pipeServer)) {
	synctest.Test(t, func(t *testing.T) {
		p := &pipeServer{conns: make(chan net.Conn), done: make(chan struct{})}
		// Close ends connections, and does not wait for their handlers.
		var (
			mu       sync.Mutex
			closed   bool // no handler starts any more
			handlers sync.WaitGroup
		)
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			if !closed {
				handlers.Add(1)
				defer handlers.Done()
			}
			late := closed
			mu.Unlock()
			if !late {
				h(w, r)
			}
		})}
		go server.Serve(p)
		transport := &http.Transport{DialContext: p.dial}
		defer func() {
			transport.CloseIdleConnections()
			close(p.done)
			server.Close()
			mu.Lock()
			closed = true
			mu.Unlock()
			handlers.Wait()
		}()
		f(t, &stream.Client{BaseURL: "http://swarm.test", HTTP: &http.Client{Transport: transport}}, p)
	})
}

func took(t *testing.T, start time.Time, low, high time.Duration) {
	t.Helper()
	if d := time.Since(start); d < low || d > high {
		t.Errorf("it took %v, want %v to %v", d, low, high)
	}
}

// steps serves the handlers in turn, the last one for all requests to come.
func steps(count *int, handlers ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := min(*count, len(handlers)-1)
		*count++
		handlers[i](w, r)
	}
}

func TestRestartOfSomeSecondsIsSurvived(t *testing.T) {
	var n int
	var p *pipeServer
	dies := func(w http.ResponseWriter, r *http.Request) {
		p.down.Store(true)
		time.AfterFunc(20*time.Second, func() { p.down.Store(false) })
		cut(delta(1))(w, r)
	}
	inBubble(t, steps(&n, dies, say(done(2))), func(t *testing.T, client *stream.Client, server *pipeServer) {
		p = server
		var retries int
		client.OnRetry = func(err error, wait time.Duration) {
			retries++
			if wait < 125*time.Millisecond || wait > 5*time.Second {
				t.Errorf("a wait of %v, want 125 ms to 5 s", wait)
			}
		}
		start := time.Now()
		got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
		want(t, "events", got, []string{"1 text-delta", "2 done"})
		if err != nil {
			t.Error(err)
		}
		took(t, start, 20*time.Second, 26*time.Second)
		if retries < 6 || retries > 16 {
			t.Errorf("%d tries", retries)
		}
	})
}

func TestGivesUp(t *testing.T) {
	for _, c := range []struct {
		name string
		then http.HandlerFunc // after the first, cut stream; nil: refused
		is   func(error) bool
	}{
		{"refused", nil, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		// Opens and breaks at once: no progress, whatever the status says.
		{"cut at once each time", cut(""), func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"the same id again and again", cut("id: 1\ndata: x\n\n"), func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
		{"busy", answer(503, ""), func(err error) bool { return isHTTP(err, 503) }},
		{"busy for longer than that", answer(503, "", "Retry-After", "90"), func(err error) bool {
			e, ok := errors.AsType[*stream.HTTPError](err)
			return ok && e.RetryAfter == 90*time.Second
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n int
			var p *pipeServer
			first := func(w http.ResponseWriter, r *http.Request) {
				p.down.Store(c.then == nil)
				cut(delta(1))(w, r)
			}
			inBubble(t, steps(&n, first, c.then), func(t *testing.T, client *stream.Client, server *pipeServer) {
				p = server
				start := time.Now()
				_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
				e, ok := err.(*stream.TruncatedError)
				if !ok || e.LastEventID != "1" || !c.is(err) {
					t.Errorf("error %v", err)
				}
				took(t, start, 0, time.Minute)
				if !strings.Contains(c.name, "longer") {
					took(t, start, 50*time.Second, time.Minute)
				}
				if n > 40 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func TestProgressStartsTheCountAnew(t *testing.T) {
	// Twenty minutes of a stream that breaks every 10 s but moves on each time.
	var n int
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		if n == 120 {
			say(done(n))(w, r)
			return
		}
		say(delta(n))(w, r)
		time.Sleep(10 * time.Second)
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
		if err != nil || len(got) != 120 {
			t.Errorf("%d events, %v", len(got), err)
		}
	})
}

func TestSilentRunBehindAProxyThatCutsEachMinute(t *testing.T) {
	var n int
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 60 {
			say(done(1))(w, r)
			return
		}
		say(": ping\n\n")(w, r)
		time.Sleep(50 * time.Second)
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		client.Quiet = time.Hour
		if got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil || len(got) != 1 {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestRetryFieldWithinBounds(t *testing.T) {
	for _, c := range []struct {
		field     string
		low, high time.Duration
	}{
		{"2000", time.Second, 2 * time.Second},
		{"0", 50 * time.Millisecond, 100 * time.Millisecond},
		{"9999999999", 15 * time.Second, 30 * time.Second},
	} {
		t.Run(c.field, func(t *testing.T) {
			var n int
			inBubble(t, steps(&n, cut("retry: "+c.field+"\n\n"+delta(1)), say(done(2))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
				start := time.Now()
				if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
					t.Error(err)
				}
				took(t, start, c.low, c.high)
			})
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	var n int
	inBubble(t, steps(&n, cut(delta(1)), answer(429, "", "Retry-After", "20"), say(done(2))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
		start := time.Now()
		if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
			t.Error(err)
		}
		took(t, start, 20*time.Second, 23*time.Second)
	})
}

func TestIdle(t *testing.T) {
	t.Run("a stream without a byte is taken up", func(t *testing.T) {
		var n int
		inBubble(t, steps(&n, hang(delta(1)), say(done(2))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			var lost error
			client.OnRetry = func(err error, _ time.Duration) { lost = err }
			start := time.Now()
			if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
				t.Error(err)
			}
			took(t, start, time.Minute, 61*time.Second)
			if !errors.Is(lost, stream.ErrIdle) {
				t.Errorf("lost by %v, want ErrIdle", lost)
			}
		})
	})
	t.Run("comments keep it alive", func(t *testing.T) {
		inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			for range 60 {
				say(": ping\n\n")(w, r)
				time.Sleep(10 * time.Second)
			}
			say(done(1))(w, r)
		}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.Quiet = time.Hour
			client.OnRetry = func(err error, _ time.Duration) { t.Errorf("lost by %v", err) }
			if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a POST without an answer", func(t *testing.T) {
		inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			// A server learns of the client's leaving once the body is read.
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.Idle = 10 * time.Second
			start := time.Now()
			_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			if e, ok := err.(*stream.StartError); !ok || !e.MayRun || !errors.Is(err, stream.ErrIdle) {
				t.Errorf("error %v, want a *StartError by ErrIdle", err)
			}
			took(t, start, 10*time.Second, 11*time.Second)
		})
	})
	t.Run("a slow reader is no silent server", func(t *testing.T) {
		var n int
		inBubble(t, steps(&n, say(delta(1)+delta(2)+done(3))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.OnRetry = func(err error, _ time.Duration) { t.Errorf("lost by %v", err) }
			for _, err := range client.Run(t.Context(), agent, stream.Request{Message: "hi"}) {
				if err != nil {
					t.Error(err)
				}
				time.Sleep(5 * time.Minute)
			}
		})
	})
}

func TestAfterTheTerminalEventTheWaitIsBounded(t *testing.T) {
	var n int
	chatty := func(w http.ResponseWriter, r *http.Request) {
		say(done(1))(w, r)
		time.Sleep(time.Second)
		say("id: 2\nevent: receipt\ndata: {}\n\n")(w, r)
		for r.Context().Err() == nil {
			say(": ping\n\n")(w, r)
			time.Sleep(time.Second)
		}
	}
	inBubble(t, steps(&n, chatty), func(t *testing.T, client *stream.Client, _ *pipeServer) {
		start := time.Now()
		got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
		want(t, "events", got, []string{"1 done", "2 receipt"})
		if err != nil {
			t.Error(err)
		}
		took(t, start, 5*time.Second, 6*time.Second)
		if n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}

func TestEndlessWaitsForItsServer(t *testing.T) {
	// The worker starts first, the server ten minutes later.
	var n int
	inBubble(t, steps(&n, hang(delta(1))), func(t *testing.T, client *stream.Client, p *pipeServer) {
		p.down.Store(true)
		time.AfterFunc(10*time.Minute, func() { p.down.Store(false) })
		start := time.Now()
		for ev, err := range client.Follow(t.Context(), "/agents/x/inbox", stream.FollowOptions{Endless: true}) {
			if err != nil || ev.ID != "1" {
				t.Errorf("%+v, %v", ev, err)
			}
			break
		}
		took(t, start, 10*time.Minute, 10*time.Minute+6*time.Second)
	})
}

func TestCancelWhileWaitingForAnotherTry(t *testing.T) {
	var n int
	inBubble(t, steps(&n, cut("retry: 30000\n\n"+delta(1))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
		cause := fmt.Errorf("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		start := time.Now()
		if _, err := collect(t, client.Run(ctx, agent, stream.Request{Message: "hi"})); err != cause {
			t.Errorf("error %v, want the cause", err)
		}
		took(t, start, time.Second, time.Second)
	})
}
