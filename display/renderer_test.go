package display

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/swarmseal/swarmseal/events"
)

const (
	auditor = "0xeDf8f866B9C4FbfBc3A79E31a2Bc79e3937993e8"
	scribe  = "0x196FEEA1AC8be4aCF6b9463928A79238a3F1d362"
)

func event(data string) events.Event { return events.Decode("", "", []byte(data)) }

// lines gives the lines of a stream, one frame a text; "-" for no line.
func lines(frames ...string) []string {
	r := NewRenderer()
	var all []string
	for _, frame := range frames {
		if l, ok := r.Line(event(frame)); ok {
			all = append(all, l.String())
		} else {
			all = append(all, "-")
		}
	}
	return all
}

func start(tool, more string) string {
	return `{"type":"tool_start","toolName":"` + tool + `"` + more + `}`
}
func end(tool, more string) string {
	return `{"type":"tool_end","toolName":"` + tool + `"` + more + `}`
}

func TestRendererLine(t *testing.T) {
	askAuditor := `,"input":{"agentWallet":"` + auditor + `","task":"audit\nthoroughly"}`
	for _, tt := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"two calls of one tool at once, by id", []string{
			start("swarm_delegate", `,"toolCallId":"1","ts":1000`+askAuditor),
			start("swarm_delegate", `,"toolCallId":"2","ts":2000`+askAuditor),
			end("swarm_delegate", `,"toolCallId":"1","ts":4500,"output":"one"`),
			end("swarm_delegate", `,"toolCallId":"2","ts":4500,"output":"two"`),
		}, []string{
			"→ asks 0xeDf8…93e8: audit …", "→ asks 0xeDf8…93e8: audit …",
			"✓ 0xeDf8…93e8 answered in 3.5 s: one", "✓ 0xeDf8…93e8 answered in 2.5 s: two",
		}},
		{"an end that names nobody", []string{
			start("swarm_delegate", askAuditor), end("swarm_delegate", `,"output":"fine"`),
		}, []string{"→ asks 0xeDf8…93e8: audit …", "✓ 0xeDf8…93e8 answered: fine"}},
		{"an end without a start", []string{
			end("swarm_delegate", `,"ts":9000,"display":{"kind":"agent","name":"Auditor","target":"`+auditor+`"},"failed":true`),
		}, []string{"✗ Auditor failed: tool call failed"}},
		{"a name that a search told", []string{
			end("agent_find", `,"output":{"results":[{"agent_id":"`+auditor+`","name":"Auditor","similarity_score":0.8123}]}`),
			start("swarm_delegate", askAuditor),
			end("swarm_delegate", `,"error":"too hard"`),
		}, []string{"✓ found 1: Auditor (0xeDf8…93e8, 0.81)", "→ asks Auditor 0xeDf8…93e8: audit …", "✗ Auditor failed: too hard"}},
		{"more than a line names", []string{
			end("agent_find", `,"output":[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d"},{"name":"e"},{"name":"f"}]`),
		}, []string{"✓ found 6: a, b, c, d, e, …"}},
		{"nobody found", []string{
			start("agent_find", `,"input":{"query":"juggler"}`),
			end("agent_find", `,"output":{"results":[],"message":"nobody juggles"}`),
		}, []string{"→ finds: juggler", "✓ found none: nobody juggles"}},
		{"a start that is told twice", []string{
			start("swarm_delegate", `,"toolCallId":"1"`),
			start("swarm_delegate", `,"toolCallId":"1"`),
			start("swarm_delegate", `,"toolCallId":"1"`+askAuditor),
			start("swarm_delegate", `,"toolCallId":"1"`+askAuditor),
		}, []string{"→ asks an agent", "-", "→ asks 0xeDf8…93e8: audit …", "-"}},
		{"a delegation that timed out", []string{
			end("swarm_delegate", `,"input":{"agentWallet":"`+auditor+`"},"output":{"error":"timeout","request_id":"r7","message":"ask again with r7"}`),
		}, []string{"✗ 0xeDf8…93e8 timed out: ask again with r7"}},
		{"a clock that goes back", []string{
			start("swarm_delegate", `,"ts":5000`+askAuditor), end("swarm_delegate", `,"ts":4000,"output":"x"`),
		}, []string{"→ asks 0xeDf8…93e8: audit …", "✓ 0xeDf8…93e8 answered: x"}},
		{"a long task", []string{
			start("delegate", `,"input":{"agent":"a","task":"`+strings.Repeat("long ", 1000)+`"}`),
		}, []string{"→ asks a: " + strings.Repeat("long ", 1000)[:maxText-1] + "…"}},
		{"a child's child", []string{
			`{"type":"swarm_child_start","depth":2,"runKey":"k","agentWallet":"` + scribe + `","display":{"kind":"agent","name":"Scribe","target":"` + scribe + `"}}`,
			`{"type":"swarm_child_error","depth":2,"runKey":"k","error":"no ink","wallMs":61500}`,
		}, []string{"    · Scribe begins", "    ✗ Scribe failed after 1 min 01 s: no ink"}},
		{"a child of absurd depth", []string{`{"type":"swarm_child_start","depth":1000000}`},
			[]string{strings.Repeat("  ", maxIndent) + "· a child begins"}},
		{"errors in every form", []string{
			`{"type":"error","error":"no funds","code":"payment_required"}`,
			`{"error":{"message":"gateway down"}}`,
			`{"type":"error"}`,
			`{"type":"timing","error":"clock broken"}`,
			`{"type":"trace","error":{"code":"E7"}}`,
			`{"type":"never.heard.of","error":"odd"}`,
			`{"type":"done","error":"not really"}`,
			`{"type":"tool_end","toolName":"bash","output":{"ok":false,"error":"exit 1"}}`,
		}, []string{
			"✗ error: no funds (payment_required)", "✗ error: gateway down", "✗ error: error without a cause",
			"✗ error: clock broken", "✗ trace: E7", "✗ never.heard.of: odd", "✗ failed: not really", "✗ bash failed: exit 1",
		}},
		{"an error in a chunk", []string{
			`{"choices":[{"delta":{"content":"half a"}}]}`,
			`{"error":{"message":"provider lost","code":502},"choices":[{"delta":{"content":"x"},"finish_reason":"error"}]}`,
			`{"error":null,"choices":[{"delta":{"content":"b"}}]}`,
			`{"error":{}}`,
		}, []string{"│ half a", "✗ error: provider lost (502)", "│ b", `· message: {"error":{}}`}},
		{"events that the server has no more", []string{
			`{"type":"gap","runId":"r1","after":"7","next":"12","message":"the journal keeps a day"}`,
			`{"type":"gap","after":7,"next":12}`,
			`{"type":"gap"}`,
		}, []string{
			"✗ events are lost between 7 and 12: the journal keeps a day",
			"✗ events are lost between 7 and 12: the server no longer has them",
			"✗ events are lost: the server no longer has them",
		}},
		{"nothing for a person", []string{
			`{"type":"timing","mark":"x"}`, `{"type":"text-delta","delta":""}`, `{"type":"task.heartbeat"}`,
			`{"type":"tool_args_delta","argsDelta":"{"}`, `[DONE]`, ``, `{"choices":[{"delta":{}}]}`,
			`{"type":"thinking_end"}`, `{"type":"trace","stage":"route"}`,
		}, []string{"-", "-", "-", "-", "-", "-", "-", "-", "-"}},
		{"unknown types are kept", []string{
			`{"type":"weather","wind":"NW 4"}`, `{"x":1}`, `plain words`, `[1,2]`,
		}, []string{`· weather: {"type":"weather","wind":"NW 4"}`, `· message: {"x":1}`, "· message: plain words", "· message: [1,2]"}},
		{"text that came whole", []string{`{"type":"model.text.done","payload":{"text":"all"}}`}, []string{"│ all"}},
		{"text that came in pieces", []string{
			`{"type":"model.text.delta","delta":"al"}`, `{"type":"model.text.delta","delta":"l"}`, `{"type":"model.text.done","payload":{"text":"all"}}`,
		}, []string{"│ al", "│ l", "-"}},
		{"numbers that are no times", []string{
			`{"type":"done","ts":1e300,"wallMs":-5}`, `{"type":"done","ts":"1","wallMs":1e300}`,
		}, []string{"✓ done", "✓ done"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(tt.frames...)
			for i, want := range tt.want {
				if got[i] != want {
					t.Errorf("frame %d, %s:\ngot  %q\nwant %q", i, tt.frames[i], got[i], want)
				}
			}
		})
	}
}

