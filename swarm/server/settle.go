package server

import (
	"context"
	"errors"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// settle records the outcome of a worker's signed result, or keeps the result
// as late where the outcome was recorded before. The same result again is
// fine; another one is a conflict.
func (s *Server) settle(ctx context.Context, id string, signed *swarm.SignedResult) (*swarm.Outcome, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	result := &signed.Result
	d := &r.signed.Delegation
	for _, check := range signed.Check(s.domain, d, r.digest) {
		if check.Err != nil {
			return nil, resultError(check)
		}
	}
	if len(result.Attachments) > 0 {
		return nil, swarm.Errorf(swarm.CodeInvalid, "result.attachments: this server carries none; put the text into the output")
	}
	if err := s.checkIssued(result, d); err != nil {
		return nil, err
	}
	digest := result.Digest(s.domain)
	if again, err := s.answered(r, digest); again || err != nil {
		return s.viewOf(r), err
	}
	if err := s.record(ctx, r, signed, digest); err != nil {
		return nil, err
	}
	return s.viewOf(r), nil
}

// resultError gives a broken rule of a result its code.
func resultError(c swarm.RuleCheck) error {
	if e, ok := errors.AsType[*swarm.Error](c.Err); ok {
		return e
	}
	return swarm.Errorf(swarm.CodeSignature, "%s: %v", c.Rule, c.Err)
}

func (s *Server) checkIssued(result *swarm.Result, d *swarm.Delegation) error {
	now, skew := uint64(time.Now().Unix()), uint64(swarm.Skew/time.Second)
	if result.IssuedAt > now+skew || result.IssuedAt+skew < d.IssuedAt {
		return swarm.Errorf(swarm.CodeExpired, "result.issuedAt is %d; want from %d, when the delegation was issued, to %d, now, and at most %v off",
			result.IssuedAt, d.IssuedAt, now, swarm.Skew)
	}
	if result.IssuedAt >= d.ExpiresAt && now < d.ExpiresAt {
		// It is not late here, and no verifier takes one that is not marked
		// late and says itself that it is.
		return swarm.Errorf(swarm.CodeExpired, "result.issuedAt is %d, not before the deadline %d, and it is %d here: the worker's clock is ahead",
			result.IssuedAt, d.ExpiresAt, now)
	}
	return nil
}

// answered reports whether the run has this very result already, and gives a
// conflict where it has another.
func (s *Server) answered(r *liveRun, digest wallet.Digest) (again bool, err error) {
	s.table.read(func() {
		rec := r.answer()
		if rec == nil {
			return
		}
		if again = rec.Arrival.Arrival.Result == digest; !again {
			err = swarm.Errorf(swarm.CodeConflict, "the run %s has another result already", r.id)
		}
	})
	return again, err
}

// checkChildren compares the delegations that a result names with those that
// were made for the task: each once, by its own digest or that of its result.
// The table's lock is held.
func (r *run) checkChildren(result *swarm.Result) error {
	named := make(map[wallet.Digest]bool, len(result.Children))
	for _, c := range result.Children {
		named[c] = true
	}
	for _, c := range r.children {
		mine := c.digest
		if rec := c.answer(); rec != nil && named[rec.Arrival.Arrival.Result] {
			mine = rec.Arrival.Arrival.Result
		}
		if !named[mine] {
			return swarm.Errorf(swarm.CodeInvalid, "result.children lacks %v: every delegation made for the task is named", c.digest)
		}
		delete(named, mine)
	}
	if len(named) > 0 || len(result.Children) != len(r.children) {
		return swarm.Errorf(swarm.CodeInvalid, "result.children names %d delegations; %d were made for the task", len(result.Children), len(r.children))
	}
	return nil
}

// record writes a result as the run's outcome, or as its late answer. The
// arrival is signed before the write, since a signer may be slow; it is signed
// again where the run went on to another outcome meanwhile.
func (s *Server) record(ctx context.Context, r *liveRun, signed *swarm.SignedResult, digest wallet.Digest) error {
	for {
		var late bool
		now := time.Now()
		s.table.read(func() { late = r.state.Terminal() || !now.Before(r.deadline()) })
		arrival, err := swarm.SignArrival(ctx, s.cfg.Key, s.domain, swarm.Arrival{Result: digest, ReceivedAt: uint64(now.Unix()), Late: late})
		if err != nil {
			return swarm.Errorf(swarm.CodeInternal, "the arrival was not signed: %v", err)
		}
		if late {
			// A result that comes at the deadline may be here before the timer's
			// own record is.
			if err := s.end(r, swarm.StateTimeout, deadlineAbove); err != nil {
				return err
			}
		}
		err = s.finish(r, "the run above was answered without this one", func() (*record, error) {
			if err := r.checkChildren(&signed.Result); err != nil {
				return nil, err
			}
			switch {
			case late && r.answer() != nil:
				return nil, swarm.Errorf(swarm.CodeConflict, "the run %s has another result already", r.id)
			case late:
				return &record{Kind: kindLate, Result: signed, Arrival: arrival}, nil
			case r.state.Terminal():
				return nil, errSettled
			}
			rec := &record{Kind: kindOutcome, State: swarm.StateCompleted, Result: signed, Arrival: arrival}
			if signed.Result.Status == swarm.StatusFailed {
				rec.State = swarm.StateFailed
				rec.Error = &swarm.Error{Code: swarm.CodeWorker, Message: signed.Output}
			}
			return rec, nil
		})
		if !errors.Is(err, errSettled) {
			return err
		}
	}
}

// end records an outcome that has no result, if there is none yet: a timeout
// or a cancellation.
func (s *Server) end(r *liveRun, state swarm.State, reason string) error {
	return s.finish(r, reason, func() (*record, error) {
		if r.state.Terminal() {
			return nil, nil
		}
		rec := &record{Kind: kindOutcome, State: state}
		switch state {
		case swarm.StateTimeout:
			d := &r.signed.Delegation
			rec.Error = swarm.Errorf(swarm.CodeTimeout, "no reply within %d s; the agent may still be working", d.ExpiresAt-d.IssuedAt)
		default:
			rec.Error = swarm.Errorf(swarm.CodeCancelled, "%s", reason)
		}
		return rec, nil
	})
}

// finish is transition for whatever ends a run: every run below it has its
// outcome first, for the last frame of a stream is its own run's. A run that is
// made below in the meantime is ended, too.
func (s *Server) finish(r *liveRun, reason string, decide func() (*record, error)) error {
	for {
		if err := s.endBelow(r, reason); err != nil {
			return err
		}
		err := s.transition(r, func() (*record, error) {
			if !r.state.Terminal() && len(r.unsettled()) > 0 {
				return nil, errBelow
			}
			return decide()
		})
		if !errors.Is(err, errBelow) {
			return err
		}
	}
}

var errBelow = errors.New("a run below has no outcome yet")

// endBelow ends every run right below r that has no outcome, and with each
// those below it.
func (s *Server) endBelow(r *liveRun, reason string) error {
	var below []*liveRun
	s.table.read(func() {
		for _, c := range r.unsettled() {
			below = append(below, s.table.byRun[c.id]) // a tree is in the table whole
		}
	})
	for _, c := range below {
		state := swarm.StateCancelled
		if !time.Now().Before(c.deadline()) {
			state = swarm.StateTimeout
		}
		if err := s.end(c, state, reason); err != nil {
			return err
		}
	}
	return nil
}

// deadlineAbove is why a run ends when that above it times out.
const deadlineAbove = "the deadline of the run above passed"

// expire ends a run at its deadline. A write that fails is tried again: a run
// without an outcome would keep its requester waiting for ever.
func (s *Server) expire(r *liveRun) {
	if err := s.end(r, swarm.StateTimeout, deadlineAbove); err != nil && !s.isClosed() {
		s.cfg.Log.Error("timeout not recorded; trying again", "run", r.id, "error", err)
		time.AfterFunc(time.Second, func() { s.expire(r) })
	}
}

func (s *Server) viewOf(r *liveRun) (o *swarm.Outcome) {
	s.table.read(func() { o = r.tree.view(r.run) })
	return o
}

// await gives the run's record once it has its outcome, or as it is when wait
// has passed or ctx ends.
func (s *Server) await(ctx context.Context, r *liveRun, wait time.Duration) *swarm.Outcome {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.ended:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.closed:
	}
	return s.viewOf(r)
}

