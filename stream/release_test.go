package stream_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"go.uber.org/goleak"
)

func TestBreakReleasesTheConnection(t *testing.T) { overVersions(t, testBreakReleasesTheConnection) }

func testBreakReleasesTheConnection(t *testing.T, serve serveFunc) {
	left := make(chan struct{})
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hang(delta(1)+delta(2))(w, r)
		close(left)
	})
	for range client.Run(t.Context(), agent, stream.Request{Message: "hi"}) {
		break
	}
	select {
	case <-left:
	case <-time.After(5 * time.Second):
		t.Fatal("the server still has the connection")
	}
}

// Fault: breaking out early leaks. A thousand callers leave early, from each place where one can, and nothing
// of them stays on either side.
func TestAThousandBreaksLeaveNothing(t *testing.T) {
	for _, proto := range []int{1, 2} {
		t.Run(map[int]string{1: "HTTP 1", 2: "HTTP 2"}[proto], func(t *testing.T) {
			var open, handling atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handling.Add(1)
				defer handling.Add(-1)
				switch r.URL.Path[len(r.URL.Path)-1] {
				case '0':
					hang(delta(1)+delta(2)+"data: hal")(w, r)
				case '1':
					cut(delta(1))(w, r)
				case '2':
					hang(done(1))(w, r)
				default:
					say(delta(1)+done(2))(w, r)
				}
			}))
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				switch state {
				case http.StateNew:
					open.Add(1)
				case http.StateClosed, http.StateHijacked:
					open.Add(-1)
				}
			}
			if server.EnableHTTP2 = proto == 2; server.EnableHTTP2 {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			before := goleak.IgnoreCurrent()

			client := &stream.Client{BaseURL: server.URL, HTTP: server.Client()}
			var callers sync.WaitGroup
			for caller := range 20 {
				callers.Go(func() {
					for range 50 {
						for range client.Follow(t.Context(), "/"+string(rune('0'+caller%4)), stream.FollowOptions{}) {
							break
						}
					}
				})
			}
			callers.Wait()
			deadline := time.Now().Add(10 * time.Second)
			for (open.Load() > 0 || handling.Load() > 0) && time.Now().Before(deadline) {
				// An HTTP/2 connection is idle once its last stream's reset has gone out.
				client.HTTP.CloseIdleConnections()
				time.Sleep(time.Millisecond)
			}
			if open.Load() > 0 || handling.Load() > 0 {
				t.Errorf("the server has %d connections and %d requests", open.Load(), handling.Load())
			}
			goleak.VerifyNone(t, before)
		})
	}
}

// Fault: closing after a refused dial panics. Nobody listens: there is nothing to close, and leaving then is as good as
// ever.
func TestLeavingAfterARefusedDial(t *testing.T) {
	client := &stream.Client{BaseURL: refusedURL(t), HTTP: &http.Client{Transport: &http.Transport{}}}
	client.Retry = &stream.Backoff{Min: time.Millisecond, Max: time.Millisecond, GiveUp: 20 * time.Millisecond}
	run := client.Run(t.Context(), agent, stream.Request{Message: "hi"})
	for range run {
		break
	}
	for range run {
		break
	}
	for range client.Watch(t.Context(), "r", "1") {
		break
	}
	client.OnRetry = func(error, time.Duration) { client.HTTP.CloseIdleConnections() }
	for _, err := range client.Follow(t.Context(), "/", stream.FollowOptions{}) {
		if err == nil {
			t.Error("an event came from nobody")
		}
	}
}
