package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	json2 "github.com/go-json-experiment/json"
	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// The names of the two tools in the streams that we send.
const (
	toolFind     = "agent_find"
	toolDelegate = "swarm_delegate"
)

// frame is the data of one SSE frame that we send: Compose's typed frames with
// what they lack. Only the members that a type has are set.
type frame struct {
	Type        string          `json:"type"`
	Action      string          `json:"action,omitempty"`
	Source      string          `json:"source,omitempty"`
	Stage       string          `json:"stage,omitempty"`
	Status      string          `json:"status,omitempty"`
	Delta       string          `json:"delta,omitempty"`
	ToolName    string          `json:"toolName,omitempty"`
	ToolCallID  string          `json:"toolCallId,omitempty"`
	Input       any             `json:"input,omitempty"`
	Output      any             `json:"output,omitempty"`
	Message     string          `json:"message,omitempty"`
	Failed      *bool           `json:"failed,omitempty"`
	Error       string          `json:"error,omitempty"`
	Code        swarm.Code      `json:"code,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	StopReason  string          `json:"stopReason,omitempty"`
	WallMs      int64           `json:"wallMs,omitzero"`
	Details     json.RawMessage `json:"details,omitempty"`
	RootRunID   string          `json:"rootRunId,omitempty"`
	ParentRunID string          `json:"parentRunId,omitempty"`
	SubID       string          `json:"subId,omitempty"`
	Depth       int             `json:"depth,omitzero"`
	AgentWallet *wallet.Address `json:"agentWallet,omitempty"`
	RunKey      string          `json:"runKey,omitempty"`
	RunKeyChain []string        `json:"runKeyChain,omitempty"`
	Agent       *agentFrame     `json:"agent,omitempty"`
	Display     *events.Display `json:"display,omitempty"`
	TaskID      string          `json:"taskId,omitempty"`
	Attempt     int             `json:"attempt,omitzero"`
	Delegation  string          `json:"delegation,omitempty"`
	Result      string          `json:"result,omitempty"`
	Bundle      string          `json:"bundle,omitempty"`
	RunID       string          `json:"runId"`
	TS          int64           `json:"ts"`
}

type agentFrame struct {
	WalletAddress wallet.Address `json:"walletAddress"`
	Name          string         `json:"name"`
}

type delegateInput struct {
	AgentWallet wallet.Address `json:"agentWallet"`
	Task        string         `json:"task"`
	Timeout     uint64         `json:"timeout"`
}

type delegateOutput struct {
	Success     bool           `json:"success"`
	AgentWallet wallet.Address `json:"agentWallet"`
	RequestID   string         `json:"request_id"`
	Output      string         `json:"output,omitempty"`
	Error       string         `json:"error,omitempty"`
	Message     string         `json:"message,omitempty"`
	StopReason  string         `json:"stopReason"`
	Delegation  string         `json:"delegation"`
	Result      string         `json:"result,omitempty"`
}

// renderer makes the frames of a run's stream. It keeps nothing of what came
// before: a record's frames are made of the record and of what the run is, so
// that a stream can begin anywhere.
type renderer struct {
	root string // id of the tree
	view string // id of the run whose stream this is
	name func(wallet.Address) string
}

// render gives the data of the frames of a record of r, which may be none, and
// whether the stream ends with them.
func (n *renderer) render(r *run, e engine.Entry, rec *record) (data [][]byte, last bool, err error) {
	var frames []frame
	own := r.id == n.view
	switch {
	case own:
		frames = n.own(r, e, rec)
	case n.below(r):
		frames = n.child(r, e, rec)
	default:
		return nil, false, nil
	}
	if rec.Kind == kindEvent && own {
		data = append(data, stamp(rec.Event, r.id, rec.TS))
	}
	for i := range frames {
		f := &frames[i]
		f.TS = rec.TS
		encoded, err := json2.Marshal(f)
		if err != nil {
			return nil, false, fmt.Errorf("frame %s: %w", f.Type, err)
		}
		data = append(data, encoded)
	}
	last = own && rec.Kind == kindOutcome
	if last {
		data = append(data, []byte(events.TypeDoneSentinel))
	}
	return data, last, nil
}

// stamp adds what every frame of ours has to a worker's event, which is an
// object of at least one member.
func stamp(event []byte, runID string, ts int64) []byte {
	out := append(make([]byte, 0, len(event)+80), event[:len(event)-1]...)
	return fmt.Appendf(out, `,"runId":%q,"ts":%d}`, runID, ts)
}

// below reports whether r stands under the run whose stream this is.
func (n *renderer) below(r *run) bool {
	for p := r.parent; p != nil; p = p.parent {
		if p.id == n.view {
			return true
		}
	}
	return false
}

// own gives the frames of a record of the run whose stream this is.
func (n *renderer) own(r *run, e engine.Entry, rec *record) []frame {
	switch rec.Kind {
	case kindCreated:
		return []frame{{Type: events.TypeAction, Action: "run.created", Source: "swarmseal", Status: string(swarm.StatePending),
			TaskID: r.signed.Delegation.TaskID.String(), RunID: r.id, Agent: n.agent(r.to())}}
	case kindClaimed:
		return []frame{{Type: events.TypeAction, Action: "run.claimed", Source: "swarmseal", Status: string(swarm.StateRunning),
			TaskID: r.signed.Delegation.TaskID.String(), Attempt: rec.Attempt, RunID: r.id, Agent: n.agent(r.to())}}
	case kindFound:
		return n.found(rec, frame{RunID: r.id, ToolCallID: findID(e)}, events.TypeToolStart, events.TypeToolEnd)
	case kindOutcome:
		return n.outcome(r, rec)
	case kindEvent, kindLate, kindCollected:
	}
	return nil
}

// outcome ends the stream: what was left open, the text that was never
// streamed, the end itself, and the receipt.
func (n *renderer) outcome(r *run, rec *record) []frame {
	frames := leftOpen(rec, frame{RunID: r.id}, events.TypeToolEnd)
	switch rec.State {
	case swarm.StateCompleted:
		if !rec.Streamed && rec.Result.Output != "" {
			frames = append(frames, frame{Type: events.TypeTextDelta, Delta: rec.Result.Output, RunID: r.id})
		}
		frames = append(frames, frame{Type: events.TypeDone, StopReason: string(rec.State), Agent: n.agent(r.to()), WallMs: r.wallMs(rec), RunID: r.id})
	case swarm.StateCancelled:
		frames = append(frames, frame{Type: events.TypeStopped, Reason: rec.Error.Message, RunID: r.id})
	default:
		frames = append(frames, frame{Type: events.TypeError, Error: rec.Error.Message, Message: rec.Error.Message,
			Code: rec.Error.Code, Agent: n.agent(r.to()), RunID: r.id})
	}
	if rec.Arrival != nil {
		frames = append(frames, frame{Type: events.TypeReceipt, Delegation: r.digest.String(),
			Result: rec.Arrival.Arrival.Result.String(), Bundle: "/delegations/" + r.id + "/receipt", RunID: r.id})
	}
	return frames
}

// leftOpen ends the worker's own tools that it did not end itself: every start
// has one end.
func leftOpen(outcome *record, base frame, kind string) []frame {
	frames := make([]frame, 0, len(outcome.Open)+3)
	for _, tool := range outcome.Open {
		f := base
		f.Type, f.ToolName, f.ToolCallID = kind, tool.Name, tool.CallID
		f.Failed, f.Error = new(true), "the run ended before this tool did"
		f.Display = &events.Display{Kind: "tool", Name: tool.Name}
		frames = append(frames, f)
	}
	return frames
}

// findID names the search that a record is.
func findID(e engine.Entry) string { return fmt.Sprintf("find-%d", e.Seq) }

// found gives the start and the end of a search, in a run's own voice or, with
// a base that names it, in a child's.
func (n *renderer) found(rec *record, base frame, start, end string) []frame {
	base.ToolName = toolFind
	base.Display = &events.Display{Kind: "search", Name: "Agent search", Summary: oneLine(rec.Query.Query)}
	first, second := base, base
	first.Type, first.Input = start, rec.Query
	second.Type, second.Failed = end, new(rec.Error != nil)
	if rec.Error != nil {
		second.Error, second.Output = rec.Error.Message, map[string]any{"success": false, "error": rec.Error.Message, "code": rec.Error.Code}
	} else {
		second.Output, second.Message = rec.Found, rec.Found.Message
	}
	return []frame{first, second}
}

// child gives the frames of a record of a run further down: what its own
// worker does as swarm_child frames, and its beginning and end as those of the
// tool call of whoever delegated.
func (n *renderer) child(r *run, e engine.Entry, rec *record) []frame {
	voice := n.voice(r)
	switch rec.Kind {
	case kindCreated:
		d := &r.signed.Delegation
		call := n.call(r, events.TypeToolStart, events.TypeSwarmChildToolStart)
		call.Input = delegateInput{AgentWallet: r.to(), Task: r.signed.Input, Timeout: d.ExpiresAt - d.IssuedAt}
		return []frame{call}
	case kindClaimed:
		if rec.Attempt > 1 {
			return nil // it started before
		}
		voice.Type = events.TypeSwarmChildStart
		return []frame{voice}
	case kindFound:
		voice.ToolCallID = findID(e)
		return n.found(rec, voice, events.TypeSwarmChildToolStart, events.TypeSwarmChildToolEnd)
	case kindEvent:
		return []frame{childEvent(voice, rec)}
	case kindOutcome:
		frames := leftOpen(rec, voice, events.TypeSwarmChildToolEnd)
		end := voice
		end.WallMs, end.StopReason = r.wallMs(rec), string(rec.State)
		if rec.State == swarm.StateCompleted {
			end.Type = events.TypeSwarmChildDone
		} else {
			end.Type, end.Error = events.TypeSwarmChildError, rec.Error.Message
		}
		return append(frames, end, n.callEnd(r, rec))
	case kindLate, kindCollected:
	}
	return nil
}

// childEvent shows a child's own event: text and tools have frames of their
// own; anything else goes as a trace, whole.
func childEvent(f frame, rec *record) frame {
	get := func(name string) gjson.Result { return gjson.GetBytes(rec.Event, name) }
	raw := func(name string) any {
		if v := get(name); v.Exists() {
			return json.RawMessage(v.Raw)
		}
		return nil
	}
	switch kind := get("type").Str; kind {
	case events.TypeTextDelta:
		f.Type = events.TypeSwarmChildDelta
		f.Delta = events.Decode("", "message", rec.Event).Text()
	case events.TypeToolStart, events.TypeToolEnd:
		f.Type = events.TypeSwarmChildToolStart
		f.ToolName, f.ToolCallID, f.Input = get("toolName").Str, get("toolCallId").Str, raw("input")
		f.Display = &events.Display{Kind: "tool", Name: f.ToolName, Summary: oneLine(get("display.summary").Str)}
		if kind == events.TypeToolEnd {
			f.Type, f.Output, f.Message = events.TypeSwarmChildToolEnd, raw("output"), get("message").Str
			f.Failed, f.Error = new(get("failed").Bool()), get("error").Str
		}
	default:
		f.Type, f.Source, f.Stage, f.Action, f.Details = events.TypeTrace, "agent", "child", kind, rec.Event
	}
	return f
}

// voice gives what all frames of a child's own have.
func (n *renderer) voice(r *run) frame {
	agent := r.to()
	chain := r.chain()
	keys := make([]string, len(chain))
	for i, above := range chain {
		keys[i] = above.id
	}
	return frame{
		RootRunID: n.root, ParentRunID: r.parentID, SubID: r.id, Depth: r.depth, AgentWallet: &agent,
		RunKey: r.id, RunKeyChain: keys, RunID: r.id,
		Display: &events.Display{Kind: "agent", ID: r.id, Name: n.name(agent), Target: agent.String(), Summary: oneLine(r.signed.Input)},
	}
}

// call gives a frame of the swarm_delegate call by which r was made: a tool
// frame where it is the call of the run whose stream this is, else one of its
// caller's, who is a child itself.
func (n *renderer) call(r *run, own, child string) frame {
	caller := r.parent
	f := frame{Type: own, RunID: caller.id}
	if caller.id != n.view {
		f = n.voice(caller)
		f.Type = child
	}
	f.ToolName, f.ToolCallID = toolDelegate, r.id
	f.Display = &events.Display{Kind: "agent", ID: r.id, Name: n.name(r.to()), Target: r.to().String(), Summary: oneLine(r.signed.Input)}
	return f
}

func (n *renderer) callEnd(r *run, rec *record) frame {
	f := n.call(r, events.TypeToolEnd, events.TypeSwarmChildToolEnd)
	out := delegateOutput{
		AgentWallet: r.to(), RequestID: r.id, StopReason: string(rec.State),
		Delegation: r.digest.String(), Success: rec.State == swarm.StateCompleted,
	}
	if rec.Arrival != nil {
		out.Result = rec.Arrival.Arrival.Result.String()
	}
	switch {
	case out.Success:
		out.Output = rec.Result.Output
		f.Message = "delegation completed"
	case rec.State == swarm.StateTimeout:
		// The tools' contract: this word, and the id to ask again with.
		out.Error, out.Message, f.Error = string(swarm.CodeTimeout), rec.Error.Message, string(swarm.CodeTimeout)
	default:
		out.Error, f.Error = rec.Error.Message, rec.Error.Message
	}
	f.Failed, f.Output = new(!out.Success), out
	return f
}

func (n *renderer) agent(a wallet.Address) *agentFrame {
	return &agentFrame{WalletAddress: a, Name: n.name(a)}
}

func (r *runIdentity) wallMs(outcome *record) int64 { return outcome.TS - r.createdAt.UnixMilli() }

const maxSummaryRunes = 140

// oneLine makes a summary of a text: one line, no control characters.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if runes := []rune(text); len(runes) > maxSummaryRunes {
		return string(runes[:maxSummaryRunes-1]) + "…"
	}
	return text
}
