package swarm

import (
	"encoding/json"
	"strings"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/events"
)

// Reported is an event that a worker reports of its own doing.
type Reported struct {
	Type    string
	Members map[string]json.RawMessage // of the event's object
}

// ParseReported reads an event as a worker may report it: an object with a
// type, of at most MaxEventBytes. What tells of the run's end, of lost events, of
// child runs, of searches and of delegations is the server's own to write, in either
// generation of frames, so that no worker can forge or forget one: whoever
// watches acts on those.
func ParseReported(data []byte) (*Reported, error) {
	if len(data) > MaxEventBytes {
		return nil, Errorf(CodeTooLarge, "event has %d bytes; at most %d are allowed", len(data), MaxEventBytes)
	}
	var members map[string]json.RawMessage
	if err := json2.Unmarshal(data, &members); err != nil {
		return nil, Errorf(CodeInvalid, `event %.40q: want an object with a "type", each member once, in UTF-8: %v`, data, err)
	}
	// Read as whoever watches reads it.
	ev := events.Decode("", "message", data)
	tool, toolErr := events.ParseToolEvent(ev)
	switch kind := ev.Type; {
	case kind == "" || members == nil:
		return nil, Errorf(CodeInvalid, `event %.40q: want an object with a "type"`, data)
	case ev.Terminal(), kind == events.TypeReceipt, kind == events.TypeComposeReceipt,
		kind == events.TypeDoneSentinel, kind == events.TypeGap, strings.HasPrefix(kind, "swarm_child_"):
		return nil, Errorf(CodeForbidden, "events of type %q are the server's own", kind)
	case toolErr == nil && tool.Family == events.FamilyAgent:
		return nil, Errorf(CodeForbidden, "tool events of %q are the server's own: it writes them for every search and delegation", tool.ToolName)
	case kind == events.TypeToolStart || kind == events.TypeToolEnd:
		for _, name := range []string{"toolName", "toolCallId"} {
			var text string
			if json2.Unmarshal(members[name], &text) != nil || text == "" {
				return nil, Errorf(CodeInvalid, "%s needs toolName and toolCallId", kind)
			}
		}
	}
	return &Reported{Type: ev.Type, Members: members}, nil
}
