package stream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/wallet"
)

var agent = wallet.MustParseAddress("0x52908400098527886E0F7030069857D2E4169EE7")

// script serves one handler a request, in order, and keeps what was asked.
type script struct {
	t      *testing.T
	proto  int
	server *httptest.Server
	mu     sync.Mutex
	steps  []http.HandlerFunc
	asked  []string // "METHOD path last-event-id"
	body   string   // of the last POST
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != s.proto {
		s.t.Errorf("a request by %s, want HTTP/%d", r.Proto, s.proto)
	}
	s.mu.Lock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Last-Event-ID")))
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		s.body = string(body)
	}
	if len(s.steps) == 0 {
		s.mu.Unlock()
		s.t.Errorf("one request too many: %s", s.asked[len(s.asked)-1])
		w.WriteHeader(http.StatusTeapot)
		return
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	s.mu.Unlock()
	step(w, r)
}

func (s *script) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// serve starts a server of steps and gives a client that tries again fast.
func serve(t *testing.T, steps ...http.HandlerFunc) (*stream.Client, *script) {
	t.Helper()
	return serveOver(1)(t, steps...)
}

// serveOver is serve by HTTP/1.1 or, with TLS, HTTP/2.
func serveOver(proto int) serveFunc {
	return func(t *testing.T, steps ...http.HandlerFunc) (*stream.Client, *script) {
		t.Helper()
		s := &script{t: t, proto: proto, steps: steps}
		server := httptest.NewUnstartedServer(s)
		// What a cut connection makes the server say is no part of a test.
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		if server.EnableHTTP2 = proto == 2; server.EnableHTTP2 {
			server.StartTLS()
		} else {
			server.Start()
		}
		t.Cleanup(server.Close)
		s.server = server
		return &stream.Client{
			BaseURL: server.URL,
			HTTP:    server.Client(),
			Retry:   &stream.Backoff{Min: time.Millisecond, Max: 5 * time.Millisecond},
		}, s
	}
}

type serveFunc = func(*testing.T, ...http.HandlerFunc) (*stream.Client, *script)

// overVersions runs a test by HTTP/1.1 and by HTTP/2, whose connections break and
// are given up in ways of their own.
func overVersions(t *testing.T, test func(*testing.T, serveFunc)) {
	for _, proto := range []int{1, 2} {
		t.Run(fmt.Sprintf("HTTP %d", proto), func(t *testing.T) { test(t, serveOver(proto)) })
	}
}

// say answers with an event stream of the text.
func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Run-Id", "run-7")
		w.Header().Set("X-Request-Id", "req-1")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
	}
}

// cut is say, with the connection broken after the text.
func cut(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		say(text)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// hang is say, with the connection left open until the client leaves.
func hang(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		say(text)(w, r)
		<-r.Context().Done()
	}
}

// answer is a plain answer.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// delta and done are frames of a run.
func delta(id int) string {
	return fmt.Sprintf("id: %d\ndata: {\"type\":\"text-delta\",\"delta\":\"%d\"}\n\n", id, id)
}

func done(id int) string { return fmt.Sprintf("id: %d\ndata: {\"type\":\"done\"}\n\n", id) }

// collect ranges over a sequence and gives "id type" of each event.
func collect(t *testing.T, seq iter.Seq2[events.Event, error]) (got []string, err error) {
	t.Helper()
	for ev, e := range seq {
		if err != nil {
			t.Errorf("an item came after the error %v", err)
		}
		if e != nil {
			if ev.Type != "" || ev.Name != "" || ev.Data != nil {
				t.Errorf("an event came with the error: %+v", ev)
			}
			err = e
			continue
		}
		if ev.Name == "" {
			t.Error("a zero event came without an error")
		}
		got = append(got, strings.TrimSpace(ev.ID+" "+ev.Type))
	}
	return got, err
}

