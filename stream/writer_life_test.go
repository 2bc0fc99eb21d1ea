package stream_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/swarmseal/swarmseal/stream"
)

// overBoth runs a test of a handler over HTTP/1.1 and over HTTP/2, on real
// connections with small buffers, and sees that nothing is left running.
func overBoth(t *testing.T, config func(*http.Server), h http.HandlerFunc, test func(*testing.T, *httptest.Server)) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) })
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != proto {
					t.Errorf("the request came by %s", r.Proto)
				}
				h(w, r)
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.Config.ConnState = func(c net.Conn, state http.ConnState) {
				if state == http.StateNew {
					if s, ok := c.(*tls.Conn); ok {
						c = s.NetConn()
					}
					_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10)
				}
			}
			if config != nil {
				config(server.Config)
			}
			if server.EnableHTTP2 = proto == "HTTP/2.0"; server.EnableHTTP2 {
				server.StartTLS()
			} else {
				server.Start()
			}
			transport := server.Client().Transport.(*http.Transport)
			transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				if err == nil {
					err = c.(*net.TCPConn).SetReadBuffer(4 << 10)
				}
				return c, err
			}
			transport.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}
			t.Cleanup(server.Close)
			t.Cleanup(transport.CloseIdleConnections)
			test(t, server)
		})
	}
}

// open gives a response, whose body is closed when the test ends.
func open(t *testing.T, server *httptest.Server, path string) *http.Response {
	t.Helper()
	resp, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// A server WriteTimeout killing streams: it, and every other bound on a short
// answer, leaves streams alone, also those that are silent for longer.
func TestServersTimeoutsKillNoStream(t *testing.T) {
	const bound = 50 * time.Millisecond
	overBoth(t, func(s *http.Server) {
		s.ReadTimeout, s.ReadHeaderTimeout, s.WriteTimeout, s.IdleTimeout = 4*bound, 4*bound, bound, bound
	}, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{WriteTimeout: bound})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		for i := range 3 {
			time.Sleep(6 * bound)
			if err := out.Send(stream.Frame{Data: fmt.Append(nil, i)}); err != nil {
				t.Errorf("frame %d: %v", i, err)
			}
		}
	}, func(t *testing.T, server *httptest.Server) {
		resp := open(t, server, "/")
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "data: 0\n\ndata: 1\n\ndata: 2\n\n" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// One reader that never reads is cut off, and slows no other, also none on the
// same connection.
func TestReaderThatNeverReadsIsCutOff(t *testing.T) {
	const bound = 300 * time.Millisecond
	stuck := make(chan error, 1)
	overBoth(t, nil, func(w http.ResponseWriter, r *http.Request) {
		var opts stream.WriterOptions
		if r.URL.Path == "/stuck" { // on a busy machine, who reads may need more than that
			opts.WriteTimeout = bound
		}
		out, err := stream.NewWriter(w, r, opts)
		if err != nil {
			t.Error(err)
			if r.URL.Path == "/stuck" {
				stuck <- err
			}
			return
		}
		defer out.Close()
		if r.URL.Path != "/stuck" {
			for range 20 {
				if err := out.Send(stream.Frame{Data: []byte("x")}); err != nil {
					t.Errorf("the reader that reads: %v", err)
				}
				time.Sleep(bound / 10)
			}
			return
		}
		start := time.Now()
		for err == nil {
			start = time.Now()
			err = out.Send(stream.Frame{Data: bytes.Repeat([]byte("x"), 1<<20)})
		}
		if d := time.Since(start); d < bound || d > 20*bound {
			t.Errorf("cut off after %v, want about %v", d, bound)
		}
		if again := out.Send(stream.Frame{}); again != err {
			t.Errorf("the second error is %v", again)
		}
		<-out.Done()
		stuck <- out.Err()
	}, func(t *testing.T, server *httptest.Server) {
		open(t, server, "/stuck")
		start := time.Now()
		resp := open(t, server, "/reads")
		if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 20*len("data: x\n\n") {
			t.Errorf("%q, %v", body, err)
		}
		if d := time.Since(start); d > 10*bound {
			t.Errorf("the reader that reads took %v", d)
		}
		if err := <-stuck; !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("the other's error is %v, want a deadline's", err)
		}
	})
}

// A large frame over a slow line takes longer than the bound, which is on each
// 64 KiB: cut off, its reader would ask for it again and again.
func TestSlowReaderOfALargeFrameIsKept(t *testing.T) {
	frame := bytes.Repeat([]byte("x"), 4<<20)
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		if err := out.Send(stream.Frame{ID: "1", Data: frame}); err != nil {
			t.Error(err)
		}
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		resp, err := client.HTTP.Get(client.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		start := time.Now()
		n, buf := 0, make([]byte, 64<<10)
		for err == nil {
			var more int
			more, err = io.ReadFull(resp.Body, buf)
			n += more
			time.Sleep(4 * time.Second)
		}
		if want := len("id: 1\ndata: \n\n") + len(frame); n != want {
			t.Errorf("%d bytes, %v; want %d", n, err, want)
		}
		took(t, start, 4*time.Minute, 5*time.Minute)
	})
}

