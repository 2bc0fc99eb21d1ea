package display

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmseal/swarmseal/events"
	"github.com/tidwall/gjson"
)

// maxRuns bounds how many children's agents are remembered.
const maxRuns = 1000

// maxData bounds what is shown of the data of an event of unknown type, in
// cells.
const maxData = 120

// other gives the line of any event but those of known tools.
func (r *Renderer) other(e events.Event, f members) (Line, bool) {
	payload := f.object("payload")
	switch e.Type {
	case "":
		return r.untyped(e, f)
	case events.TypeTextDelta, events.TypeModelTextDelta:
		return r.say(e.Text()), true
	case events.TypeModelTextDone:
		if r.saidText {
			return Line{}, false
		}
		return r.say(cmp.Or(f.text("text", "content"), payload.text("text", "content"))), true
	case events.TypeReasoningDelta, events.TypeModelReasoningDelta:
		return thinking(cmp.Or(f.text("delta", "text", "content"), payload.text("delta", "text", "content"))), true

	case events.TypeToolStart, events.TypeToolEnd, events.TypeActivityTool,
		events.TypeSwarmChildToolStart, events.TypeSwarmChildToolEnd:
		return r.otherTool(e, f)
	case events.TypeSwarmChildStart, events.TypeSwarmChildDelta, events.TypeSwarmChildDone,
		events.TypeSwarmChildError, events.TypeActivityChild:
		return r.childLine(e, f)

	case events.TypeDone, events.TypeModelDone, events.TypeStopped, events.TypeComplete:
		return r.end(e, f), true
	case events.TypeError, events.TypeComposeError, events.TypeModelError, events.TypeActivityError:
		return r.failure(e, f), true
	case events.TypeReceipt, events.TypeComposeReceipt:
		return receipt(e, f), true

	case events.TypeToolArgsDelta, events.TypeModelToolDelta, events.TypeModelToolDone,
		events.TypeTiming, events.TypeTaskHeartbeat, events.TypeThinkingEnd, events.TypeModelReasoningDone,
		events.TypeModelStart, events.TypeDoneSentinel:
		// Of no use to a person, unless one of them tells of an error.
		if f.cause("error") == "" {
			return Line{}, false
		}
		return r.failure(e, f), true
	}
	return r.progress(e, f)
}

// say is a piece of the run's own answer.
func (r *Renderer) say(text string) Line {
	r.saidText = r.saidText || text != ""
	return Line{Kind: KindText, Mark: markText, Text: text}
}

func thinking(text string) Line { return Line{Kind: KindThinking, Mark: markThinking, Text: text} }

// note is a line of progress.
func (r *Renderer) note(verb, text string, depth int) Line {
	return Line{Kind: KindStatus, Depth: depth, Mark: markNote, Verb: verb, Text: firstLine(text)}
}

// untyped gives the line of an OpenAI chunk, of plain text, or of an object
// that has no type.
func (r *Renderer) untyped(e events.Event, f members) (Line, bool) {
	if e.Failed() { // before its text: a chunk may have both
		return r.failure(e, f), true
	}
	if text := e.Text(); text != "" {
		return r.say(text), true
	}
	choices := f["choices"]
	if !choices.IsArray() {
		return unknown("message", e), len(strings.TrimSpace(string(e.Data))) > 0
	}
	var reasoning strings.Builder
	var tools []string
	choices.ForEach(func(_, choice gjson.Result) bool {
		delta := membersOf(choice).object("delta")
		reasoning.WriteString(delta.text("reasoning_content"))
		delta["tool_calls"].ForEach(func(_, call gjson.Result) bool {
			if name := membersOf(call).object("function").text("name"); name != "" {
				tools = append(tools, name)
			}
			return true
		})
		return true
	})
	if len(tools) > 0 {
		return Line{Kind: KindStatus, Mark: markNote, Verb: "wants to run", Whom: strings.Join(tools, ", ")}, true
	}
	return thinking(reasoning.String()), true
}

// depth gives how far below the stream's own run an event is.
func (r *Renderer) depth(e events.Event, f members) int {
	if !strings.HasPrefix(e.Type, "swarm_child_") && e.Type != events.TypeActivityChild {
		return 0
	}
	return int(max(f.number("depth"), f.object("payload").number("depth"), 1))
}

// childName gives what to call the child that a frame is of, and remembers it
// for those of its frames that name nobody.
func (r *Renderer) childName(f members) string {
	payload := f.object("payload")
	key := childKey(f)
	subject := cmp.Or(f.text("agentWallet"), payload.text("agentWallet"))
	if subject == "" && r.runs[key] == "" {
		subject = cmp.Or(f.object("display").text("target"), f.object("target").text("target"))
	}
	if subject != "" && key != "" && len(r.runs) < maxRuns {
		r.runs[key] = brief(subject, 2*maxName)
	}
	name := r.called(cmp.Or(subject, r.runs[key]))
	return cmp.Or(name, f.object("target").text("name"), f.object("display").text("name"), f.text("name"), "a child")
}

