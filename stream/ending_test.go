package stream_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/stream"
)

// Fault: an error event after a 200, or an error object in place of one, is
// read as a success. A run that failed ends with an error, however its stream tells so and
// whatever follows; the events are given as they would be without.
func TestRunError(t *testing.T) {
	const modelError = `data: {"domain":"model","type":"model.error","payload":{"error":"overloaded"}}` + "\n\n"
	for _, c := range []struct {
		name          string
		body          string
		events        []string
		message, code string // of the *RunError; "" for none
	}{
		{"error", "id: 1\nevent: error\ndata: {\"error\":\"no\"}\n\n", []string{"1 error"}, "no", ""},
		{"its receipt and [DONE] come first", `data: {"type":"error","message":"Top up","code":"insufficient_funds"}` + "\n\nevent: receipt\ndata: {}\n\ndata: [DONE]\n\n",
			[]string{"error", "receipt", "[DONE]"}, "Top up", "insufficient_funds"},
		{"compose.error", "event: compose.error\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":\"E1\"}}\n\n", []string{"compose.error"}, "overloaded", "E1"},
		{"plain text", "event: error\ndata: gateway closed\n\n", []string{"error"}, "gateway closed", ""},
		{"no cause", "event: error\ndata: {}\n\n", []string{"error"}, "error without a cause", ""},
		{"activity.run", `data: {"type":"activity.run","status":"failed","payload":{"error":"worker died"}}` + "\n\n", []string{"activity.run"}, "worker died", ""},
		{"an error object inside a 200", `data: {"error":{"message":"quota","code":"insufficient_quota"}}` + "\n\n", []string{""}, "quota", "insufficient_quota"},
		{"the first of two", `data: {"type":"error","error":"one"}` + "\n\n" + `data: {"type":"error","error":"two"}` + "\n\n", []string{"error", "error"}, "one", ""},
		{"done after it changes nothing", `data: {"type":"error","error":"one"}` + "\n\n" + `data: {"type":"done"}` + "\n\n", []string{"error", "done"}, "one", ""},
		{"the model's error ends the stream", modelError, []string{"model.error"}, "overloaded", ""},
		{"the model's error ends the stream, with [DONE]", modelError + "event: receipt\ndata: {}\n\ndata: [DONE]\n\n", []string{"model.error", "receipt", "[DONE]"}, "overloaded", ""},
		{"the run survives its model's error", modelError + `data: {"type":"done"}` + "\n\n", []string{"model.error", "done"}, "", ""},
		{"the run survives an activity's error", `data: {"type":"activity.error","error":"x"}` + "\n\n" + `data: {"type":"done"}` + "\n\n", []string{"activity.error", "done"}, "", ""},
		{"stopped", `data: {"type":"stopped","reason":"enough"}` + "\n\n", []string{"stopped"}, "", ""},
		{"cancelled", `data: {"type":"activity.run","status":"cancelled"}` + "\n\n", []string{"activity.run"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, say(c.body))
			got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			want(t, "events", got, c.events)
			want(t, "requests", s.requests(), []string{"POST /agent/" + agent.String() + "/stream"})
			if c.message == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			e, ok := err.(*stream.RunError)
			if !ok || e.Message != c.message || e.Code != c.code || e.RunID != "run-7" || errors.Is(err, stream.ErrTruncated) {
				t.Fatalf("%#v: %v; want a *RunError of %q, code %q", err, err, c.message, c.code)
			}
			if e.Event.ErrorText() != c.message || !strings.Contains(c.body, string(e.Event.Data)) {
				t.Errorf("the error's event is %+v", e.Event)
			}
			text := "the run failed: "
			if c.code != "" {
				text += c.code + ": "
			}
			if err.Error() != text+c.message {
				t.Errorf("text %q", err.Error())
			}
		})
	}
}

