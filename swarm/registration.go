package swarm

import (
	"context"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// MaxRegistrationAge bounds expiresAt − issuedAt of a Registration, which is
// how long the document itself may be presented. What it registers stays
// until a later one revokes it.
const MaxRegistrationAge = 24 * time.Hour

// Registration puts an agent's card on a server. Wallet signs it, and Owner
// too where that is another address. A later one has a higher Seq.
type Registration struct {
	Wallet    wallet.Address `json:"wallet"`
	Owner     wallet.Address `json:"owner"`
	Seq       uint64         `json:"seq"`      // rises strictly; Unix milliseconds do
	Endpoint  string         `json:"endpoint"` // where the agent can be reached by itself, or ""
	CardHash  wallet.Digest  `json:"cardHash"` // Keccak-256 of the card's text
	Replaces  wallet.Address `json:"replaces"` // the wallet that this one takes over from, or zero
	Active    bool           `json:"active"`   // false revokes
	IssuedAt  uint64         `json:"issuedAt"`
	ExpiresAt uint64         `json:"expiresAt"`
	Nonce     wallet.Digest  `json:"nonce"`
}

// Digest gives the digest that Wallet and Owner sign.
func (r *Registration) Digest(domain wallet.Digest) wallet.Digest {
	return wallet.TypedDigest(domain, r.structHash())
}

func (r *Registration) structHash() wallet.Digest {
	return wallet.NewEncoder(registrationType, 10).
		Address(r.Wallet).Address(r.Owner).Uint64(r.Seq).String(r.Endpoint).Bytes32(r.CardHash).
		Address(r.Replaces).Bool(r.Active).Uint64(r.IssuedAt).Uint64(r.ExpiresAt).Bytes32(r.Nonce).Sum()
}

// SignedRegistration is a registration as it travels. Card is the card's JSON
// as text, so that its bytes, which CardHash is of, come through any JSON
// library unchanged.
type SignedRegistration struct {
	Registration   Registration     `json:"registration"`
	Signature      wallet.Signature `json:"signature"`
	OwnerSignature wallet.Signature `json:"ownerSignature,omitzero"`
	Card           string           `json:"card"`
}

// SignRegistration signs for an agent that is its own owner.
func SignRegistration(ctx context.Context, s wallet.Signer, domain wallet.Digest, r Registration, card string) (*SignedRegistration, error) {
	r.Wallet, r.Owner, r.CardHash = s.Address(), s.Address(), wallet.Keccak256([]byte(card))
	sig, err := s.SignDigest(ctx, r.Digest(domain))
	if err != nil {
		return nil, err
	}
	return &SignedRegistration{Registration: r, Signature: sig, Card: card}, nil
}

// Verify checks time, signatures and the card's hash, and gives the card.
func (s *SignedRegistration) Verify(domain wallet.Digest, now time.Time) (*Card, error) {
	r := &s.Registration
	if r.IssuedAt > maxSafeInteger || r.ExpiresAt > maxSafeInteger || r.Seq > maxSafeInteger {
		return nil, Errorf(CodeInvalid, "registration: seq, issuedAt and expiresAt are at most 2^53-1")
	}
	if r.ExpiresAt <= r.IssuedAt || r.ExpiresAt-r.IssuedAt > uint64(MaxRegistrationAge/time.Second) {
		return nil, Errorf(CodeInvalid, "registration: expiresAt must be 1 to %d s after issuedAt", MaxRegistrationAge/time.Second)
	}
	if err := CheckTime(r.IssuedAt, r.ExpiresAt, now); err != nil {
		return nil, err
	}
	if got := wallet.Keccak256([]byte(s.Card)); got != r.CardHash {
		return nil, Errorf(CodeSignature, "registration.cardHash is not the Keccak-256 of the card that came (%v)", got)
	}
	digest := r.Digest(domain)
	if err := wallet.Verify(r.Wallet, digest, s.Signature); err != nil {
		return nil, Errorf(CodeSignature, "registration: wallet's %v", err)
	}
	if r.Owner != r.Wallet {
		if err := wallet.Verify(r.Owner, digest, s.OwnerSignature); err != nil {
			return nil, Errorf(CodeSignature, "registration: owner's %v", err)
		}
	}
	card, err := ParseCard([]byte(s.Card))
	if err != nil {
		return nil, err
	}
	if card.Wallet != r.Wallet {
		return nil, Errorf(CodeInvalid, "card.wallet is %v; the registration is for %v", card.Wallet, r.Wallet)
	}
	return card, nil
}

// MaxSessionAge bounds expiresAt − issuedAt of a Session.
const MaxSessionAge = 24 * time.Hour

// ScopeWorker lets a session hold its wallet's inbox, post a run's events and
// read what its wallet asked for. It is the one scope there is.
const ScopeWorker = "worker"

// Session signs a program in: the server gives a bearer token for the wallet.
type Session struct {
	Origin     string         `json:"origin"` // the server's address, as in SessionOrigin
	Wallet     wallet.Address `json:"wallet"`
	SessionKey wallet.Address `json:"sessionKey"` // zero: the wallet signs all messages itself
	Scope      []string       `json:"scope"`
	IssuedAt   uint64         `json:"issuedAt"`
	ExpiresAt  uint64         `json:"expiresAt"`
	Nonce      wallet.Digest  `json:"nonce"` // used once
}

// SessionOrigin is the Origin of a session with a server: bound to the
// server's key rather than to a host name, which a program can't check.
func SessionOrigin(server wallet.Address) string { return "swarmseal:" + server.String() }

// Digest gives the digest that Wallet signs.
func (s *Session) Digest(domain wallet.Digest) wallet.Digest {
	return wallet.TypedDigest(domain, s.structHash())
}

func (s *Session) structHash() wallet.Digest {
	scopes := make([]wallet.Digest, len(s.Scope))
	for i, scope := range s.Scope {
		scopes[i] = wallet.Keccak256([]byte(scope))
	}
	return wallet.NewEncoder(sessionType, 7).
		String(s.Origin).Address(s.Wallet).Address(s.SessionKey).Array(scopes).
		Uint64(s.IssuedAt).Uint64(s.ExpiresAt).Bytes32(s.Nonce).Sum()
}

// SignedSession is a session as it travels.
type SignedSession struct {
	Session   Session          `json:"session"`
	Signature wallet.Signature `json:"signature"`
}

// SignSession signs a session.
func SignSession(ctx context.Context, s wallet.Signer, domain wallet.Digest, session Session) (*SignedSession, error) {
	session.Wallet = s.Address()
	sig, err := s.SignDigest(ctx, session.Digest(domain))
	if err != nil {
		return nil, err
	}
	return &SignedSession{Session: session, Signature: sig}, nil
}

// Verify checks bounds, time, origin and signature. Whether the nonce was
// used before is the server's to know.
func (s *SignedSession) Verify(domain wallet.Digest, origin string, now time.Time) error {
	session := &s.Session
	switch {
	case session.Origin != origin:
		return Errorf(CodeUnauthenticated, "session.origin is %q; this server's is %q", session.Origin, origin)
	case !session.SessionKey.IsZero():
		return Errorf(CodeInvalid, "session.sessionKey must be zero: this server takes no session keys")
	case len(session.Scope) != 1 || session.Scope[0] != ScopeWorker:
		return Errorf(CodeInvalid, "session.scope must be [%q]", ScopeWorker)
	case session.IssuedAt > maxSafeInteger || session.ExpiresAt > maxSafeInteger:
		return Errorf(CodeInvalid, "session: issuedAt and expiresAt are at most 2^53-1")
	case session.ExpiresAt <= session.IssuedAt || session.ExpiresAt-session.IssuedAt > uint64(MaxSessionAge/time.Second):
		return Errorf(CodeInvalid, "session: expiresAt must be 1 to %d s after issuedAt", MaxSessionAge/time.Second)
	}
	if err := CheckTime(session.IssuedAt, session.ExpiresAt, now); err != nil {
		return err
	}
	if err := wallet.Verify(session.Wallet, session.Digest(domain), s.Signature); err != nil {
		return Errorf(CodeSignature, "session: %v", err)
	}
	return nil
}
