package agent

import (
	"fmt"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
)

// checkEvent refuses what the server would. It would refuse the whole batch,
// and with it what was said in good order.
func checkEvent(data []byte) error {
	ev, err := swarm.ParseReported(data)
	if err != nil {
		return err
	}
	switch ev.Type {
	case swarm.EventAck:
		return fmt.Errorf("events of type %q are the worker's own", ev.Type)
	case events.TypeToolStart, events.TypeToolEnd:
		return fmt.Errorf("%s has to have its counterpart: call Tool", ev.Type)
	}
	return nil
}
