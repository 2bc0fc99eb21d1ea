package stream_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

// overBothInBubbles runs a test by HTTP/1.1 and by HTTP/2, in which a timer ends
// one stream of a connection and not the connection.
func overBothInBubbles(t *testing.T, test func(*testing.T, bubbleFunc)) {
	for _, proto := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", proto), func(t *testing.T) {
			test(t, func(t *testing.T, h http.HandlerFunc, f func(*testing.T, *stream.Client, *pipeServer)) {
				t.Helper()
				inBubbleOver(proto, t, h, f)
			})
		})
	}
}

type bubbleFunc = func(*testing.T, http.HandlerFunc, func(*testing.T, *stream.Client, *pipeServer))

func TestIdle(t *testing.T) { overBothInBubbles(t, testIdle) }

func testIdle(t *testing.T, inBubble bubbleFunc) {
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

// pings is a handler that sends text and then a comment each 10 s.
func pings(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		say(text)(w, r)
		for r.Context().Err() == nil {
			time.Sleep(10 * time.Second)
			say(": ping\n\n")(w, r)
		}
	}
}

// Fault: one timer does for both, so that comments reset it for ever and a run
// that is stuck is never told from one that works; or they never do, and a run
// that works is cut.
func TestQuiet(t *testing.T) { overBothInBubbles(t, testQuiet) }

func testQuiet(t *testing.T, inBubble bubbleFunc) {
	const bound = 10 * time.Minute
	request := stream.Request{Message: "hi"}
	for _, c := range []struct {
		name     string
		server   http.HandlerFunc
		set      func(*stream.Client)
		lasts    time.Duration
		requests int
	}{
		{"comments alone", pings(""), nil, 2 * bound, 2},
		{"an event, then comments alone", pings(delta(1)), nil, 2 * bound, 2},
		{"bytes of an event that never ends", func(w http.ResponseWriter, r *http.Request) {
			say(delta(1)+"data: ")(w, r)
			for r.Context().Err() == nil {
				time.Sleep(30 * time.Second)
				say("x")(w, r)
			}
		}, nil, 2 * bound, 2},
		{"a bound of one's own, below Idle", pings(delta(1)), func(c *stream.Client) { c.Quiet = 15 * time.Second }, 30 * time.Second, 2},
		{"no retry", pings(delta(1)), func(c *stream.Client) { c.Retry = stream.NoRetry }, bound, 1},
		// Each connection is too short for the bound, but their time adds up.
		{"a proxy that cuts each minute", func(w http.ResponseWriter, r *http.Request) {
			say(": ping\n\n")(w, r)
			time.Sleep(50 * time.Second)
			panic(http.ErrAbortHandler)
		}, nil, 2 * bound, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			inBubble(t, func(w http.ResponseWriter, r *http.Request) { n++; c.server(w, r) }, func(t *testing.T, client *stream.Client, _ *pipeServer) {
				if c.set != nil {
					c.set(client)
				}
				var losses int
				client.OnRetry = func(err error, _ time.Duration) {
					if errors.Is(err, stream.ErrQuiet) {
						losses++
					}
				}
				start := time.Now()
				_, err := collect(t, client.Run(t.Context(), agent, request))
				if _, ok := err.(*stream.TruncatedError); !ok || !errors.Is(err, stream.ErrQuiet) {
					t.Errorf("error %v, want a *TruncatedError of ErrQuiet", err)
				}
				took(t, start, c.lasts, c.lasts+2*time.Minute)
				if want := min(c.requests, 2) - 1; losses != want || n < c.requests || n > c.requests+2 {
					t.Errorf("lost as quiet %d times before, in %d requests; want %d and %d", losses, n, want, c.requests)
				}
			})
		})
	}

	t.Run("each event starts it anew", func(t *testing.T) {
		inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			for id := range 20 {
				say(delta(id+1))(w, r)
				for range 9 * 6 { // nine minutes
					time.Sleep(10 * time.Second)
					say(": ping\n\n")(w, r)
				}
			}
			say(done(21))(w, r)
		}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.OnRetry = func(err error, _ time.Duration) { t.Errorf("lost by %v", err) }
			if got, err := collect(t, client.Run(t.Context(), agent, request)); err != nil || len(got) != 21 {
				t.Errorf("%d events, %v", len(got), err)
			}
		})
	})
	t.Run("the next connection goes on", func(t *testing.T) {
		// Two stuck connections, but an event between: no end.
		var n int
		inBubble(t, steps(&n, pings(delta(1)), pings(delta(2)), say(done(3))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			start := time.Now()
			got, err := collect(t, client.Run(t.Context(), agent, request))
			want(t, "events", got, []string{"1 text-delta", "2 text-delta", "3 done"})
			if err != nil {
				t.Error(err)
			}
			took(t, start, 2*bound, 2*bound+10*time.Second)
		})
	})
	t.Run("the caller's own time does not count", func(t *testing.T) {
		var n int
		inBubble(t, steps(&n, func(w http.ResponseWriter, r *http.Request) {
			say(delta(1))(w, r)
			time.Sleep(5 * time.Minute)
			say(": ping\n\n")(w, r) // Idle's business
		}), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.Idle, client.Quiet = time.Hour, 8*time.Minute
			client.Retry = stream.NoRetry
			for _, err := range client.Run(t.Context(), agent, request) {
				if errors.Is(err, stream.ErrQuiet) {
					t.Error(err)
				}
				time.Sleep(7 * time.Minute)
			}
		})
	})
	t.Run("an endless stream has no bound", func(t *testing.T) {
		inBubble(t, func(w http.ResponseWriter, r *http.Request) {
			for range 24 * 60 * 2 { // a day
				say(": ping\n\n")(w, r)
				time.Sleep(30 * time.Second)
			}
			say(delta(1))(w, r)
		}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.OnRetry = func(err error, _ time.Duration) { t.Errorf("lost by %v", err) }
			for ev, err := range client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}) {
				if err != nil || ev.ID != "1" {
					t.Errorf("%+v, %v", ev, err)
				}
				break
			}
		})
	})
	t.Run("an endless stream with a bound is opened again each time", func(t *testing.T) {
		var n int
		inBubble(t, steps(&n, pings(""), pings(""), pings(""), say(delta(1))), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			client.Quiet = time.Minute
			start := time.Now()
			for ev, err := range client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}) {
				if err != nil || ev.ID != "1" {
					t.Errorf("%+v, %v", ev, err)
				}
				break
			}
			took(t, start, 3*time.Minute, 3*time.Minute+10*time.Second)
		})
	})
}

func TestClientOnComment(t *testing.T) {
	client, _ := serve(t, cut(": open\n\n:\n"+delta(1)+":a\n"), say(":  b\n"+done(2)+": c"), answer(204, ""))
	var got []string
	client.OnComment = func(text string) { got = append(got, "comment "+text) }
	for ev, err := range client.Run(t.Context(), agent, stream.Request{Message: "hi"}) {
		if err != nil {
			t.Error(err)
			break
		}
		got = append(got, ev.ID+" "+ev.Type)
	}
	// The last one was cut, and the stream with it: after a terminal event that
	// is worth another try, and no error.
	if want := []string{"comment  open", "comment ", "1 text-delta", "comment a", "comment   b", "2 done"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
