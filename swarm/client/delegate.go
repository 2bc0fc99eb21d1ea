package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

var _ swarm.Delegator = (*Client)(nil)

// Delegate hands over a task at hop 0 and waits for its outcome. When ctx ends
// first, the delegation goes on: its id is the outcome's, and Cancel stops it.
func (c *Client) Delegate(ctx context.Context, r swarm.Request) (*swarm.Outcome, error) {
	return c.DelegateUnder(ctx, nil, r)
}

// Parent is the delegation under which another is made.
type Parent struct {
	Delegation *swarm.Delegation
	Digest     wallet.Digest // of Delegation
	Root       wallet.Digest // digest of the delegation at hop 0
}

// DelegateUnder is Delegate for a worker in the midst of the task that parent
// gave it. The timeout is cut to what the parent's deadline leaves.
func (c *Client) DelegateUnder(ctx context.Context, parent *Parent, r swarm.Request) (*swarm.Outcome, error) {
	signed, err := c.Sign(ctx, parent, r)
	if err != nil {
		return nil, err
	}
	return c.Submit(ctx, signed, r)
}

// Sign makes the signed delegation of a request, without sending it.
func (c *Client) Sign(ctx context.Context, parent *Parent, r swarm.Request) (*swarm.SignedDelegation, error) {
	if c.Signer == nil {
		return nil, errNoSigner
	}
	timeout := r.Timeout
	if timeout == 0 {
		timeout = swarm.Estimate(r.Task)
	}
	if timeout < time.Second || timeout > swarm.MaxTimeout || timeout%time.Second != 0 {
		return nil, swarm.Errorf(swarm.CodeInvalid, "timeout is %v; allowed are whole seconds from 1 s to %v", timeout, swarm.MaxTimeout)
	}
	// A task that must be done within a minute has no use for a server that
	// comes after an hour.
	reaching, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the server was not reached within the task's timeout of %v", timeout))
	defer cancel()
	var info *swarm.Info
	err := Retry(reaching, func() (err error) { info, err = c.Info(reaching); return err })
	if err != nil {
		return nil, err
	}
	now := time.Now()
	d := swarm.Delegation{
		MaxHops: swarm.MaxHops, To: r.To, Server: info.Server, Skill: r.Skill, Nonce: newNonce(),
		IssuedAt: uint64(now.Unix()), ExpiresAt: uint64(now.Add(timeout).Unix()),
	}
	if r.IdempotencyKey != "" {
		d.Nonce = swarm.NonceOf(r.IdempotencyKey)
	}
	if parent == nil {
		d.TaskID = newNonce()
	} else {
		p := parent.Delegation
		if p.Hop+1 >= p.MaxHops {
			return nil, swarm.Errorf(swarm.CodeChainTooLong, "this task is hop %d of a chain of at most %d", p.Hop, p.MaxHops)
		}
		d.TaskID, d.Root, d.Parent, d.Hop = p.TaskID, parent.Root, parent.Digest, p.Hop+1
		d.MaxHops, d.Asset, d.MaxPrice = p.MaxHops, p.Asset, p.MaxPrice
		d.ExpiresAt = min(d.ExpiresAt, p.ExpiresAt)
		if d.ExpiresAt <= d.IssuedAt {
			return nil, swarm.Errorf(swarm.CodeBudget, "the deadline of the task above leaves no time")
		}
	}
	return swarm.SignDelegation(ctx, c.Signer, swarm.Domain(info.ChainID), d, r.Task)
}

// Submit sends a signed delegation, again where that is needed, and waits for
// its outcome. The outcome is believed only as far as it is signed: one that
// the agent did not sign, for this delegation, is an *UnprovenError.
func (c *Client) Submit(ctx context.Context, signed *swarm.SignedDelegation, r swarm.Request) (*swarm.Outcome, error) {
	d := &signed.Delegation
	ctx, cancel := context.WithDeadlineCause(ctx, time.Unix(int64(d.ExpiresAt), 0).Add(outcomeGrace),
		fmt.Errorf("the server told of no outcome of %s within %v after its deadline", d.ID(), outcomeGrace))
	defer cancel()
	var info *swarm.Info
	err := Retry(ctx, func() (err error) { info, err = c.Info(ctx); return err })
	if err != nil {
		return nil, err
	}
	domain := swarm.Domain(info.ChainID)
	var outcome swarm.Outcome
	err = Retry(ctx, func() error {
		return c.do(ctx, request{method: http.MethodPost, path: "/delegations", body: signed, header: preferWait(waitStep), into: &outcome})
	})
	if swarm.CodeOf(err) == swarm.CodeNonceConflict && r.IdempotencyKey != "" {
		if d, err = c.sameTask(ctx, domain, d); err != nil {
			return nil, err
		}
		outcome = swarm.Outcome{State: swarm.StatePending}
	}
	if err != nil {
		return nil, err
	}
	told := &outcome
	if !told.State.Terminal() {
		if told, err = c.Wait(ctx, d.ID()); err != nil {
			return nil, err
		}
	}
	if err := checkOutcome(told, d, domain); err != nil {
		return nil, err
	}
	return told, nil
}

