package stream_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/tidwall/gjson"
)

// The tests of this file are named for faults that other clients of event
// streams have shipped. Those of a parser stand in scanner_test.go, those of
// timers in patience_test.go, those of ends in ending_test.go, those of what is
// left behind in release_test.go, and those of loops in backoff_test.go.

// ran gives what a run of the steps gave.
func ran(t *testing.T, steps ...http.HandlerFunc) ([]string, *script, error) {
	t.Helper()
	client, s := serve(t, steps...)
	got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	return got, s, err
}

// Fault: every frame's data is parsed as JSON, and a ping event's is none.
func TestFaultPingBodies(t *testing.T) {
	got, _, err := ran(t, say("event: ping\ndata: 2026-01-01T00:00:00Z\n\nevent: ping\ndata\n\nevent: ping\ndata: {}\n\n"+
		"event: ping\ndata: {not json\n\nping\n\n"+done(1)))
	want(t, "events", got, []string{"ping", "ping", "ping", "malformed", "1 done"})
	if err != nil {
		t.Error(err)
	}
}

// Fault: a comment, or a block of nothing else, crashes the client or gives an
// empty event.
func TestFaultKeepAliveComments(t *testing.T) {
	long := ":" + strings.Repeat(" padding", 1<<10) + "\n\n"
	got, s, err := ran(t, cut(":\n\n:\n:\n\n: ping\r\n\r\n:\r\r"+long+delta(1)+":"), cut(": ping\n\n: pi"), say(":\n\n"+done(2)+":\n"))
	want(t, "events", got, []string{"1 text-delta", "2 done"})
	if err != nil || len(s.requests()) != 3 {
		t.Errorf("%v after %q", err, s.requests())
	}
}

// Fault: a stream that is closed before its terminal event is read as a success.
func TestFaultCloseBeforeDone(t *testing.T) {
	closeDelimited := func(text string) http.HandlerFunc {
		return raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Run-Id: run-7\r\nConnection: close\r\n\r\n"+text, false)
	}
	for name, first := range map[string]http.HandlerFunc{
		"a whole body": say(delta(1)),
		// No error tells of the cut: nothing says how long the body is.
		"a body that the connection's end ends": closeDelimited(delta(1)),
		"the same inside a frame":               closeDelimited(delta(1) + "id: 2\ndata: {\"type\":\"done\"}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, s, err := ran(t, first, answer(404, ""))
			want(t, "events", got, []string{"1 text-delta"})
			want(t, "requests", s.requests()[1:], []string{"GET /delegations/run-7/events 1"})
			if e, ok := err.(*stream.TruncatedError); !ok || e.LastEventID != "1" {
				t.Errorf("error %v, want a *TruncatedError after 1", err)
			}
		})
	}
}

// raw answers with bytes of its own, then closes the connection, or resets it.
func raw(text string, reset bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, text)
		if reset {
			time.Sleep(50 * time.Millisecond) // a reset may overtake what was sent before it
			conn.(*net.TCPConn).SetLinger(0)
		}
	}
}

// Fault: a reset after the last frame makes an error of a whole stream; one
// inside it makes a whole stream of a cut one.
func TestFaultResetAtTheEnd(t *testing.T) {
	reset := func(text string) http.HandlerFunc {
		const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nX-Run-Id: run-7\r\nTransfer-Encoding: chunked\r\n\r\n"
		return raw(fmt.Sprintf("%s%x\r\n%s\r\n", head, len(text), text), true)
	}
	get := "GET /delegations/run-7/events "
	got, s, err := ran(t, reset(delta(1)+done(2)), answer(204, ""))
	want(t, "after it: events", got, []string{"1 text-delta", "2 done"})
	want(t, "after it: requests", s.requests()[1:], []string{get + "2"}) // a receipt may have been cut off
	if err != nil {
		t.Error(err)
	}
	got, s, err = ran(t, reset(delta(1)+"id: 2\ndata: {\"type\":\"done\"}\n"), reset(done(2)[:10]), say(done(2)))
	want(t, "inside it: events", got, []string{"1 text-delta", "2 done"})
	want(t, "inside it: requests", s.requests()[1:], []string{get + "1", get + "1"})
	if err != nil {
		t.Error(err)
	}
}

