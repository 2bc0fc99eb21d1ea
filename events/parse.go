package events

import (
	"encoding/json"
	"errors"
)

// ErrNotToolEvent says that an event is no start or end of a tool of a family
// that we read. It is not a fault of the event.
var ErrNotToolEvent = errors.New("events: not a tool event of a known family")

// maxRunKeyChain bounds Child.RunKeyChain. Swarms are a few levels deep; a
// longer chain is no chain.
const maxRunKeyChain = 64

// ParseToolEvent reads the start or end of a tool call from e: a tool_start or
// tool_end frame, those of child runs, or an activity.tool. The result shares
// no memory with e.
//
// An error for which errors.Is(err, ErrNotToolEvent) holds means that e is
// something else, or the tool is of no family: pass it by. Any other is a
// *MalformedError for a broken frame. The ToolEvent is zero where there is an
// error.
func ParseToolEvent(e Event) (ToolEvent, error) {
	if e.Err != nil {
		return ToolEvent{}, e.Err
	}
	var child, activity bool
	var start bool
	switch e.Type {
	case TypeToolStart:
		start = true
	case TypeToolEnd:
	case TypeSwarmChildToolStart:
		start, child = true, true
	case TypeSwarmChildToolEnd:
		child = true
	case TypeActivityTool:
		activity = true
	default:
		return ToolEvent{}, ErrNotToolEvent
	}
	data := trimSpace(e.Data)
	if len(data) == 0 || data[0] != '{' {
		return ToolEvent{}, ErrNotToolEvent
	}
	if !e.object { // not made by Decode
		if e = Decode(e.ID, e.Name, e.Data); e.Err != nil {
			return ToolEvent{}, e.Err
		}
	}

	f := frame{start: start, isChild: child, isActivity: activity}
	f.read(parse(replaceInvalid(view(data))))
	if activity {
		switch f.status {
		case "pending", "running":
			f.start = true
		case "completed", "failed", "cancelled":
		default: // info, and whatever is neither start nor end
			return ToolEvent{}, ErrNotToolEvent
		}
	}
	t, ok := tools[f.name()]
	if !ok {
		return ToolEvent{}, ErrNotToolEvent
	}
	return f.parse(t)
}

// frame is what a tool frame of either generation has of the members that we
// read. Members of an unexpected kind are zero.
type frame struct {
	start, isChild, isActivity bool

	toolName, altName, tool string
	callID                  string
	input, output, err      value
	message, content        string
	status                  string
	failed                  bool
	runID, olderRunID       string
	display, target         value
	payload                 payload
	kin                     kin
}

// payload holds what generation B nests.
type payload struct {
	callID             string
	input, output, err value
	message            string
}

// kin holds what swarm_child frames tell of the child.
type kin struct {
	rootRunID, olderRootRunID  string
	parentRunID, subID, runKey string
	wallet                     string
	depth                      int
	runKeyChain                value
}

func (f *frame) read(object value) {
	for key, v := range object.members() {
		switch key {
		case "toolName":
			f.toolName = v.text
		case "name":
			f.altName = v.text
		case "tool":
			f.tool = v.text
		case "toolCallId":
			f.callID = v.text
		case "input":
			f.input = v
		case "output":
			f.output = v
		case "error":
			f.err = v
		case "message":
			f.message = v.text
		case "content":
			f.content = v.text
		case "status":
			f.status = v.text
		case "failed":
			f.failed = v.isTrue()
		case "runId":
			f.runID = v.text
		case "composeRunId":
			f.olderRunID = v.text
		case "display":
			f.display = v
		case "target":
			f.target = v
		case "payload":
			f.payload = payload{}
			if f.isActivity {
				f.payload.read(v)
			}
		default:
			if f.isChild {
				f.kin.set(key, v)
			}
		}
	}
}

func (p *payload) read(object value) {
	for key, v := range object.members() {
		switch key {
		case "toolCallId":
			p.callID = v.text
		case "input":
			p.input = v
		case "output":
			p.output = v
		case "error":
			p.err = v
		case "message":
			p.message = v.text
		}
	}
}

func (k *kin) set(key string, v value) {
	switch key {
	case "rootRunId":
		k.rootRunID = v.text
	case "rootComposeRunId":
		k.olderRootRunID = v.text
	case "parentRunId":
		k.parentRunID = v.text
	case "subId":
		k.subID = v.text
	case "runKey":
		k.runKey = v.text
	case "agentWallet":
		k.wallet = v.text
	case "depth":
		k.depth = v.count()
	case "runKeyChain":
		k.runKeyChain = v
	}
}

func (f *frame) name() string {
	name := firstOf(f.toolName, f.altName, f.tool)
	if name == "" && f.isActivity {
		name = readDisplay(f.target).Name
	}
	return name
}

