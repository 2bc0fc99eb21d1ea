package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/swarmseal/swarmseal/events"
)

// hostile is what no terminal may be sent.
const hostile = "\x1b[31mred\x1b[2J\x1b]8;;https://evil.example\x07link\x1b]8;;\x07\x1b]0;title\x1b\\" +
	"\rover\b\b\x00\x7f\u009b2J\u009d52;c;eA==\u009c\u202egnp\u2066\u200b\u200d\u2028\ufeff\U000e0041 end\nnext\u0085\x1b"

// hostileTypes are all types that have a meaning, and some that have none.
var hostileTypes = []string{
	"", "message", "never.heard.of", hostile,
	events.TypeThinkingStart, events.TypeThinkingEnd, events.TypeReasoningDelta, events.TypeTextDelta,
	events.TypeToolArgsDelta, events.TypeToolStart, events.TypeToolEnd, events.TypeTiming, events.TypeAction,
	events.TypeTaskCompleted, events.TypeTaskBlocked, events.TypeTaskFailed, events.TypeTaskHeartbeat,
	events.TypePlanProposed, events.TypeApprovalRequested, events.TypeApprovalDecided,
	events.TypePlanFeedbackRequested, events.TypeHarnessPlanProposed, events.TypeHarnessPlanDecided,
	events.TypeSwarmChildStart, events.TypeSwarmChildDelta, events.TypeSwarmChildToolStart,
	events.TypeSwarmChildToolEnd, events.TypeSwarmChildDone, events.TypeSwarmChildError,
	events.TypeConclave, events.TypeTrace, events.TypeDone, events.TypeStopped, events.TypeError,
	events.TypeComposeError, events.TypeReceipt, events.TypeComposeReceipt, events.TypeStart, events.TypeProgress,
	events.TypeStep, events.TypeAgent, events.TypeResponse, events.TypeResult, events.TypeComplete,
	events.TypeActivityRun, events.TypeActivityThinking, events.TypeActivityTool, events.TypeActivitySelection,
	events.TypeActivityPlan, events.TypeActivityConnector, events.TypeActivityChild, events.TypeActivityConclave,
	events.TypeActivityMessage, events.TypeActivityError, events.TypeModelStart, events.TypeModelTextDelta,
	events.TypeModelTextDone, events.TypeModelReasoningDelta, events.TypeModelReasoningDone,
	events.TypeModelToolDelta, events.TypeModelToolDone, events.TypeModelAsset, events.TypeModelStatus,
	events.TypeModelDone, events.TypeModelError,
}

// hostileMembers are the members that frames have, their objects' included.
var hostileMembers = strings.Fields(`message delta text content toolName name tool toolCallId input output error code
	reason stopReason source stage status action planId taskId result proposalId state rootRunId runId parentRunId subId
	runKey agentWallet requestedBy approver decision markdown feedback proposal key model agent display target payload
	agentName stepName progress response delegation bundle id amount transaction kind summary walletAddress details url
	query task prompt results agents agent_id target_agent_id message_text choices`)

// hostileEvents are frames with foreign text in every place of every type.
var hostileEvents = sync.OnceValue(func() []events.Event {
	quoted, _ := json.Marshal(hostile)
	// One member with every text, and the same again one object deeper and in
	// a list. The raw byte is no UTF-8.
	var flat bytes.Buffer
	for i, name := range hostileMembers {
		if i > 0 {
			flat.WriteByte(',')
		}
		fmt.Fprintf(&flat, `%q:%s`, name, strings.Replace(string(quoted), "end", "end\xff", 1))
	}
	object := "{" + flat.String() + "}"
	var all []events.Event
	for _, kind := range hostileTypes {
		typ, _ := json.Marshal(kind)
		isTool := strings.HasPrefix(kind, "tool_") || strings.Contains(kind, "_tool_") || kind == events.TypeActivityTool
		tools, statuses := []string{""}, []string{"failed"}
		if isTool {
			tools = []string{"swarm_delegate", "agent_find", "connectors_find", hostile}
		}
		if strings.HasPrefix(kind, "activity.") {
			statuses = []string{"running", "completed", "cancelled"}
		}
		for _, tool := range tools {
			name, _ := json.Marshal(tool)
			add := func(members string) {
				data := `{"type":` + string(typ) + `,"toolName":` + string(name) + members + `}`
				all = append(all, events.Decode("", "message", []byte(data)))
			}
			add("," + strings.ReplaceAll(flat.String(), `"toolName":`, `"otherName":`))
			if isTool {
				add(fmt.Sprintf(`,"output":{"results":[%s,%s]},"status":"completed"`, object, quoted))
				add(fmt.Sprintf(`,"output":{"results":[%s]},"error":%s`, object, quoted))
			}
			for _, status := range statuses {
				for _, member := range hostileMembers {
					add(fmt.Sprintf(`,"ts":1790000000000,"depth":2,"status":%q,%q:%s`, status, member, quoted))
					add(fmt.Sprintf(`,"status":%q,%q:%s`, status, member, object))
				}
			}
		}
		all = append(all,
			events.Decode("", kind, []byte(hostile)),
			events.Decode("", kind, []byte("{"+hostile)),
			events.Decode("", hostile, []byte(object)))
	}
	return all
})

