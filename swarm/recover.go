package swarm

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/swarmseal/swarmseal/wallet"
)

// signing gives what is to be checked of the delegation's signature.
func (s *SignedDelegation) signing(digest wallet.Digest) signing {
	d := &s.Delegation
	return signing{
		signer: d.From, digest: digest, signature: s.Signature, session: s.Session,
		scope: ScopeDelegate, server: d.Server, issuedAt: d.IssuedAt,
	}
}

// CheckSigner reports whether From signed the delegation, whose digest is
// given, or the key of a session that From signed for that.
func (s *SignedDelegation) CheckSigner(domain wallet.Domain, digest wallet.Digest) error {
	signing := s.signing(digest)
	if _, err := signing.check(wallet.Recover); err != nil {
		return Errorf(CodeSignature, "delegation: %v", err)
	}
	if s.Session == nil {
		return nil
	}
	return signing.checkSession(wallet.Recover, domain)
}

// signing gives what is to be checked of the result's signature: by whom d
// asks, for the server that d names.
func (s *SignedResult) signing(domain wallet.Domain, d *Delegation) signing {
	return signing{
		signer: d.To, digest: s.Result.Digest(domain), signature: s.Signature, session: s.Session,
		scope: ScopeAnswer, server: d.Server, issuedAt: s.Result.IssuedAt,
	}
}

// signature is one that a bundle has, and of what.
type signature struct {
	digest wallet.Digest
	sig    wallet.Signature
}

// recovered is who made a signature.
type recovered struct {
	address wallet.Address
	err     error
}

// recoverAll recovers every signature of the bundle once, on all processors:
// nothing else takes as long. What it gives looks them up.
func (v *verifier) recoverAll() recoverer {
	list := make([]signature, 0, 5*len(v.bundle.Hops))
	add := func(digest wallet.Digest, sig wallet.Signature) { list = append(list, signature{digest, sig}) }
	session := func(s *SignedSession) {
		if s != nil {
			add(s.Session.Digest(v.domain), s.Signature)
		}
	}
	for i := range v.bundle.Hops {
		hop := &v.bundle.Hops[i]
		add(v.digests[i], hop.Delegation.Signature)
		session(hop.Delegation.Session)
		if hop.Result != nil {
			add(v.results[i], hop.Result.Signature)
			session(hop.Result.Session)
		}
		if hop.Arrival != nil {
			add(hop.Arrival.Arrival.Digest(v.domain), hop.Arrival.Signature)
		}
	}
	// A session that lets its key sign many messages is one signature.
	known := make(map[signature]*recovered, len(list))
	unique := list[:0]
	for _, s := range list {
		if _, twice := known[s]; !twice {
			known[s] = new(recovered)
			unique = append(unique, s)
		}
	}
	results := make([]*recovered, len(unique))
	for i, s := range unique {
		results[i] = known[s]
	}
	var next atomic.Int64
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(unique)); i = next.Add(1) - 1 {
			results[i].address, results[i].err = wallet.Recover(unique[i].digest, unique[i].sig)
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(unique)) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return func(digest wallet.Digest, sig wallet.Signature) (wallet.Address, error) {
		if r := known[signature{digest, sig}]; r != nil {
			return r.address, r.err
		}
		return wallet.Recover(digest, sig)
	}
}
