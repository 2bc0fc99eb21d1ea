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
	if got := wallet.Keccak256([]byte(signed.Output)); got != result.OutputHash {
		return nil, swarm.Errorf(swarm.CodeSignature, "result.outputHash is not the Keccak-256 of the output that came (%v)", got)
	}
	digest := result.Digest(s.domain)
	if err := wallet.Verify(d.To, digest, signed.Signature); err != nil {
		return nil, swarm.Errorf(swarm.CodeSignature, "result: %v", err)
	}
	if len(result.Attachments) > 0 {
		return nil, swarm.Errorf(swarm.CodeInvalid, "result.attachments: this server carries none; put the text into the output")
	}
	for _, check := range []error{
		result.CheckParties(d, r.digest), result.CheckStatus(), result.CheckPrice(d), s.checkIssued(result, d),
	} {
		if check != nil {
			return nil, check
		}
	}
	if again, err := s.answered(r, digest); again || err != nil {
		return s.viewOf(r), err
	}
	// Those below end first: the last frame of a stream is its own run's.
	if err := s.checkChildren(r, result); err != nil {
		return nil, err
	}
	s.endBelow(r, "the run above was answered without this one")
	if err := s.record(ctx, r, signed, digest); err != nil {
		return nil, err
	}
	return s.viewOf(r), nil
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
func (s *Server) checkChildren(r *liveRun, result *swarm.Result) (err error) {
	s.table.read(func() {
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
				err = swarm.Errorf(swarm.CodeInvalid, "result.children lacks %v: every delegation made for the task is named", c.digest)
				return
			}
			delete(named, mine)
		}
		if len(named) > 0 || len(result.Children) != len(r.children) {
			err = swarm.Errorf(swarm.CodeInvalid, "result.children names %d delegations; %d were made for the task", len(result.Children), len(r.children))
		}
	})
	return err
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
			if err := s.end(r, swarm.StateTimeout, ""); err != nil {
				return err
			}
		}
		err = s.transition(r, func() (*record, error) {
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
	return s.transition(r, func() (*record, error) {
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

// endBelow ends every run below r that has no outcome, the deepest first.
func (s *Server) endBelow(r *liveRun, reason string) {
	var below []*liveRun
	s.table.read(func() {
		for _, c := range r.unsettled() {
			if lr := s.table.byRun[c.id]; lr != nil {
				below = append(below, lr)
			}
		}
	})
	for _, c := range below {
		state := swarm.StateCancelled
		if !time.Now().Before(c.deadline()) {
			state = swarm.StateTimeout
		}
		if err := s.end(c, state, reason); err != nil {
			s.cfg.Log.Error("run below not ended", "run", c.id, "error", err)
		}
	}
}

// expire ends a run at its deadline. A write that fails is tried again: a run
// without an outcome would keep its requester waiting for ever.
func (s *Server) expire(r *liveRun) {
	s.endBelow(r, "the deadline of the run above passed")
	if err := s.end(r, swarm.StateTimeout, ""); err != nil && !s.isClosed() {
		s.cfg.Log.Error("timeout not recorded; trying again", "run", r.id, "error", err)
		time.AfterFunc(time.Second, func() { s.expire(r) })
	}
}

// stop cancels a run and all below it.
func (s *Server) stop(r *liveRun, reason string) error {
	s.endBelow(r, reason)
	return s.end(r, swarm.StateCancelled, reason)
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
	case swarm.CodeOf(err) == swarm.CodeNotFound:
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
			got.Response = r.outcome.failure(answer)
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

// failure says why there is no answer.
func (rec *record) failure(answer *record) string {
	if answer != nil {
		return answer.Result.Output
	}
	return rec.Error.Message
}