// The reader's leaving is told at once to a handler that writes nothing.
func TestDoneTellsThatTheReaderLeft(t *testing.T) {
	told := make(chan error, 1)
	overBoth(t, nil, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{Ping: time.Hour})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		if err := out.Err(); err != nil {
			t.Errorf("error %v while the reader is there", err)
		}
		select {
		case <-out.Done():
		case <-time.After(10 * time.Second):
			t.Error("not told within 10 s")
		}
		told <- out.Send(stream.Frame{})
	}, func(t *testing.T, server *httptest.Server) {
		open(t, server, "/").Body.Close()
		if err := <-told; err == nil {
			t.Error("a frame was sent to nobody")
		}
	})
}

// Pings come by themselves, after so much silence, and end with the handler.
func TestPing(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(24 * time.Second) // pings at 10 and 20
		if err := out.Send(stream.Frame{Data: []byte("x")}); err != nil {
			t.Error(err)
		}
		time.Sleep(9 * time.Second) // none before 34
		if err := out.Retry(time.Second); err != nil {
			t.Error(err)
		}
		time.Sleep(11 * time.Second) // one at 43
		out.Close()
		time.Sleep(time.Minute)
		if err := out.Send(stream.Frame{}); err == nil || out.Err() != err {
			t.Errorf("sent after Close: %v", err)
		}
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		resp, err := client.HTTP.Get(client.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if want := ": ping\n\n: ping\n\ndata: x\n\nretry: 1000\n\n: ping\n\n"; err != nil || string(body) != want {
			t.Errorf("%q, %v; want %q", body, err, want)
		}
	})
}

// A ping that the reader does not take ends the stream as any write does, and
// its handler need not write to learn of it.
func TestPingThatNobodyTakes(t *testing.T) {
	told := make(chan error, 1)
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		time.AfterFunc(12*time.Second, out.Close) // waits for the ping
		start := time.Now()
		<-out.Done()
		took(t, start, 15*time.Second, 15*time.Second)
		told <- out.Err()
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		resp, err := client.HTTP.Get(client.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(20 * time.Second)
		if err := <-told; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v, want the deadline's", err)
		}
	})
}

// Pings go between frames, never into them, however many goroutines send.
func TestPingsBesideSends(t *testing.T) {
	const senders, each = 4, 200
	overBoth(t, nil, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{Ping: 50 * time.Microsecond})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		var wg sync.WaitGroup
		for range senders {
			wg.Go(func() {
				for range each {
					if err := out.Send(stream.Frame{Event: "a", Data: []byte("1\n2")}, stream.Frame{Event: "b", Data: []byte("3")}); err != nil {
						t.Error(err)
					}
					time.Sleep(100 * time.Microsecond)
				}
			})
		}
		wg.Wait()
	}, func(t *testing.T, server *httptest.Server) {
		s := stream.NewScanner(open(t, server, "/").Body)
		for i := range 2 * senders * each {
			want := stream.Frame{Event: "a", Data: []byte("1\n2")}
			if i%2 == 1 {
				want = stream.Frame{Event: "b", Data: []byte("3")}
			}
			if got, err := s.Next(); err != nil || got.Event != want.Event || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("frame %d: %+q, %v", i, got, err)
			}
		}
		if _, err := s.Next(); err != io.EOF || s.Truncated() || s.Comments() == 0 {
			t.Errorf("at the end: %v, %d comments", err, s.Comments())
		}
	})
}

