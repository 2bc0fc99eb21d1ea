package swarm

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swarmseal/swarmseal/wallet"
)

// signing gives what is to be checked of the delegation's signature.
func (s *SignedDelegation) signing() signing {
	d := &s.Delegation
	return signing{
		signer: d.From, session: s.Session,
		scope: ScopeDelegate, server: d.Server, issuedAt: d.IssuedAt,
	}
}

// CheckSigner reports whether From signed the delegation, whose digest is
// given, or the key of a session that From signed for that.
func (s *SignedDelegation) CheckSigner(domain wallet.Domain, digest wallet.Digest) error {
	signing := s.signing()
	if _, err := signing.check(recoverSigner(digest, s.Signature)); err != nil {
		return Errorf(CodeSignature, "delegation: %v", err)
	}
	if s.Session == nil {
		return nil
	}
	return signing.checkSession(s.Session.recover(domain))
}

// signing gives what is to be checked of the result's signature: by whom d
// asks, for the server that d names.
func (s *SignedResult) signing(d *Delegation) signing {
	return signing{
		signer: d.To, session: s.Session,
		scope: ScopeAnswer, server: d.Server, issuedAt: s.Result.IssuedAt,
	}
}

// recovered is who made a signature.
type recovered struct {
	address wallet.Address
	err     error
}

func recoverSigner(digest wallet.Digest, sig wallet.Signature) recovered {
	address, err := wallet.Recover(digest, sig)
	return recovered{address, err}
}

// is reports whether want made the signature.
func (r recovered) is(want wallet.Address) error {
	if r.err == nil && r.address != want {
		return &wallet.SignerError{Want: want, Got: r.address}
	}
	return r.err
}

// signers are those of a hop's signatures, where it has them.
type signers struct {
	delegation, delegationSession, result, resultSession, arrival recovered
}

// recoverAll recovers every signature of the bundle, on all processors: nothing
// else takes as long.
func (v *verifier) recoverAll() []signers {
	hops := v.bundle.Hops
	all := make([]signers, len(hops))
	type job struct {
		into   *recovered
		digest wallet.Digest
		sig    *wallet.Signature
	}
	jobs := make([]job, 0, 3*len(hops))
	session := func(s *SignedSession, into *recovered) {
		if s != nil {
			jobs = append(jobs, job{into, s.Session.Digest(v.domain), &s.Signature})
		}
	}
	for i := range hops {
		hop, s := &hops[i], &all[i]
		jobs = append(jobs, job{&s.delegation, v.digests[i], &hop.Delegation.Signature})
		session(hop.Delegation.Session, &s.delegationSession)
		if hop.Result != nil {
			jobs = append(jobs, job{&s.result, v.results[i], &hop.Result.Signature})
			session(hop.Result.Session, &s.resultSession)
		}
		if hop.Arrival != nil {
			jobs = append(jobs, job{&s.arrival, hop.Arrival.Arrival.Digest(v.domain), &hop.Arrival.Signature})
		}
	}
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(jobs)); i = next.Add(1) - 1 {
			*jobs[i].into = recoverSigner(jobs[i].digest, *jobs[i].sig)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return all
}