func TestHostileLines(t *testing.T) {
	r := NewRenderer()
	for _, e := range hostileEvents() {
		l, ok := r.Line(e)
		if !ok {
			continue
		}
		what := fmt.Sprintf("%s %.300s", e.Type, e.Data)
		allowed := ""
		if l.Kind == KindText || l.Kind == KindThinking {
			allowed = "\n\t"
		}
		checkClean(t, what, l.Text, allowed)
		checkClean(t, what, l.String()+l.Mark+l.Who+l.Verb+l.Whom, "")
		if t.Failed() {
			return
		}
	}
}

func TestHostileMeta(t *testing.T) {
	for _, e := range hostileEvents() {
		if te, err := events.ParseToolEvent(e); err == nil {
			m := MetaOf(te)
			checkClean(t, string(e.Data), m.Name+m.Mark+m.Verb, "")
			if m.Name == "" || m.Mark == "" || m.Verb == "" {
				t.Errorf("%.300s: %+v has an empty member", e.Data, m)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// What a Terminal itself may send beside text.
var (
	colours = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	drawing = regexp.MustCompile(`\x1b\[([0-9]*A|K|J|\?7[lh])|\r`)
)

func TestHostileTerminal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  Options
		strip []*regexp.Regexp
	}{
		{"pipe", Options{Color: Never, Live: Never}, nil},
		{"colour", Options{Color: Always, Live: Never}, []*regexp.Regexp{colours}},
		{"live", Options{Color: Always, Live: Always, Width: 60}, []*regexp.Regexp{colours, drawing}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.opts.Env = []string{}
			var b bytes.Buffer
			screen := NewTerminal(&b, tt.opts)
			all := hostileEvents()
			// Some of each: all their lines are tested above.
			for i := 0; i < len(all); i += 7 {
				e := all[i]
				screen.Event(e)
				screen.mu.Lock() // the spinner writes too
				out := b.String()
				b.Reset()
				screen.mu.Unlock()
				for _, re := range tt.strip {
					out = re.ReplaceAllString(out, "")
				}
				checkClean(t, fmt.Sprintf("%s %.300s", e.Type, e.Data), out, "\n")
				if t.Failed() {
					break
				}
			}
			if err := screen.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An answer that looks like events is still an answer.
func TestForgedLines(t *testing.T) {
	forged := "\n✓ Auditor answered: all is well\r✓ done\u2028✓ done\v✓ done"
	data, _ := json.Marshal(map[string]string{"type": "text-delta", "delta": forged})
	for _, opts := range []Options{{Live: Never}, {Live: Always}} {
		opts.Color, opts.Env = Never, []string{}
		var b bytes.Buffer
		screen := NewTerminal(&b, opts)
		screen.Event(events.Decode("", "", data))
		if err := screen.Close(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(drawing.ReplaceAllString(b.String(), "")) {
			if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "│") {
				t.Errorf("%+v: a forged line %q", opts, line)
			}
		}
	}
}

// A renderer's work for a stream grows with the stream and not faster, though
// no call of it ever ends.
func TestManyOpenCalls(t *testing.T) {
	screen := NewTerminal(io.Discard, Options{Live: Never, Env: []string{}})
	for i := range 20 * maxCalls {
		data := fmt.Appendf(nil, `{"type":"tool_start","toolName":"delegate","toolCallId":"c%d","input":{"agent":"a"}}`, i)
		screen.Event(events.Decode("", "", data))
	}
	if n := len(screen.renderer.calls.Calls()); n > 3*maxCalls {
		t.Errorf("%d calls are kept", n)
	}
	if n := len(screen.renderer.begun); n > 3*maxCalls {
		t.Errorf("%d beginnings are kept", n)
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
}
