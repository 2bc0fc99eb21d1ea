package server

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Bounds of one worker's connection.
const (
	defaultSlots = 16    // tasks at once, where the worker says nothing
	maxSlots     = 1_000 // tasks at once
)

// inboxes hands tasks to the workers that are connected.
//
// A task waits in its agent's queue until a connection of that wallet has a
// slot free, is claimed in the journal, and is sent. A worker that says
// nothing within AckWait, or whose connection ends before the outcome, loses
// the task to the queue's head: another connection gets it, or the same worker
// once it is back, and knows it by its id. Only the deadline ends this.
type inboxes struct {
	server *Server

	mu      sync.Mutex
	agents  map[wallet.Address]*inbox
	started time.Time
	closed  bool
}

type inbox struct {
	queue    []*liveRun
	conns    map[*workerConn]struct{}
	lastSeen time.Time // when its last connection ended
}

// workerConn is one connection of a worker. Its fields are guarded by the
// inboxes' lock.
type workerConn struct {
	wallet wallet.Address
	slots  int
	tasks  map[string]*assignment // by run id
	frames chan inboxFrame        // closed when the connection is to end
}

type assignment struct {
	run   *liveRun
	acked bool
	timer *time.Timer // AckWait's
}

// inboxFrame is what a worker is sent: a Task or a Cancel.
type inboxFrame struct {
	name string
	body any
}

func newInboxes(s *Server) *inboxes {
	return &inboxes{server: s, agents: make(map[wallet.Address]*inbox), started: time.Now()}
}

func (b *inboxes) of(agent wallet.Address) *inbox {
	in := b.agents[agent]
	if in == nil {
		in = &inbox{conns: make(map[*workerConn]struct{})}
		b.agents[agent] = in
	}
	return in
}

// available reports whether tasks for the agent are taken: one of its workers
// is connected, or was within the lease. A server that has just started grants
// every agent a lease: none could have come back yet.
func (b *inboxes) available(agent wallet.Address) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	lease := b.server.cfg.Lease
	if time.Since(b.started) < lease {
		return true
	}
	in := b.agents[agent]
	return in != nil && (len(in.conns) > 0 || time.Since(in.lastSeen) < lease)
}

// connected reports whether one of the agent's workers is connected now.
func (b *inboxes) connected(agent wallet.Address) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.agents[agent]
	return in != nil && len(in.conns) > 0
}

// connect adds a connection; nil where the server is closing. disconnect must
// follow.
func (b *inboxes) connect(agent wallet.Address, slots int) *workerConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	// Every slot's task and its cancellation fit; see send for what doesn't.
	c := &workerConn{wallet: agent, slots: slots, tasks: make(map[string]*assignment), frames: make(chan inboxFrame, 2*slots+2)}
	in := b.of(agent)
	in.conns[c] = struct{}{}
	b.pump(in)
	return c
}

// disconnect puts the connection's unfinished tasks back at the queue's head.
func (b *inboxes) disconnect(c *workerConn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.of(c.wallet)
	if _, there := in.conns[c]; !there {
		return
	}
	b.remove(in, c)
	b.pump(in)
}

func (b *inboxes) remove(in *inbox, c *workerConn) {
	delete(in.conns, c)
	in.lastSeen = time.Now()
	back := make([]*liveRun, 0, len(c.tasks))
	for _, a := range c.tasks {
		a.stop()
		back = append(back, a.run)
	}
	slices.SortFunc(back, func(x, y *liveRun) int { return x.createdAt.Compare(y.createdAt) })
	in.queue = append(back, in.queue...)
	clear(c.tasks)
}

func (a *assignment) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// close ends every connection.
func (b *inboxes) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, in := range b.agents {
		for c := range in.conns {
			for _, a := range c.tasks {
				a.stop()
			}
			close(c.frames)
		}
		clear(in.conns)
	}
}

// enqueue puts a run at the end of its agent's queue.
func (b *inboxes) enqueue(r *liveRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.of(r.to())
	in.queue = append(in.queue, r)
	b.pump(in)
}