func TestLineParts(t *testing.T) {
	r := NewRenderer()
	for _, data := range []string{
		start("swarm_delegate", `,"ts":1790000000000,"display":{"kind":"agent","name":"Auditor","target":"`+auditor+`","summary":"audit"}`),
		`{"type":"swarm_child_delta","depth":1,"subId":"s","agentWallet":"` + auditor + `","delta":" half\n\ta line","ts":1790000001000}`,
	} {
		l, ok := r.Line(event(data))
		if !ok {
			t.Fatalf("%s has no line", data)
		}
		want := Line{Kind: KindToolStart, Mark: "→", Verb: "asks", Whom: "Auditor 0xeDf8…93e8", Text: "audit", Time: time.UnixMilli(1790000000000)}
		if l.Kind == KindText {
			want = Line{Kind: KindText, Depth: 1, Mark: "│", Who: "Auditor", Text: " half\n\ta line", Stream: "s", Time: time.UnixMilli(1790000001000)}
		}
		if l != want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", data, l, want)
		}
	}
}

func TestMetaOf(t *testing.T) {
	for _, tt := range []struct {
		te   events.ToolEvent
		want Meta
	}{
		{events.ToolEvent{Start: true, ToolName: "swarm_delegate", Subject: auditor}, Meta{"0xeDf8…93e8", "→", "asks"}},
		{events.ToolEvent{ToolName: "delegate", Subject: "planner-7"}, Meta{"planner-7", "✓", "answered"}},
		{events.ToolEvent{ToolName: "delegate", Display: &events.Display{Name: "Ann\x1b[2J"}, Error: "no"}, Meta{"Ann", "✗", "failed"}},
		{events.ToolEvent{Start: true, ToolName: "agent_find", Subject: auditor}, Meta{"agents", "→", "finds"}},
		{events.ToolEvent{ToolName: "swarm_find"}, Meta{"agents", "✓", "found"}},
		{events.ToolEvent{Start: true, ToolName: "models_call", Family: events.FamilyModel, Subject: "m1"}, Meta{"m1", "→", "calls"}},
		{events.ToolEvent{Start: true, ToolName: "connectors_find", Family: events.FamilyConnector}, Meta{"connectors", "→", "looks for"}},
		{events.ToolEvent{Start: true, ToolName: "search_call", Family: events.FamilySearch, Subject: "deep"}, Meta{"deep", "→", "searches"}},
		{events.ToolEvent{Start: true, ToolName: "query_catalog", Family: events.FamilyCatalog}, Meta{"the catalog", "→", "looks in"}},
	} {
		if got := MetaOf(tt.te); got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.te, got, tt.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		7 * time.Millisecond:     "7 ms",
		999 * time.Millisecond:   "999 ms",
		1250 * time.Millisecond:  "1.2 s",
		9990 * time.Millisecond:  "9.9 s",
		59900 * time.Millisecond: "59 s",
		61 * time.Second:         "1 min 01 s",
		3700 * time.Second:       "1 h 01 min",
	} {
		if got := duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, archive := range transcripts(f) {
		for _, e := range streamOf(archive) {
			f.Add(e.Name, e.Data)
		}
	}
	f.Add("", []byte(`{"choices":[]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		e := events.Decode("", name, data)
		l, ok := NewRenderer().Line(e)
		if !ok {
			if e.ErrorText() != "" {
				t.Errorf("no line tells of the error %q", e.ErrorText())
			}
			if l != (Line{}) {
				t.Errorf("no line, and yet %+v", l)
			}
			return
		}
		checkClean(t, "the line", l.String(), "")
		checkClean(t, "the text", l.Text, "\n\t")
		if l.Mark == "" {
			t.Error("the line has no mark")
		}
		if wide := ansi.StringWidth(l.Text); wide > maxText && l.Kind != KindText && l.Kind != KindThinking {
			t.Errorf("the text has %d cells", wide)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for file, archive := range transcripts(b) {
		stream := streamOf(archive)
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := NewRenderer()
				for _, e := range stream {
					r.Line(e)
				}
			}
		})
	}
}
