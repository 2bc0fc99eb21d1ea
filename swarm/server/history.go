package server

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

// What is known of runs that have left the table is in the journal, as far as
// its records are there. They go after 24 hours, the oldest first, and an
// operator may purge any of them.

const retentionHours = int(engine.Retention / time.Hour)

func notFound(id string) error {
	return swarm.Errorf(swarm.CodeNotFound, "no run %s: it never was, or ended more than %d h ago", id, retentionHours)
}

// gone says that a run is known to have been, and can't be given any more.
func gone(id, what string) error {
	return swarm.Errorf(swarm.CodeGone, "the run %s is gone: %s; records are kept for %d h, and less where they are purged", id, what, retentionHours)
}

const beginningLost = "its first record, which says what was asked of whom, is no longer there"

// find gives a run by its id with its whole tree: in flight, or ended and read
// from the journal.
func (s *Server) find(ctx context.Context, id string) (*liveRun, error) {
	return s.findBy(ctx, id, s.load)
}

// watched gives a run for its stream. Of one that has ended it reads the first
// record, those of the runs above, and the outcome, and nothing in between.
func (s *Server) watched(ctx context.Context, id string) (*liveRun, error) {
	return s.findBy(ctx, id, s.glance)
}

func (s *Server) findBy(ctx context.Context, id string, read func(context.Context, string) (*liveRun, error)) (*liveRun, error) {
	folded := s.seen.Load()
	if r := s.table.lookup(id); r != nil {
		return r, nil
	}
	r, err := read(ctx, id)
	if err != nil || r.state.Terminal() {
		return r, err
	}
	// Its record is in the journal, and a moment later in the table.
	if r := s.table.lookup(id); r != nil {
		return r, nil
	}
	if r.tree.lastSeq <= folded {
		return nil, gone(id, "its outcome is no longer there")
	}
	return nil, swarm.Errorf(swarm.CodeUnavailable, "the run %s is being taken in; ask again", id)
}

// load reads a run and its tree from the journal.
func (s *Server) load(ctx context.Context, id string) (*liveRun, error) {
	first, ok, err := s.engine.First(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, notFound(id)
	}
	lt := &liveTree{tree: newTree(s.domain, first.Root)}
	for e, err := range s.engine.Read(ctx, first.Root, 0) {
		if err != nil {
			return nil, err
		}
		if lt.firstSeq == 0 {
			lt.firstSeq = e.Seq
		}
		lt.lastSeq = e.Seq
		// The rest is for streams, and for runs that go on.
		switch kindOf(e.Data) {
		case kindCreated, kindOutcome, kindLate, kindCollected:
		default:
			continue
		}
		rec, err := decodeRecord(e.Data)
		if err != nil {
			return nil, unreadable(e, err)
		}
		lt.apply(e, rec)
	}
	r := lt.runs[id]
	if r == nil {
		return nil, gone(id, beginningLost)
	}
	return endedRun(r, lt), nil
}

// glance reads what streamRun needs of an ended run.
func (s *Server) glance(ctx context.Context, id string) (*liveRun, error) {
	r, root, err := s.recall(ctx, id)
	if err != nil {
		return nil, err
	}
	lt := &liveTree{tree: newTree(s.domain, root), firstSeq: r.firstSeq}
	for above := r; above != nil; above = above.parent {
		lt.runs[above.id] = above
		lt.firstSeq = above.firstSeq
	}
	last, ok, err := s.engine.LastOf(ctx, root, id)
	lt.lastSeq = last.Seq
	for ok && err == nil && r.outcome == nil {
		var rec *record
		if rec, err = decodeRecord(last.Data); err != nil {
			return nil, unreadable(last, err)
		}
		switch rec.Kind {
		case kindOutcome:
			r.outcome, r.outcomeSeq, r.state = rec, last.Seq, rec.State
		case kindLate, kindCollected: // may follow the outcome
			last, ok, err = s.engine.At(ctx, rec.After)
		default:
			ok = false
		}
	}
	return endedRun(r, lt), err
}

// recall reads a run's first record, and those of the runs above it.
func (s *Server) recall(ctx context.Context, id string) (_ *run, root string, err error) {
	e, ok, err := s.engine.First(ctx, id)
	switch {
	case err != nil:
		return nil, "", err
	case !ok:
		return nil, "", notFound(id)
	}
	rec, err := decodeRecord(e.Data)
	switch {
	case err != nil:
		return nil, "", unreadable(e, err)
	case rec.Kind != kindCreated:
		return nil, "", gone(id, beginningLost)
	case rec.ParentID == "":
		return newRun(s.domain, e, rec, nil), e.Root, nil
	}
	parent, _, err := s.recall(ctx, rec.ParentID)
	switch swarm.CodeOf(err) {
	case "":
		return newRun(s.domain, e, rec, parent), e.Root, nil
	case swarm.CodeNotFound, swarm.CodeGone:
		return nil, "", gone(id, "the run above it is no longer there")
	}
	return nil, "", err
}

func unreadable(e engine.Entry, err error) error {
	return fmt.Errorf("journal: record %d: %w", e.Seq, err)
}

// endedRun makes a run that nobody folds anything into, for one request.
func endedRun(r *run, lt *liveTree) *liveRun {
	ended := make(chan struct{})
	close(ended)
	return &liveRun{run: r, tree: lt, ended: ended}
}
