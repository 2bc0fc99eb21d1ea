package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

// tidyEvery is how often tidy works; a restart reads as much of the journal more
// than it had to.
const tidyEvery = 5 * time.Second

// catchUpCheck is how often a server that starts looks whether what it waits for
// is there any more: the journal's last record may go before it has come.
const catchUpCheck = 100 * time.Millisecond

// recover folds in the journal from its floor on, then sees to every run that
// has no outcome: its deadline, and a worker for it.
func (s *Server) recover(ctx, life context.Context) error {
	floor, err := s.engine.Floor(ctx)
	if err != nil {
		return err
	}
	s.seen.Store(max(floor, 1) - 1)
	var live atomic.Bool // false while records are folded in that were there before
	came := make(chan struct{}, 1)
	lost := lostRuns{floor: floor, last: make(map[string]uint64), told: make(map[string]bool)}
	stop, err := s.engine.Follow(life, floor, func(e engine.Entry) {
		var r *liveRun
		rec, err := decodeRecord(e.Data)
		if err == nil {
			r = s.table.follow(e, rec)
		} else {
			// Of a newer version; the run that it belongs to is not ours to judge.
			s.cfg.Log.Error("journal: unreadable record", "seq", e.Seq, "run", e.Run, "error", err)
		}
		// Before it is published: a stream that begins now reads up to seen,
		// and gets from the hub what is published after it has subscribed.
		s.seen.Store(e.Seq)
		switch {
		case live.Load():
			if err == nil {
				s.hub.publish(e, rec)
			}
			if r != nil {
				s.noted(r, rec)
			}
			return
		case err == nil && r == nil && lost.see(e, rec):
			s.cfg.Log.Error("journal: a run is lost, since its beginning is", "run", e.Run, "root", e.Root, "seq", e.Seq)
		}
		select {
		case came <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, stop)
	check := time.NewTicker(catchUpCheck)
	defer check.Stop()
	last, err := s.engine.Last(ctx)
	for err == nil && s.seen.Load() < last {
		select {
		case <-came:
		case <-check.C:
			last, err = s.engine.Last(ctx)
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return err
	}
	live.Store(true)
	var open []*liveRun
	s.table.read(func() {
		for _, r := range s.table.byRun {
			if !r.state.Terminal() {
				open = append(open, r)
			}
		}
	})
	for _, r := range open {
		s.arm(r)
	}
	if len(open) > 0 {
		s.cfg.Log.Info("took up runs without an outcome", "runs", len(open))
	}
	s.work.Go(func() { s.tidy(life) })
	return nil
}

// tidy notes the journal's floor and forgets old timeouts, now and then.
func (s *Server) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	var before uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.table.forgive(s.cfg.Shun)
		if floor := s.table.floor(s.seen.Load()); floor != before {
			if err := s.engine.SetFloor(ctx, floor); err != nil {
				s.cfg.Log.Warn("journal's floor not noted", "error", err)
				continue
			}
			before = floor
		}
	}
}

// lostRuns tells, while the journal is folded in, of runs whose records are
// there without the first of them: they can't be taken up, and a stream of them
// is answered with 410.
type lostRuns struct {
	floor uint64            // where reading began: what is below it is not missed
	last  map[string]uint64 // of each run that is not in the table, its newest record
	told  map[string]bool   // by root id
}

// see notes a record that belongs to no run of the table, and reports whether
// its root is lost and was not told of.
func (l *lostRuns) see(e engine.Entry, rec *record) bool {
	if rec.Kind == kindLate || rec.Kind == kindCollected {
		return false // of a run that ended and has left the table
	}
	before := l.last[e.Run]
	l.last[e.Run] = e.Seq
	if rec.After < l.floor || rec.After == before || l.told[e.Root] {
		return false // of one that ended and began below the floor, or known to be lost
	}
	l.told[e.Root] = true
	return true
}
