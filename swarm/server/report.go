package server

import (
	"encoding/json"
	"slices"
	"strings"

	json2 "github.com/go-json-experiment/json"
	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// cleanEvent checks an event that a worker posted, and gives it without the
// members that are the server's to set, with a display where one belongs.
func cleanEvent(data []byte) (kind string, clean json.RawMessage, err error) {
	ev, err := swarm.ParseReported(data)
	if err != nil {
		return "", nil, err
	}
	members := ev.Members
	switch kind := ev.Type; {
	case kind == events.TypeToolStart || kind == events.TypeToolEnd:
		err = giveDisplay(members, events.Display{Kind: "tool", Name: gjson.GetBytes(data, "toolName").Str})
	case strings.HasPrefix(kind, "plan.") || strings.HasPrefix(kind, "approval."):
		err = giveDisplay(members, events.Display{Kind: "harness", Name: kind})
	}
	if err != nil {
		return "", nil, err
	}
	delete(members, "runId")
	delete(members, "ts")
	clean, err = json2.Marshal(members, json2.Deterministic(true))
	return ev.Type, clean, err
}

// giveDisplay adds a display where the worker gave none.
func giveDisplay(members map[string]json.RawMessage, d events.Display) (err error) {
	if members["display"] == nil {
		members["display"], err = json2.Marshal(d)
	}
	return err
}

// Bounds of what one run reports.
const (
	maxRunEvents = 100_000
	maxOpenTools = 1_000
)

// checkEvent applies the rules that depend on what the run reported before:
// every tool has one start and one end. The table's lock is held.
func (r *run) checkEvent(kind string, rec *record) error {
	switch tool := toolOf(rec); {
	case r.events >= maxRunEvents:
		return swarm.Errorf(swarm.CodeTooLarge, "the run %s has reported %d events, the most that are allowed", r.id, maxRunEvents)
	case kind == events.TypeToolStart && len(r.open) >= maxOpenTools:
		return swarm.Errorf(swarm.CodeTooLarge, "the run %s has %d tools open, the most that are allowed", r.id, maxOpenTools)
	case kind == events.TypeToolEnd && !slices.Contains(r.open, tool):
		return swarm.Errorf(swarm.CodeInvalid, "tool_end of %q, call %q: no such call is open", tool.Name, tool.CallID)
	}
	return nil
}

// report writes what a worker's execution of a task reported, the first of the
// events having the given number. Events that were posted before are passed
// over, so that a post may be repeated.
func (s *Server) report(r *liveRun, execution string, first uint64, posted [][]byte) error {
	clean := make([]json.RawMessage, 0, len(posted))
	kinds := make([]string, 0, len(posted))
	for i, data := range posted {
		kind, event, err := cleanEvent(data)
		if err != nil {
			return err
		}
		if kind == swarm.EventAck {
			if i > 0 || first > 0 {
				return swarm.Errorf(swarm.CodeInvalid, "%q is the first event of an execution", swarm.EventAck)
			}
			event = nil
		}
		clean, kinds = append(clean, event), append(kinds, kind)
	}
	for i, event := range clean {
		number := first + uint64(i)
		if event == nil {
			s.inboxes.ack(r)
			continue
		}
		err := s.transition(r, func() (*record, error) {
			switch {
			case r.state.Terminal():
				return nil, swarm.Errorf(swarm.CodeConflict, "the run %s has its outcome already (%s)", r.id, r.state)
			case r.execution == execution && number <= r.number:
				return nil, nil
			}
			rec := &record{Kind: kindEvent, Event: event, Execution: execution, Number: number}
			return rec, r.checkEvent(kinds[i], rec)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// search finds agents for a caller, who is the zero address where unknown. An
// agent that stands in the caller's chain could not be delegated to, and is
// left out.
func (s *Server) search(caller wallet.Address, q swarm.Query, chain []*run) *swarm.Found {
	return s.agents.index.Search(q, func(card *swarm.Card) bool {
		agent := card.Wallet
		switch {
		case !s.inboxes.available(agent):
			return true
		case caller.IsZero():
			return false
		case agent == caller || s.table.unavailableTo(caller, agent, s.cfg.Shun):
			return true
		}
		return slices.ContainsFunc(chain, func(r *run) bool { return r.from() == agent || r.to() == agent })
	})
}

// findIn searches on behalf of a run's worker and writes that it did.
func (s *Server) findIn(r *liveRun, q swarm.Query) (*swarm.Found, error) {
	var chain []*run
	s.table.read(func() { chain = r.chain() })
	rec := &record{Kind: kindFound, Query: &foundQuery{Query: q.Text, TopK: q.TopK, Detail: q.Detail, Tags: q.Tags}}
	q, err := q.Normalize()
	if err != nil {
		rec.Error = err.(*swarm.Error)
	} else {
		rec.Query = &foundQuery{Query: q.Text, TopK: q.TopK, Strictness: *q.Strictness, Detail: q.Detail, Tags: q.Tags}
		rec.Found = s.search(r.to(), q, chain)
	}
	if writeErr := s.transition(r, func() (*record, error) {
		if r.state.Terminal() {
			return nil, swarm.Errorf(swarm.CodeConflict, "the run %s has its outcome already (%s)", r.id, r.state)
		}
		return rec, nil
	}); writeErr != nil {
		return nil, writeErr
	}
	return rec.Found, err
}
