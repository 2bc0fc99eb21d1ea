package events

import (
	"container/heap"
	"strconv"
)

// Tracker pairs the starts and ends of a stream's tool calls. The zero value
// is ready to use. It keeps every event that it is given; it is not safe for
// concurrent use.
//
// Starts and ends pair within one run, a child's apart from its parent's: by
// call id where both have one, also where they name different agents; where
// one side has none, the oldest open start of the tool that has the same
// agent, else the oldest without an agent, and an end without an agent takes
// the oldest of all. Among those, a start without an id comes before one with
// an id. Nothing is paired twice. Adding n events takes time n·log n.
type Tracker struct {
	calls  []*call
	scopes map[scopeKey]*scope

	// main is the run of the stream itself: the first run that a frame
	// outside swarm_child names. Frames that name no run belong to it.
	main string
}

// Call is one tool call: its start, its end, or both.
type Call struct {
	ToolName   string
	ToolCallID string // "" where neither side told
	Agent      string // the end's, else the start's; "" for families other than the agents'
	Action     string // the start's, else the end's

	// Start and End are the sequence numbers given to Add, 0 for a side
	// that was never seen. A call without an end is open.
	Start, End int

	// StartEvent and EndEvent are nil for a side that was never seen. Of
	// several starts of one call, StartEvent is the first.
	StartEvent, EndEvent *ToolEvent
}

// MarshalJSON gives {"toolName","toolCallId","agent","start","end"}: the
// sequence numbers, or null for a side that was never seen.
func (c Call) MarshalJSON() ([]byte, error) {
	b := append([]byte(nil), `{"toolName":`...)
	b = appendQuoted(b, c.ToolName)
	b = appendMember(b, "toolCallId", c.ToolCallID)
	b = appendMember(b, "agent", c.Agent)
	b = appendSeq(b, "start", c.Start)
	b = appendSeq(b, "end", c.End)
	return append(b, '}'), nil
}

func appendSeq(b []byte, key string, seq int) []byte {
	b = append(b, `,"`...)
	b = append(b, key...)
	b = append(b, `":`...)
	if seq == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, int64(seq), 10)
}

// call is a Call in the making.
type call struct {
	Call
	index int    // its place among the calls, by age
	agent string // what an end without an id must match: the start's
}

func (c *call) open() bool { return c.EndEvent == nil }

// scopeKey names a run in which starts and ends pair.
type scopeKey struct {
	kind byte // 'k' by run key, 's' by sub id, 'c' a child by its run, 'r' any other run
	id   string
}

// scope is one such run.
type scope struct {
	runKey string // that of a child, where known
	byID   map[string]*call
	queues map[queueKey]*queue
}

type queueKey struct {
	tool  string
	hasID bool
	any   bool // every agent
	agent string
}

// Add takes the next event of the stream with its sequence number, which
// counts from 1 and is used once. It gives the call that the event is of, as
// it now is: of a start that was told before, Start is another number; of an
// end whose start was never seen, it is 0.
func (t *Tracker) Add(seq int, te ToolEvent) Call {
	s := t.scope(&te)
	if te.Start {
		return t.start(s, seq, &te).Call
	}
	c := s.match(&te)
	if c == nil {
		c = t.add()
	} else if c.ToolCallID != "" {
		delete(s.byID, c.ToolCallID)
	}
	c.End, c.EndEvent = seq, &te
	c.ToolName = firstOf(c.ToolName, te.ToolName)
	c.ToolCallID = firstOf(c.ToolCallID, te.ToolCallID)
	c.Agent = firstOf(te.Agent(), c.Agent)
	c.Action = firstOf(c.Action, te.Action)
	return c.Call
}

func (t *Tracker) add() *call {
	c := &call{index: len(t.calls)}
	t.calls = append(t.calls, c)
	return c
}

func (t *Tracker) start(s *scope, seq int, te *ToolEvent) *call {
	if c := s.byID[te.ToolCallID]; c != nil && te.ToolCallID != "" {
		// The same call again: pending, then running, or a replay.
		// Either may know what the other does not.
		c.Action = firstOf(c.Action, te.Action)
		if c.agent == "" && te.Agent() != "" {
			c.agent, c.Agent = te.Agent(), te.Agent()
			s.push(c, false)
		}
		return c
	}
	c := t.add()
	c.Call = Call{
		ToolName: te.ToolName, ToolCallID: te.ToolCallID, Agent: te.Agent(), Action: te.Action,
		Start: seq, StartEvent: te,
	}
	c.agent = te.Agent()
	if te.ToolCallID != "" {
		s.byID[te.ToolCallID] = c
	}
	s.push(c, true)
	return c
}

