package swarm

import (
	"fmt"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Verify walks the bundle's tree and applies every rule to every hop. It
// needs no network and no clock: times are compared with each other.
//
// What signatures can't show: that a worker made no delegation which is left
// out of its own signed list of children, and that a server's clock was right.
func (b *Bundle) Verify(expect Expect) *Report {
	v := &verifier{
		bundle: b, domain: Domain(b.ChainID),
		report:   &Report{ChainID: b.ChainID, Verified: true, Hops: []HopSummary{}, Checks: []Check{}},
		digests:  make([]wallet.Digest, len(b.Hops)),
		results:  make([]wallet.Digest, len(b.Hops)),
		byDigest: make(map[wallet.Digest]int, len(b.Hops)),
		children: make([][]int, len(b.Hops)),
	}
	v.check(-1, RuleForm, b.check())
	if len(b.Hops) == 0 {
		return v.report
	}
	v.tree()
	for i := range b.Hops {
		v.delegation(i)
		if b.Hops[i].Result != nil {
			v.result(i)
		}
		v.arrival(i)
		v.summary(i)
	}
	v.expected(expect)
	return v.report
}

type verifier struct {
	bundle   *Bundle
	domain   wallet.Domain
	report   *Report
	digests  []wallet.Digest       // of the delegations
	results  []wallet.Digest       // of the results, zero where none
	byDigest map[wallet.Digest]int // digest of a delegation to its index
	children [][]int
}

func (v *verifier) check(index int, rule Rule, err error) {
	c := Check{Index: index, Rule: rule, Held: err == nil}
	if err != nil {
		c.Detail = err.Error()
		v.report.Verified = false
	}
	v.report.Checks = append(v.report.Checks, c)
}

// tree finds who hangs on whom.
func (v *verifier) tree() {
	var broken error
	for i := range v.bundle.Hops {
		hop := &v.bundle.Hops[i]
		d := &hop.Delegation.Delegation
		v.digests[i] = d.Digest(v.domain)
		if hop.Result != nil {
			v.results[i] = hop.Result.Result.Digest(v.domain)
		}
		if _, twice := v.byDigest[v.digests[i]]; twice {
			broken = fmt.Errorf("hops[%d] is there twice", i)
		}
		v.byDigest[v.digests[i]] = i
		if i == 0 {
			continue
		}
		if parent, ok := v.byDigest[d.Parent]; ok && parent != i {
			v.children[parent] = append(v.children[parent], i)
		} else {
			broken = fmt.Errorf("hops[%d]: no hop before it has the digest %v that it names as its parent", i, d.Parent)
		}
	}
	v.check(-1, RuleTree, broken)
	v.check(0, RuleResult, v.answered())
}

func (v *verifier) answered() error {
	switch r := v.bundle.Hops[0].Result; {
	case r == nil:
		return fmt.Errorf("hop 0 has no result: nothing was answered")
	case r.Result.Status != StatusCompleted:
		return fmt.Errorf("hop 0's result says that the task failed")
	}
	return nil
}

// chain gives the links above hop i, from hop 0 down.
func (v *verifier) chain(i int) []Link {
	var up []Link
	for d := &v.bundle.Hops[i].Delegation.Delegation; !d.Parent.IsZero() && len(up) < MaxHops; {
		parent, ok := v.byDigest[d.Parent]
		if !ok {
			break
		}
		d = &v.bundle.Hops[parent].Delegation.Delegation
		up = append(up, Link{d, v.digests[parent]})
	}
	for l, r := 0, len(up)-1; l < r; l, r = l+1, r-1 {
		up[l], up[r] = up[r], up[l]
	}
	return up
}

func (v *verifier) delegation(i int) {
	s := &v.bundle.Hops[i].Delegation
	d := &s.Delegation
	v.check(i, RuleDelegationSignature, wallet.Verify(d.From, v.digests[i], s.Signature))
	// The delegation's own time is all the clock there is here.
	err := d.Check(time.Unix(int64(d.IssuedAt), 0))
	if err == nil && i > 0 && d.Hop == 0 {
		err = fmt.Errorf("a bundle has one delegation at hop 0, the first")
	}
	if err == nil {
		err = CheckChain(v.chain(i), d)
	}
	v.check(i, RuleDelegationChain, err)
	v.check(i, RuleInput, sameHash("input", s.Input, d.InputHash))
}

func sameHash(what, text string, want wallet.Digest) error {
	if got := wallet.Keccak256([]byte(text)); got != want {
		return fmt.Errorf("the %s hashes to %v, the signed hash is %v", what, got, want)
	}
	return nil
}

func (v *verifier) result(i int) {
	hop := &v.bundle.Hops[i]
	d, s := &hop.Delegation.Delegation, hop.Result
	r := &s.Result
	for _, c := range s.Check(v.domain, d, v.digests[i]) {
		v.check(i, c.Rule, c.Err)
	}
	var timeErr error
	late := hop.Arrival != nil && hop.Arrival.Arrival.Late
	switch {
	case r.IssuedAt+uint64(Skew/time.Second) < d.IssuedAt:
		timeErr = fmt.Errorf("issued at %d, before the delegation at %d", r.IssuedAt, d.IssuedAt)
	case r.IssuedAt >= d.ExpiresAt && !late:
		timeErr = fmt.Errorf("issued at %d, not before the deadline %d, and no arrival marks it late", r.IssuedAt, d.ExpiresAt)
	}
	v.check(i, RuleResultTime, timeErr)
	v.check(i, RuleChildren, v.namesChildren(i, r))
}

// namesChildren compares the children that a result names with those present.
func (v *verifier) namesChildren(i int, r *Result) error {
	named := make(map[wallet.Digest]bool, len(r.Children))
	for _, c := range r.Children {
		if named[c] {
			return fmt.Errorf("%v is named twice", c)
		}
		named[c] = true
	}
	for _, child := range v.children[i] {
		switch {
		case v.bundle.Hops[child].Result != nil && named[v.results[child]]:
			delete(named, v.results[child])
		case named[v.digests[child]]:
			// The worker ended without this child's answer.
			delete(named, v.digests[child])
		default:
			return fmt.Errorf("the delegation %v (hops[%d]) is there, but not named", v.digests[child], child)
		}
	}
	for _, c := range r.Children {
		if named[c] {
			return fmt.Errorf("%v is named, but not there", c)
		}
	}
	return nil
}

func (v *verifier) arrival(i int) {
	hop := &v.bundle.Hops[i]
	d := &hop.Delegation.Delegation
	if (hop.Result == nil) != (hop.Arrival == nil) {
		v.check(i, RuleArrivalResult, fmt.Errorf("a result and its arrival come together, and only one of them is there"))
		return
	}
	if hop.Arrival == nil {
		return
	}
	s := hop.Arrival
	a := &s.Arrival
	err := wallet.Verify(a.Server, a.Digest(v.domain), s.Signature)
	if err == nil && a.Server != d.Server {
		err = fmt.Errorf("the arrival is %v's, the delegation was made to %v", a.Server, d.Server)
	}
	v.check(i, RuleArrivalSignature, err)
	err = nil
	if a.Result != v.results[i] {
		err = fmt.Errorf("the arrival is about the result %v, not %v", a.Result, v.results[i])
	}
	v.check(i, RuleArrivalResult, err)
	err = nil
	switch r := &hop.Result.Result; {
	case a.ReceivedAt+uint64(Skew/time.Second) < r.IssuedAt:
		err = fmt.Errorf("received at %d, more than %v before the result was issued at %d", a.ReceivedAt, Skew, r.IssuedAt)
	case a.ReceivedAt >= d.ExpiresAt && !a.Late:
		err = fmt.Errorf("received at %d, not before the deadline %d, and not marked late", a.ReceivedAt, d.ExpiresAt)
	}
	v.check(i, RuleArrivalTime, err)
}

func (v *verifier) summary(i int) {
	hop := &v.bundle.Hops[i]
	d := &hop.Delegation.Delegation
	state := "none"
	if hop.Result != nil {
		state = "failed"
		if hop.Result.Result.Status == StatusCompleted {
			state = "completed"
		}
		if hop.Arrival != nil && hop.Arrival.Arrival.Late {
			state = "late " + state
		}
	}
	v.report.Hops = append(v.report.Hops, HopSummary{
		Index: i, Hop: int(d.Hop), From: d.From, To: d.To, Delegation: v.digests[i], State: state,
		ByServer: d.From == d.Server,
	})
}

func (v *verifier) expected(e Expect) {
	d := &v.bundle.Hops[0].Delegation.Delegation
	differs := func(what string, want, got fmt.Stringer) {
		var err error
		if want.String() != got.String() {
			err = fmt.Errorf("%s is %v, not the expected %v", what, got, want)
		}
		v.check(0, RuleExpected, err)
	}
	if e.Root != nil {
		differs("the root", *e.Root, v.digests[0])
	}
	if e.From != nil {
		differs("from", *e.From, d.From)
	}
	if e.To != nil {
		differs("to", *e.To, d.To)
	}
	if e.Server != nil {
		differs("the server", *e.Server, d.Server)
	}
}

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
	r := &s.Result
	return []RuleCheck{
		{RuleResultSignature, wallet.Verify(d.To, r.Digest(domain), s.Signature)},
		{RuleResultParties, r.CheckParties(d, delegation)},
		{RuleOutput, sameHash("output", s.Output, r.OutputHash)},
		{RuleResultStatus, r.CheckStatus()},
		{RuleResultPrice, r.CheckPrice(d)},
	}
}