func want(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestRun(t *testing.T) { overVersions(t, testRun) }

func testRun(t *testing.T, serve serveFunc) {
	client, s := serve(t, say(": open\nretry: 100\n\n"+delta(1)+done(2)+"event: receipt\nid: 3\ndata: {}\n\ndata: [DONE]\n\n"))
	client.Header = http.Header{"authorization": {"Bearer x"}}
	var opens []stream.Open
	client.OnOpen = func(o stream.Open) { opens = append(opens, o) }
	run := client.Run(t.Context(), agent, stream.Request{Message: "hi", ThreadID: "t1"})
	got, err := collect(t, run)
	if err != nil {
		t.Error(err)
	}
	want(t, "events", got, []string{"1 text-delta", "2 done", "3 receipt", "3 [DONE]"})
	want(t, "requests", s.requests(), []string{"POST /agent/" + agent.String() + "/stream"})
	if want := `{"message":"hi","threadId":"t1"}`; s.body != want {
		t.Errorf("body %s, want %s", s.body, want)
	}
	if want := (stream.Open{RunID: "run-7", RequestID: "req-1"}); len(opens) != 1 || opens[0] != want {
		t.Errorf("opens %+v, want one of %+v", opens, want)
	}
	if got, err := collect(t, run); len(got) > 0 || !errors.Is(err, stream.ErrRangedTwice) {
		t.Errorf("the second range gave %q, %v", got, err)
	}
}

func TestResume(t *testing.T) { overVersions(t, testResume) }

func testResume(t *testing.T, serve serveFunc) {
	const get = "GET /delegations/run-7/events"
	post := "POST /agent/" + agent.String() + "/stream"
	over := answer(http.StatusNoContent, "")
	for _, c := range []struct {
		name     string
		steps    []http.HandlerFunc
		events   []string
		requests []string // after the POST
		err      string   // part of the *TruncatedError's text; "" for no error
	}{{
		name: "cut in frames, several times in a row",
		steps: []http.HandlerFunc{cut(delta(1) + delta(2)[:20]), cut("id: 2\nda"), cut(delta(2)), cut(": ping\n"),
			say(delta(3) + done(4))},
		events:   []string{"1 text-delta", "2 text-delta", "3 text-delta", "4 done"},
		requests: []string{get + " 1", get + " 1", get + " 2", get + " 2"},
	}, {
		name:     "cut before any event",
		steps:    []http.HandlerFunc{cut(""), say(delta(1) + done(2))},
		events:   []string{"1 text-delta", "2 done"},
		requests: []string{get},
	}, {
		name:     "ended without a terminal event",
		steps:    []http.HandlerFunc{say(delta(1)), say(done(2))},
		events:   []string{"1 text-delta", "2 done"},
		requests: []string{get + " 1"},
	}, {
		name:   "an OpenAI stream ends with [DONE] alone",
		steps:  []http.HandlerFunc{say("data: {\"choices\":[]}\n\ndata: [DONE]\n\n")},
		events: []string{"", "[DONE]"},
	}, {
		name:     "the receipt comes after a cut",
		steps:    []http.HandlerFunc{cut(done(1) + "id: 2\nevent: rec"), say("id: 2\nevent: receipt\ndata: {}\n\n")},
		events:   []string{"1 done", "2 receipt"},
		requests: []string{get + " 1"},
	}, {
		name:     "nothing after the terminal event is worth an error",
		steps:    []http.HandlerFunc{cut(done(1)), answer(http.StatusNotFound, "")},
		events:   []string{"1 done"},
		requests: []string{get + " 1"},
	}, {
		name:     "over after the terminal event",
		steps:    []http.HandlerFunc{cut(done(1)), over},
		events:   []string{"1 done"},
		requests: []string{get + " 1"},
	}, {
		name:     "over without a terminal event",
		steps:    []http.HandlerFunc{cut(delta(5)), over},
		events:   []string{"5 text-delta"},
		requests: []string{get + " 5"},
		err:      `after event "5": the server says that nothing follows`,
	}, {
		name:     "the server knows no such run",
		steps:    []http.HandlerFunc{cut(delta(5)), answer(http.StatusNotFound, `{"error":{"code":"not_found","message":"no run"}}`)},
		events:   []string{"5 text-delta"},
		requests: []string{get + " 5"},
		err:      "404 Not Found: not_found: no run",
	}, {
		name:     "a proxy's page in place of the stream",
		steps:    []http.HandlerFunc{cut(delta(5)), answer(http.StatusOK, "<html>log in", "Content-Type", "text/html")},
		events:   []string{"5 text-delta"},
		requests: []string{get + " 5"},
		err:      "not \"text/html\": \"<html>log in\"",
	}, {
		name: "the server is busy for a moment",
		steps: []http.HandlerFunc{cut(delta(1)), answer(http.StatusBadGateway, ""), answer(http.StatusServiceUnavailable, ""),
			answer(http.StatusGatewayTimeout, ""), answer(http.StatusTooManyRequests, ""), say(done(2))},
		events:   []string{"1 text-delta", "2 done"},
		requests: []string{get + " 1", get + " 1", get + " 1", get + " 1", get + " 1"},
	}, {
		name:   "events without ids",
		steps:  []http.HandlerFunc{cut("data: {\"type\":\"text-delta\"}\n\n")},
		events: []string{"text-delta"},
		err:    ", and the events have no ids",
	}, {
		name:     "an id that no header can hold",
		steps:    []http.HandlerFunc{cut("id: a\x01\ndata: {\"type\":\"text-delta\"}\n\n")},
		events:   []string{"a\x01 text-delta"},
		err:      "no header can hold",
		requests: nil,
	}, {
		name:     "an id of a block without data counts",
		steps:    []http.HandlerFunc{cut(delta(1) + "id: 9\n\n"), say(done(10))},
		events:   []string{"1 text-delta", "10 done"},
		requests: []string{get + " 9"},
	}, {
		name:     "frames without ids after a resume keep the last one",
		steps:    []http.HandlerFunc{cut(delta(1)), say("data: {\"type\":\"done\"}\n\n")},
		events:   []string{"1 text-delta", "1 done"},
		requests: []string{get + " 1"},
	}} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, c.steps...)
			got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			want(t, "events", got, c.events)
			want(t, "requests", s.requests(), append([]string{post}, c.requests...))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("error %v, want %q in it", err, c.err)
			}
			if err != nil {
				e, ok := errors.AsType[*stream.TruncatedError](err)
				if !ok || e.RunID != "run-7" || !errors.Is(err, stream.ErrTruncated) {
					t.Errorf("error %#v, want a *TruncatedError of run-7", err)
				}
			}
		})
	}
}