// wrapped is a middleware's response writer as it should be, bare one as it
// often is.
type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type bare struct{ http.ResponseWriter }

func TestWriterThroughMiddleware(t *testing.T) {
	overBoth(t, func(s *http.Server) { s.WriteTimeout = 100 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) {
		w = wrapped{wrapped{w}}
		if r.URL.Path == "/bare" {
			w = bare{w}
		}
		out, err := stream.NewWriter(w, r, stream.WriterOptions{Ping: 10 * time.Millisecond})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer out.Close()
		time.Sleep(300 * time.Millisecond)
		if err := out.Send(stream.Frame{Data: []byte("x")}); err != nil {
			t.Error(err)
		}
	}, func(t *testing.T, server *httptest.Server) {
		resp := open(t, server, "/wrapped")
		if body, err := io.ReadAll(resp.Body); err != nil || !bytes.HasPrefix(body, []byte(": ping\n\n")) || !bytes.HasSuffix(body, []byte("data: x\n\n")) {
			t.Errorf("wrapped: %q, %v", body, err)
		}
		resp = open(t, server, "/bare")
		body, err := io.ReadAll(resp.Body)
		if want := "stream_test.bare can't be flushed"; err != nil || resp.StatusCode != 500 || !strings.Contains(string(body), want) {
			t.Errorf("bare: %d %q, %v; want 500 and %q", resp.StatusCode, body, err, want)
		}
	})
}

func TestWriterWithoutDeadlines(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	w := httptest.NewRecorder()
	out, err := stream.NewWriter(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil), stream.WriterOptions{})
	if err != nil || !w.Flushed {
		t.Fatalf("%v, flushed %v", err, w.Flushed)
	}
	if err := out.Send(stream.Frame{Data: []byte("x")}); err != nil || w.Body.String() != "data: x\n\n" {
		t.Errorf("%q, %v", w.Body, err)
	}
	cancel(cause)
	<-out.Done()
	if err := out.Comment("ping"); err != cause || out.Err() != cause {
		t.Errorf("errors %v and %v, want the cause", err, out.Err())
	}
	out.Close()
	out.Close()
	if err := out.Err(); err != cause {
		t.Errorf("after Close: %v, want the first cause", err)
	}
	if _, err := stream.NewWriter(bare{w}, httptest.NewRequest("GET", "/", nil), stream.WriterOptions{}); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("without Flush: %v, want http.ErrNotSupported", err)
	}
}

// Proxies that buffer: what a stream's head says is kept by one that forwards
// it, and each frame passes when it is sent, not when the stream ends.
func TestProxiesDoNotBuffer(t *testing.T) {
	next := make(chan struct{})
	overBoth(t, nil, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r, stream.WriterOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		for range next {
			if err := out.Send(stream.Frame{Data: []byte("x")}); err != nil {
				t.Error(err)
			}
		}
	}, func(t *testing.T, server *httptest.Server) {
		next = make(chan struct{})
		behind, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		forward := httputil.NewSingleHostReverseProxy(behind)
		forward.Transport = server.Client().Transport
		proxy := httptest.NewServer(forward)
		defer proxy.Close()
		resp, err := proxy.Client().Get(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Cache-Control": "no-cache, no-transform", "Content-Encoding": "", "Content-Length": "",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		s := stream.NewScanner(resp.Body)
		for range 3 {
			next <- struct{}{} // one is sent, the stream stays open
			if f, err := s.Next(); err != nil || string(f.Data) != "x" {
				t.Fatalf("%+q, %v", f, err)
			}
		}
		close(next)
		if _, err := s.Next(); err != io.EOF || s.Truncated() {
			t.Errorf("at the end: %v", err)
		}
	})
}
