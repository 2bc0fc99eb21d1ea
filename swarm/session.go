package swarm

import (
	"context"
	"slices"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// MaxSessionAge bounds expiresAt − issuedAt of a Session.
const MaxSessionAge = 24 * time.Hour

// The scopes of a session: what it is good for.
const (
	// ScopeWorker signs its wallet in: to hold its inbox, post a run's events
	// and read what the wallet asked for.
	ScopeWorker = "worker"
	// ScopeDelegate lets the session key sign delegations.
	ScopeDelegate = "delegate"
	// ScopeAnswer lets the session key sign results.
	ScopeAnswer = "answer"
)

// Session is what a wallet signs once so that it need not sign each message:
// a server gives a bearer token for it, and a key that it names signs
// delegations and results in the wallet's place.
type Session struct {
	Origin     string         `json:"origin"` // the server's address, as in SessionOrigin
	Wallet     wallet.Address `json:"wallet"`
	SessionKey wallet.Address `json:"sessionKey"` // zero: the wallet signs all messages itself
	Scope      []string       `json:"scope"`      // one or more of the scopes, each once
	IssuedAt   uint64         `json:"issuedAt"`
	ExpiresAt  uint64         `json:"expiresAt"`
	Nonce      wallet.Digest  `json:"nonce"` // used once
}

// SessionOrigin is the Origin of a session with a server: bound to the
// server's key rather than to a host name, which a program can't check.
func SessionOrigin(server wallet.Address) string { return "swarmseal:" + server.String() }

// Digest gives the digest that Wallet signs.
func (s *Session) Digest(domain wallet.Domain) wallet.Digest {
	return wallet.TypedDigest(domain.Separator(), s.hash())
}

func (s *Session) message(domain wallet.Domain) wallet.Message {
	return wallet.TypedMessage(domain, sessionTypeText, s.hash(), s)
}

func (s *Session) hash() wallet.Digest {
	scopes := make([]wallet.Digest, len(s.Scope))
	for i, scope := range s.Scope {
		scopes[i] = wallet.Keccak256([]byte(scope))
	}
	return wallet.NewEncoder(sessionType, 7).
		String(s.Origin).Address(s.Wallet).Address(s.SessionKey).Array(scopes).
		Uint64(s.IssuedAt).Uint64(s.ExpiresAt).Bytes32(s.Nonce).Sum()
}

// Allows reports whether the session is good for a scope.
func (s *Session) Allows(scope string) bool { return slices.Contains(s.Scope, scope) }

// check reports whether the session can stand by itself. It looks at no
// signature and no clock.
func (s *Session) check() error {
	for i, scope := range s.Scope {
		if scope != ScopeWorker && scope != ScopeDelegate && scope != ScopeAnswer {
			return Errorf(CodeInvalid, "session.scope[%d] is %.40q; want %q, %q or %q", i, scope, ScopeWorker, ScopeDelegate, ScopeAnswer)
		}
		if slices.Contains(s.Scope[:i], scope) {
			return Errorf(CodeInvalid, "session.scope has %q twice", scope)
		}
	}
	keyed := s.Allows(ScopeDelegate) || s.Allows(ScopeAnswer)
	switch {
	case len(s.Scope) == 0:
		return Errorf(CodeInvalid, "session.scope is empty; want one or more of %q, %q and %q", ScopeWorker, ScopeDelegate, ScopeAnswer)
	case s.Wallet.IsZero():
		return Errorf(CodeInvalid, "session.wallet must not be the zero address")
	case keyed == s.SessionKey.IsZero():
		return Errorf(CodeInvalid, "session.sessionKey and the scopes %q and %q come together: the key is what they let sign", ScopeDelegate, ScopeAnswer)
	case s.SessionKey == s.Wallet:
		return Errorf(CodeInvalid, "session.sessionKey is the wallet itself, which needs no session to sign")
	case s.IssuedAt > maxSafeInteger || s.ExpiresAt > maxSafeInteger:
		return Errorf(CodeInvalid, "session: issuedAt and expiresAt are at most 2^53-1")
	case s.ExpiresAt <= s.IssuedAt || s.ExpiresAt-s.IssuedAt > uint64(MaxSessionAge/time.Second):
		return Errorf(CodeInvalid, "session: expiresAt must be 1 to %d s after issuedAt", MaxSessionAge/time.Second)
	}
	return nil
}

// SignedSession is a session as it travels.
type SignedSession struct {
	Session   Session          `json:"session"`
	Signature wallet.Signature `json:"signature"` // Wallet's
	// KeySignature is the session key's, of the same digest. It is there to
	// sign in with a session that names a key, and never travels with a message:
	// bundles show the session to everyone, and none of them can sign in with it.
	KeySignature wallet.Signature `json:"keySignature,omitzero"`
}

// SignSession signs a session for s's address. SignKey makes one with a
// session key fit to sign in with.
func SignSession(ctx context.Context, s wallet.Signer, domain wallet.Domain, session Session) (*SignedSession, error) {
	if err := ownKey(s); err != nil {
		return nil, err
	}
	session.Wallet = s.Address()
	if session.Scope == nil {
		session.Scope = []string{}
	}
	sig, err := s.Sign(ctx, session.message(domain))
	if err != nil {
		return nil, err
	}
	return &SignedSession{Session: session, Signature: sig}, nil
}

// SignKey adds the session key's own signature.
func (s *SignedSession) SignKey(ctx context.Context, key wallet.Signer, domain wallet.Domain) error {
	if key.Address() != s.Session.SessionKey {
		return Errorf(CodeForbidden, "%v is not the session key, which is %v", key.Address(), s.Session.SessionKey)
	}
	sig, err := key.Sign(ctx, s.Session.message(domain))
	s.KeySignature = sig
	return err
}

// Verify checks a session that somebody signs in with: bounds, time, origin,
// the scope "worker", and the signature; where it names a session key, that
// key's too. Whether the nonce was used before is the server's to know.
func (s *SignedSession) Verify(domain wallet.Domain, origin string, now time.Time) error {
	session := &s.Session
	if session.Origin != origin {
		return Errorf(CodeUnauthenticated, "session.origin is %q; this server's is %q", session.Origin, origin)
	}
	if err := session.check(); err != nil {
		return err
	}
	if !session.Allows(ScopeWorker) {
		return Errorf(CodeForbidden, "session.scope lacks %q, which signing in needs", ScopeWorker)
	}
	if err := CheckTime(session.IssuedAt, session.ExpiresAt, now); err != nil {
		return err
	}
	digest := session.Digest(domain)
	if err := wallet.Verify(session.Wallet, digest, s.Signature); err != nil {
		return Errorf(CodeSignature, "session: %v", err)
	}
	switch keyed := !session.SessionKey.IsZero(); {
	case !keyed && !s.KeySignature.IsZero():
		return Errorf(CodeInvalid, "session: a keySignature, and no sessionKey")
	case keyed:
		if err := wallet.Verify(session.SessionKey, digest, s.KeySignature); err != nil {
			return Errorf(CodeSignature, "session: keySignature: %v", err)
		}
	}
	return nil
}

// SessionSigner signs delegations and results with the key of a session, in
// the place of the session's wallet: what it signs carries the session.
// SignDelegation and SignResult take it; nothing else that it signs would hold.
type SessionSigner struct {
	Key     wallet.Signer // of the session's SessionKey
	Session *SignedSession
}

// Address gives the wallet that is signed for.
func (s *SessionSigner) Address() wallet.Address { return s.Session.Session.Wallet }

// Sign signs with the session's key.
func (s *SessionSigner) Sign(ctx context.Context, m wallet.Message) (wallet.Signature, error) {
	return s.Key.Sign(ctx, m)
}

// ownKey refuses a session's key where only the wallet's own will do.
func ownKey(s wallet.Signer) error {
	if keyed, ok := s.(*SessionSigner); ok {
		return Errorf(CodeForbidden, "%v must sign this itself: a session's key signs delegations and results alone", keyed.Address())
	}
	return nil
}

// sessionOf gives what a message signed by s carries.
func sessionOf(s wallet.Signer) *SignedSession {
	keyed, ok := s.(*SessionSigner)
	if !ok {
		return nil
	}
	carried := *keyed.Session
	carried.KeySignature = wallet.Signature{}
	return &carried
}

// Custody says whose key signed a message.
type Custody string

// The keepers of a key.
const (
	CustodyWallet  Custody = "wallet"  // the sender's own
	CustodySession Custody = "session" // a session's, that the sender signed
	// CustodyServer is the server's own key: it asked or answered on behalf of
	// somebody, who did not sign this message.
	CustodyServer Custody = "server"
)

// signing is what must hold of who signed a message: a wallet, or a session key
// for it.
type signing struct {
	signer   wallet.Address // who must have
	session  *SignedSession // nil: the wallet itself
	scope    string         // what the session must allow
	server   wallet.Address // whom the session must be for
	issuedAt uint64         // of the message
}

// recover gives who signed the session.
func (s *SignedSession) recover(domain wallet.Domain) recovered {
	return recoverSigner(s.Session.Digest(domain), s.Signature)
}

// check reports whose key signed, and what is wrong with the signature.
func (s *signing) check(got recovered) (Custody, error) {
	key, custody := s.signer, CustodyWallet
	if s.session != nil {
		key, custody = s.session.Session.SessionKey, CustodySession
	}
	if key == s.server {
		custody = CustodyServer
	}
	return custody, got.is(key)
}

// checkSession reports whether the session, which got signed, lets its key sign
// the message.
func (s *signing) checkSession(got recovered) error {
	session := &s.session.Session
	if err := session.check(); err != nil {
		return err
	}
	switch origin := SessionOrigin(s.server); {
	case session.Wallet != s.signer:
		return Errorf(CodeForbidden, "the session is %v's, not %v's", session.Wallet, s.signer)
	case session.Origin != origin:
		return Errorf(CodeForbidden, "session.origin is %.80q; the message is for %q", session.Origin, origin)
	case !session.Allows(s.scope):
		return Errorf(CodeForbidden, "session.scope lacks %q, which signing this needs", s.scope)
	case !s.session.KeySignature.IsZero():
		return Errorf(CodeInvalid, "session.keySignature is for signing in, and must not travel with a message")
	}
	// The message's own time is all the clock there is here.
	early := session.IssuedAt > s.issuedAt && session.IssuedAt-s.issuedAt > uint64(Skew/time.Second)
	if early || s.issuedAt >= session.ExpiresAt {
		return Errorf(CodeExpired, "issued at %d, outside the session, which is good from %d (and %v before) to %d, that second excluded",
			s.issuedAt, session.IssuedAt, Skew, session.ExpiresAt)
	}
	if err := got.is(session.Wallet); err != nil {
		return Errorf(CodeSignature, "session: %v", err)
	}
	return nil
}