func childKey(f members) string {
	return brief(cmp.Or(f.text("runKey", "subId", "runId"), f.object("payload").text("runKey", "subId"), f.text("agentWallet")), 2*maxName)
}

// childLine gives the line of a child run's beginning, text or end.
func (r *Renderer) childLine(e events.Event, f members) (Line, bool) {
	payload := f.object("payload")
	l := Line{Kind: KindChild, Depth: r.depth(e, f), Mark: markNote, Who: r.childName(f)}
	what := e.Type
	if what == events.TypeActivityChild {
		switch f.text("status") {
		case "pending", "running":
			what = events.TypeSwarmChildStart
		case "completed":
			what = events.TypeSwarmChildDone
		case "failed", "cancelled":
			what = events.TypeSwarmChildError
		}
	}
	shown := cmp.Or(f.object("display").text("summary"), f.object("target").text("summary"))
	l.Elapsed = cmp.Or(f.millis("wallMs"), payload.millis("wallMs"))
	switch what {
	case events.TypeSwarmChildDelta:
		text := cmp.Or(f.text("delta", "text", "content"), payload.text("delta", "text"))
		return Line{Kind: KindText, Depth: l.Depth, Mark: markText, Who: l.Who, Text: text, Stream: cmp.Or(childKey(f), "child")}, true
	case events.TypeSwarmChildStart:
		l.Verb, l.Text, l.Elapsed = "begins", firstLine(shown), 0
	case events.TypeSwarmChildDone:
		l.Mark, l.Verb = markDone, "is done"
		l.Text = firstLine(payload.text("message"))
	case events.TypeSwarmChildError:
		l.Mark, l.Verb, l.Failed = markFailed, "failed", true
		l.Text = firstLine(cmp.Or(f.cause("error"), payload.cause("error"), f.text("message", "stopReason"), payload.text("message")))
	default:
		l.Verb = "says"
		l.Text = firstLine(cmp.Or(payload.text("message"), f.text("message"), shown))
	}
	if cause := f.cause("error"); cause != "" && !l.Failed {
		l.Mark, l.Failed, l.Text = markFailed, true, firstLine(cause)
	}
	return l, true
}

// end gives the line of a run that is over and did not fail.
func (r *Renderer) end(e events.Event, f members) Line {
	l := Line{
		Kind: KindEnd, Mark: markDone, Verb: "done", Who: f.object("agent").text("name"),
		Elapsed: cmp.Or(f.millis("wallMs"), f.object("payload").millis("wallMs")),
	}
	switch {
	case f.cause("error") != "":
		l.Mark, l.Verb, l.Failed, l.Text = markFailed, "failed", true, firstLine(f.cause("error"))
		return l
	case e.Type == events.TypeStopped:
		l.Mark, l.Verb, l.Failed, l.Text = markStopped, "stopped", true, firstLine(f.text("reason", "message"))
		return l
	case e.Type == events.TypeComplete && f["success"].Type == gjson.False:
		l.Mark, l.Verb, l.Failed = markFailed, "failed", true
		l.Text = firstLine(f.say("message", "output"))
		return l
	case e.Type == events.TypeComplete:
		l.Text = firstLine(f.say("output", "result", "message"))
		return l
	}
	about := make([]string, 0, 3)
	if reason := f.text("stopReason"); reason != "" && reason != "completed" {
		about = append(about, reason)
	}
	if model := f.text("model"); model != "" {
		about = append(about, model)
	}
	if total := f.object("usage").number("total_tokens"); total > 0 {
		about = append(about, strconv.FormatInt(total, 10)+" tokens")
	}
	l.Text = strings.Join(about, ", ")
	return l
}

// failure gives the line of an error.
func (r *Renderer) failure(e events.Event, f members) Line {
	cause := cmp.Or(e.ErrorText(), f.cause("error"))
	l := Line{Kind: KindError, Mark: markFailed, Verb: "error", Text: cause, Failed: true}
	if code := cmp.Or(e.ErrorCode(), f.text("code")); code != "" && code != cause {
		l.Text += " (" + code + ")"
	}
	return l
}

// receipt gives the line of a receipt, of which any member may be missing.
func receipt(e events.Event, f members) Line {
	l := Line{Kind: KindReceipt, Mark: markNote, Verb: "receipt"}
	var parts []string
	for _, m := range [][2]string{
		{"delegation", "delegation"}, {"result", "result"}, {"bundle", "bundle"},
		{"id", "id"}, {"receiptId", "id"}, {"amount", "amount"}, {"transaction", "transaction"}, {"txHash", "transaction"},
	} {
		v := f[m[0]]
		text := f.text(m[0])
		if v.Type == gjson.Number {
			text = v.Raw
		}
		if len(text) == 66 && strings.HasPrefix(text, "0x") { // a digest
			text = text[:6] + "…" + text[62:]
		}
		if text != "" {
			parts = append(parts, m[1]+" "+text)
		}
	}
	l.Text = strings.Join(parts, ", ")
	if l.Text == "" {
		l.Text = brief(string(e.Data), maxData)
	}
	return l
}

