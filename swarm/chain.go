package swarm

import (
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Limits of a delegation. Each is stated in the error of what goes beyond it.
const (
	MaxHops        = 5                 // delegations in a chain: hops 0 to 4
	DefaultTimeout = 120 * time.Second // where none is given
	MaxTimeout     = 300 * time.Second
	Skew           = 60 * time.Second // how far a signer's clock may be ahead of ours
	maxSafeInteger = 1<<53 - 1        // what a JSON number holds in every language
)

// Estimate gives the timeout for a task when its caller gave none: 60 s and
// 15 s for each 100 characters, at most MaxTimeout, and never longer than
// DefaultTimeout.
func Estimate(task string) time.Duration {
	estimate := 60*time.Second + time.Duration(len([]rune(task))/100)*15*time.Second
	return min(estimate, MaxTimeout, DefaultTimeout)
}

// Check reports whether d can stand by itself: its members' bounds, that it is
// not addressed to its own sender, its place in the chain, and its time at now.
// It looks at no signature.
func (d *Delegation) Check(now time.Time) error {
	if err := d.check(); err != nil {
		return err
	}
	return CheckTime(d.IssuedAt, d.ExpiresAt, now)
}

// check is Check without the clock.
func (d *Delegation) check() error {
	switch {
	case d.From.IsZero() || d.To.IsZero():
		return Errorf(CodeInvalid, "delegation: from and to must not be the zero address")
	case d.From == d.To:
		return Errorf(CodeSelfRequest, "an agent can't delegate to itself: from and to are both %v", d.To)
	case d.MaxHops < 1 || d.MaxHops > MaxHops:
		return Errorf(CodeChainTooLong, "delegation.maxHops is %d; allowed are 1 to %d", d.MaxHops, MaxHops)
	case d.Hop >= d.MaxHops:
		return Errorf(CodeChainTooLong, "hop %d of a chain of at most %d: hop must be below maxHops", d.Hop, d.MaxHops)
	case (d.Hop == 0) != d.Root.IsZero() || (d.Hop == 0) != d.Parent.IsZero():
		return Errorf(CodeInvalid, "delegation: root and parent are zero at hop 0 and only there, and this is hop %d", d.Hop)
	case d.TaskID.IsZero() || d.Nonce.IsZero():
		return Errorf(CodeInvalid, "delegation: taskId and nonce must not be zero")
	case d.ExpiresAt > maxSafeInteger || d.IssuedAt > maxSafeInteger:
		return Errorf(CodeInvalid, "delegation: issuedAt and expiresAt are Unix seconds, at most 2^53-1")
	case d.ExpiresAt <= d.IssuedAt:
		return Errorf(CodeInvalid, "delegation.expiresAt %d must be after issuedAt %d", d.ExpiresAt, d.IssuedAt)
	case d.ExpiresAt-d.IssuedAt > uint64(MaxTimeout/time.Second):
		return Errorf(CodeInvalid, "delegation: %d s from issuedAt to expiresAt; at most %d are allowed",
			d.ExpiresAt-d.IssuedAt, MaxTimeout/time.Second)
	}
	for i, a := range d.Attachments {
		if a.Size > maxSafeInteger {
			return Errorf(CodeInvalid, "delegation.attachments[%d].size is %d; at most 2^53-1", i, a.Size)
		}
	}
	return nil
}

// CheckTime reports whether now lies in issuedAt−Skew ≤ now < expiresAt, all
// in Unix seconds.
func CheckTime(issuedAt, expiresAt uint64, now time.Time) error {
	switch at := now.Unix(); {
	case int64(issuedAt)-int64(Skew/time.Second) > at:
		return Errorf(CodeExpired, "issued at %d, but it is %d here: a clock may be ahead by %v at most", issuedAt, at, Skew)
	case at >= int64(expiresAt):
		return Errorf(CodeExpired, "expired at %d; it is %d", expiresAt, at)
	}
	return nil
}

// A Link is a delegation above another, with the digest that its signer signed.
type Link struct {
	Delegation *Delegation
	Digest     wallet.Digest
}

// CheckChain reports whether d may follow chain, which is the delegations
// above it from hop 0 down (empty for hop 0): that it hangs on the last of
// them, widens nothing, and addresses nobody who already stands in the chain.
// It looks at no signature and no clock.
func CheckChain(chain []Link, d *Delegation) error {
	if int(d.Hop) != len(chain) {
		return Errorf(CodeInvalid, "delegation.hop is %d, but %d delegations stand above it", d.Hop, len(chain))
	}
	if len(chain) == 0 {
		return nil
	}
	above := chain[len(chain)-1]
	p := above.Delegation
	switch {
	case d.Parent != above.Digest:
		return Errorf(CodeInvalid, "delegation.parent is not the digest of the delegation above (%v)", above.Digest)
	case d.Root != chain[0].Digest:
		return Errorf(CodeInvalid, "delegation.root is not the digest of hop 0 (%v)", chain[0].Digest)
	case d.From != p.To:
		return Errorf(CodeForbidden, "delegation.from is %v; only %v, who has the task, may delegate it on", d.From, p.To)
	case d.TaskID != p.TaskID:
		return Errorf(CodeInvalid, "delegation.taskId must be that of the delegation above (%v)", p.TaskID)
	case d.Asset != p.Asset:
		return Errorf(CodeBudget, "delegation.asset must be that of the delegation above (%v)", p.Asset)
	case d.MaxHops > p.MaxHops:
		return Errorf(CodeChainTooLong, "delegation.maxHops is %d; the delegation above allows %d", d.MaxHops, p.MaxHops)
	case d.ExpiresAt > p.ExpiresAt:
		return Errorf(CodeBudget, "delegation.expiresAt is %d; the delegation above ends at %d", d.ExpiresAt, p.ExpiresAt)
	case string(d.MaxPrice[:]) > string(p.MaxPrice[:]):
		return Errorf(CodeBudget, "delegation.maxPrice is %v; the delegation above allows %v", d.MaxPrice, p.MaxPrice)
	}
	for _, link := range chain {
		if d.To == link.Delegation.From || d.To == link.Delegation.To {
			return Errorf(CodeLoop, "%v already stands in the chain, at hop %d", d.To, link.Delegation.Hop)
		}
	}
	return nil
}
