package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

// execution is one task's one run of the handler.
type execution struct {
	worker *Worker
	info   *swarm.Info   // of the server when the task came; a rejoin changes the worker's
	domain wallet.Domain // likewise
	task   *Task
	parent client.Parent // this task's delegation, as the one above those it makes

	cancel context.CancelCauseFunc
	report *reporter

	mu       sync.Mutex
	over     bool // the handler has returned
	children []*child
	result   *swarm.SignedResult // once signed
}

var errOver = errors.New("the task's handler has returned")

// child is a delegation that the handler made.
type child struct {
	digest wallet.Digest // of the Delegation
	id     string
	result wallet.Digest // of its Result; zero where the handler had none
	unsure bool          // whether the server has it, or another one under its id, is not known
}

// newExecution makes an execution and its handler's ctx, of which life is the
// worker's.
func newExecution(life context.Context, w *Worker, task *swarm.Task) (*execution, context.Context) {
	d := &task.Signed.Delegation
	x := &execution{worker: w, info: w.info, domain: w.domain}
	x.parent = client.Parent{Delegation: d, Digest: d.Digest(x.domain), Root: d.Root}
	if d.Hop == 0 {
		x.parent.Root = x.parent.Digest
	}
	x.task = &Task{
		ID: task.ID, RootID: task.RootID, Attempt: task.Attempt, Input: task.Signed.Input, Skill: d.Skill,
		From: d.From, Hop: int(d.Hop), Deadline: time.Unix(int64(d.ExpiresAt), 0), execution: x,
	}
	for _, digest := range task.Children {
		x.children = append(x.children, &child{digest: digest}) // of an earlier attempt
	}
	ctx, stop := context.WithDeadlineCause(life, x.task.Deadline, swarm.Errorf(swarm.CodeTimeout, "the task's deadline passed"))
	ctx, cancel := context.WithCancelCause(ctx)
	x.cancel = func(cause error) { cancel(cause); stop() }
	x.report = newReporter(w.client, task.ID, rand.Text(), x.info.Limits.BodyBytes)
	return x, ctx
}

// run says that the task was taken, runs the handler, and posts the result.
func (x *execution) run(life, ctx context.Context) {
	defer x.cancel(nil)
	x.worker.work.Go(func() { x.report.run(life) })
	output, err := x.handle(ctx)
	cause := context.Cause(ctx)
	// What the handler left running may delegate no more: the result names all
	// that was.
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
	x.cancel(errOver)
	x.report.close()
	if lost := x.report.lost(); lost != nil && life.Err() == nil && swarm.CodeOf(lost) != swarm.CodeConflict {
		x.worker.log.Warn("events not delivered", "task", x.task.ID, "error", lost)
	}
	if swarm.CodeOf(cause) == swarm.CodeCancelled {
		return // nobody waits for it
	}
	if life.Err() != nil {
		return // the worker was stopped: another takes the task up
	}
	if err == nil && !utf8.ValidString(output) {
		err = errors.New("the agent's output is not UTF-8, and can't be sent as text")
	}
	children, namedErr := x.named(life)
	if namedErr == nil {
		namedErr = x.answer(life, output, err, children)
	}
	if swarm.CodeOf(namedErr) == swarm.CodeInvalid {
		// A delegation that was under way when the handler returned may have
		// been taken after we asked.
		if again, err2 := x.named(life); err2 == nil && !slices.Equal(again, children) {
			children = again
			namedErr = x.answer(life, output, err, children)
		}
	}
	if swarm.CodeOf(namedErr) == swarm.CodeTooLarge {
		namedErr = x.answer(life, "", fmt.Errorf("the agent's output of %d bytes is more than the server takes (%d with quoting)",
			len(output), x.info.Limits.BodyBytes), children)
	}
	if namedErr != nil && life.Err() == nil {
		x.worker.log.Error("result not delivered", "task", x.task.ID, "error", namedErr)
	}
}

// answer signs and posts the handler's output, or its error.
func (x *execution) answer(life context.Context, output string, failure error, children []wallet.Digest) error {
	result := swarm.Result{
		Delegation: x.parent.Digest, TaskID: x.parent.Delegation.TaskID, To: x.task.From,
		Status: swarm.StatusCompleted, Last: true, Children: children, IssuedAt: uint64(time.Now().Unix()),
	}
	if failure != nil {
		result.Status, output = swarm.StatusFailed, strings.ToValidUTF8(failure.Error(), "\uFFFD")
	}
	signed, err := swarm.SignResult(life, x.worker.Key, x.domain, result, output)
	if err != nil {
		return err
	}
	x.mu.Lock()
	x.result = signed
	x.mu.Unlock()
	return x.post(life)
}