// progress gives the line of all the types that tell how a run gets on, and of
// those that are not known.
func (r *Renderer) progress(e events.Event, f members) (Line, bool) {
	payload := f.object("payload")
	shown := cmp.Or(f.object("display").text("summary"), f.object("target").text("summary"))
	says := cmp.Or(f.text("message", "reason", "progress", "feedback"), payload.text("message", "reason", "text"))
	status := f.text("status")
	var l Line
	switch e.Type {
	case events.TypeThinkingStart:
		l = r.note("thinks", says, 0)
	case events.TypeActivityThinking:
		if status == "completed" || status == "failed" && payload.cause("error") == "" {
			return Line{}, false
		}
		l = r.note("thinks", says, 0)
	case events.TypeAction:
		l = r.note(words(cmp.Or(f.text("action"), "action")), cmp.Or(says, f.say("result"), shown), 0)
		l.Who = f.object("agent").text("name")
	case events.TypeTaskCompleted, events.TypeTaskBlocked, events.TypeTaskFailed:
		l = r.note(words(e.Type), cmp.Or(says, f.say("result"), f.text("taskId")), 0)
		if e.Type == events.TypeTaskCompleted {
			l.Mark = markDone
		} else if e.Type == events.TypeTaskFailed {
			l.Mark, l.Failed = markFailed, true
		}
	case events.TypePlanProposed, events.TypeHarnessPlanProposed, events.TypeApprovalRequested,
		events.TypePlanFeedbackRequested:
		l = r.note(words(e.Type), cmp.Or(shown, says, f.text("markdown"), f.say("proposal"), f.text("proposalId")), 0)
		l.Who = f.text("requestedBy")
	case events.TypeApprovalDecided, events.TypeHarnessPlanDecided:
		l = r.note(words(e.Type), strings.Join(nonEmpty(f.text("decision"), says, shown), ": "), 0)
		l.Who = f.text("approver")
	case events.TypeConclave, events.TypeActivityConclave:
		l = r.note(strings.Join(nonEmpty("conclave", f.text("action"), f.text("key")), " "), cmp.Or(shown, says), 0)
		l.Failed = f["success"].Type == gjson.False
	case events.TypeGap:
		after, next := f.say("after"), f.say("next")
		l = r.note("events are lost", cmp.Or(says, "the server no longer has them"), 0)
		if after != "" && next != "" {
			l.Whom = "between " + after + " and " + next
		}
		l.Failed = true
	case events.TypeTrace, events.TypeModelStatus:
		// The rest of a trace is for whoever debugs the sender.
		if says = cmp.Or(says, shown); says == "" && f.cause("error") == "" {
			return Line{}, false
		}
		l = r.note(cmp.Or(strings.Join(nonEmpty(f.text("stage"), f.text("action"), status), " "), "trace"), says, 0)
	case events.TypeStart, events.TypeProgress, events.TypeStep, events.TypeAgent, events.TypeResponse, events.TypeResult:
		l = r.note(e.Type, cmp.Or(says, f.say("output", "result", "response", "content", "text")), 0)
		if f == nil {
			l.Text = firstLine(string(e.Data))
		}
		l.Who, l.Whom = f.text("agentName"), f.text("stepName")
		if total := f.number("totalSteps"); total > 0 {
			l.Verb = fmt.Sprintf("%s %d/%d", e.Type, f.number("stepIndex"), total)
		}
		l.Failed = f["success"].Type == gjson.False
	case events.TypeActivityRun, events.TypeActivitySelection, events.TypeActivityPlan,
		events.TypeActivityConnector, events.TypeActivityMessage, events.TypeModelAsset:
		_, what, _ := strings.Cut(e.Type, ".")
		l = r.note(strings.Join(nonEmpty(what, status), " "), cmp.Or(says, shown, payload.text("url", "uri", "name")), 0)
		l.Whom = cmp.Or(f.object("target").text("name"), f.text("name"))
		if status == "failed" || status == "cancelled" {
			l.Failed = true
		}
	default:
		l = unknown(e.Type, e)
	}
	cause := cmp.Or(f.cause("error"), payload.cause("error"))
	if e.Type == events.TypeTaskFailed {
		cause = cmp.Or(cause, e.ErrorText())
	}
	if cause != "" {
		l.Failed, l.Text = true, firstLine(cause)
	}
	if l.Failed {
		l.Mark = markFailed
	}
	return l, true
}

// unknown gives the line of an event whose type says nothing to us: the type,
// and the beginning of its data.
func unknown(kind string, e events.Event) Line {
	return Line{Kind: KindOther, Mark: markNote, Verb: kind, Text: brief(string(e.Data), maxData)}
}

// words makes a type or an action readable: run.created is run created.
func words(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '.' || c == '_' {
			return ' '
		}
		return c
	}, name)
}

func nonEmpty(texts ...string) []string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}
