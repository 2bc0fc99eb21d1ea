package server

import (
	"maps"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// table holds the trees that have a run without an outcome, and what follows
// from them: who has what open with whom, and who timed out on whom. A tree
// leaves when its last run is settled; from then on it is read from the
// journal.
type table struct {
	domain wallet.Domain

	mu       sync.Mutex
	trees    map[string]*liveTree // by root id
	byRun    map[string]*liveRun
	byDigest map[wallet.Digest]*liveRun
	followed uint64 // the newest record that came by the consumer
	inFlight int
	toAgent  map[wallet.Address]int
	between  map[pair]int       // open delegations, both ways
	timedOut map[pair]time.Time // {caller, agent} and when
}

type pair struct{ from, to wallet.Address }

// liveTree is a tree in the table. Its fields and those of its runs are read
// and written with the table's lock held.
type liveTree struct {
	*tree
	firstSeq, lastSeq uint64 // of its records so far
}

// liveRun is a run in the table with what its waiters wait on.
type liveRun struct {
	*run
	tree *liveTree
	// writing serialises this server's writers of one run, so that they do
	// not lose races among themselves.
	writing sync.Mutex
	// changed is closed, and made anew, when a record was folded in; ended
	// when the outcome was.
	changed, ended chan struct{}
	timer          *time.Timer // the deadline's
}

func newTable(domain wallet.Domain) *table {
	return &table{
		domain:   domain,
		trees:    make(map[string]*liveTree),
		byRun:    make(map[string]*liveRun),
		byDigest: make(map[wallet.Digest]*liveRun),
		toAgent:  make(map[wallet.Address]int),
		between:  make(map[pair]int),
		timedOut: make(map[pair]time.Time),
	}
}

// write folds in a record that this server wrote, without waiting for it to
// come back by the consumer. It gives the run that changed, or nil where the
// consumer was faster.
func (t *table) write(e engine.Entry, rec *record) *liveRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Seq <= t.followed {
		return nil
	}
	return t.apply(e, rec)
}

// follow folds in what the consumer brings, which is every record in order. It
// gives the run that changed, or nil where its writer was faster. A tree
// leaves by the consumer alone, behind its last record: one that a writer took
// out would be begun anew by the consumer, and the other way round.
func (t *table) follow(e engine.Entry, rec *record) *liveRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.followed = e.Seq
	r := t.apply(e, rec)
	if lt := t.trees[e.Root]; lt != nil && e.Seq >= lt.lastSeq && lt.open == 0 {
		t.drop(lt)
	}
	return r
}

// apply folds a record in; the lock is held. It gives nil where the record was
// known, or its tree is not here.
func (t *table) apply(e engine.Entry, rec *record) *liveRun {
	lt := t.trees[e.Root]
	if lt == nil {
		if rec.Kind != kindCreated || rec.ParentID != "" {
			t.noteLate(rec)
			return nil
		}
		lt = &liveTree{tree: newTree(t.domain, e.Root), firstSeq: e.Seq}
		t.trees[e.Root] = lt
	}
	lt.lastSeq = max(lt.lastSeq, e.Seq)
	r := lt.apply(e, rec)
	if r == nil {
		return nil
	}
	lr := t.byRun[r.id]
	if lr == nil {
		lr = &liveRun{run: r, tree: lt, changed: make(chan struct{}), ended: make(chan struct{})}
		t.byRun[r.id], t.byDigest[r.digest] = lr, lr
		t.count(r, 1)
	}
	close(lr.changed)
	lr.changed = make(chan struct{})
	switch rec.Kind {
	case kindOutcome:
		t.count(r, -1)
		t.shun(r, rec)
		if lr.timer != nil {
			lr.timer.Stop()
		}
		close(lr.ended)
	case kindLate:
		t.noteLate(rec)
	case kindCreated, kindClaimed, kindEvent, kindFound, kindCollected:
	}
	return lr
}

// drop forgets a tree.
func (t *table) drop(lt *liveTree) {
	delete(t.trees, lt.rootID)
	for id, r := range lt.runs {
		delete(t.byRun, id)
		delete(t.byDigest, r.digest)
	}
}

func (t *table) count(r *run, by int) {
	t.inFlight += by
	add := func(m map[pair]int, key pair) {
		if m[key] += by; m[key] == 0 {
			delete(m, key)
		}
	}
	add(t.between, pair{r.from(), r.to()})
	add(t.between, pair{r.to(), r.from()})
	if t.toAgent[r.to()] += by; t.toAgent[r.to()] == 0 {
		delete(t.toAgent, r.to())
	}
}

func (t *table) shun(r *run, rec *record) {
	key := pair{r.from(), r.to()}
	switch rec.State {
	case swarm.StateTimeout:
		t.timedOut[key] = time.UnixMilli(rec.TS)
	case swarm.StateCompleted:
		delete(t.timedOut, key)
	case swarm.StatePending, swarm.StateRunning, swarm.StateFailed, swarm.StateCancelled:
	}
}

// noteLate lets an agent that answered after all be found again.
func (t *table) noteLate(rec *record) {
	if rec.Kind == kindLate && rec.Result.Result.Status == swarm.StatusCompleted {
		delete(t.timedOut, pair{rec.Result.Result.To, rec.Result.Result.From})
	}
}

// lookup gives a run of the table, or nil.
func (t *table) lookup(id string) *liveRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byRun[id]
}

// lookupDigest gives the run of the table whose delegation has the digest, or nil.
func (t *table) lookupDigest(digest wallet.Digest) *liveRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byDigest[digest]
}

// read calls see with the lock held.
func (t *table) read(see func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	see()
}

// unavailableTo reports whether an agent is left out of a caller's search:
// something is open between the two, or the agent timed out on the caller
// within shun.
func (t *table) unavailableTo(caller, agent wallet.Address, shun time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := pair{caller, agent}
	if t.between[key] > 0 {
		return true
	}
	at, ok := t.timedOut[key]
	return ok && time.Since(at) < shun
}

// forgive forgets the timeouts that are older than shun.
func (t *table) forgive(shun time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.timedOut, func(_ pair, at time.Time) bool { return time.Since(at) >= shun })
}

// floor gives the sequence below which no run is without its outcome, given
// that everything up to seen was folded in.
func (t *table) floor(seen uint64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	floor := seen + 1
	for _, lt := range t.trees {
		floor = min(floor, lt.firstSeq)
	}
	return floor
}
