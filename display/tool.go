package display

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/swarmseal/swarmseal/events"
	"github.com/tidwall/gjson"
)

// maxFound bounds how many of a search's results a line names.
const maxFound = 5

// tool gives the line of an event of a known family.
func (r *Renderer) tool(te events.ToolEvent) (Line, bool) {
	call, told := r.pair(te)
	if te.Delegates() && te.Display != nil {
		r.name(te.Agent(), te.Display.Name) // of whatever kind: it is the agent's
	}
	if te.Start {
		return r.started(te), !told
	}
	m := MetaOf(te)
	if call.StartEvent != nil && !te.Delegates() && !te.Finds() {
		m.Name = MetaOf(*call.StartEvent).Name // an end seldom has the input
	}
	l := Line{
		Kind: KindToolEnd, Depth: depthOf(te), Mark: m.Mark, Verb: m.Verb,
		Who: r.child(te), Failed: te.Error != "",
	}
	if call.Start > 0 {
		l.Elapsed = r.last.since(r.begun[call.Start].moment)
		delete(r.begun, call.Start)
	}
	if te.Delegates() {
		l.Who = cmp.Or(r.called(cmp.Or(call.Agent, te.Agent())), m.Name)
	} else if te.Family == events.FamilyModel {
		l.Who = m.Name
	}
	result := membersOf(gjson.ParseBytes(te.Result))
	list, isList := foundList(result)
	switch {
	case te.Error == "timeout" && te.Delegates():
		l.Verb, l.Text = "timed out", result.text("message")
	case l.Failed && te.Finds():
		l.Verb, l.Text = "search failed", te.Error
	case l.Failed && !te.Delegates():
		l.Who, l.Text = m.Name, te.Error
	case l.Failed:
		l.Text = te.Error
	case m.Verb == "found" && isList:
		l.Verb, l.Text = r.found(list, result)
	default:
		if m.Verb == "found" {
			l.Who = cmp.Or(l.Who, m.Name)
			l.Verb = "answered"
		}
		l.Text = firstLine(answer(result))
	}
	return l, true
}

// started gives the line of a start.
func (r *Renderer) started(te events.ToolEvent) Line {
	m := MetaOf(te)
	l := Line{
		Kind: KindToolStart, Depth: depthOf(te), Mark: m.Mark, Verb: m.Verb,
		Who: r.child(te), Text: firstLine(te.Action),
	}
	switch {
	case te.Delegates():
		l.Whom = cmp.Or(r.full(te.Agent()), m.Name)
	case te.Finds():
	default:
		l.Whom = m.Name
	}
	return l
}

// child names the child run whose call an event is of, "" for the run itself.
func (r *Renderer) child(te events.ToolEvent) string {
	if te.Child == nil {
		return ""
	}
	return cmp.Or(r.called(te.Child.AgentWallet), "a child")
}

func depthOf(te events.ToolEvent) int {
	if te.Child == nil {
		return 0
	}
	return max(te.Child.Depth, 1)
}

// foundList gives the list that a search's result has.
func foundList(result members) ([]gjson.Result, bool) {
	for _, name := range []string{"results", "agents", "items", "connectors", "models", "output"} {
		if v := result[name]; v.IsArray() {
			return v.Array(), true
		}
	}
	return nil, false
}

// found says what a search found, the best first, and remembers the agents'
// names.
func (r *Renderer) found(list []gjson.Result, result members) (verb, text string) {
	if len(list) == 0 {
		return "found none", result.text("message")
	}
	var named []string
	for _, element := range list[:min(len(list), maxNames)] {
		m := membersOf(element)
		address := m.text("agent_id", "agentWallet", "walletAddress", "wallet", "agent", "address", "payment_address")
		r.name(address, m.text("name"))
		if len(named) == maxFound {
			continue
		}
		name := brief(cmp.Or(m.text("name", "title", "displayName", "id", "slug", "url"), element.Str), maxName)
		var about []string
		if address != "" {
			about = append(about, shortAgent(address))
		}
		for _, key := range []string{"similarity_score", "score"} {
			if score := m[key]; score.Type == gjson.Number {
				about = append(about, fmt.Sprintf("%.2f", score.Num))
				break
			}
		}
		switch {
		case name == "":
			name = strings.Join(about, ", ")
		case len(about) > 0:
			name += " (" + strings.Join(about, ", ") + ")"
		}
		if name != "" {
			named = append(named, name)
		}
	}
	if len(named) > 0 && len(list) > maxFound {
		named = append(named, "…")
	}
	return fmt.Sprintf("found %d", len(list)), strings.Join(named, ", ")
}

// answer gives what a person reads of a call's result.
func answer(result members) string {
	for _, name := range []string{"output", "response", "result", "summary", "answer", "text", "message"} {
		if v := result[name]; v.IsObject() {
			if text := membersOf(v).text("message_text", "output", "text", "message"); text != "" {
				return text
			}
		}
		if text := result.say(name); text != "" {
			return text
		}
	}
	var b strings.Builder
	for _, name := range []string{"preview", "content"} { // of a result that was cut short
		b.WriteString(result.text(name))
	}
	return b.String()
}

// otherTool gives the line of a tool of no family: a start, an end, or, with
// status info, neither.
func (r *Renderer) otherTool(e events.Event, f members) (Line, bool) {
	payload := f.object("payload")
	l := Line{Depth: r.depth(e, f), Mark: markStart, Kind: KindToolStart}
	if l.Depth > 0 {
		l.Who = r.childName(f)
	}
	shown := f.object("display")
	if shown == nil {
		shown = f.object("target")
	}
	name := cmp.Or(f.text("toolName", "name", "tool"), shown.text("name"), "a tool")
	start := e.Type == events.TypeToolStart || e.Type == events.TypeSwarmChildToolStart
	status := ""
	if e.Type == events.TypeActivityTool {
		status = f.text("status")
		start = status == "pending" || status == "running"
		if status == "info" || status == "" {
			return r.note(name, cmp.Or(payload.text("message"), f.text("message")), l.Depth), true
		}
	}
	if start {
		l.Verb, l.Whom = "runs", name
		l.Text = firstLine(cmp.Or(shown.text("summary"), f.say("input"), payload.say("input"), f.text("content")))
		return l, true
	}
	l.Kind, l.Mark, l.Verb, l.Who = KindToolEnd, markDone, "done", name
	cause := cmp.Or(f.cause("error"), payload.cause("error"))
	output := f.object("output")
	if output == nil {
		output = payload.object("output")
	}
	if output["success"].Type == gjson.False || output["ok"].Type == gjson.False || output.is("isError") {
		cause = cmp.Or(cause, output.cause("error", "message", "content"), "tool call failed")
	}
	if cause != "" || f.is("failed") || status == "failed" || status == "cancelled" {
		l.Mark, l.Verb, l.Failed = markFailed, "failed", true
		l.Text = firstLine(cmp.Or(cause, f.text("message"), payload.text("message")))
		if status == "cancelled" {
			l.Verb = "cancelled"
		}
		return l, true
	}
	l.Text = firstLine(cmp.Or(f.text("message"), answer(output), f.say("output"), payload.say("output"), payload.text("message")))
	return l, true
}
