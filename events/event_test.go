package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestDecodeType(t *testing.T) {
	for _, tt := range []struct{ name, event, data, want string }{
		{"type in data wins", "activity", `{"type":"activity.tool"}`, TypeActivityTool},
		{"unknown type leads", "message", `{"type":"quantum"}`, "quantum"},
		{"type after others", "message", `{"a":{"type":"x"},"type":"done"}`, TypeDone},
		{"known type leads, another follows", "message", `{"type":"done","type":"error"}`, TypeError},
		{"last type is no text", "step", `{"type":"done","type":7}`, "step"},
		{"empty type", "step", `{"type":""}`, "step"},
		{"escaped name", "message", `{"type":"done","t\u0079pe":"error"}`, TypeError},
		{"escaped value", "message", `{"type":"d\u006fne"}`, TypeDone},
		{"nested type leads nothing", "message", `{"type":"done","a":{"type":"x"}}`, TypeDone},
		{"type as a value", "message", `{"a":"type","b":"done"}`, ""},
		{"type at a name's end", "message", `{"a\"type":"done"}`, ""},
		{"spaced", "message", `{ "domain" : "model" , "type" : "model.done" }`, TypeModelDone},
		{"other case is another member", "message", `{"Type":"done"}`, ""},
		{"type of a nested object", "message", `{"a":{"type":"x"}}`, ""},
		{"no event name", "", `{}`, ""},
		{"sentinel", "step", "[DONE]", TypeDoneSentinel},
		{"sentinel with space", "message", " [DONE]\n", TypeDoneSentinel},
		{"list", "message", `[1]`, ""},
		{"text", "error", "upstream died", TypeError},
		{"number", "message", "7", ""},
		{"broken text that is no JSON", "message", `"open`, ""},
		{"space around", "message", " \t{\"type\":\"done\"}\r\n", TypeDone},
		{"other space is text", "message", "\v{", ""},
		{"empty with a name", "receipt", "", TypeReceipt},
	} {
		e := Decode("7", tt.event, []byte(tt.data))
		if e.Type != tt.want || e.Err != nil {
			t.Errorf("%s: type %q, error %v; want %q", tt.name, e.Type, e.Err, tt.want)
		}
		if e.ID != "7" || e.Name == "" || string(e.Data) != tt.data {
			t.Errorf("%s: %+v does not keep its frame", tt.name, e)
		}
	}
}

func TestDecodeMalformed(t *testing.T) {
	for _, tt := range []struct {
		data   string
		offset int64
	}{
		{`{"type":"tool_st`, 16},
		{`{`, 1},
		{`{"a":1}}`, 7},
		{`{"a" 1}`, 5},
		{`{"a":1,}`, 7},
		{`{'a':1}`, 1},
		{`{"a":01}`, 6},
		{`{"a":nul}`, 8},
		{"{\"a\":\"\n\"}", 6},
		{`[1,]`, 3},
		{`[DONE`, 1},
		{`[DONE] `[:5] + "]]", 1},
		{` {"a":`, 6},
	} {
		e := Decode("", "message", []byte(tt.data))
		var bad *MalformedError
		if e.Type != TypeMalformed || !errors.As(e.Err, &bad) {
			t.Errorf("%s: type %q, error %v; want malformed", tt.data, e.Type, e.Err)
			continue
		}
		if bad.Offset != tt.offset || bad.Size != len(tt.data) {
			t.Errorf("%s: %v; want it at byte %d", tt.data, bad, tt.offset)
		}
		if e.ErrorText() != bad.Error() {
			t.Errorf("%s: error text %q", tt.data, e.ErrorText())
		}
		if _, err := ParseToolEvent(e); err != e.Err {
			t.Errorf("%s: ParseToolEvent gives %v, want the frame's error", tt.data, err)
		}
	}
}