// Fault: the second drop in a row forgets the cursor, since the connection
// between brought none.
func TestFaultTwoDropsInARow(t *testing.T) {
	overVersions(t, func(t *testing.T, serve serveFunc) {
		client, s := serve(t, cut(delta(1)+delta(2)), cut(""), cut(": ping\n\n"), answer(503, ""), cut("id: 3\nda"), say(delta(3)+done(4)))
		got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
		want(t, "events", got, []string{"1 text-delta", "2 text-delta", "3 text-delta", "4 done"})
		if err != nil {
			t.Error(err)
		}
		want(t, "requests", s.requests()[1:], slices.Repeat([]string{"GET /delegations/run-7/events 2"}, 5))
	})
}

// Fault: an empty id is not taken for the reset that it is, or is sent as one.
func TestFaultIDsResetAndEmpty(t *testing.T) {
	// A run cannot be taken up from its start: each event would come twice.
	got, s, err := ran(t, cut(delta(1)+"id\ndata: {\"type\":\"text-delta\"}\n\n"))
	want(t, "a run's events", got, []string{"1 text-delta", "text-delta"})
	if !errors.Is(err, stream.ErrTruncated) || !strings.Contains(err.Error(), "no ids, or the server has reset them") || len(s.requests()) != 1 {
		t.Errorf("a run: %v after %q", err, s.requests())
	}
	// An endless stream can.
	client, s := serve(t, cut(delta(1)+"id:\n\n"), cut("id: 5\n\nid: 6\n"), answer(204, ""))
	got, err = collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true, LastEventID: "0"}))
	want(t, "an endless stream's events", got, []string{"1 text-delta"})
	want(t, "its requests", s.requests(), []string{"GET /inbox 0", "GET /inbox", "GET /inbox 5"})
	if err != nil {
		t.Error(err)
	}
}

// Fault: a login page in place of the stream is asked for again and again.
func TestFaultReconnectStormsOnHTML(t *testing.T) {
	page := answer(200, "<!DOCTYPE html>", "Content-Type", "text/html")
	isPage := func(err error) bool {
		e, ok := errors.AsType[*stream.ContentTypeError](err)
		return ok && e.Body == "<!DOCTYPE html>"
	}
	_, s, err := ran(t, cut(delta(1)), page)
	if e, ok := err.(*stream.TruncatedError); !ok || e.LastEventID != "1" || !isPage(err) || len(s.requests()) != 2 {
		t.Errorf("a run: %v after %q", err, s.requests())
	}
	client, s := serve(t, cut(delta(1)), page)
	_, err = collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}))
	if !isPage(err) || len(s.requests()) != 2 {
		t.Errorf("an endless stream: %v after %q", err, s.requests())
	}
}

// Fault: every status is tried again, or none is.
func TestFaultOnlyTemporaryFailuresAreRetried(t *testing.T) {
	for status := 400; status < 600; status++ {
		temporary := status == 429 || status == 502 || status == 503 || status == 504
		steps := []http.HandlerFunc{cut(delta(1)), answer(status, "")}
		if temporary {
			steps = append(steps, say(done(2)))
		}
		_, s, err := ran(t, steps...)
		if (err == nil) != temporary || err != nil && !(errors.Is(err, stream.ErrTruncated) && isHTTP(err, status)) || len(s.requests()) != len(steps) {
			if _, pay := errors.AsType[*stream.PaymentRequiredError](err); status != 402 || !pay {
				t.Errorf("%d: %v after %q", status, err, s.requests())
			}
		}
	}
}

