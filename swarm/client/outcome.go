package client

import (
	"errors"
	"fmt"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// UnprovenError says that a server told of an outcome for which it has no
// proof: the server, or somebody on the way, is not to be believed. Whether
// the task was done is not known.
type UnprovenError struct {
	ID   string     // of the delegation
	Rule swarm.Rule // what did not hold; RuleExpected for the unsigned part
	Err  error      // not unwrapped: its code would pass for a server's refusal
}

func (e *UnprovenError) Error() string {
	return fmt.Sprintf("delegation %s: the server's answer does not hold: %s: %v", e.ID, e.Rule, e.Err)
}

// checkOutcome reports whether what the server tells of d is what the agent
// signed and the server dated. A timeout or a cancellation without a result is
// the server's word alone.
func checkOutcome(o *swarm.Outcome, d *swarm.Delegation, domain wallet.Domain) error {
	unproven := func(rule swarm.Rule, err error) error {
		if err == nil {
			return nil
		}
		return &UnprovenError{ID: d.ID(), Rule: rule, Err: err}
	}
	if o.Result != nil {
		for _, check := range o.Result.Check(domain, d, d.Digest(domain)) {
			if check.Err != nil {
				return unproven(check.Rule, check.Err)
			}
		}
		digest := o.Result.Result.Digest(domain)
		if o.Arrival == nil {
			return unproven(swarm.RuleArrivalResult, errors.New("the result came without its arrival"))
		}
		arrival := &o.Arrival.Arrival
		if err := wallet.Verify(d.Server, arrival.Digest(domain), o.Arrival.Signature); err != nil {
			return unproven(swarm.RuleArrivalSignature, err)
		}
		if arrival.Result != digest {
			return unproven(swarm.RuleArrivalResult, fmt.Errorf("the arrival is about the result %v, not %v", arrival.Result, digest))
		}
	}
	return unproven(swarm.RuleExpected, checkTold(o, d))
}

// checkTold compares the members of an outcome that nobody signed with those
// that somebody did.
func checkTold(o *swarm.Outcome, d *swarm.Delegation) error {
	output := ""
	completed := o.Result != nil && o.Result.Result.Status == swarm.StatusCompleted
	if completed {
		output = o.Result.Output
	}
	switch {
	case o.ID != d.ID():
		return fmt.Errorf("it is about the delegation %s", o.ID)
	case o.Agent != d.To || o.Requester != d.From:
		return fmt.Errorf("it is about a task of %v for %v; this one is of %v for %v", o.Requester, o.Agent, d.From, d.To)
	case o.Output != output:
		return errors.New("the output is not that of the signed result")
	case (o.State == swarm.StateCompleted || o.State == swarm.StateFailed) && (o.Result == nil || o.Late()):
		return fmt.Errorf("the state is %s, and no result that came in time says so", o.State)
	case o.State == swarm.StateCompleted && !completed:
		return errors.New("the state is completed, and the signed result says that the task failed")
	case o.State == swarm.StateFailed && completed:
		return errors.New("the state is failed, and the signed result says that the task was completed")
	case o.State != swarm.StateCompleted && o.Error == nil:
		return fmt.Errorf("the state is %s, and no error says why", o.State)
	}
	return nil
}
