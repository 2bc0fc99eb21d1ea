package signin

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// MessageAge is how long after its Issued At a message may be presented.
const MessageAge = 5 * time.Minute

// Nonces remembers what may be used once.
type Nonces interface {
	// Use marks a key as used until it may be forgotten, and reports whether it
	// was unused before; both in one step, for all nodes of a server. A key has
	// printable ASCII without spaces, at most 256 bytes.
	Use(ctx context.Context, key string, until time.Time) (fresh bool, err error)
}

// maxNonce bounds a nonce, in bytes.
const maxNonce = 128

// Site is what a server that people sign in to expects of their messages.
type Site struct {
	// Origins are the pages from which people may sign in, as a browser's Origin
	// header has them: "https://swarm.example", "http://127.0.0.1:8420".
	Origins []string
	// URIs are the server's own origins, in the same form: a message for another
	// server does not count here. Empty means Origins.
	URIs    []string
	ChainID uint64
	Nonces  Nonces
}

// SignedIn is who signed in, and until when.
type SignedIn struct {
	Wallet    wallet.Address
	ExpiresAt time.Time // the message's, or swarm.MaxSessionAge after its Issued At
}

// Verify checks a message that a person signed: its form, the page it was
// signed on, the server and chain that it is for, its times, the signature over
// its exact bytes, and, last of all, that its nonce was not used before. Errors
// are *swarm.Errors, save those of Nonces.
//
// A message is valid from its Issued At and its Not Before (each swarm.Skew
// early) for MessageAge, and before its Expiration Time.
func (s *Site) Verify(ctx context.Context, text string, sig wallet.Signature) (*SignedIn, error) {
	m, err := ParseMessage(text)
	if err != nil {
		return nil, err
	}
	if err := s.check(m); err != nil {
		return nil, err
	}
	now := time.Now()
	in, err := m.times(now)
	if err != nil {
		return nil, err
	}
	if err := wallet.Verify(m.Address, wallet.PersonalMessage(text).Digest(), sig); err != nil {
		return nil, swarm.Errorf(swarm.CodeSignature, "sign-in message: %v", err)
	}
	key := "siwe:" + m.Address.String() + ":" + m.Nonce
	if err := use(ctx, s.Nonces, key, m.IssuedAt.Add(MessageAge)); err != nil {
		return nil, err
	}
	return in, nil
}

// use takes a nonce, once everything else is valid: what fails burns none.
func use(ctx context.Context, nonces Nonces, key string, until time.Time) error {
	fresh, err := nonces.Use(ctx, key, until)
	if err == nil && !fresh {
		err = swarm.Errorf(swarm.CodeNonceConflict, "the nonce was used before: sign anew with another")
	}
	return err
}

// check compares the message with the site.
func (s *Site) check(m *Message) error {
	scheme := m.Scheme
	if scheme == "" {
		scheme = "https"
	}
	if origin := strings.ToLower(scheme + "://" + m.Domain); !slices.ContainsFunc(s.Origins, isOrigin(origin)) {
		return swarm.Errorf(swarm.CodeUnauthenticated, "the message was signed on %.80q; people sign in here from %q", origin, s.Origins)
	}
	own := s.URIs
	if len(own) == 0 {
		own = s.Origins
	}
	u, err := url.Parse(m.URI)
	if err != nil || u.User != nil || !slices.ContainsFunc(own, isOrigin(strings.ToLower(u.Scheme+"://"+u.Host))) {
		return swarm.Errorf(swarm.CodeUnauthenticated, "the message signs in to %.80q; this server is %q", m.URI, own)
	}
	if m.ChainID != s.ChainID {
		return swarm.Errorf(swarm.CodeUnauthenticated, "the message is for chain %d; this server's is %d", m.ChainID, s.ChainID)
	}
	return nil
}

// isOrigin compares origins, which may name their scheme's port or not.
func isOrigin(got string) func(string) bool {
	return func(own string) bool { return bareOrigin(own) == bareOrigin(got) }
}

func bareOrigin(origin string) string {
	origin = strings.ToLower(origin)
	if host, ok := strings.CutPrefix(origin, "https://"); ok {
		return "https://" + strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(origin, ":80")
}

// times reports whether the message may be presented now, and until when it
// signs in.
func (m *Message) times(now time.Time) (*SignedIn, error) {
	expires := m.IssuedAt.Add(swarm.MaxSessionAge)
	if !m.ExpirationTime.IsZero() {
		expires = m.ExpirationTime
	}
	refuse := func(format string, args ...any) (*SignedIn, error) {
		return nil, swarm.Errorf(swarm.CodeExpired, "sign-in message: "+format, args...)
	}
	switch latest := now.Add(swarm.Skew); {
	case m.IssuedAt.After(latest):
		return refuse("issued at %s, and it is %s here: a clock may be ahead by %v at most", timeText(m.IssuedAt), timeText(now), swarm.Skew)
	case m.NotBefore.After(latest):
		return refuse("not valid before %s, and it is %s here", timeText(m.NotBefore), timeText(now))
	case !now.Before(m.IssuedAt.Add(MessageAge)):
		return refuse("issued at %s, and it may be presented for %v: it is %s here", timeText(m.IssuedAt), MessageAge, timeText(now))
	case !now.Before(expires):
		return refuse("expired at %s; it is %s here", timeText(expires), timeText(now))
	case expires.Sub(m.IssuedAt) > swarm.MaxSessionAge:
		return nil, swarm.Errorf(swarm.CodeInvalid, "sign-in message: it expires %v after it was issued; at most %v are allowed",
			expires.Sub(m.IssuedAt), swarm.MaxSessionAge)
	}
	return &SignedIn{Wallet: m.Address, ExpiresAt: expires}, nil
}
