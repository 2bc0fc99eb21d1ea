package stream_test

import (
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

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

// Fault: a server that answers 200 and closes is asked in a loop. Servers that
// give events on every connection and get nowhere. None of them
// may be asked fast for long.
func TestAServerThatGoesNowhere(t *testing.T) {
	for _, c := range []struct {
		name   string
		server func(n int) string // the text of connection n, which counts from 1
		first  int                // connections that move the id on
	}{
		{"it accepts and closes", func(int) string { return "" }, 0},
		{"it sends all again each time", func(int) string { return delta(1) + delta(2) + delta(3) }, 1},
		{"it sends all again, and breaks anywhere", func(int) string {
			var text strings.Builder
			for id := range 1 + rand.IntN(200) {
				text.WriteString(delta(id + 1))
			}
			return text.String()
			// Where it broke behind its first event, the next connection begins
			// with the second: that is new, once, and so is the count of tries.
		}, 1 + 33},
		{"it goes round two ids", func(n int) string { return delta(n % 2) }, 2},
		{"it goes round fifty ids", func(n int) string { return delta(n % 50) }, 50},
		{"it goes back and forth", func(n int) string { return delta(1) + delta(2) + delta(1) }, 1},
		{"it resets the id each time", func(n int) string { return "id\n\n" }, 0},
		{"it has ids without events", func(int) string { return "id: 7\n\n" }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, retry := range []string{"", "retry: 0\n\n"} {
				var n int
				inBubble(t, func(w http.ResponseWriter, r *http.Request) {
					n++
					say(retry+c.server(n))(w, r)
				}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
					start := time.Now()
					_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
					if !errors.Is(err, stream.ErrTruncated) {
						t.Errorf("error %v, want a *TruncatedError", err)
					}
					// 12 tries at 5 s, twice as many at half of it, and those
					// on the way there.
					if most := c.first + 32; n > most {
						t.Errorf("%d requests in %v, want at most %d", n, time.Since(start), most)
					}
				})

				n = 0
				inBubble(t, func(w http.ResponseWriter, r *http.Request) {
					if n++; n > c.first+200 {
						w.WriteHeader(http.StatusNoContent)
						return
					}
					say(retry+c.server(n))(w, r)
				}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
					start := time.Now()
					_, err := collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}))
					if err != nil {
						t.Errorf("endless: %v", err)
					}
					// 200 waits, nearly all of 2.5 to 5 s.
					took(t, start, 480*time.Second, time.Duration(200+c.first)*5*time.Second)
				})
			}
		})
	}
}

// waits gives those before each try of a client, with the connections that
// ended before them.
func waits(client *stream.Client) *[]time.Duration {
	all := new([]time.Duration)
	client.OnRetry = func(_ error, wait time.Duration) { *all = append(*all, wait) }
	return all
}

// A connection that stands is no progress where it brings no id: but the time
// without one starts anew.
func TestAConnectionThatStoodKeepsTheCount(t *testing.T) {
	var n int
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n == 30 {
			say(done(1))(w, r)
			return
		}
		say(": ping\n\n")(w, r)
		time.Sleep(31 * time.Second)
		panic(http.ErrAbortHandler)
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		client.Quiet = time.Hour
		got := waits(client)
		if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
			t.Error(err)
		}
		for i, wait := range *got {
			if i >= 5 && wait < 2500*time.Millisecond {
				t.Errorf("wait %d is %v: the count was started anew", i+1, wait)
			}
		}
		if len(*got) != 29 {
			t.Errorf("%d waits", len(*got))
		}
	})
}

func TestANewIDStartsTheCountAnew(t *testing.T) {
	var n int
	tries := steps(&n, cut(delta(1)), answer(503, ""), cut(""), cut(""), answer(502, ""), cut(""), cut(delta(2)), cut("id: 3\n\n"), say(done(4)))
	inBubble(t, tries, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		got := waits(client)
		if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
			t.Error(err)
		}
		for i, most := range []int{250, 500, 1000, 2000, 4000, 5000, 250, 250} {
			wait, most := (*got)[i], time.Duration(most)*time.Millisecond
			if wait < most/2 || wait > most {
				t.Errorf("wait %d is %v, want %v to %v", i+1, wait, most/2, most)
			}
		}
	})
}