// collect gives a delegation's result to its requester, once.
func (s *Server) collect(ctx context.Context, id string, who wallet.Address) (*swarm.Collected, error) {
	none := &swarm.Collected{Status: swarm.CollectedNotFound, RequestID: id}
	r, err := s.find(ctx, id)
	switch {
	case swarm.CodeOf(err) == swarm.CodeNotFound, swarm.CodeOf(err) == swarm.CodeGone:
		return none, nil
	case err != nil:
		return nil, err
	case r.from() != who:
		// Not told from an unknown id: the id is not the caller's to probe.
		return none, nil
	}
	got := &swarm.Collected{RequestID: id}
	write := func() (*record, error) {
		if r.collected {
			return nil, errCollected
		}
		answer := r.answer()
		switch {
		case !r.state.Terminal():
			got.Status = swarm.CollectedPending
			return nil, nil
		case answer == nil && r.state == swarm.StateTimeout:
			got.Status = swarm.CollectedPendingLate
			return nil, nil
		case answer == nil || answer.Result.Result.Status == swarm.StatusFailed:
			got.Status = swarm.CollectedError
			if answer != nil {
				got.Response = answer.Result.Output
			} else {
				got.Response = r.outcome.Error.Message
			}
		case answer.Arrival.Arrival.Late:
			got.Status, got.Response = swarm.CollectedLate, answer.Result.Output
		default:
			got.Status, got.Response = swarm.CollectedCompleted, answer.Result.Output
		}
		return &record{Kind: kindCollected}, nil
	}
	switch err := s.transition(r, write); {
	case errors.Is(err, errCollected):
		return none, nil
	case err != nil:
		return nil, err
	}
	got.Delegation = s.viewOf(r)
	return got, nil
}

var errCollected = errors.New("the result was collected already")
