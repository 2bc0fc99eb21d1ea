package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

// A Handler does an agent's work. It is called once for each task, from many
// goroutines at once. The text that it gives is the task's signed output; an
// error's text is the signed reason why there is none.
type Handler interface {
	Handle(ctx context.Context, t *Task) (string, error)
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, t *Task) (string, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, t *Task) (string, error) { return f(ctx, t) }

// DefaultConcurrency is how many tasks a worker takes at once.
const DefaultConcurrency = 16

// remember is how long a finished task's result is kept after its deadline,
// for a server that asks again, and how long posting a result is tried.
const remember = 10 * time.Minute

// Worker is an agent. Server, Key, Card and Handler are needed.
type Worker struct {
	// Server is the URL of the swarm's server.
	Server string
	// Key signs the registration and every result.
	Key wallet.Signer
	// Card is what others find the agent by; its Wallet is set to Key's.
	Card swarm.Card
	// Handler does the work.
	Handler Handler
	// Concurrency is how many tasks are taken at once, 1 to 1000; 0 is
	// DefaultConcurrency.
	Concurrency int
	// HTTP makes the requests; nil is http.DefaultClient.
	HTTP *http.Client
	// Log is told of connections lost and tasks refused; nil discards it.
	Log *slog.Logger
	// OnConnect is called whenever the inbox has opened: from then on tasks
	// come. nil for none.
	OnConnect func()

	client *client.Client
	log    *slog.Logger
	info   *swarm.Info
	domain wallet.Domain

	slots chan struct{} // one for each handler that runs

	mu    sync.Mutex
	tasks map[string]*execution
	work  sync.WaitGroup
}

// Run registers the agent and works until ctx ends, whose cause it then gives
// once every handler has returned, or until something that waiting does not
// mend, such as a card that the server refuses. It is called once.
func (w *Worker) Run(ctx context.Context) error {
	switch {
	case w.Key == nil:
		return errors.New("agent: Worker.Key is nil")
	case w.Handler == nil:
		return errors.New("agent: Worker.Handler is nil")
	case w.Concurrency < 0 || w.Concurrency > 1000:
		return fmt.Errorf("agent: Worker.Concurrency is %d; allowed are 1 to 1000, and 0 for %d", w.Concurrency, DefaultConcurrency)
	case w.client != nil:
		return errors.New("agent: Worker.Run was called before")
	}
	// A card that no server takes is told at once, also where none is there.
	card := w.Card
	card.Wallet = w.Key.Address()
	if err := card.Check(); err != nil {
		return err
	}
	w.client = &client.Client{BaseURL: w.Server, Signer: w.Key, HTTP: w.HTTP}
	w.tasks = make(map[string]*execution)
	w.slots = make(chan struct{}, w.concurrency())
	w.log = w.Log
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer w.work.Wait()
	defer cancel(errors.New("the worker stopped"))
	for {
		if err := w.join(ctx); err != nil {
			return err
		}
		err := w.readInbox(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !rejoin(err):
			return fmt.Errorf("inbox: %w", err)
		}
		w.log.Info("signing in again", "because", err)
		w.client.Forget()
	}
}

// rejoin reports whether registering and signing in again mends err: the
// server has lost the token (a restart) or the agent (its data).
func rejoin(err error) bool {
	e, ok := errors.AsType[*stream.HTTPError](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Code == string(swarm.CodeAgentNotFound))
}

// join registers the card and learns who the server is.
func (w *Worker) join(ctx context.Context) error {
	return client.Retry(ctx, func() error {
		info, err := w.client.Info(ctx)
		if err != nil {
			return err
		}
		w.info, w.domain = info, swarm.Domain(info.ChainID)
		return w.client.Register(ctx, w.Card)
	})
}

func (w *Worker) concurrency() int {
	if w.Concurrency == 0 {
		return DefaultConcurrency
	}
	return w.Concurrency
}