// pump hands out what can be handed out: to the connection with the most
// slots free.
func (b *inboxes) pump(in *inbox) {
	for len(in.queue) > 0 && !b.closed {
		var best *workerConn
		for c := range in.conns {
			if free := c.slots - len(c.tasks); free > 0 && (best == nil || free > best.slots-len(best.tasks)) {
				best = c
			}
		}
		if best == nil {
			return
		}
		r := in.queue[0]
		in.queue = in.queue[1:]
		a := &assignment{run: r}
		best.tasks[r.id] = a
		b.server.work.Go(func() { b.hand(best, a) })
	}
}

// hand claims a run for a connection and sends its task.
func (b *inboxes) hand(c *workerConn, a *assignment) {
	r := a.run
	var task *swarm.Task
	err := b.server.transition(r, func() (*record, error) {
		if r.state.Terminal() {
			return nil, errSettled
		}
		attempt := r.attempt + 1
		task = taskOf(r, attempt)
		return &record{Kind: kindClaimed, Attempt: attempt}, nil
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.tasks[r.id] != a {
		return // the connection ended meanwhile, and the run is back in the queue
	}
	if err != nil {
		delete(c.tasks, r.id)
		if !errors.Is(err, errSettled) {
			b.server.cfg.Log.Error("task not handed out", "run", r.id, "error", err)
			// The engine is away. Coming back to it at once would only spin.
			time.AfterFunc(time.Second, func() { b.enqueue(r) })
		}
		b.pump(b.of(c.wallet))
		return
	}
	if b.closed {
		return
	}
	b.send(b.of(c.wallet), c, inboxFrame{swarm.TaskFrame, task})
	if c.tasks[r.id] != a {
		b.pump(b.of(c.wallet)) // for its other connections
		return
	}
	a.timer = time.AfterFunc(b.server.cfg.AckWait, func() { b.unacked(c, a) })
}

var errSettled = errors.New("the run has its outcome already")

// taskOf makes what the worker is told; the table's lock is held.
func taskOf(r *liveRun, attempt int) *swarm.Task {
	chain := r.chain()
	t := &swarm.Task{
		ID: r.id, RootID: r.tree.rootID, Attempt: attempt, Signed: *r.signed,
		Chain: make([]swarm.SignedDelegation, 0, len(chain)-1), Children: make([]wallet.Digest, 0, len(r.children)),
	}
	for _, above := range chain[:len(chain)-1] {
		// What others were asked is not this worker's to read.
		t.Chain = append(t.Chain, swarm.SignedDelegation{Delegation: above.signed.Delegation, Signature: above.signed.Signature})
	}
	for _, c := range r.children {
		t.Children = append(t.Children, c.digest)
	}
	return t
}

// unacked takes a task back that a connection never said it had.
func (b *inboxes) unacked(c *workerConn, a *assignment) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.tasks[a.run.id] != a || a.acked {
		return
	}
	b.server.cfg.Log.Warn("task not acknowledged; handing it out again", "run", a.run.id, "agent", c.wallet, "after", b.server.cfg.AckWait)
	in := b.of(c.wallet)
	// A connection that swallows a task is dead or its worker is: it gets no
	// more, and comes back by itself if it is alive.
	b.remove(in, c)
	close(c.frames)
	b.pump(in)
}

// ack notes that the agent has the task.
func (b *inboxes) ack(r *liveRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.of(r.to()).conns {
		if a := c.tasks[r.id]; a != nil {
			a.acked = true
			a.stop()
		}
	}
}

// release frees the slot of a run that has its outcome, and tells its worker
// to stop where it is not the one who ended it.
func (b *inboxes) release(r *liveRun, outcome *record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.of(r.to())
	in.queue = slices.DeleteFunc(in.queue, func(q *liveRun) bool { return q == r })
	for c := range in.conns {
		a := c.tasks[r.id]
		if a == nil {
			continue
		}
		a.stop()
		delete(c.tasks, r.id)
		if outcome.State == swarm.StateCancelled && !b.closed {
			b.send(in, c, inboxFrame{swarm.CancelFrame, swarm.Cancel{ID: r.id, Reason: outcome.Error.Message}})
		}
	}
	b.pump(in)
}

// send gives a connection a frame; one that reads so slowly that its buffer is
// full is ended, and its tasks go back: nothing waits here with the lock held.
func (b *inboxes) send(in *inbox, c *workerConn, f inboxFrame) {
	select {
	case c.frames <- f:
	default:
		b.remove(in, c)
		close(c.frames)
	}
}
