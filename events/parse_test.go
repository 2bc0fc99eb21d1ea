package events

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

const (
	lower  = "0xedf8f866b9c4fbfbc3a79e31a2bc79e3937993e8"
	folds  = "0xeDf8f866B9C4FbfBc3A79E31a2Bc79e3937993e8" // lower in its EIP-55 form
	lower2 = "0x196feea1ac8be4acf6b9463928a79238a3f1d362"
	folds2 = "0x196FEEA1AC8be4aCF6b9463928A79238a3F1d362"
)

// TestParse has what the vectors leave out. Of want, "" stands for ""; a result
// of "" for none. name "-" wants not mine.
func TestParse(t *testing.T) {
	type want struct{ name, subject, action, result, err, id string }
	for _, tt := range []struct {
		name, data string
		want       want
	}{
		{"name in target", `{"type":"activity.tool","status":"running","target":{"name":"agent_find"}}`,
			want{name: "agent_find"}},
		{"target is generation B's alone", `{"type":"tool_start","target":{"name":"agent_find"}}`, want{name: "-"}},
		{"status unknown", `{"type":"activity.tool","status":"paused","name":"delegate"}`, want{name: "-"}},
		{"no status", `{"type":"activity.tool","name":"delegate"}`, want{name: "-"}},
		{"last name is no text", `{"type":"tool_start","toolName":"delegate","toolName":1}`, want{name: "-"}},

		{"input twice wrapped", `{"type":"tool_start","toolName":"agent_find","input":{"input":{"input":"{\"query\":\"q\"}"}}}`,
			want{name: "agent_find", action: "q"}},
		{"input beside its own keys", `{"type":"tool_start","toolName":"agent_find","input":{"query":"q","input":{"task":"t"}}}`,
			want{name: "agent_find", action: "q"}},
		{"input beside foreign keys", `{"type":"tool_start","toolName":"agent_find","input":{"limit":3,"input":{"task":"t"}}}`,
			want{name: "agent_find", action: "t"}},
		{"input beside empty keys", `{"type":"tool_start","toolName":"agent_find","input":{"query":"","input":{"task":"t"}}}`,
			want{name: "agent_find", action: "t"}},
		{"plain input inside", `{"type":"tool_start","toolName":"agent_find","input":{"input":"just words"}}`,
			want{name: "agent_find", action: "just words"}},
		{"quoted words stay", `{"type":"tool_start","toolName":"agent_find","input":"\"exact words\""}`,
			want{name: "agent_find", action: `"exact words"`}},
		{"payload's input", `{"type":"activity.tool","status":"pending","name":"delegate","payload":{"input":{"agent":"a","task":"t"}}}`,
			want{name: "delegate", subject: "a", action: "t"}},
		{"frame's input before the payload's", `{"type":"activity.tool","status":"pending","name":"delegate","input":{"task":"outer"},"payload":{"input":{"task":"inner"}}}`,
			want{name: "delegate", action: "outer"}},
		{"payload of generation A", `{"type":"tool_start","toolName":"delegate","payload":{"input":{"task":"inner"}}}`,
			want{name: "delegate"}},
		{"parts after texts", `{"type":"tool_start","toolName":"delegate","input":{"parts":[{"text":"p"}],"searchString":"s"}}`,
			want{name: "delegate", action: "s"}},
		{"parts of A2A 1.0", `{"type":"tool_start","toolName":"delegate","input":{"parts":[{"text":"p"},{"url":"u"},{"type":"text","text":"q"}]}}`,
			want{name: "delegate", action: "p\nq"}},
		{"display and target", `{"type":"activity.tool","status":"running","name":"delegate","display":{"kind":"agent","target":"Scout"},"target":{"target":"` + lower + `","summary":"s"}}`,
			want{name: "delegate", subject: folds, action: "s"}},
		{"address in capitals with 0X", `{"type":"tool_start","toolName":"delegate","input":{"agent":"0X` + strings.ToUpper(lower[2:]) + `"}}`,
			want{name: "delegate", subject: "0X" + strings.ToUpper(lower[2:])}},
		{"empty agent gives way", `{"type":"tool_start","toolName":"delegate","input":{"agentWallet":"","agent":null,"wallet":"w"}}`,
			want{name: "delegate", subject: "w"}},

		{"invoke without end", `{"type":"tool_start","toolName":"delegate","content":"<invoke>\ndelegate\n<task>t</task><agent>a"}`,
			want{name: "delegate", action: "t"}},
		{"invoke tags over lines", `{"type":"tool_start","toolName":"delegate","content":"<invoke name=\"delegate\">\n<parameter name='task'>\nline one\nline two\n</parameter>\n</invoke>"}`,
			want{name: "delegate", action: "line one\nline two"}},
		{"invoke with an input", `{"type":"tool_start","toolName":"delegate","content":"<invoke><input>{\"task\":\"t\",\"agent\":\"a\"}</input></invoke>"}`,
			want{name: "delegate", action: "t", subject: "a"}},
		{"tags inside a tag", `{"type":"tool_start","toolName":"delegate","content":"<invoke><budget><task>no</task></budget><task>yes</task></invoke>"}`,
			want{name: "delegate", action: "yes"}},
		{"invoke of foreign tags alone", `{"type":"tool_start","toolName":"delegate","content":"<invoke>\ndelegate\n<budget>9</budget></invoke>"}`,
			want{name: "delegate"}},
		{"invoked is another word", `{"type":"tool_start","toolName":"delegate","content":"<invoked>x</invoked>"}`,
			want{name: "delegate", action: "<invoked>x</invoked>"}},
		{"input before invoke", `{"type":"tool_start","toolName":"delegate","input":{"task":"i"},"content":"<invoke><task>c</task><agent>a</agent></invoke>"}`,
			want{name: "delegate", action: "i", subject: "a"}},

		{"remote_agent without verb", `{"type":"tool_start","toolName":"remote_agent","input":{"target":"x"}}`, want{name: "-"}},
		{"remote_agent invoked", `{"type":"tool_start","toolName":"remote_agent","content":"<invoke><action>send</action><target>x</target></invoke>"}`,
			want{name: "remote_agent", subject: "x"}},
		{"remote_agent ends with a verb", `{"type":"tool_end","toolName":"remote_agent","input":{"action":"watch"},"output":{"action":"send"}}`, want{name: "-"}},
		{"remote_agent's other verb in an output of text", `{"type":"tool_end","toolName":"remote_agent","output":"{\"content\":\"{\\\"action\\\":\\\"watch\\\"}\"}"}`, want{name: "-"}},

		{"false is an output", `{"type":"tool_end","toolName":"delegate","output":false,"message":"m"}`,
			want{name: "delegate", result: `{"output":false}`}},
		{"payload's message", `{"type":"activity.tool","status":"completed","name":"delegate","payload":{"output":null,"message":"m"}}`,
			want{name: "delegate", result: `{"output":"m"}`}},
		{"message that is JSON", `{"type":"tool_end","toolName":"delegate","message":"{\"n\":1.50}"}`,
			want{name: "delegate", result: `{"n":1.50}`}},
		{"message of no text", `{"type":"tool_end","toolName":"delegate","message":{"text":"x"}}`, want{name: "delegate"}},
		{"structured content without content", `{"type":"tool_end","toolName":"delegate","output":{"structuredContent":{"n":1},"isError":false}}`,
			want{name: "delegate", result: `{"n":1}`}},
		{"structured content beside an answer", `{"type":"tool_end","toolName":"delegate","output":{"structuredContent":{"n":1},"rows":2}}`,
			want{name: "delegate", result: `{"structuredContent":{"n":1},"rows":2}`}},
		{"compacted without value", `{"type":"tool_end","toolName":"delegate","output":{"__compose_tool_result":"compacted_json"}}`,
			want{name: "delegate", result: `{"__compose_tool_result":"compacted_json"}`}},
		{"preview stays text", `{"type":"tool_end","toolName":"delegate","output":{"__compose_tool_result":"truncated_json","preview":"[1]"}}`,
			want{name: "delegate", result: `{"output":"[1]"}`}},
		{"empty content list", `{"type":"tool_end","toolName":"delegate","output":{"content":[]}}`,
			want{name: "delegate", result: `{"output":[]}`}},
		{"strings are no parts", `{"type":"tool_end","toolName":"delegate","output":["a","b"]}`,
			want{name: "delegate", result: `{"output":["a","b"]}`}},
		{"a list of texts without type is an answer", `{"type":"tool_end","toolName":"delegate","output":[{"text":"a"}]}`,
			want{name: "delegate", result: `{"output":[{"text":"a"}]}`}},
		{"content of an object", `{"type":"tool_end","toolName":"delegate","output":{"content":{"a":1}}}`,
			want{name: "delegate", result: `{"content":{"a":1}}`}},
		{"two JSON values in a text", `{"type":"tool_end","toolName":"delegate","output":"{} {}"}`,
			want{name: "delegate", result: `{"output":"{} {}"}`}},
		{"space between tokens goes", `{"type":"tool_end","toolName":"delegate","output":{ "a" :
 1 } }`,
			want{name: "delegate", result: `{"a":1}`}},
		{"no result on a start", `{"type":"tool_start","toolName":"delegate","output":{"a":1}}`, want{name: "delegate"}},

		{"error on a start", `{"type":"tool_start","toolName":"delegate","error":"e"}`, want{name: "delegate", err: "e"}},
		{"error list", `{"type":"tool_end","toolName":"delegate","error":["e"]}`, want{name: "delegate"}},
		{"error object is compacted", `{"type":"tool_end","toolName":"delegate","error":{ "n" : 1.0 }}`,
			want{name: "delegate", err: `{"n":1.0}`}},
		{"payload's error object", `{"type":"activity.tool","status":"failed","name":"delegate","payload":{"error":{"code":"E"}}}`,
			want{name: "delegate", err: "E"}},
		{"failed without cause has the payload's message", `{"type":"activity.tool","status":"cancelled","name":"delegate","payload":{"message":"user left"}}`,
			want{name: "delegate", err: "user left", result: `{"output":"user left"}`}},
		{"layer's own error", `{"type":"tool_end","toolName":"delegate","output":{"content":"text","isError":true}}`,
			want{name: "delegate", err: "text", result: `{"output":"text"}`}},
		{"isError with structured content", `{"type":"tool_end","toolName":"delegate","output":{"isError":true,"structuredContent":{"error":"quota"}}}`,
			want{name: "delegate", err: "quota", result: `{"error":"quota"}`}},
		{"isError without words", `{"type":"tool_end","toolName":"delegate","message":"m","output":{"isError":true,"content":[]}}`,
			want{name: "delegate", err: "m", result: `{"output":[]}`}},
		{"status error of a bare message", `{"type":"tool_end","toolName":"delegate","output":{"content":"no","status":"error","tool_call_id":"c"}}`,
			want{name: "delegate", err: "no", result: `{"output":"no"}`}},
		{"error of the inner layer", `{"type":"tool_end","toolName":"delegate","output":{"kwargs":{"content":"{\"content\":[{\"type\":\"text\",\"text\":\"deep\"}],\"isError\":true}"}}}`,
			want{name: "delegate", err: "deep", result: `{"output":"deep"}`}},
		{"error_message before the others", `{"type":"tool_end","toolName":"delegate","output":{"ok":false,"error_message":"em","stopReason":"sr"}}`,
			want{name: "delegate", err: "em", result: `{"ok":false,"error_message":"em","stopReason":"sr"}`}},
		{"own failure has the frame's message", `{"type":"tool_end","toolName":"delegate","message":"m","output":{"ok":false}}`,
			want{name: "delegate", err: "m", result: `{"ok":false}`}},
		{"retryAfterMs beside an error", `{"type":"tool_end","toolName":"delegate","output":{"error":"slow down","retryAfterMs":5}}`,
			want{name: "delegate", err: "slow down", result: `{"error":"slow down","retryAfterMs":5}`}},
		{"error that is no text", `{"type":"tool_end","toolName":"delegate","output":{"error":true}}`,
			want{name: "delegate", result: `{"error":true}`}},

		{"id of the payload", `{"type":"activity.tool","status":"running","name":"delegate","payload":{"toolCallId":"p"}}`,
			want{name: "delegate", id: "p"}},
		{"id of the frame first", `{"type":"tool_end","toolName":"delegate","toolCallId":"f","output":{"kwargs":{"content":"c","tool_call_id":"k"}}}`,
			want{name: "delegate", id: "f", result: `{"output":"c"}`}},
		{"id of kwargs without content", `{"type":"tool_end","toolName":"delegate","output":{"kwargs":{"tool_call_id":"k"}}}`,
			want{name: "delegate", id: "k", result: `{"kwargs":{"tool_call_id":"k"}}`}},
		{"id that is a number", `{"type":"tool_start","toolName":"delegate","toolCallId":7}`, want{name: "delegate"}},

		{"first of results", `{"type":"tool_end","toolName":"agent_find","output":{"agents":[{"wallet":"` + lower2 + `"}],"results":{},"wallet":"` + lower + `"}}`,
			want{name: "agent_find", subject: folds2, result: `{"agents":[{"wallet":"` + lower2 + `"}],"results":{},"wallet":"` + lower + `"}`}},
		{"an unlisted agent is not found", `{"type":"tool_end","toolName":"agent_find","output":{"wallet":"` + lower + `"}}`,
			want{name: "agent_find", result: `{"wallet":"` + lower + `"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			te, err := ParseToolEvent(Decode("", "message", []byte(tt.data)))
			if tt.want.name == "-" {
				if !errors.Is(err, ErrNotToolEvent) {
					t.Fatalf("%+v, error %v; want not mine", te, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var result string
			if te.Result != nil {
				b, err := appendCompact(nil, te.Result)
				if err != nil {
					t.Fatal(err)
				}
				result = string(b)
			}
			got := want{te.ToolName, te.Subject, te.Action, result, te.Error, te.ToolCallID}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestParseChild(t *testing.T) {
	te, err := ParseToolEvent(Decode("", "message", []byte(`{"type":"swarm_child_tool_start","rootComposeRunId":"r0",
		"parentRunId":"p","subId":"s","depth":2,"agentWallet":"`+lower+`","runKey":"k","runKeyChain":["a","k",7],
		"runId":"r","toolName":"agent_find"}`)))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(te.Child)
	want := `{"RootRunID":"r0","ParentRunID":"p","SubID":"s","Depth":2,"AgentWallet":"` + folds + `","RunKey":"k","RunKeyChain":["a","k"]}`
	if string(got) != want || te.RunID != "r" || te.Subject != "" {
		t.Errorf("child %s of run %q with agent %q\nwant  %s", got, te.RunID, te.Subject, want)
	}
}

func TestParseByHand(t *testing.T) {
	te, err := ParseToolEvent(Event{Type: TypeToolStart, Data: []byte(`{"toolName":"delegate"}`)})
	if err != nil || te.ToolName != "delegate" {
		t.Errorf("%+v, %v; want a delegation", te, err)
	}
	var bad *MalformedError
	if te, err = ParseToolEvent(Event{Type: TypeToolStart, Data: []byte(`{"toolName":`)}); !errors.As(err, &bad) {
		t.Errorf("%+v, %v; want malformed", te, err)
	}
	if te, err = ParseToolEvent(Event{Type: TypeToolStart, Data: []byte("text")}); !errors.Is(err, ErrNotToolEvent) {
		t.Errorf("%+v, %v; want not mine", te, err)
	}
}

func TestParseInvalidUTF8(t *testing.T) {
	data := "{\"type\":\"tool_end\",\"toolName\":\"delegate\",\"input\":{\"task\":\"a\xffb\"},\"output\":{\"k\":\"c\xff\"}}"
	te, err := ParseToolEvent(Decode("", "message", []byte(data)))
	if err != nil {
		t.Fatal(err)
	}
	if te.Action != "a\uFFFDb" || string(te.Result) != "{\"k\":\"c\uFFFD\"}" {
		t.Errorf("action %q, result %q", te.Action, te.Result)
	}
}

// TestParseLarge has more text than shares one piece of memory.
func TestParseLarge(t *testing.T) {
	task := strings.Repeat("x", 2*sharedTexts)
	data := []byte(`{"type":"tool_start","toolName":"delegate","input":{"agent":"a","task":"` + task + `"},"display":{"kind":"agent","details":{"n":1}}}`)
	te, err := ParseToolEvent(Decode("", "message", data))
	if err != nil {
		t.Fatal(err)
	}
	before, _ := te.MarshalJSON()
	clear(data)
	after, err := te.MarshalJSON()
	if err != nil || string(before) != string(after) || te.Action != task {
		t.Error("the event changed with the buffer that it was read from")
	}
}

func TestHostile(t *testing.T) {
	// A tenth of the benchmark's size leaves room for slow machines; what
	// grows by its square would still take minutes.
	for name, data := range hostile(1 << 20) {
		e := Decode("", "message", data)
		te, err := ParseToolEvent(e)
		if err == nil {
			if _, err := te.MarshalJSON(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, _ = e.Text(), e.ErrorText()
	}
}

func TestToolEventJSON(t *testing.T) {
	for _, tt := range []struct {
		te   ToolEvent
		want string
	}{
		{ToolEvent{Start: true, ToolName: "agent_find", Action: "a<b>&\u2028\x01\"\\"},
			`{"start":true,"agent":"","action":"a<b>&` + "\u2028" + `\u0001\"\\","result":null,"error":null,"toolName":"agent_find"}`},
		{ToolEvent{Family: FamilySearch, Subject: "deep", ToolName: "search_call", ToolCallID: "1", Result: json.RawMessage("{\n\"a\": 1}"), Error: "e",
			Display: &Display{Kind: "search", Name: "n", Details: json.RawMessage("[1, 2]")}},
			`{"start":false,"mode":"deep","action":"","result":{"a":1},"error":"e","toolName":"search_call","toolCallId":"1","display":{"kind":"search","name":"n","details":[1,2]}}`},
	} {
		got, err := tt.te.MarshalJSON()
		if err != nil || string(got) != tt.want {
			t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			continue
		}
		var back ToolEvent
		if err := json.Unmarshal(got, &back); err != nil {
			t.Error(err)
			continue
		}
		if again, _ := back.MarshalJSON(); string(again) != tt.want || back.Family != tt.te.Family {
			t.Errorf("read back: %s", again)
		}
	}
	if _, err := (ToolEvent{Family: 9}).MarshalJSON(); err == nil {
		t.Error("an unknown family marshals")
	}
	for _, bad := range []string{
		`{"start":true}`, `{"agent":"a","model":"m"}`, `{"agent":"a","result":[]}`, `[]`, `{"agent":7}`,
	} {
		if err := new(ToolEvent).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is read without an error", bad)
		}
	}
}

// Whoever has a result may change it, as any slice of his own.
func TestParseResultIsItsOwn(t *testing.T) {
	for _, output := range []string{
		`{"success":false,"error":"the cause","agent":"scout-7","tool_call_id":"c"}`,
		`{"kwargs":{"content":"{\"agent\":\"scout-7\",\"ok\":false,\"reason\":\"the cause\"}","tool_call_id":"c"}}`,
		`{"kwargs":{"content":[{"type":"text","text":"{\"agent\":\"scout-7\",\"padding\":\"` + strings.Repeat("x", 500) + `\"}"}],"status":"error","tool_call_id":"c"}}`,
		`{"results":[{"agent":"scout-7"}],"isError":true,"content":"x"}`,
		`{"isError":true,"content":"{` + strings.Repeat(" ", 500) + `}"}`,
		`{"isError":true,"error":"the cause","kwargs":{"tool_call_id":"c"},"structuredContent":{"agent":"scout-7","padding":"` + strings.Repeat("x", 500) + `"}}`,
	} {
		for _, tool := range []string{"delegate", "agent_find"} {
			for _, layered := range []string{output, string(appendQuoted(nil, output)), string(appendQuoted(nil, string(appendQuoted(nil, output))))} {
				data := `{"type":"tool_end","toolName":"` + tool + `","runId":"r","output":` + layered + `,"display":{"kind":"k","details":[1]}}`
				te, err := ParseToolEvent(Decode("", "message", []byte(data)))
				if err != nil || te.Result == nil {
					t.Fatal(te, err)
				}
				want := te
				want.Error, want.Subject, want.ToolCallID, want.Action = strings.Clone(te.Error), strings.Clone(te.Subject), strings.Clone(te.ToolCallID), strings.Clone(te.Action)
				display, _ := te.Display.appendJSON(nil)
				for i := range te.Result {
					te.Result[i] = '!'
				}
				te.Result = append(te.Result, "behind it"...)
				after, _ := te.Display.appendJSON(nil)
				if te.Error != want.Error || te.Subject != want.Subject || te.ToolCallID != want.ToolCallID || te.RunID != "r" || string(display) != string(after) {
					t.Errorf("%s:\ngot  %+v\nwant %+v", data, te, want)
				}
			}
		}
	}
}

// A small answer in a large wrapper does not keep the wrapper in memory.
func TestParseResultIsSmall(t *testing.T) {
	wrapper := `{"artifact":"` + strings.Repeat("x", 1<<20) + `","content":{"a":1},"structuredContent":{"a":1}}`
	data := append(appendQuoted([]byte(`{"type":"tool_end","toolName":"delegate","output":`), wrapper), '}')
	e := Decode("", "message", data)
	var kept []json.RawMessage
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 20 {
		te, err := ParseToolEvent(e)
		if err != nil || string(te.Result) != `{"a":1}` {
			t.Fatalf("%+v, %v", te, err)
		}
		kept = append(kept, te.Result)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 10<<20 {
		t.Errorf("%d results of a few bytes keep %d bytes", len(kept), grown)
	}
}

func TestAllocations(t *testing.T) {
	for _, tt := range []struct{ name, data string }{
		{"start", string(delegateStart)},
		{"end", `{"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call_7","output":{"success":true,"agentWallet":"` + lower + `","output":"No critical findings"},"display":{"kind":"agent","name":"Scout"}}`},
		{"end with its output in a string", string(delegateEnd)},
		{"end of generation B", `{"domain":"activity","type":"activity.tool","status":"completed","name":"swarm_delegate","target":{"kind":"agent","target":"` + lower + `"},"payload":{"toolCallId":"c7","output":{"n":1}}}`},
	} {
		data := []byte(tt.data)
		if n := testing.AllocsPerRun(100, func() {
			_, _ = ParseToolEvent(Decode("7", "message", data))
		}); n > 3 {
			t.Errorf("%s: %v allocations, want 3 at most", tt.name, n)
		}
	}
}

// The texts are the event's own, whatever of them there is and wherever they
// are kept.
func TestParseTextsAreItsOwn(t *testing.T) {
	for _, summary := range []string{"", "s", strings.Repeat("s", 200), strings.Repeat("s", sharedTexts)} {
		for _, display := range []string{``, `,"display":{"kind":"k","id":"i","name":"n","target":"t","summary":"` + summary + `"}`} {
			data := []byte(`{"type":"swarm_child_tool_start","toolName":"delegate","toolCallId":"c","runId":"r","error":"e","input":{"agent":"a","task":"` + summary + `"},` +
				`"rootRunId":"1","parentRunId":"2","subId":"3","runKey":"4","agentWallet":"5","runKeyChain":["6","7"]` + display + `}`)
			te, err := ParseToolEvent(Decode("", "message", data))
			if err != nil {
				t.Fatal(err)
			}
			want := ToolEvent{
				Family: FamilyAgent, Start: true, ToolName: "delegate", ToolCallID: "c", RunID: "r", Error: "e", Subject: "a", Action: summary,
				Child: &Child{RootRunID: "1", ParentRunID: "2", SubID: "3", RunKey: "4", AgentWallet: "5", RunKeyChain: []string{"6", "7"}},
			}
			if display != "" {
				want.Subject = "t"
				want.Display = &Display{Kind: "k", ID: "i", Name: "n", Target: "t", Summary: summary}
			}
			clear(data)
			if !reflect.DeepEqual(te, want) {
				t.Errorf("got %+v, want %+v", te, want)
			}
		}
	}
}