func TestRunWithoutRunID(t *testing.T) { overVersions(t, testRunWithoutRunID) }

func testRunWithoutRunID(t *testing.T, serve serveFunc) {
	noID := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, delta(1))
	}
	client, _ := serve(t, noID)
	_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	if !errors.Is(err, stream.ErrTruncated) || !strings.Contains(err.Error(), "x-run-id") {
		t.Errorf("error %v, want a *TruncatedError that names x-run-id", err)
	}
	client, s := serve(t, noID, say(done(2)))
	if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi", RunID: "mine/1"})); err != nil {
		t.Error(err)
	}
	want(t, "requests", s.requests()[1:], []string{"GET /delegations/mine%2F1/events 1"})
}

func TestNoRetry(t *testing.T) {
	client, _ := serve(t, cut(delta(1)))
	client.Retry = stream.NoRetry
	got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	want(t, "events", got, []string{"1 text-delta"})
	if e, ok := errors.AsType[*stream.TruncatedError](err); !ok || e.LastEventID != "1" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v, want a *TruncatedError after event 1", err)
	}
}

func TestFrameTooLongIsNotTakenUp(t *testing.T) { overVersions(t, testFrameTooLongIsNotTakenUp) }

func testFrameTooLongIsNotTakenUp(t *testing.T, serve serveFunc) {
	client, _ := serve(t, say(delta(1)+"id: 2\ndata: "+strings.Repeat("x", 2000)+"\n\n"))
	client.MaxFrameBytes = 1000
	got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	want(t, "events", got, []string{"1 text-delta"})
	if e, ok := errors.AsType[*stream.FrameTooLongError](err); !ok || e.Limit != 1000 {
		t.Errorf("error %v, want a *FrameTooLongError", err)
	}
}

func TestWatch(t *testing.T) { overVersions(t, testWatch) }

