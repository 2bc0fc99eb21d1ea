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

// recordTimeout bounds one write to the engine. A write goes on when its
// request is gone: what was half done would have to be undone.
const recordTimeout = 10 * time.Second

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

	entering sync.Mutex     // no stream is begun once closed is
	streams  sync.WaitGroup // that are being sent
}

var errClosed = errors.New("the server was closed")

// New opens the data folder and takes up every run that has no outcome yet.
// A folder that another server holds is an *InUseError.
func New(ctx context.Context, cfg Config) (_ *Server, err error) {
	if cfg.Key == nil {
		return nil, errors.New("server: Config.Key is missing")
	}
	cfg = cfg.withDefaults()
	eng, err := engine.Open(ctx, engine.Config{Dir: cfg.Dir, MaxAge: cfg.maxAge, Log: cfg.Log})
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
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	for {
		var rec *record
		var err error
		var seen uint64
		var changed chan struct{}
		s.table.read(func() {
			if rec, err = decide(); rec != nil {
				r.link(rec)
			}
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

// enter begins a stream, unless the server is closed; streams.Done must follow.
func (s *Server) enter() bool {
	s.entering.Lock()
	defer s.entering.Unlock()
	if s.isClosed() {
		return false
	}
	s.streams.Add(1)
	return true
}

// Close ends all streams, each with the time after which its client is to come
// back, and lets go of the data folder. What was acknowledged is kept. It waits
// until the streams are written to their end, and for a reader that takes
// nothing no longer than Config.WriteTimeout. It may be called again, and then
// waits for the first call.
func (s *Server) Close() { s.closing.Do(s.shut) }

func (s *Server) shut() {
	s.entering.Lock()
	close(s.closed)
	s.entering.Unlock()
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
	s.streams.Wait()
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
