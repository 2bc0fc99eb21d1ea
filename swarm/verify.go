package swarm

import (
	"fmt"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Verify walks the bundle's tree and applies every rule to every hop. It
// needs no network and no clock: times are compared with each other. The
// signatures are recovered on as many processors as there are.
//
// What signatures can't show: that a worker made no delegation which is left
// out of its own signed list of children, and that a server's clock was right.
func (b *Bundle) Verify(expect Expect) *Report {
	v := &verifier{
		bundle: b, domain: Domain(b.ChainID), expect: expect,
		report: &Report{ChainID: b.ChainID, Verified: true, Hops: []HopSummary{},
			Attachments: []AttachmentSummary{}, Checks: make([]Check, 0, 4+18*len(b.Hops))},
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
	v.signers = v.recoverAll()
	v.contents()
	v.check(0, RuleResult, v.answered())
	for i := range b.Hops {
		summary := v.delegation(i)
		if b.Hops[i].Result != nil {
			summary.ResultCustody = v.result(i)
		}
		v.arrival(i)
		v.report.Hops = append(v.report.Hops, summary)
	}
	v.expected()
	return v.report
}

type verifier struct {
	bundle   *Bundle
	domain   wallet.Domain
	expect   Expect
	report   *Report
	signers  []signers             // by hop
	digests  []wallet.Digest       // of the delegations
	results  []wallet.Digest       // of the results, zero where none
	byDigest map[wallet.Digest]int // digest of a delegation to its index
	children [][]int
	sizes    map[wallet.Digest]uint64 // of the contents at hand, by hash
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
}

// contents hashes the bytes that are at hand.
func (v *verifier) contents() {
	v.sizes = make(map[wallet.Digest]uint64, len(v.bundle.Contents)+len(v.expect.Attachments))
	at := make(map[wallet.Digest]int) // where the hops first name a hash
	if len(v.bundle.Contents) > 0 {
		for i := range v.bundle.Hops {
			for _, a := range v.bundle.Hops[i].attachments() {
				if _, known := at[a.Hash]; !known {
					at[a.Hash] = len(at)
				}
			}
		}
	}
	var broken error
	last := -1
	for i, c := range v.bundle.Contents {
		hash := wallet.Keccak256(c)
		place, named := at[hash]
		switch {
		case !named:
			broken = fmt.Errorf("contents[%d] hashes to %v, and no attachment does", i, hash)
		case place <= last:
			broken = fmt.Errorf("contents[%d] is there twice or out of place: contents stand in the order in which the hops first name them", i)
		}
		last = place
		v.sizes[hash] = uint64(len(c))
	}
	v.check(-1, RuleContents, broken)
	for hash, size := range v.expect.Attachments {
		v.sizes[hash] = size
	}
}

// attachments compares sizes with the bytes that are at hand, and lists them.
func (v *verifier) attachments(i int, of string, list []Attachment) error {
	var broken error
	for j, a := range list {
		size, there := v.sizes[a.Hash]
		switch {
		case a.Size > maxSafeInteger:
			broken = fmt.Errorf("attachments[%d].size is %d; at most 2^53-1", j, a.Size)
		case there && size != a.Size:
			broken = fmt.Errorf("attachments[%d] (%.80q) has %d bytes, the signed size is %d", j, a.Name, size, a.Size)
		case !there && v.expect.Attachments != nil:
			broken = fmt.Errorf("attachments[%d] (%.80q): nothing that is at hand has the signed hash %v", j, a.Name, a.Hash)
		}
		v.report.Attachments = append(v.report.Attachments, AttachmentSummary{
			Index: i, Of: of, Name: a.Name, MediaType: a.MediaType, Size: a.Size, Hash: a.Hash, Bytes: there,
		})
	}
	return broken
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

func (v *verifier) delegation(i int) HopSummary {
	hop := &v.bundle.Hops[i]
	s := &hop.Delegation
	d := &s.Delegation
	signing := s.signing()
	custody, err := signing.check(v.signers[i].delegation)
	v.check(i, RuleDelegationSignature, err)
	if s.Session != nil {
		v.check(i, RuleDelegationSession, signing.checkSession(v.signers[i].delegationSession))
	}
	// The delegation's own time is all the clock there is here.
	err = d.check()
	if err == nil && i > 0 && d.Hop == 0 {
		err = fmt.Errorf("a bundle has one delegation at hop 0, the first")
	}
	if err == nil {
		err = CheckChain(v.chain(i), d)
	}
	v.check(i, RuleDelegationChain, err)
	v.check(i, RuleInput, sameHash("input", s.Input, d.InputHash))
	v.check(i, RuleDelegationAttachments, v.attachments(i, "delegation", d.Attachments))
	return HopSummary{Index: i, Hop: int(d.Hop), From: d.From, To: d.To, Delegation: v.digests[i], State: hop.state(), Custody: custody}
}

// state says in a word or two what came of the delegation.
func (h *BundleHop) state() string {
	if h.Result == nil {
		return "none"
	}
	state := "failed"
	if h.Result.Result.Status == StatusCompleted {
		state = "completed"
	}
	if h.Arrival != nil && h.Arrival.Arrival.Late {
		state = "late " + state
	}
	return state
}

func sameHash(what, text string, want wallet.Digest) error {
	if got := wallet.Keccak256([]byte(text)); got != want {
		return fmt.Errorf("the %s hashes to %v, the signed hash is %v", what, got, want)
	}
	return nil
}

func (v *verifier) result(i int) Custody {
	hop := &v.bundle.Hops[i]
	d, s := &hop.Delegation.Delegation, hop.Result
	r := &s.Result
	checks, custody := s.check(&v.signers[i], d, v.digests[i])
	for _, c := range checks {
		v.check(i, c.Rule, c.Err)
	}
	var timeErr error
	late := hop.Arrival != nil && hop.Arrival.Arrival.Late
	switch {
	case r.IssuedAt > maxSafeInteger:
		timeErr = fmt.Errorf("issued at %d; at most 2^53-1", r.IssuedAt)
	case r.IssuedAt+uint64(Skew/time.Second) < d.IssuedAt:
		timeErr = fmt.Errorf("issued at %d, before the delegation at %d", r.IssuedAt, d.IssuedAt)
	case r.IssuedAt >= d.ExpiresAt && !late:
		timeErr = fmt.Errorf("issued at %d, not before the deadline %d, and no arrival marks it late", r.IssuedAt, d.ExpiresAt)
	}
	v.check(i, RuleResultTime, timeErr)
	v.check(i, RuleResultAttachments, v.attachments(i, "result", r.Attachments))
	v.check(i, RuleChildren, v.namesChildren(i, r))
	return custody
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
	err := v.signers[i].arrival.is(a.Server)
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
	case a.ReceivedAt > maxSafeInteger:
		err = fmt.Errorf("received at %d; at most 2^53-1", a.ReceivedAt)
	case a.ReceivedAt+uint64(Skew/time.Second) < r.IssuedAt:
		err = fmt.Errorf("received at %d, more than %v before the result was issued at %d", a.ReceivedAt, Skew, r.IssuedAt)
	case a.ReceivedAt >= d.ExpiresAt && !a.Late:
		err = fmt.Errorf("received at %d, not before the deadline %d, and not marked late", a.ReceivedAt, d.ExpiresAt)
	}
	v.check(i, RuleArrivalTime, err)
}

func (v *verifier) expected() {
	d := &v.bundle.Hops[0].Delegation.Delegation
	if want := v.expect.Root; want != nil {
		v.check(0, RuleExpectedRoot, differs(v.digests[0], *want))
	}
	if want := v.expect.From; want != nil {
		v.check(0, RuleExpectedFrom, differs(d.From, *want))
	}
	if want := v.expect.To; want != nil {
		v.check(0, RuleExpectedTo, differs(d.To, *want))
	}
	if want := v.expect.Server; want != nil {
		v.check(0, RuleExpectedServer, differs(d.Server, *want))
	}
}

func differs[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("it is %v, not the expected %v", got, want)
	}
	return nil
}