// Fault: the client asks for compression, and a proxy holds frames back until a
// block is full; or it waits for bytes behind a frame that is whole.
func TestFaultProxiesThatBuffer(t *testing.T) {
	t.Run("none is invited", func(t *testing.T) {
		client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "identity" || r.Header.Get("Cache-Control") != "no-cache" || r.Header.Get("Accept") != "text/event-stream" {
				t.Errorf("header %q", r.Header)
			}
			say(done(1))(w, r)
		})
		if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil {
			t.Error(err)
		}
	})
	t.Run("the head comes late, and with it many frames", func(t *testing.T) {
		var n int
		var frames strings.Builder
		for id := range 5000 {
			frames.WriteString(delta(id + 1))
		}
		inBubble(t, steps(&n, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(55 * time.Second)
			say(frames.String()+done(5001))(w, r)
		}), func(t *testing.T, client *stream.Client, _ *pipeServer) {
			if got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); err != nil || len(got) != 5001 || n != 1 {
				t.Errorf("%d events, %v, %d requests", len(got), err, n)
			}
		})
	})
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\n\r"} {
		t.Run(fmt.Sprintf("a frame that is whole is given at once, %q", end), func(t *testing.T) {
			given := make(chan bool)
			client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				say("data: 1"+end)(w, r)
				select {
				case <-given:
					say("data: {\"type\":\"done\"}\n\n")(w, r)
				case <-r.Context().Done():
					t.Error("the client left, or waited for more")
				}
			})
			client.Idle = 5 * time.Second
			client.Retry = stream.NoRetry
			for ev, err := range client.Run(t.Context(), agent, stream.Request{Message: "hi"}) {
				if err != nil {
					t.Error(err)
				} else if string(ev.Data) == "1" {
					close(given)
				}
			}
		})
	}
}

// Fault: after a resume an end without its start, or a delta without one, is
// dropped or crashes whoever keeps count.
func TestFaultEndWithoutAStart(t *testing.T) {
	client, _ := serve(t,
		say(`data: {"type":"text-delta","delta":"b"}`+"\n\n"+
			`data: {"type":"tool_args_delta","toolCallId":"c1","argsDelta":"}"}`+"\n\n"+
			`data: {"type":"tool_end","toolName":"swarm_delegate","toolCallId":"c1","output":{"ok":true}}`+"\n\n"+
			`data: {"type":"swarm_child_tool_end","subId":"s","toolName":"agent_find","output":[]}`+"\n\n"+
			`data: {"type":"thinking_end"}`+"\n\n"+done(9)))
	var calls events.Tracker
	var text string
	seq := 0
	for ev, err := range client.Watch(t.Context(), "run-7", "5") { // the starts were before 5
		if err != nil {
			t.Fatal(err)
		}
		seq++
		text += ev.Text()
		if te, err := events.ParseToolEvent(ev); err == nil {
			calls.Add(seq, te)
		} else if !errors.Is(err, events.ErrNotToolEvent) {
			t.Error(err)
		}
	}
	got := calls.Calls()
	if text != "b" || seq != 6 || len(got) != 2 || got[0].Start != 0 || got[0].End != 3 || got[0].ToolCallID != "c1" || got[1].Start != 0 || got[1].End != 4 {
		t.Errorf("text %q, %d events, calls %+v", text, seq, got)
	}
}

// Fault: the arguments of two calls that run at once are joined as they come.
func TestFaultInterleavedArguments(t *testing.T) {
	args := func(id int, call string, index int, delta string) string {
		if call != "" {
			call = fmt.Sprintf(`"id":%q,`, call)
		}
		return fmt.Sprintf("id: %d\ndata: {\"type\":\"tool_args_delta\",%s\"index\":%d,\"argsDelta\":%q}\n\n", id, call, index, delta)
	}
	client, _ := serve(t,
		cut(args(1, "c1", 0, `{"task":`)+args(2, "c2", 1, `{"task":`)+args(3, "", 1, `"two`)+args(4, "", 0, `"one"`)[:40]),
		cut(args(4, "", 0, `"one"`)),
		say(args(5, "", 1, `"}`)+args(6, "c1", 0, `}`)+done(7)))
	joined := make(map[int64]string)
	for ev, err := range client.Run(t.Context(), agent, stream.Request{Message: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == events.TypeToolArgsDelta {
			chunk := gjson.ParseBytes(ev.Data)
			joined[chunk.Get("index").Int()] += chunk.Get("argsDelta").String()
		}
	}
	if joined[0] != `{"task":"one"}` || joined[1] != `{"task":"two"}` {
		t.Errorf("arguments %v", joined)
	}
}