// parse makes the tool event of a frame whose tool is of a family.
func (f *frame) parse(t tool) (ToolEvent, error) {
	var in, invoked input
	in.read(firstInput(f.input, f.payload.input), t)
	content := f.content
	if !f.start {
		content = ""
	} else if content != "" && invoked.readInvoke(content, t) {
		content = ""
	}

	var out output
	var ended bool
	if !f.start {
		if v, ok := f.outcome(); ok {
			out.unwrap(v)
			ended = true
		}
	}
	if t.name == remoteAgent {
		verb := firstOf(in.verb(), invoked.verb())
		if verb == "" && !f.start {
			verb = firstOf(out.layer.answer.action, "send")
		}
		if verb != "send" {
			return ToolEvent{}, ErrNotToolEvent
		}
	}

	display, target := readDisplay(f.display), Display{}
	if f.isActivity {
		target = readDisplay(f.target)
	}
	te := ToolEvent{
		Family:   t.family,
		Start:    f.start,
		ToolName: t.name,
		Action:   firstOf(display.Summary, target.Summary, in.action(t), invoked.action(t), content),
		Error:    f.failure(&out),
		RunID:    firstOf(f.runID, f.olderRunID),
	}
	te.ToolCallID = firstOf(f.callID, f.payload.callID, out.callID)
	if ended {
		te.Result = out.result()
	}
	switch t.family {
	case FamilyAgent:
		var p pick
		p.offer(display.Target)
		p.offer(target.Target)
		p.offerAll(&in.names)
		p.offerAll(&invoked.names)
		if ended {
			p.offerOutput(&out, t)
		}
		te.Subject = p.agent(t)
		if te.Subject == "" && t.act == actDelegate && f.isChild {
			te.Subject = checksum(f.kin.wallet)
		}
	case FamilyModel, FamilyConnector:
		te.Subject = firstOf(in.own, invoked.own, display.Target, target.Target)
	case FamilySearch:
		te.Subject = firstOf(in.own, invoked.own, "general")
	case FamilyCatalog:
		te.Subject = firstOf(in.own, invoked.own)
	}
	if display.empty() {
		display = target
	}
	if f.isChild {
		te.Child = f.child()
	}
	te.keep(display)
	return te, nil
}

// firstInput gives the first input of a kind that inputs have.
func firstInput(inputs ...value) value {
	for _, v := range inputs {
		if v.isObject() || v.text != "" {
			return v
		}
	}
	return value{}
}

// outcome gives what an ended call put out: its output, else the message that
// stands in for it.
func (f *frame) outcome() (value, bool) {
	for _, v := range [...]value{f.output, f.payload.output} {
		if !v.isNull() && v.raw != `""` {
			return v, true
		}
	}
	if m := firstOf(f.message, f.payload.message); m != "" {
		return quoted(m), true
	}
	return value{}, false
}

// failure gives why the call failed, "" where it did not. What the frame says
// outright comes before what its output tells.
func (f *frame) failure(out *output) string {
	for _, v := range [...]value{f.err, f.payload.err} {
		if cause, ok := readError(v, 0); ok {
			return cause
		}
	}
	if out.cause != "" {
		return out.cause
	}
	cause, failed := out.failure()
	switch message := firstOf(f.message, f.payload.message); {
	case cause != "":
		return cause
	case failed, out.failed, f.failed, f.status == "failed":
		return firstOf(message, callFailed)
	case f.status == "cancelled":
		return firstOf(message, callCancelled)
	}
	return ""
}

func (f *frame) child() *Child {
	k := &f.kin
	c := &Child{
		RootRunID:   firstOf(k.rootRunID, k.olderRootRunID),
		ParentRunID: k.parentRunID,
		SubID:       k.subID,
		Depth:       k.depth,
		AgentWallet: checksum(k.wallet),
		RunKey:      k.runKey,
	}
	for key := range k.runKeyChain.elements() {
		if len(c.RunKeyChain) == maxRunKeyChain {
			break
		}
		if key.text != "" {
			c.RunKeyChain = append(c.RunKeyChain, key.text)
		}
	}
	return c
}

// readDisplay reads a display, or a target of generation B; zero where v is no
// object. Its texts are parts of v.
func readDisplay(v value) Display {
	var d Display
	for key, m := range v.members() {
		switch key {
		case "kind":
			d.Kind = m.text
		case "id":
			d.ID = m.text
		case "name":
			d.Name = m.text
		case "target":
			d.Target = m.text
		case "summary":
			d.Summary = m.text
		case "details":
			d.Details = nil
			if !m.isNull() {
				d.Details = json.RawMessage(m.raw)
			}
		}
	}
	return d
}
