package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/discovery"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// writeTimeout bounds one write to the engine. A write goes on when its
// request is gone: what was half done would have to be undone.
const writeTimeout = 10 * time.Second

// tidyEvery is how often tidy works; a restart reads as much of the journal more
// than it had to.
const tidyEvery = 5 * time.Second

// InUseError says that another server holds the data folder.
type InUseError = engine.InUseError

// Server performs delegations. Its Handler serves them over HTTP.
type Server struct {
	cfg    Config
	engine *engine.Engine
	domain wallet.Domain
	secret [32]byte // of the bearer tokens; a restart makes its own

	table   *table
	hub     *hub
	inboxes *inboxes
	agents  *registry

	seen     atomic.Uint64 // the newest record that was folded in
	draining atomic.Bool
	closed   chan struct{} // closed by Close
	closing  sync.Once
	work     sync.WaitGroup
	stops    []func()
}

var errClosed = errors.New("the server was closed")

// New opens the data folder and takes up every run that has no outcome yet.
// A folder that another server holds is an *InUseError.
func New(ctx context.Context, cfg Config) (_ *Server, err error) {
	if cfg.Key == nil {
		return nil, errors.New("server: Config.Key is missing")
	}
	cfg = cfg.withDefaults()
	eng, err := engine.Open(ctx, engine.Config{Dir: cfg.Dir, Log: cfg.Log})
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, engine: eng, domain: swarm.Domain(cfg.ChainID), hub: newHub(), closed: make(chan struct{})}
	s.table = newTable(s.domain)
	s.inboxes = newInboxes(s)
	s.agents = &registry{index: discovery.NewIndex(), known: make(map[wallet.Address]*registered)}
	_, _ = rand.Read(s.secret[:]) // never fails
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	// What runs from here on is Close's to end, not that of the caller's ctx.
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	s.stops = append(s.stops, func() { cancel(errClosed) })
	stop, err := eng.WatchAgents(life, s.agents.see)
	if err != nil {
		return nil, err
	}
	s.stops = append(s.stops, stop)
	return s, s.recover(ctx, life)
}

// recover folds in the journal from its floor on, then sees to every run that
// has no outcome: its deadline, and a worker for it.
func (s *Server) recover(ctx, life context.Context) error {
	floor, err := s.engine.Floor(ctx)
	if err != nil {
		return err
	}
	last, err := s.engine.Last(ctx)
	if err != nil {
		return err
	}
	s.seen.Store(max(floor, 1) - 1)
	caughtUp := make(chan struct{})
	recovering := last >= max(floor, 1)
	if !recovering {
		close(caughtUp)
	}
	stop, err := s.engine.Follow(life, floor, func(e engine.Entry) {
		var r *liveRun
		rec, err := decodeRecord(e.Data)
		if err == nil {
			r = s.table.follow(e, rec)
			s.hub.publish(e, rec)
		} else {
			// Of a newer version; the run that it belongs to is not ours to judge.
			s.cfg.Log.Error("journal: unreadable record", "seq", e.Seq, "run", e.Run, "error", err)
		}
		s.seen.Store(e.Seq)
		if recovering {
			if e.Seq >= last {
				recovering = false
				close(caughtUp)
			}
		} else if r != nil {
			s.noted(r, rec)
		}
	})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, stop)
	select {
	case <-caughtUp:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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

// noted sees to what a record calls for, once, whoever wrote it.
func (s *Server) noted(r *liveRun, rec *record) {
	switch rec.Kind {
	case kindCreated:
		s.arm(r)
	case kindOutcome:
		s.inboxes.release(r, rec)
	case kindClaimed, kindEvent, kindFound, kindLate, kindCollected:
	}
}

// arm sets a run's deadline and finds a worker for it.
func (s *Server) arm(r *liveRun) {
	s.table.read(func() {
		if !r.state.Terminal() && r.timer == nil {
			r.timer = time.AfterFunc(time.Until(r.deadline()), func() { s.expire(r) })
		}
	})
	s.inboxes.enqueue(r)
}

// fold takes in a record that this server wrote, without waiting for it to
// come back by the consumer: its writer may then act on it.
func (s *Server) fold(seq uint64, r *liveRun, rec *record) {
	e := engine.Entry{Seq: seq, Root: r.tree.rootID, Run: r.id}
	if folded := s.table.write(e, rec); folded != nil {
		s.noted(folded, rec)
	}
	// A tree that has left the table is the writer's own to fold into.
	s.table.read(func() { r.tree.apply(e, rec) })
}

// transition writes the record that decide gives, if the run is still as
// decide saw it; otherwise decide is asked again. decide runs with the table's
// lock held, and a nil record with a nil error leaves things as they are.
//
// A run that was read from the journal for this one request has no changed
// channel: nothing folds in what others write to it, so a lost race is an
// error, after which it is read anew.
func (s *Server) transition(r *liveRun, decide func() (*record, error)) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for {
		var rec *record
		var err error
		var seen uint64
		var changed chan struct{}
		s.table.read(func() {
			rec, err = decide()
			seen, changed = r.lastSeq, r.changed
		})
		if rec == nil || err != nil {
			return err
		}
		data, err := rec.encode()
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		seq, err := s.engine.AppendAfter(ctx, r.tree.rootID, r.id, seen, data)
		if _, lost := errors.AsType[*engine.ConflictError](err); lost {
			if changed == nil {
				return swarm.Errorf(swarm.CodeUnavailable, "the run %s was changed by another request; ask again", r.id)
			}
			select {
			case <-changed:
				continue
			case <-s.closed:
				return errClosed
			case <-ctx.Done():
				return fmt.Errorf("%w: the journal is behind", engine.ErrUnavailable)
			}
		}
		if err != nil {
			return err
		}
		s.fold(seq, r, rec)
		return nil
	}
}

// Drain stops taking new work and waits until every run has its outcome or ctx
// ends, whichever is first. Runs that are left go on after a restart.
func (s *Server) Drain(ctx context.Context) error {
	s.draining.Store(true)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		inFlight := s.InFlight()
		if inFlight == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d runs have no outcome yet; they go on after a restart", inFlight)
		case <-tick.C:
		}
	}
}

// Close ends all streams and lets go of the data folder. What was acknowledged
// is kept. It may be called again, and then waits for the first call.
func (s *Server) Close() { s.closing.Do(s.shut) }

func (s *Server) shut() {
	close(s.closed)
	s.table.read(func() {
		for _, r := range s.table.byRun {
			if r.timer != nil {
				r.timer.Stop()
			}
		}
	})
	s.inboxes.close()
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
	s.work.Wait()
	s.engine.Close()
}

// isClosed reports whether Close was called.
func (s *Server) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

// InFlight gives the number of runs that have no outcome yet.
func (s *Server) InFlight() (n int) {
	s.table.read(func() { n = s.table.inFlight })
	return n
}

// Info gives what clients must know before they sign.
func (s *Server) Info() swarm.Info {
	return swarm.Info{
		Server: s.cfg.Key.Address(), ChainID: s.cfg.ChainID, Version: s.cfg.Version, Anonymous: s.cfg.Anonymous,
		Limits: swarm.Limits{
			BodyBytes: s.cfg.MaxBodyBytes, EventBytes: swarm.MaxEventBytes, CardBytes: swarm.MaxCardBytes,
			TimeoutSeconds: int64(swarm.MaxTimeout / time.Second), Hops: swarm.MaxHops,
			InFlight: s.cfg.MaxInFlight, InFlightPerTo: s.cfg.MaxInFlightPerTo,
		},
	}
}
