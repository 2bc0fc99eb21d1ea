package stream_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

// An HTTP/2 connection carries many streams, and says goodbye before it ends:
// what is open goes on, and what comes next takes a new connection.
func TestGoAway(t *testing.T) {
	var mu sync.Mutex
	var from []string
	note := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			from = append(from, r.RemoteAddr)
			mu.Unlock()
			h(w, r)
		}
	}
	goAway := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // sends GOAWAY
		say(delta(2))(w, r)
		time.Sleep(50 * time.Millisecond)
		cut(delta(3))(w, r)
	}
	client, s := serveOver(2)(t, note(cut(delta(1))), note(goAway), note(say(done(4))))
	got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	want(t, "events", got, []string{"1 text-delta", "2 text-delta", "3 text-delta", "4 done"})
	if err != nil {
		t.Error(err)
	}
	want(t, "requests", s.requests()[1:], []string{"GET /delegations/run-7/events 1", "GET /delegations/run-7/events 3"})
	if len(from) != 3 || from[0] != from[1] || from[2] == from[1] {
		t.Errorf("connections %q, want one for two streams and another after the goodbye", from)
	}
}

// The connection breaks under many streams: each goes on by itself.
func TestConnectionBreaksUnderManyStreams(t *testing.T) {
	overVersions(t, func(t *testing.T, serve serveFunc) {
		const streams = 20
		var begun, resumed sync.WaitGroup
		begun.Add(streams)
		var handlers []http.HandlerFunc
		for range streams {
			handlers = append(handlers, func(w http.ResponseWriter, r *http.Request) {
				say(delta(1))(w, r)
				begun.Done()
				<-r.Context().Done()
			})
		}
		for range streams {
			handlers = append(handlers, say(delta(2)+done(3)))
		}
		client, s := serve(t, handlers...)
		for range streams {
			resumed.Go(func() {
				got, err := collect(t, client.Watch(t.Context(), "run-7", ""))
				if err != nil || len(got) != 3 {
					t.Errorf("%q, %v", got, err)
				}
			})
		}
		begun.Wait()
		s.server.CloseClientConnections()
		resumed.Wait()
		if n := len(s.requests()); n != 2*streams {
			t.Errorf("%d requests, want %d", n, 2*streams)
		}
	})
}
