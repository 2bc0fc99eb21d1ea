package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
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
	inBubbleOver(1, t, h, f)
}

// inBubbleOver is inBubble by HTTP/1.1 or HTTP/2.
func inBubbleOver(proto int, t *testing.T, h http.HandlerFunc, f func(*testing.T, *stream.Client, *pipeServer)) {
	t.Helper()
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
		}), ErrorLog: log.New(io.Discard, "", 0)}
		var protocols http.Protocols
		protocols.SetHTTP1(proto == 1)
		protocols.SetUnencryptedHTTP2(proto == 2)
		server.Protocols = &protocols
		go server.Serve(p)
		transport := &http.Transport{DialContext: p.dial, Protocols: &protocols}
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

func TestAfterTheTerminalEventTheWaitIsBounded(t *testing.T) {
	for name, last := range map[string]string{
		"done":  done(1),
		"error": "id: 1\ndata: {\"type\":\"error\",\"error\":\"no\"}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			var n int
			chatty := func(w http.ResponseWriter, r *http.Request) {
				say(last)(w, r)
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
				want(t, "events", got, []string{"1 " + name, "2 receipt"})
				if _, failed := err.(*stream.RunError); failed != (name == "error") || err != nil && !failed {
					t.Errorf("error %v", err)
				}
				took(t, start, 5*time.Second, 6*time.Second)
				if n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
			})
		})
	}
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

// silent dials a peer that takes what it is sent and never answers.
func silent(release chan struct{}) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go io.Copy(io.Discard, far)
		go func() { <-release; far.Close() }()
		return near, nil
	}
}

// A dial that looks at no context, a handshake and a head that never come: each
// is left at once, and patience ends each.
func TestNoConnectionYet(t *testing.T) {
	cause := fmt.Errorf("the user left")
	for _, c := range []struct {
		name   string
		dial   func(release chan struct{}) func(context.Context, string, string) (net.Conn, error)
		url    string
		mayRun bool
	}{
		{"the dial blocks", func(release chan struct{}) func(context.Context, string, string) (net.Conn, error) {
			return func(context.Context, string, string) (net.Conn, error) {
				<-release
				return nil, syscall.ECONNREFUSED
			}
		}, "http://swarm.test", false},
		{"the handshake blocks", silent, "https://swarm.test", false},
		{"the head blocks", silent, "http://swarm.test", true},
	} {
		bubble := func(name string, f func(*testing.T, *stream.Client)) {
			t.Run(c.name+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release := make(chan struct{})
					transport := &http.Transport{DialContext: c.dial(release)}
					f(t, &stream.Client{BaseURL: c.url, HTTP: &http.Client{Transport: transport}})
					close(release)
					transport.CloseIdleConnections()
				})
			})
		}
		bubble("the caller leaves", func(t *testing.T, client *stream.Client) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(3*time.Second, func() { cancel(cause) })
			start := time.Now()
			if _, err := collect(t, client.Run(ctx, agent, stream.Request{Message: "hi"})); err != cause {
				t.Errorf("error %v, want the cause", err)
			}
			took(t, start, 3*time.Second, 3*time.Second)
		})
		bubble("patience ends", func(t *testing.T, client *stream.Client) {
			start := time.Now()
			_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			if e, ok := err.(*stream.StartError); !ok || e.MayRun != c.mayRun || !errors.Is(err, stream.ErrIdle) {
				t.Errorf("%v, want a *StartError of ErrIdle, MayRun %t", err, c.mayRun)
			}
			took(t, start, time.Minute, time.Minute)
		})
	}
}
