package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
)

// checkEvent refuses what the server would. It would refuse the whole batch,
// and with it what was said in good order.
func checkEvent(data []byte) error {
	if len(data) > swarm.MaxEventBytes {
		return fmt.Errorf("event has %d bytes; at most %d are allowed", len(data), swarm.MaxEventBytes)
	}
	var members map[string]json.RawMessage
	if err := json2.Unmarshal(data, &members); err != nil || members == nil {
		return fmt.Errorf(`event %.40q: want an object with a "type", each member once, in UTF-8`, data)
	}
	ev := events.Decode("", "message", data)
	tool, toolErr := events.ParseToolEvent(ev)
	switch {
	case ev.Type == "":
		return fmt.Errorf(`event %.40q: want an object with a "type"`, data)
	case ev.Terminal(), ev.Type == events.TypeReceipt, ev.Type == events.TypeComposeReceipt,
		ev.Type == events.TypeDoneSentinel, ev.Type == swarm.EventAck, strings.HasPrefix(ev.Type, "swarm_child_"):
		return fmt.Errorf("events of type %q are the server's own", ev.Type)
	case toolErr == nil && tool.Family == events.FamilyAgent:
		return fmt.Errorf("tool events of %q are the server's own: call Find and Delegate", tool.ToolName)
	case ev.Type == events.TypeToolStart || ev.Type == events.TypeToolEnd:
		return fmt.Errorf("%s has to have its counterpart: call Tool", ev.Type)
	}
	return nil
}