// handle calls the handler; a panic is its error.
func (x *execution) handle(ctx context.Context) (output string, err error) {
	defer func() {
		if v := recover(); v != nil {
			x.worker.log.Error("handler panicked", "task", x.task.ID, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = errors.New("the agent failed on this task") // a panic's text may have anything in it
		}
	}()
	// The server hands out no more tasks than there are slots; but a handler
	// that ran past its deadline, or whose inbox was lost, still has its own.
	select {
	case x.worker.slots <- struct{}{}:
		defer func() { <-x.worker.slots }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return x.worker.Handler.Handle(ctx, x.task)
}

// named gives the digests that the result names, each delegation's once: its
// result where the handler had it, else its own.
func (x *execution) named(life context.Context) ([]wallet.Digest, error) {
	x.mu.Lock()
	children := append([]*child(nil), x.children...)
	x.mu.Unlock()
	var made []wallet.Digest
	results := make(map[wallet.Digest]wallet.Digest, len(children))
	for _, c := range children {
		digest := c.digest
		if c.unsure {
			var err error
			if digest, err = x.find(life, c.id); err != nil {
				return nil, err
			}
			if digest.IsZero() {
				continue
			}
		}
		if _, known := results[digest]; !known {
			made = append(made, digest)
			results[digest] = digest
		}
		if !c.result.IsZero() {
			results[digest] = c.result
		}
	}
	for i, digest := range made {
		made[i] = results[digest]
	}
	return made, nil
}

// find gives the digest of the delegation that the server has under an id, if
// it was made for this task. It need not be the one that this execution
// signed: under an idempotency key it may be an earlier one, or another task's.
func (x *execution) find(life context.Context, id string) (wallet.Digest, error) {
	var bundle *swarm.Bundle
	err := client.Retry(life, func() (err error) {
		bundle, err = x.worker.client.Receipt(life, id)
		return err
	})
	if swarm.CodeOf(err) == swarm.CodeNotFound {
		return wallet.Digest{}, nil // it never got there
	}
	if err != nil {
		return wallet.Digest{}, err
	}
	for i := range bundle.Hops {
		d := &bundle.Hops[i].Delegation.Delegation
		if d.ID() == id && d.Parent == x.parent.Digest {
			return d.Digest(x.domain), nil
		}
	}
	return wallet.Digest{}, nil
}

// post sends the signed result until the server has it, or the time for late
// ones is over.
func (x *execution) post(life context.Context) error {
	x.mu.Lock()
	signed := x.result
	x.mu.Unlock()
	ctx, cancel := context.WithDeadline(life, x.task.Deadline.Add(remember))
	defer cancel()
	return client.Retry(ctx, func() error {
		return x.worker.client.Post(ctx, "/delegations/"+x.task.ID+"/result", nil, signed, nil)
	})
}

// again answers a task that was delivered once more: with its result where
// there is one, else by saying that it is being worked on.
func (x *execution) again(life context.Context) {
	x.mu.Lock()
	done := x.result != nil
	x.mu.Unlock()
	var err error
	if done {
		err = x.post(life)
	} else {
		err = x.report.ack(life)
	}
	if err != nil && life.Err() == nil {
		x.worker.log.Error("task delivered again, and not answered", "task", x.task.ID, "error", err)
	}
}

// delegate makes a delegation under this task.
func (x *execution) delegate(ctx context.Context, r swarm.Request) (*swarm.Outcome, error) {
	signed, err := x.worker.client.Sign(ctx, &x.parent, r)
	if err != nil {
		return nil, err
	}
	c := &child{digest: signed.Delegation.Digest(x.domain), id: signed.Delegation.ID(), unsure: true}
	x.mu.Lock()
	over := x.over
	if !over {
		x.children = append(x.children, c)
	}
	x.mu.Unlock()
	if over {
		return nil, errOver
	}
	outcome, err := x.worker.client.Submit(ctx, signed, r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		// A refusal leaves it unsure, too: what came first may have been an
		// answer that got lost. named asks.
		return nil, err
	}
	if outcome.Result != nil {
		// Submit has checked that it is of the delegation with this id, which
		// an idempotency key may have found made already.
		c.unsure, c.digest = false, outcome.Result.Result.Delegation
		c.result = outcome.Result.Result.Digest(x.domain)
	} else if r.IdempotencyKey == "" {
		c.unsure = false
	}
	return outcome, nil
}
