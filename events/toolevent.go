package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ToolEvent is the start or the end of one tool call, in the shape that all
// tools of a family share.
//
// Its JSON has five members always: start, the family's own key, action,
// result and error (null where absent); then toolName, toolCallId and display
// where known. Consumers tell families apart by their key.
type ToolEvent struct {
	Family Family

	// Start is true when the call begins, false when it ends.
	Start bool

	// Subject is the value of the family's own key, "" where none is known.
	// For an agent it is a wallet address in its EIP-55 form whatever the
	// case on the wire, or, for a delegation by a system that names agents
	// otherwise, that system's id as it came. Search has "general" for none.
	Subject string

	// Action is what the peer or tool is asked to do; "" where not told.
	Action string

	// Result is the output of an ended call, unwrapped: one JSON object,
	// numbers as they were written. It is nil on a start and where none came.
	Result json.RawMessage

	// Error is why the call failed, "" where it did not.
	Error string

	ToolName   string // as on the wire, never ""
	ToolCallID string // "" where not told, which is common

	// Display is how the sender would have the call shown; nil for none.
	Display *Display

	// RunID is the run that the call belongs to; "" where not told. It is
	// not in the JSON.
	RunID string

	// Child is set where the call is that of a child run (swarm_child
	// frames). It is not in the JSON.
	Child *Child
}

// Display is what a frame says of how to show it. Its texts are foreign:
// escape them before they reach a terminal or a page.
type Display struct {
	Kind    string          `json:"kind"` // tool, model, connector, agent, search, …; unknown kinds are kept
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Target  string          `json:"target,omitempty"` // for an agent, its wallet as on the wire
	Summary string          `json:"summary,omitempty"`
	Details json.RawMessage `json:"details,omitempty"` // any JSON value
}

func (d *Display) empty() bool {
	return d.Kind == "" && d.ID == "" && d.Name == "" && d.Target == "" && d.Summary == "" && d.Details == nil
}

// Child places a call in the tree of runs below the stream's own. Members that
// the frame lacks are zero.
type Child struct {
	RootRunID   string
	ParentRunID string
	SubID       string
	Depth       int    // 1 for a child of the root
	AgentWallet string // EIP-55 where it is an address, else as it came
	RunKey      string
	RunKeyChain []string // from the root down, the first 64
}

// Agent gives the agent of an event of FamilyAgent, "" for other families.
func (t ToolEvent) Agent() string {
	if t.Family != FamilyAgent {
		return ""
	}
	return t.Subject
}

// Delegates reports whether the call hands work to an agent.
func (t ToolEvent) Delegates() bool { return tools[t.ToolName].act == actDelegate }

// Finds reports whether the call looks for agents.
func (t ToolEvent) Finds() bool { return tools[t.ToolName].act == actFind }

// MarshalJSON gives the event's JSON on one line, without HTML escapes.
func (t ToolEvent) MarshalJSON() ([]byte, error) {
	key := t.Family.Key()
	if key == "" {
		return nil, fmt.Errorf("tool event: unknown family %d", int(t.Family))
	}
	b := make([]byte, 0, 128+len(t.Subject)+len(t.Action)+len(t.Result)+len(t.Error))
	if t.Start {
		b = append(b, `{"start":true,"`...)
	} else {
		b = append(b, `{"start":false,"`...)
	}
	b = append(b, key...)
	b = append(b, `":`...)
	b = appendQuoted(b, t.Subject)
	b = appendMember(b, "action", t.Action)
	b = append(b, `,"result":`...)
	b, err := appendCompact(b, t.Result)
	if err != nil {
		return nil, fmt.Errorf("tool event: result: %w", err)
	}
	if t.Error == "" {
		b = append(b, `,"error":null`...)
	} else {
		b = appendMember(b, "error", t.Error)
	}
	if t.ToolName != "" {
		b = appendMember(b, "toolName", t.ToolName)
	}
	if t.ToolCallID != "" {
		b = appendMember(b, "toolCallId", t.ToolCallID)
	}
	if t.Display != nil {
		b = append(b, `,"display":`...)
		if b, err = t.Display.appendJSON(b); err != nil {
			return nil, fmt.Errorf("tool event: display.details: %w", err)
		}
	}
	return append(b, '}'), nil
}

func (d *Display) appendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"kind":`...)
	b = appendQuoted(b, d.Kind)
	for _, m := range [...]struct{ key, text string }{
		{"id", d.ID}, {"name", d.Name}, {"target", d.Target}, {"summary", d.Summary},
	} {
		if m.text != "" {
			b = appendMember(b, m.key, m.text)
		}
	}
	if d.Details != nil {
		var err error
		b = append(b, `,"details":`...)
		if b, err = appendCompact(b, d.Details); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendMember(b []byte, key, text string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return appendQuoted(b, text)
}

// appendCompact appends raw without the white space between its tokens, since
// a line feed there would break a JSON line; null for nil.
func appendCompact(b []byte, raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return append(b, "null"...), nil
	}
	buf := bytes.NewBuffer(b)
	err := json.Compact(buf, raw)
	return buf.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON writes. The family is that of the key
// present; without any it is an error, and so is a result that is no object.
func (t *ToolEvent) UnmarshalJSON(data []byte) error {
	var raw struct {
		Start      bool            `json:"start"`
		Agent      *string         `json:"agent"`
		Model      *string         `json:"model"`
		Connector  *string         `json:"connector"`
		Mode       *string         `json:"mode"`
		Domain     *string         `json:"domain"`
		Action     string          `json:"action"`
		Result     json.RawMessage `json:"result"`
		Error      string          `json:"error"`
		ToolName   string          `json:"toolName"`
		ToolCallID string          `json:"toolCallId"`
		Display    *Display        `json:"display"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("tool event: %w", err)
	}
	*t = ToolEvent{
		Start: raw.Start, Action: raw.Action, Error: raw.Error,
		ToolName: raw.ToolName, ToolCallID: raw.ToolCallID, Display: raw.Display,
	}
	found := false
	for f, subject := range [families]*string{raw.Agent, raw.Model, raw.Connector, raw.Mode, raw.Domain} {
		if subject == nil {
			continue
		}
		if found {
			return fmt.Errorf("tool event: members %s and %s: want one of agent, model, connector, mode and domain",
				t.Family, Family(f))
		}
		t.Family, t.Subject, found = Family(f), *subject, true
	}
	if !found {
		return errors.New("tool event: want one of agent, model, connector, mode and domain")
	}
	if raw.Result != nil && string(raw.Result) != "null" {
		if raw.Result[0] != '{' {
			return errors.New("tool event: result: want an object or null")
		}
		t.Result = raw.Result
	}
	return nil
}