func testWatch(t *testing.T, serve serveFunc) {
	client, s := serve(t, say(delta(4)+done(5)), answer(http.StatusNoContent, ""), answer(http.StatusNoContent, ""),
		answer(http.StatusServiceUnavailable, ""))
	got, err := collect(t, client.Watch(t.Context(), "run 7", "3"))
	want(t, "events", got, []string{"4 text-delta", "5 done"})
	if err != nil {
		t.Error(err)
	}
	if got, err := collect(t, client.Watch(t.Context(), "run 7", "5")); err != nil || got != nil {
		t.Errorf("after the last event: %q, %v; want nothing and no error", got, err)
	}
	if _, err := collect(t, client.Watch(t.Context(), "run 7", "")); !errors.Is(err, stream.ErrTruncated) {
		t.Errorf("a run that is over and has no events: %v, want ErrTruncated", err)
	}
	if _, err := collect(t, client.Watch(t.Context(), "run 7", "")); !isHTTP(err, http.StatusServiceUnavailable) || errors.Is(err, stream.ErrTruncated) {
		t.Errorf("before the first stream: %v, want the plain *HTTPError", err)
	}
	want(t, "requests", s.requests(), []string{
		"GET /delegations/run%207/events 3", "GET /delegations/run%207/events 5",
		"GET /delegations/run%207/events", "GET /delegations/run%207/events",
	})
	for _, id := range []string{"", ".", ".."} {
		if _, err := collect(t, client.Watch(t.Context(), id, "")); err == nil || !strings.Contains(err.Error(), "x-run-id") {
			t.Errorf("run id %q: %v, want an error that says what an id is", id, err)
		}
	}
}

func isHTTP(err error, status int) bool {
	e, ok := errors.AsType[*stream.HTTPError](err)
	return ok && e.Status == status
}

func TestEndless(t *testing.T) { overVersions(t, testEndless) }

func testEndless(t *testing.T, serve serveFunc) {
	client, s := serve(t, answer(http.StatusServiceUnavailable, ""), say(delta(1)+done(2)), cut(""), say(delta(3)),
		answer(http.StatusUnauthorized, `{"error":{"code":"unauthorized","message":"sign in"}}`))
	got, err := collect(t, client.Follow(t.Context(), "/agents/x/inbox?v=1", stream.FollowOptions{LastEventID: "0", Endless: true}))
	want(t, "events", got, []string{"1 text-delta", "2 done", "3 text-delta"})
	want(t, "requests", s.requests(), []string{
		"GET /agents/x/inbox?v=1 0", "GET /agents/x/inbox?v=1 0", "GET /agents/x/inbox?v=1 2",
		"GET /agents/x/inbox?v=1 2", "GET /agents/x/inbox?v=1 3",
	})
	if !isHTTP(err, http.StatusUnauthorized) || errors.Is(err, stream.ErrTruncated) {
		t.Errorf("error %v, want the *HTTPError as it is", err)
	}
	client, _ = serve(t, say(delta(1)), answer(http.StatusNoContent, ""))
	if got, err := collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true})); err != nil || len(got) != 1 {
		t.Errorf("204: %q, %v, want one event and no error", got, err)
	}
}

func TestCancelWhileBlocked(t *testing.T) { overVersions(t, testCancelWhileBlocked) }

func testCancelWhileBlocked(t *testing.T, serve serveFunc) {
	cause := errors.New("the user left")
	started := make(chan struct{}, 1)
	block := func(w http.ResponseWriter, r *http.Request) { started <- struct{}{}; <-r.Context().Done() }
	for _, c := range []struct {
		name string
		step http.HandlerFunc
	}{
		{"before the answer", block},
		{"between events", hang(delta(1))},
		{"inside a frame", hang(delta(1) + "id: 2\nda")},
		{"after the terminal event", hang(done(1))},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := serve(t, c.step)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(30*time.Millisecond, func() { cancel(cause) })
			start := time.Now()
			_, err := collect(t, client.Run(ctx, agent, stream.Request{Message: "hi"}))
			if err != cause {
				t.Errorf("error %v, want the cause", err)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("it took %v", d)
			}
			if _, err := collect(t, client.Watch(ctx, "r", "")); err != cause {
				t.Errorf("with ctx ended before: %v, want the cause", err)
			}
		})
	}
}