// Calls gives all calls in the order in which they were first seen.
func (t *Tracker) Calls() []Call {
	calls := make([]Call, len(t.calls))
	for i, c := range t.calls {
		calls[i] = c.Call
	}
	return calls
}

// Open gives the calls whose end has not come, in the order of their starts.
func (t *Tracker) Open() []Call {
	var calls []Call
	for _, c := range t.calls {
		if c.open() {
			calls = append(calls, c.Call)
		}
	}
	return calls
}

// scope gives the run that an event belongs to.
func (t *Tracker) scope(te *ToolEvent) *scope {
	if t.scopes == nil {
		t.scopes = make(map[scopeKey]*scope)
	}
	if te.Child != nil {
		return t.childScope(te)
	}
	if t.main == "" {
		t.main = te.RunID
	}
	// The main run stands under the empty id, so that frames which name it
	// and frames from before it was named meet.
	id := te.RunID
	if id == t.main {
		id = ""
	}
	return t.scopeAt(scopeKey{'r', id})
}

// childScope gives the scope of a child by its run key, else its sub id, else
// its run. A frame with both of the first two ties them together, so that a
// frame with one of them finds the same child.
func (t *Tracker) childScope(te *ToolEvent) *scope {
	byKey := scopeKey{'k', te.Child.RunKey}
	bySub := scopeKey{'s', te.Child.SubID}
	switch {
	case byKey.id == "" && bySub.id == "":
		return t.scopeAt(scopeKey{'c', te.RunID})
	case byKey.id == "":
		return t.scopeAt(bySub)
	case bySub.id == "":
		return t.scopeAt(byKey)
	}
	s := t.scopes[byKey]
	if sub := t.scopes[bySub]; s == nil && sub != nil && sub.runKey == "" {
		s = sub
		t.scopes[byKey] = s
	}
	if s == nil {
		s = t.scopeAt(byKey)
	}
	s.runKey = byKey.id
	t.scopes[bySub] = s // the latest, should grandchildren reuse a sub id
	return s
}

func (t *Tracker) scopeAt(key scopeKey) *scope {
	s := t.scopes[key]
	if s == nil {
		s = &scope{byID: make(map[string]*call), queues: make(map[queueKey]*queue)}
		t.scopes[key] = s
	}
	return s
}

// match gives the open start that an end belongs to, nil for none.
func (s *scope) match(te *ToolEvent) *call {
	if te.ToolCallID != "" {
		if c := s.byID[te.ToolCallID]; c != nil {
			return c
		}
	}
	keys := make([]queueKey, 0, 4)
	agents := []queueKey{{tool: te.ToolName, agent: te.Agent()}, {tool: te.ToolName}}
	if te.Agent() == "" {
		agents = []queueKey{{tool: te.ToolName, any: true}}
	}
	for _, key := range agents {
		keys = append(keys, key)
		if te.ToolCallID == "" { // with one, an id that differs never pairs
			key.hasID = true
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		if c := s.queues[key].oldest(key); c != nil {
			return c
		}
	}
	return nil
}

// push lists an open call under its agent, and when it is new under all.
func (s *scope) push(c *call, isNew bool) {
	key := queueKey{tool: c.ToolName, hasID: c.ToolCallID != "", agent: c.agent}
	s.queue(key).push(c)
	if isNew {
		s.queue(queueKey{tool: key.tool, hasID: key.hasID, any: true}).push(c)
	}
}

func (s *scope) queue(key queueKey) *queue {
	q := s.queues[key]
	if q == nil {
		q = new(queue)
		s.queues[key] = q
	}
	return q
}

// queue holds open calls by age. Calls that ended or learnt of another agent
// stay in it until they come up: taking them out at once would cost a search.
// It is a heap and no list because a call that learns of its agent late joins
// that agent's queue among younger ones.
type queue []*call

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].index < q[j].index }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*call)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

func (q *queue) push(c *call) { heap.Push(q, c) }

// oldest gives the oldest open call that still belongs to the queue's key.
func (q *queue) oldest(key queueKey) *call {
	for q != nil && len(*q) > 0 {
		c := (*q)[0]
		if c.open() && (key.any || c.agent == key.agent) {
			return c
		}
		heap.Pop(q)
	}
	return nil
}