func TestDecodeDepth(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	if e := Decode("", "message", nested(maxDepth)); e.Err != nil {
		t.Errorf("depth %d: %v", maxDepth, e.Err)
	}
	e := Decode("", "message", nested(maxDepth+1))
	if !errors.Is(e.Err, errDepth) {
		t.Errorf("depth %d: %v, want %v", maxDepth+1, e.Err, errDepth)
	}
	e = Decode("", "message", nested(1_000_000))
	if !errors.Is(e.Err, errDepth) {
		t.Errorf("depth 1,000,000: %v, want %v", e.Err, errDepth)
	}
	flat := []byte(`["` + strings.Repeat(`[\"{`, maxDepth) + `"` + strings.Repeat(",[]", maxDepth) + "]")
	if e = Decode("", "message", flat); e.Err != nil {
		t.Errorf("many brackets side by side and in text: %v", e.Err)
	}

	// The deepest result still marshals, wherever a caller embeds it.
	deep := `{"type":"tool_end","toolName":"delegate","output":` + string(nested(maxDepth-1)) + `}`
	te, err := ParseToolEvent(Decode("", "message", []byte(deep)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(map[string]any{"tool": te}); err != nil {
		t.Error(err)
	}
}

func TestClone(t *testing.T) {
	buf := []byte(`{"type":"done"}`)
	e := Decode("", "message", buf)
	c := e.Clone()
	copy(buf, bytes.Repeat([]byte("x"), len(buf)))
	if string(c.Data) != `{"type":"done"}` {
		t.Errorf("clone's data %s changed with the buffer", c.Data)
	}
	if string(e.Data) == string(c.Data) {
		t.Error("an event is documented to share the buffer")
	}
}

func TestTerminal(t *testing.T) {
	for typ, want := range map[string]bool{
		TypeDone: true, TypeStopped: true, TypeError: true, TypeComposeError: true,
		TypeComplete: true, TypeModelDone: false, TypeModelError: false,
		TypeDoneSentinel: false, TypeReceipt: false, TypeToolEnd: false, TypeSwarmChildDone: false,
		TypeSwarmChildError: false, TypeTextDelta: false, TypeMalformed: false, "": false,
	} {
		if got := (Event{Type: typ}).Terminal(); got != want {
			t.Errorf("%q is terminal: %t, want %t", typ, got, want)
		}
	}
	for status, want := range map[string]bool{"running": false, "info": false, "completed": true, "failed": true, "cancelled": true} {
		run := Decode("", "message", []byte(`{"domain":"activity","type":"activity.run","status":"`+status+`"}`))
		if got := run.Terminal(); got != want {
			t.Errorf("activity.run %s is terminal: %t, want %t", status, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ event, data, want string }{
		{"message", `{"type":"text-delta","delta":"a"}`, "a"},
		{"message", `{"type":"text-delta","text":"b"}`, "b"},
		{"message", `{"type":"text-delta","delta":"","content":"c\u00e9"}`, "cé"},
		{"text-delta", `{"content":"named"}`, "named"},
		{"message", `{"choices":[{"delta":{"content":"Hel"}},{"delta":{"content":"lo"}}]}`, "Hello"},
		{"message", `{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, ""},
		{"message", `{"choices":[{"delta":{"content":null}},7]}`, ""},
		{"message", `{"choices":{}}`, ""},
		{"message", `{"domain":"model","type":"model.text.delta","delta":"Hi"}`, "Hi"},
		{"message", `{"domain":"model","type":"model.text.delta","payload":{"delta":"Hi"}}`, "Hi"},
		{"message", `{"type":"reasoning_delta","delta":"a"}`, ""},
		{"message", `{"type":"swarm_child_delta","delta":"a"}`, ""},
		{"message", `plain`, ""},
		{"message", `{"type":"text-del`, ""},
		{"text-delta", `plain`, ""},
	} {
		if got := Decode("", tt.event, []byte(tt.data)).Text(); got != tt.want {
			t.Errorf("%s: text %q, want %q", tt.data, got, tt.want)
		}
	}
	byHand := Event{Type: TypeTextDelta, Data: []byte(`{"delta":"x"}`)}
	if byHand.Text() != "x" {
		t.Errorf("an event made by hand has text %q, want x", byHand.Text())
	}
}

func TestUnquote(t *testing.T) {
	for _, s := range []string{
		`""`, `"plain"`, `"a\"b\\c\/d\b\f\n\r\te"`, `"\u00e9\u4e2d\ud83d\udc1d"`,
		`"\ud83d"`, `"\udc1d\ud83d"`, `"\ud83d\u0041"`, `"\ud83dx"`, `"\ud83d\ud83d\udc1d"`, `"x\\"`, `"\u0000"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatal(err)
		}
		if got := unquote(s); got != want {
			t.Errorf("%s is %q, want %q", s, got, want)
		}
	}
}
