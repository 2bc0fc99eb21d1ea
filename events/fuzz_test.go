package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"
)

func seedFrames(f *testing.F) {
	n := 0
	for _, v := range vectors(f) {
		for _, frame := range v.Frames {
			f.Add(frame.Event, []byte(frame.Data))
			n++
		}
	}
	if n == 0 {
		f.Fatal("no seeds")
	}
	f.Add("message", delegateStart)
	f.Add("message", []byte(`{"a\"type":"done"}`))
	f.Add("message", []byte(`{"a":"type","type":"done","b":{"type":"error"}}`))
	f.Add("message", []byte("{\"type\":\"a\xff\"}"))
	f.Add("message", []byte(`{"id":"1","error":{"code":502,"message":"m"},"choices":[{"delta":{"content":""}}]}`))
	f.Add("message", []byte(`{"\u0065rror":"x","error":{}}`))
	f.Add("message", []byte(`{"type":"activity.run","status":"failed","payload":{"error":{"code":"E"}}}`))
	f.Add("complete", []byte(`{"success":false}`))
	f.Add("message", []byte(`{"type":"\ud83d","t\u0079pe":"x"}`))
}

// oracle is the type of a frame as the standard decoder sees it.
func oracle(name string, data []byte) (typ string, broken bool) {
	if name == "message" || name == "" {
		name = ""
	}
	trimmed := bytes.Trim(data, " \t\r\n")
	switch {
	case string(trimmed) == "[DONE]":
		return "[DONE]", false
	case len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[':
		return name, false
	case !json.Valid(trimmed):
		return TypeMalformed, true
	case trimmed[0] == '[':
		return name, false
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(trimmed, &object); err != nil {
		panic(err) // valid, so only a bug of this test
	}
	if raw := object["type"]; len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &typ); err != nil {
			panic(err)
		}
		if typ != "" {
			return typ, false
		}
	}
	return name, false
}

func FuzzDecode(f *testing.F) {
	seedFrames(f)
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if len(data) > maxDepth {
			return // deeper than we read, which the oracle does not know
		}
		before := bytes.Clone(data)
		e := Decode("id", name, data)
		if !bytes.Equal(e.Data, before) || !bytes.Equal(data, before) {
			t.Fatal("the data changed")
		}
		typ, broken := oracle(name, data)
		if e.Type != typ || (e.Err != nil) != broken {
			t.Fatalf("type %q, error %v; want %q, broken %t", e.Type, e.Err, typ, broken)
		}
		var bad *MalformedError
		if broken && (!errors.As(e.Err, &bad) || bad.Offset < 0 || bad.Offset > int64(len(data)) || bad.Err == nil) {
			t.Fatalf("error %+v does not say where", e.Err)
		}
		if s := e.Text(); s != "" && e.Type != "" && e.Type != TypeTextDelta && e.Type != TypeModelTextDelta || !utf8.ValidString(s) {
			t.Fatalf("%s has text %q", e.Type, s)
		}
		checkEnding(t, e)
		byHand := Event{Type: e.Type, Name: e.Name, Data: data}
		if e.Err == nil && (byHand.Text() != e.Text() || byHand.ErrorText() != e.ErrorText() ||
			byHand.Failed() != e.Failed() || byHand.Terminal() != e.Terminal() || byHand.ErrorCode() != e.ErrorCode()) {
			t.Fatal("an event made by hand reads otherwise")
		}
	})
}

// checkEnding checks what an event says of its run's end, against the standard
// decoder where the event has no type.
func checkEnding(t *testing.T, e Event) {
	t.Helper()
	text, code := e.ErrorText(), e.ErrorCode()
	if e.Failed() && !e.Terminal() || !utf8.ValidString(text) || !utf8.ValidString(code) || code != "" && text == "" {
		t.Fatalf("%s: failed %t, terminal %t, error %q, code %q", e.Type, e.Failed(), e.Terminal(), text, code)
	}
	switch e.Type {
	case TypeMalformed, TypeModelError, TypeActivityError, TypeSwarmChildError, TypeTaskFailed:
		if text == "" || e.Terminal() {
			t.Fatalf("%s: terminal %t, error %q", e.Type, e.Terminal(), text)
		}
	default:
		if e.Failed() != (text != "") {
			t.Fatalf("%s: failed %t, error %q", e.Type, e.Failed(), text)
		}
	}
	if e.Type != "" {
		return
	}
	var object, inner map[string]json.RawMessage
	var cause string
	want := false
	if json.Unmarshal(e.Data, &object) == nil && object["error"] != nil {
		want = json.Unmarshal(object["error"], &cause) == nil && cause != "" ||
			json.Unmarshal(object["error"], &inner) == nil && len(inner) > 0
	}
	if e.Failed() != want {
		t.Fatalf("%s: failed %t, want %t", e.Data, e.Failed(), want)
	}
}

func FuzzParseToolEvent(f *testing.F) {
	seedFrames(f)
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		data = bytes.Clone(data) // overwritten below
		e := Decode("", name, data)
		te, err := ParseToolEvent(e)
		if err != nil {
			if !reflect.DeepEqual(te, ToolEvent{}) {
				t.Fatalf("error %v beside %+v", err, te)
			}
			if errors.Is(err, ErrNotToolEvent) == (e.Err != nil) {
				t.Fatalf("error %v for an event with error %v", err, e.Err)
			}
			return
		}
		if again, err := ParseToolEvent(Event{Name: name, Type: e.Type, Data: data}); err != nil || !reflect.DeepEqual(te, again) {
			t.Fatalf("%+v, then %+v", te, again)
		}
		if te.ToolName == "" || te.Start && te.Result != nil || te.Result != nil && te.Result[0] != '{' {
			t.Fatalf("%+v", te)
		}
		first, err := te.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		clear(data)
		second, _ := te.MarshalJSON()
		if !bytes.Equal(first, second) {
			t.Fatal("the event changed with the buffer that it was read from")
		}
		checkJSON(t, te, first)
	})
}

