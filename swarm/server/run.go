package server

import (
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// A run is the execution of one delegation, folded from its records:
//
//	            claimed (again when a worker goes away)
//	            ┌──┐
//	created → pending → running ─┬→ completed   the worker's result
//	              │        │     ├→ failed      the worker's result
//	              └────────┴─────┼→ timeout     the deadline
//	                             └→ cancelled   the requester, or the run above ended
//
// Each arrow is one record, written by compare and set on the run's last one,
// so that the first terminal outcome stays. After it come at most one late
// answer and one collection.
type run struct {
	id, parentID string
	signed       *swarm.SignedDelegation
	digest       wallet.Digest
	depth        int
	children     []*run // in the order of their creation

	state     swarm.State
	attempt   int
	outcome   *record // nil until there is one
	late      *record // nil until there is one
	collected bool
	createdAt time.Time
	endedAt   time.Time

	outcomeSeq uint64 // the outcome's place; 0 until there is one

	lastSeq   uint64 // of its newest record
	streamed  bool   // its worker sent text
	events    int    // that its worker reported
	open      []openTool
	execution string // whose events were seen last, and how many
	number    uint64
}

// openTool is a tool of the worker's own that was started and not ended.
type openTool struct {
	name, callID string
}

func (r *run) to() wallet.Address   { return r.signed.Delegation.To }
func (r *run) from() wallet.Address { return r.signed.Delegation.From }

func (r *run) deadline() time.Time {
	return time.Unix(int64(r.signed.Delegation.ExpiresAt), 0)
}

// answer gives the record that has the worker's result: the outcome's, or a
// late one; nil where none came.
func (r *run) answer() *record {
	switch {
	case r.outcome != nil && r.outcome.Result != nil:
		return r.outcome
	case r.late != nil:
		return r.late
	}
	return nil
}

// A tree is a root's run with all below it.
type tree struct {
	domain wallet.Domain
	rootID string
	runs   map[string]*run
	order  []*run // by creation: a run stands behind the one above it
	open   int    // how many have no outcome
}

func newTree(domain wallet.Domain, rootID string) *tree {
	return &tree{domain: domain, rootID: rootID, runs: make(map[string]*run)}
}

// apply folds a record in. It gives nil for one that was seen already or that
// belongs to a run whose beginning was not.
func (t *tree) apply(e engine.Entry, rec *record) *run {
	if rec.Kind == kindCreated {
		return t.create(e, rec)
	}
	r := t.runs[e.Run]
	if r == nil || e.Seq <= r.lastSeq {
		return nil
	}
	r.lastSeq = e.Seq
	switch rec.Kind {
	case kindClaimed:
		r.state, r.attempt = swarm.StateRunning, rec.Attempt
	case kindEvent:
		r.see(rec)
	case kindOutcome:
		t.open--
		r.state, r.outcome, r.outcomeSeq, r.endedAt = rec.State, rec, e.Seq, time.UnixMilli(rec.TS)
	case kindLate:
		r.late = rec
	case kindCollected:
		r.collected = true
	case kindCreated, kindFound:
	}
	return r
}

func (t *tree) create(e engine.Entry, rec *record) *run {
	if t.runs[e.Run] != nil || rec.Delegation == nil {
		return nil
	}
	r := &run{
		id: e.Run, parentID: rec.ParentID, signed: rec.Delegation,
		digest: rec.Delegation.Delegation.Digest(t.domain),
		state:  swarm.StatePending, createdAt: time.UnixMilli(rec.TS), lastSeq: e.Seq,
	}
	if parent := t.runs[rec.ParentID]; parent != nil {
		parent.children = append(parent.children, r)
		r.depth = parent.depth + 1
	}
	t.runs[e.Run] = r
	t.order = append(t.order, r)
	t.open++
	return r
}

// see notes what of a worker's event matters later.
func (r *run) see(rec *record) {
	r.events++
	r.execution, r.number = rec.Execution, rec.Number
	kind := gjson.GetBytes(rec.Event, "type").Str
	switch kind {
	case events.TypeTextDelta:
		r.streamed = true
	case events.TypeToolStart:
		if tool := toolOf(rec); !slices.Contains(r.open, tool) { // again: pending, then running
			r.open = append(r.open, tool)
		}
	case events.TypeToolEnd:
		ended := toolOf(rec)
		for i, tool := range r.open {
			if tool == ended {
				r.open = append(r.open[:i:i], r.open[i+1:]...)
				break
			}
		}
	}
}

func toolOf(rec *record) openTool {
	return openTool{
		name:   gjson.GetBytes(rec.Event, "toolName").Str,
		callID: gjson.GetBytes(rec.Event, "toolCallId").Str,
	}
}

// chain gives the run and those above it, from hop 0 down.
func (t *tree) chain(r *run) []*run {
	var up []*run
	for ; r != nil; r = t.runs[r.parentID] {
		up = append(up, r)
	}
	for i, j := 0, len(up)-1; i < j; i, j = i+1, j-1 {
		up[i], up[j] = up[j], up[i]
	}
	return up
}

// links gives a chain as the rules of package swarm take it.
func links(chain []*run) []swarm.Link {
	out := make([]swarm.Link, len(chain))
	for i, r := range chain {
		out[i] = swarm.Link{Delegation: &r.signed.Delegation, Digest: r.digest}
	}
	return out
}

// unsettled gives the runs right below r that have no outcome. Where there is
// none, nothing further down is without one.
func (r *run) unsettled() []*run {
	var out []*run
	for _, c := range r.children {
		if !c.state.Terminal() {
			out = append(out, c)
		}
	}
	return out
}

// view gives a run as its requester sees it.
func (t *tree) view(r *run) *swarm.Outcome {
	o := &swarm.Outcome{
		ID: r.id, RootID: t.rootID, ParentID: r.parentID, Agent: r.to(), Requester: r.from(),
		State: r.state, ExpiresAt: r.signed.Delegation.ExpiresAt,
	}
	ended := r.endedAt
	if r.outcome == nil {
		ended = time.Now()
	} else {
		o.Error = r.outcome.Error
	}
	o.Seconds = float64(ended.Sub(r.createdAt).Milliseconds()) / 1000
	if rec := r.answer(); rec != nil {
		o.Result, o.Arrival = rec.Result, rec.Arrival
		if rec.Result.Result.Status == swarm.StatusCompleted {
			o.Output = rec.Result.Output
		}
	}
	return o
}

// bundle gives the whole tree's proof.
func (t *tree) bundle(chainID uint64) *swarm.Bundle {
	b := &swarm.Bundle{Format: swarm.BundleFormat, ChainID: chainID}
	for _, r := range t.order {
		hop := swarm.BundleHop{Delegation: *r.signed}
		if rec := r.answer(); rec != nil {
			hop.Result, hop.Arrival = rec.Result, rec.Arrival
		}
		b.Hops = append(b.Hops, hop)
	}
	return b
}
