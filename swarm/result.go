package swarm

import "github.com/swarmseal/swarmseal/wallet"

// CheckParties reports whether r answers d, whose digest is given.
func (r *Result) CheckParties(d *Delegation, digest wallet.Digest) error {
	switch {
	case r.Delegation != digest:
		return Errorf(CodeInvalid, "result.delegation is %v; the delegation's digest is %v", r.Delegation, digest)
	case r.TaskID != d.TaskID:
		return Errorf(CodeInvalid, "result.taskId is %v; the delegation's is %v", r.TaskID, d.TaskID)
	case r.From != d.To || r.To != d.From:
		return Errorf(CodeForbidden, "result is from %v to %v; this delegation is answered by %v to %v", r.From, r.To, d.To, d.From)
	}
	return nil
}

// CheckStatus reports whether r is a whole result of a known status.
func (r *Result) CheckStatus() error {
	switch {
	case r.Status != StatusCompleted && r.Status != StatusFailed:
		return Errorf(CodeInvalid, "result.status is %d; want %d (completed) or %d (failed)", r.Status, StatusCompleted, StatusFailed)
	case r.Seq != 0 || !r.Last:
		return Errorf(CodeInvalid, "result.seq must be 0 and result.last true: results come whole")
	}
	return nil
}

// CheckPrice reports whether r asks for no more than d allows.
func (r *Result) CheckPrice(d *Delegation) error {
	if string(r.Price[:]) > string(d.MaxPrice[:]) {
		return Errorf(CodeBudget, "result.price is %v; the delegation allows %v", r.Price, d.MaxPrice)
	}
	return nil
}

// RuleCheck is a rule with what broke it, which is nil where it held.
type RuleCheck struct {
	Rule Rule
	Err  error
}

// Check applies every rule that stands between a result and the delegation
// that it answers, whose digest is given, save those about time and children.
func (s *SignedResult) Check(domain wallet.Domain, d *Delegation, delegation wallet.Digest) []RuleCheck {
	got := signers{result: recoverSigner(s.Result.Digest(domain), s.Signature)}
	if s.Session != nil {
		got.resultSession = s.Session.recover(domain)
	}
	checks, _ := s.check(&got, d, delegation)
	return checks
}

func (s *SignedResult) check(got *signers, d *Delegation, delegation wallet.Digest) ([]RuleCheck, Custody) {
	signing := s.signing(d)
	custody, err := signing.check(got.result)
	checks := append(make([]RuleCheck, 0, 6), RuleCheck{RuleResultSignature, err})
	if s.Session != nil {
		checks = append(checks, RuleCheck{RuleResultSession, signing.checkSession(got.resultSession)})
	}
	return append(checks,
		RuleCheck{RuleResultParties, s.Result.CheckParties(d, delegation)},
		RuleCheck{RuleOutput, sameHash("output", s.Output, s.Result.OutputHash)},
		RuleCheck{RuleResultStatus, s.Result.CheckStatus()},
		RuleCheck{RuleResultPrice, s.Result.CheckPrice(d)},
	), custody
}
