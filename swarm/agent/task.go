package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

var _ swarm.Delegator = (*Task)(nil)

// Task is a task in work, and a swarm.Delegator for its handler: what is found
// and delegated through it stands in the run's stream, and in the chain that
// is signed.
type Task struct {
	ID       string         // the delegation's id, 32 hex digits
	RootID   string         // that of the delegation at hop 0
	Attempt  int            // 1; more where a worker before this one went away with it
	Input    string         // what to do
	Skill    string         // the skill of the card that was asked for, or ""
	From     wallet.Address // who asks
	Hop      int            // 0 for a user's own request
	Deadline time.Time      // after it a result is late

	execution *execution
}

// Text streams a piece of the answer to whoever watches. What the handler
// returns is the answer that counts; where nothing was streamed, it is
// streamed at the end.
func (t *Task) Text(delta string) {
	if delta != "" {
		t.execution.report.text(delta)
	}
}

// Emit streams an event of the handler's own: an object with a type, such as
// {"type":"thinking_start","message":"…"}, of 1 MiB at most. The types that
// end a run, those of child runs, and the tool events of agent_find and
// swarm_delegate are the server's to write; those of other tools are Tool's.
func (t *Task) Emit(event any) error {
	data, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if err := checkEvent(data); err != nil {
		return err
	}
	t.execution.report.emit(data)
	return nil
}

// Tool streams the start of a tool of the handler's own, and gives the
// function that streams its end: with the output, or the error. An input or
// output that is no JSON, or too large for an event, is left out and logged;
// an end after the first is passed over.
func (t *Task) Tool(name string, input any, summary string) (end func(output any, err error)) {
	id := "tool-" + rand.Text()[:12]
	display := events.Display{Kind: "tool", Name: name, Summary: summary}
	base := map[string]any{"toolName": name, "toolCallId": id, "display": display}
	emit := func(kind string, more map[string]any) (sent bool) {
		event := map[string]any{"type": kind}
		for _, members := range []map[string]any{base, more} {
			for k, v := range members {
				event[k] = v
			}
		}
		data, err := json.Marshal(event)
		if err == nil {
			_, err = swarm.ParseReported(data)
		}
		if err != nil {
			t.execution.worker.log.Error("tool event not sent", "task", t.ID, "tool", name, "event", kind, "error", err)
			return false
		}
		t.execution.report.emit(data)
		return true
	}
	if !emit(events.TypeToolStart, map[string]any{"input": input}) && !emit(events.TypeToolStart, nil) {
		return func(any, error) {}
	}
	var once sync.Once
	return func(output any, err error) {
		once.Do(func() {
			more := map[string]any{"output": output, "failed": err != nil}
			if err != nil {
				more["error"] = err.Error()
			}
			if !emit(events.TypeToolEnd, more) {
				delete(more, "output")
				emit(events.TypeToolEnd, more)
			}
		})
	}
}

// Find searches for agents: agent_find. Those that stand in the chain of this
// task are left out.
func (t *Task) Find(ctx context.Context, q swarm.Query) (*swarm.Found, error) {
	var found swarm.Found
	ask := swarm.FindRequest{Query: q.Text, TopK: q.TopK, Strictness: q.Strictness, Detail: q.Detail, IncludeTags: q.Tags}
	x := t.execution
	if err := x.report.flush(ctx); err != nil { // what was said before comes before
		return nil, err
	}
	// A server that is being restarted is waited for, as Delegate does.
	err := client.Retry(ctx, func() error {
		return x.worker.client.Post(ctx, "/delegations/"+t.ID+"/find", nil, ask, &found)
	})
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// Delegate hands a task to another agent and waits for its outcome:
// swarm_delegate. The timeout is cut to what this task's deadline leaves.
// Where ctx ends first, the delegation goes on until this task has its result.
func (t *Task) Delegate(ctx context.Context, r swarm.Request) (*swarm.Outcome, error) {
	if err := t.execution.report.flush(ctx); err != nil {
		return nil, err
	}
	return t.execution.delegate(ctx, r)
}