func checkJSON(t *testing.T, te ToolEvent, b []byte) {
	t.Helper()
	if !utf8.Valid(b) || bytes.ContainsAny(b, "\n\r") {
		t.Fatalf("%q is not one line of UTF-8", b)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"start", te.Family.Key(), "action", "result", "error", "toolName"} {
		if members[key] == nil {
			t.Fatalf("%s has no %s", b, key)
		}
		delete(members, key)
	}
	for key := range members {
		if key != "toolCallId" && key != "display" {
			t.Fatalf("%s has a member %s", b, key)
		}
	}
	var back ToolEvent
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	again, err := back.MarshalJSON()
	if err != nil || !bytes.Equal(again, b) {
		t.Fatalf("%s\nreads back as %s, %v", b, again, err)
	}
}

func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`""`, `"a\u00e9\ud83d\udc1d\\"`, `"\ud83d\ud83d"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, quoted []byte) {
		var want string
		if len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' || json.Unmarshal(quoted, &want) != nil {
			return
		}
		if got := replaceInvalid(unquote(string(quoted))); got != want {
			t.Fatalf("%s is %q, want %q", quoted, got, want)
		}
		if got := string(appendQuoted(nil, want)); json.Unmarshal([]byte(got), new(string)) != nil || unquote(got) != want {
			t.Fatalf("%q is quoted as %s", want, got)
		}
	})
}

// events makes a stream of sides from bytes, four small choices in each.
func eventsOf(ops []byte) []ToolEvent {
	var all []ToolEvent
	for _, op := range ops {
		te := ToolEvent{
			Start:      op&1 == 0,
			ToolName:   []string{"delegate", "swarm_delegate"}[op>>1&1],
			ToolCallID: []string{"", "1", "2", ""}[op>>2&3],
			Subject:    []string{"", "a", "b", ""}[op>>4&3],
		}
		switch op >> 6 {
		case 1:
			te.Child = &Child{SubID: "s"}
		case 2:
			te.RunID = "main"
		case 3:
			te.RunID = "other"
		}
		all = append(all, te)
	}
	return all
}

func FuzzTracker(f *testing.F) {
	for _, seed := range []string{"", "\x00\x01", "\x04\x14\x01\x05", "\x10\x20\x00\x31\x21\x11", "\x40\x00\x41\x01", "\x80\x01\xc0\xc1\x81"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 200 {
			ops = ops[:200]
		}
		events := eventsOf(ops)
		var tr Tracker
		for i, te := range events {
			tr.Add(i+1, te)
		}
		seen := make(map[int]bool)
		ends := 0
		var got [][2]int
		for _, c := range tr.Calls() {
			got = append(got, [2]int{c.Start, c.End})
			for _, seq := range []int{c.Start, c.End} {
				if seq != 0 && seen[seq] {
					t.Fatalf("event %d is paired twice", seq)
				}
				seen[seq] = true
			}
			if (c.Start != 0) != (c.StartEvent != nil) || (c.End != 0) != (c.EndEvent != nil) || c.Start != 0 && c.End != 0 && c.Start >= c.End {
				t.Fatalf("%+v", c)
			}
			if c.End != 0 {
				ends++
			}
		}
		for i, te := range events {
			if !te.Start {
				ends--
				if !seen[i+1] {
					t.Fatalf("end %d is in no call", i+1)
				}
			}
		}
		if ends != 0 {
			t.Fatalf("%d ends too many", ends)
		}
		if want := naivePairs(events); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// naivePairs is the rule of pairing as a search through all open calls.
func naivePairs(events []ToolEvent) [][2]int {
	type call struct {
		te         ToolEvent
		agent      string
		start, end int
	}
	var calls []*call
	var main string
	for _, te := range events {
		if te.Child == nil {
			main = firstOf(main, te.RunID)
		}
	}
	scope := func(te ToolEvent) string {
		if te.Child != nil {
			return "child " + te.Child.SubID
		}
		return firstOf(te.RunID, main)
	}
	find := func(te ToolEvent, ok func(*call) bool) *call {
		for _, c := range calls {
			if c.start != 0 && c.end == 0 && scope(c.te) == scope(te) && ok(c) {
				return c
			}
		}
		return nil
	}
	sameID := func(te ToolEvent) *call {
		return find(te, func(c *call) bool { return te.ToolCallID != "" && c.te.ToolCallID == te.ToolCallID })
	}
	for i, te := range events {
		if te.Start {
			if c := sameID(te); c == nil {
				calls = append(calls, &call{te: te, agent: te.Agent(), start: i + 1})
			} else if c.agent == "" {
				c.agent = te.Agent()
			}
			continue
		}
		c := sameID(te)
		for _, agent := range []string{te.Agent(), ""} {
			for _, withID := range []bool{false, true} {
				if c == nil && !(withID && te.ToolCallID != "") {
					c = find(te, func(c *call) bool {
						return c.te.ToolName == te.ToolName && (c.te.ToolCallID != "") == withID &&
							(c.agent == agent || te.Agent() == "")
					})
				}
			}
		}
		if c == nil {
			c = new(call)
			calls = append(calls, c)
		}
		c.end = i + 1
	}
	var all [][2]int
	for _, c := range calls {
		all = append(all, [2]int{c.start, c.end})
	}
	return all
}