// readInbox takes tasks until the inbox gives an error that reconnecting does
// not mend.
func (w *Worker) readInbox(ctx context.Context) error {
	var auth string
	err := client.Retry(ctx, func() (err error) {
		auth, err = w.client.Authorization(ctx)
		return err
	})
	if err != nil {
		return err
	}
	inbox := w.client.Stream()
	inbox.Header = http.Header{"Authorization": {auth}}
	inbox.OnOpen = func(stream.Open) {
		if w.OnConnect != nil {
			w.OnConnect()
		}
	}
	inbox.OnRetry = func(err error, wait time.Duration) {
		w.log.Warn("inbox lost; coming back", "error", err, "in", wait)
	}
	path := "/agents/" + w.Key.Address().String() + "/inbox?slots=" + strconv.Itoa(w.concurrency())
	for ev, err := range inbox.Follow(ctx, path, stream.FollowOptions{Endless: true}) {
		if err != nil {
			return err
		}
		w.receive(ctx, ev)
	}
	return errors.New("the server ended the inbox for good")
}

func (w *Worker) receive(ctx context.Context, ev events.Event) {
	switch ev.Name {
	case swarm.TaskFrame:
		var task swarm.Task
		err := swarm.DecodeStrict(ev.Data, &task)
		if err == nil {
			err = w.check(&task)
		}
		if err != nil {
			// It is not run, and the server hears no more of it: whoever
			// made it up learns nothing, and a true one comes again.
			w.log.Error("task refused", "task", task.ID, "error", err)
			return
		}
		w.take(ctx, &task)
	case swarm.CancelFrame:
		var c swarm.Cancel
		if err := swarm.DecodeStrict(ev.Data, &c); err != nil {
			w.log.Error("cancellation not understood", "error", err)
			return
		}
		w.mu.Lock()
		x := w.tasks[c.ID]
		w.mu.Unlock()
		if x != nil {
			x.cancel(swarm.Errorf(swarm.CodeCancelled, "%s", c.Reason))
		}
	}
}

// check verifies a task: that it is for this wallet, made to this server, and
// signed by who asks, all the way up.
func (w *Worker) check(task *swarm.Task) error {
	d := &task.Signed.Delegation
	switch {
	case d.To != w.Key.Address():
		return fmt.Errorf("the task is for %v, not for %v", d.To, w.Key.Address())
	case d.Server != w.info.Server:
		return fmt.Errorf("the task was made to the server %v, and came from %v", d.Server, w.info.Server)
	case d.ID() != task.ID:
		return fmt.Errorf("the delegation's id is %s", d.ID())
	case wallet.Keccak256([]byte(task.Signed.Input)) != d.InputHash:
		return errors.New("the input does not have the signed hash")
	}
	chain := make([]swarm.Link, 0, len(task.Chain))
	for i := range append(task.Chain[:len(task.Chain):len(task.Chain)], task.Signed) {
		s := &task.Signed
		if i < len(task.Chain) {
			s = &task.Chain[i]
		}
		digest := s.Delegation.Digest(w.domain)
		if err := wallet.Verify(s.Delegation.From, digest, s.Signature); err != nil {
			return fmt.Errorf("hop %d: %w", i, err)
		}
		// Bounds and place; the time is the server's to judge, whose clock the
		// deadline goes by.
		if err := s.Delegation.Check(time.Unix(int64(s.Delegation.IssuedAt), 0)); err != nil {
			return fmt.Errorf("hop %d: %w", i, err)
		}
		if err := swarm.CheckChain(chain, &s.Delegation); err != nil {
			return fmt.Errorf("hop %d: %w", i, err)
		}
		chain = append(chain, swarm.Link{Delegation: &s.Delegation, Digest: digest})
	}
	return nil
}

// take runs a task, or, where it came before, tells the server once more what
// it was told then.
func (w *Worker) take(ctx context.Context, task *swarm.Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if x := w.tasks[task.ID]; x != nil {
		w.log.Info("task delivered again", "task", task.ID, "attempt", task.Attempt)
		w.work.Go(func() { x.again(ctx) })
		return
	}
	x, handlerCtx := newExecution(ctx, w, task)
	w.tasks[task.ID] = x
	w.work.Go(func() {
		x.run(ctx, handlerCtx)
		time.AfterFunc(time.Until(x.task.Deadline)+remember, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.tasks, task.ID)
		})
	})
}