func TestRunErrorOfOtherSequences(t *testing.T) {
	const failed = "id: 4\nevent: error\ndata: {\"error\":\"no\"}\n\n"
	isRunError := func(err error) bool {
		_, ok := err.(*stream.RunError)
		return ok
	}
	client, _ := serve(t, say(failed), say(failed), say(failed), say(failed+delta(5)), answer(204, ""))
	if got, err := collect(t, client.Watch(t.Context(), "r", "")); !isRunError(err) || len(got) != 1 {
		t.Errorf("watch: %q, %v", got, err)
	}
	if got, err := collect(t, client.Follow(t.Context(), "/x", stream.FollowOptions{})); !isRunError(err) || len(got) != 1 {
		t.Errorf("follow: %q, %v", got, err)
	}
	for ev, err := range client.Watch(t.Context(), "r", "") {
		if err != nil || ev.Type != "error" {
			t.Errorf("%+v, %v", ev, err)
		}
		break // no error comes after the caller has left: a yield then would panic
	}
	// An endless stream is no run: an error in it is one of its events.
	got, err := collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}))
	want(t, "endless", got, []string{"4 error", "5 text-delta"})
	if err != nil {
		t.Errorf("endless: %v", err)
	}
}

// The stream is cut after the event that told of the failure. What may follow
// is looked for as after any end, and then the failure is told.
func TestRunErrorAfterACut(t *testing.T) {
	const failed = "id: 4\nevent: error\ndata: {\"error\":\"no\"}\n\n"
	for _, c := range []struct {
		name string
		then http.HandlerFunc
		want []string
	}{
		{"the receipt comes", say("id: 5\nevent: receipt\ndata: {}\n\n"), []string{"4 error", "5 receipt"}},
		{"nothing follows", answer(204, ""), []string{"4 error"}},
		{"the server has forgotten", answer(404, ""), []string{"4 error"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := serve(t, cut(failed), c.then)
			got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			want(t, "events", got, c.want)
			if e, ok := err.(*stream.RunError); !ok || e.Message != "no" {
				t.Errorf("%#v: %v; want a *RunError", err, err)
			}
		})
	}
}

// The error's event outlives the buffer that it was read into.
func TestRunErrorKeepsItsEvent(t *testing.T) {
	client, _ := serve(t, say(`data: {"type":"error","error":"no"}`+"\n\n"+"data: "+strings.Repeat("x", 1<<20)+"\n\n"))
	_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	if e, ok := err.(*stream.RunError); !ok || string(e.Event.Data) != `{"type":"error","error":"no"}` {
		t.Errorf("%#v", err)
	}
}

// Fault: an id that has expired gives what there still is, without a signal.
// Here what a server no longer has, it says; a client never gets a part of a
// run for the whole.
func TestGapAndPurge(t *testing.T) {
	const gap = "id: 102\nevent: gap\ndata: {\"type\":\"gap\",\"runId\":\"run-7\",\"after\":\"57\",\"next\":\"103\",\"message\":\"lost\"}\n\n"
	client, s := serve(t, cut(delta(57)), say(gap+delta(103)+done(104)))
	got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	want(t, "events", got, []string{"57 text-delta", "102 gap", "103 text-delta", "104 done"})
	if err != nil {
		t.Error(err)
	}
	want(t, "requests", s.requests()[1:], []string{"GET /delegations/run-7/events 57"})

	gone := answer(410, `{"error":{"code":"expired","message":"the events are gone"}}`)
	purged := func(err error) bool {
		e, ok := err.(*stream.TruncatedError)
		h, isHTTP := errors.AsType[*stream.HTTPError](err)
		return ok && e.LastEventID == "57" && isHTTP && h.Status == 410 && h.Code == "expired"
	}
	client, s = serve(t, cut(delta(57)), gone, gone, gone)
	if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"})); !purged(err) {
		t.Errorf("on a resume: %v", err)
	}
	if _, err := collect(t, client.Watch(t.Context(), "run-7", "57")); !purged(err) {
		t.Errorf("on a resume by the caller: %v", err)
	}
	if _, err := collect(t, client.Watch(t.Context(), "run-7", "")); !isHTTP(err, 410) || errors.Is(err, stream.ErrTruncated) {
		t.Errorf("from the start: %v; nothing was had, so nothing was cut", err)
	}
	if n := len(s.requests()); n != 4 {
		t.Errorf("%d requests, want 4: 410 is final", n)
	}
}