// sameTask gives the delegation of this wallet's that has the id of d, if it
// asks the same.
func (c *Client) sameTask(ctx context.Context, domain wallet.Domain, d *swarm.Delegation) (*swarm.Delegation, error) {
	var bundle *swarm.Bundle
	err := Retry(ctx, func() (err error) { bundle, err = c.Receipt(ctx, d.ID()); return err })
	if err != nil {
		return nil, err
	}
	for i := range bundle.Hops {
		signed := &bundle.Hops[i].Delegation
		other := &signed.Delegation
		if other.ID() != d.ID() {
			continue
		}
		if err := wallet.Verify(d.From, other.Digest(domain), signed.Signature); err != nil {
			return nil, &UnprovenError{ID: d.ID(), Rule: swarm.RuleDelegationSignature, Err: err}
		}
		if other.To == d.To && other.InputHash == d.InputHash && other.Skill == d.Skill && other.Parent == d.Parent {
			return other, nil
		}
		break
	}
	return nil, swarm.Errorf(swarm.CodeNonceConflict, "the idempotency key was used for another task")
}

// Get gives a delegation's record as it stands, and as the server tells it.
func (c *Client) Get(ctx context.Context, id string) (*swarm.Outcome, error) {
	var outcome swarm.Outcome
	err := c.do(ctx, request{method: http.MethodGet, path: delegationPath(id, ""), into: &outcome})
	if err != nil {
		return nil, err
	}
	return &outcome, nil
}

// askAgain is the least time between two questions for an outcome. The server
// holds its answer back, so that the next question is due at once; one behind
// a proxy that drops Prefer does not.
const askAgain = time.Second

// Wait gives a delegation's record once it has its outcome, as the server
// tells it.
func (c *Client) Wait(ctx context.Context, id string) (*swarm.Outcome, error) {
	for {
		asked := time.Now()
		var outcome swarm.Outcome
		err := Retry(ctx, func() error {
			return c.do(ctx, request{method: http.MethodGet, path: delegationPath(id, ""), header: preferWait(waitStep), into: &outcome})
		})
		if err != nil {
			return nil, err
		}
		switch outcome.State {
		case swarm.StateCompleted, swarm.StateFailed, swarm.StateTimeout, swarm.StateCancelled:
			return &outcome, nil
		case swarm.StatePending, swarm.StateRunning:
		default:
			return nil, fmt.Errorf("delegation %s: the server tells of the state %q, which this program does not know", id, outcome.State)
		}
		timer := time.NewTimer(askAgain - time.Since(asked))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// delegationPath gives a route below a delegation. The id may be anybody's
// text, and must not be able to name another route.
func delegationPath(id, route string) string {
	return "/delegations/" + url.PathEscape(id) + route
}

// Cancel stops a delegation of this wallet's, or one below it.
func (c *Client) Cancel(ctx context.Context, id string) (*swarm.Outcome, error) {
	var outcome swarm.Outcome
	err := c.doSignedIn(ctx, request{method: http.MethodPost, path: delegationPath(id, "/cancel"), into: &outcome})
	if err != nil {
		return nil, err
	}
	return &outcome, nil
}

// Collect takes the result of a delegation of this wallet's, once: that is
// check_collaboration_result.
func (c *Client) Collect(ctx context.Context, id string) (*swarm.Collected, error) {
	var collected swarm.Collected
	err := c.doSignedIn(ctx, request{method: http.MethodPost, path: delegationPath(id, "/collect"), into: &collected})
	if err != nil {
		return nil, err
	}
	return &collected, nil
}

// Receipt gives the bundle of the tree that a delegation belongs to. It comes
// as the server has it: verify it.
func (c *Client) Receipt(ctx context.Context, id string) (*swarm.Bundle, error) {
	var bundle swarm.Bundle
	err := c.do(ctx, request{method: http.MethodGet, path: delegationPath(id, "/receipt"), into: &bundle, most: swarm.MaxBundleBytes})
	if err != nil {
		return nil, err
	}
	return &bundle, nil
}
