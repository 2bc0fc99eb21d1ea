package swarm

import (
	"context"
	"net/url"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// MaxRegistrationAge bounds expiresAt − issuedAt of a Registration, which is
// how long the document itself may be presented. What it registers stays
// until a later one revokes it.
const MaxRegistrationAge = 24 * time.Hour

// MaxEndpointBytes bounds the endpoint of a Registration.
const MaxEndpointBytes = 2048

// Registration puts an agent's card on a server. Wallet signs it, and Owner
// too where that is another address. A later one of the same wallet has a
// higher Seq and the same Owner (CheckNext).
//
// The first one of a wallet may name the wallet that it takes over from: a key
// is rotated, and the agent keeps its history. Whoever owned the agent before
// signs that as well (CheckReplaces). It goes for a stolen or lost key too,
// where the owner has another: the thief has not the owner's signature.
type Registration struct {
	Wallet    wallet.Address `json:"wallet"`
	Owner     wallet.Address `json:"owner"`
	Seq       uint64         `json:"seq"`      // rises strictly; Unix milliseconds do
	Endpoint  string         `json:"endpoint"` // an http or https URL where the agent can be reached by itself, or ""
	CardHash  wallet.Digest  `json:"cardHash"` // Keccak-256 of the card's text
	Replaces  wallet.Address `json:"replaces"` // the wallet that this one takes over from, or zero
	Active    bool           `json:"active"`   // false revokes
	IssuedAt  uint64         `json:"issuedAt"`
	ExpiresAt uint64         `json:"expiresAt"`
	Nonce     wallet.Digest  `json:"nonce"`
}

// Digest gives the digest that Wallet and Owner sign.
func (r *Registration) Digest(domain wallet.Domain) wallet.Digest {
	return wallet.TypedDigest(domain.Separator(), r.hash())
}

func (r *Registration) message(domain wallet.Domain) wallet.Message {
	return wallet.TypedMessage(domain, registrationTypeText, r.hash(), r)
}

func (r *Registration) hash() wallet.Digest {
	return wallet.NewEncoder(registrationType, 10).
		Address(r.Wallet).Address(r.Owner).Uint64(r.Seq).String(r.Endpoint).Bytes32(r.CardHash).
		Address(r.Replaces).Bool(r.Active).Uint64(r.IssuedAt).Uint64(r.ExpiresAt).Bytes32(r.Nonce).Sum()
}

// SignedRegistration is a registration as it travels. Card is the card's JSON
// as text, so that its bytes, which CardHash is of, come through any JSON
// library unchanged.
type SignedRegistration struct {
	Registration   Registration     `json:"registration"`
	Signature      wallet.Signature `json:"signature"`               // Wallet's
	OwnerSignature wallet.Signature `json:"ownerSignature,omitzero"` // Owner's, where that is another address
	// ReplacedSignature is that of the owner of the agent that is replaced, where
	// that is neither Wallet nor Owner.
	ReplacedSignature wallet.Signature `json:"replacedSignature,omitzero"`
	Card              string           `json:"card"`
}

// SignRegistration signs for an agent. Where r.Owner is zero, the agent is its
// own owner; else SignOwner adds the owner's signature.
func SignRegistration(ctx context.Context, s wallet.Signer, domain wallet.Domain, r Registration, card string) (*SignedRegistration, error) {
	if err := ownKey(s); err != nil {
		return nil, err
	}
	r.Wallet, r.CardHash = s.Address(), wallet.Keccak256([]byte(card))
	if r.Owner.IsZero() {
		r.Owner = r.Wallet
	}
	sig, err := s.Sign(ctx, r.message(domain))
	if err != nil {
		return nil, err
	}
	return &SignedRegistration{Registration: r, Signature: sig, Card: card}, nil
}

// SignOwner adds the owner's signature. An agent that is its own owner needs
// none.
func (s *SignedRegistration) SignOwner(ctx context.Context, owner wallet.Signer, domain wallet.Domain) error {
	r := &s.Registration
	if err := ownKey(owner); err != nil {
		return err
	}
	switch owner.Address() {
	case r.Wallet:
		return Errorf(CodeInvalid, "%v is its own owner, and has signed", r.Wallet)
	case r.Owner:
		sig, err := owner.Sign(ctx, r.message(domain))
		s.OwnerSignature = sig
		return err
	}
	return Errorf(CodeForbidden, "%v is not the owner, who is %v", owner.Address(), r.Owner)
}

// SignReplaced adds the signature of the owner of the agent that is replaced.
// It is needed where that is neither the wallet nor the owner of the new one.
func (s *SignedRegistration) SignReplaced(ctx context.Context, owner wallet.Signer, domain wallet.Domain) error {
	r := &s.Registration
	if err := ownKey(owner); err != nil {
		return err
	}
	switch {
	case r.Replaces.IsZero():
		return Errorf(CodeInvalid, "registration.replaces is zero: nobody is replaced")
	case owner.Address() == r.Wallet || owner.Address() == r.Owner:
		return Errorf(CodeInvalid, "%v signs the registration itself, which is enough", owner.Address())
	}
	sig, err := owner.Sign(ctx, r.message(domain))
	s.ReplacedSignature = sig
	return err
}

// Check reports whether r can stand by itself. It looks at no signature and no
// clock.
func (r *Registration) Check() error {
	switch {
	case r.Wallet.IsZero() || r.Owner.IsZero():
		return Errorf(CodeInvalid, "registration: wallet and owner must not be the zero address")
	case r.Replaces == r.Wallet:
		return Errorf(CodeInvalid, "registration.replaces is the wallet itself")
	case r.IssuedAt > maxSafeInteger || r.ExpiresAt > maxSafeInteger || r.Seq > maxSafeInteger:
		return Errorf(CodeInvalid, "registration: seq, issuedAt and expiresAt are at most 2^53-1")
	case r.ExpiresAt <= r.IssuedAt || r.ExpiresAt-r.IssuedAt > uint64(MaxRegistrationAge/time.Second):
		return Errorf(CodeInvalid, "registration: expiresAt must be 1 to %d s after issuedAt", MaxRegistrationAge/time.Second)
	}
	return checkEndpoint(r.Endpoint)
}

func checkEndpoint(text string) error {
	if text == "" {
		return nil
	}
	if len(text) > MaxEndpointBytes {
		return Errorf(CodeInvalid, "registration.endpoint has %d bytes; at most %d are allowed", len(text), MaxEndpointBytes)
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return Errorf(CodeInvalid, "registration.endpoint is %.80q; want an http or https URL with a host, no user and no fragment, or nothing", text)
	}
	return nil
}

// Verify checks bounds, time, signatures and the card's hash, and gives the
// card. Whether it may follow what is kept of the wallet is CheckNext's to say,
// and whether it may replace another, CheckReplaces'.
func (s *SignedRegistration) Verify(domain wallet.Domain, now time.Time) (*Card, error) {
	r := &s.Registration
	if err := r.Check(); err != nil {
		return nil, err
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
	switch owned := r.Owner != r.Wallet; {
	case owned:
		if err := wallet.Verify(r.Owner, digest, s.OwnerSignature); err != nil {
			return nil, Errorf(CodeSignature, "registration: owner's %v", err)
		}
	case !s.OwnerSignature.IsZero():
		return nil, Errorf(CodeInvalid, "registration: an ownerSignature, and the wallet is its own owner")
	}
	if r.Replaces.IsZero() && !s.ReplacedSignature.IsZero() {
		return nil, Errorf(CodeInvalid, "registration: a replacedSignature, and replaces is zero")
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

// CheckNext reports whether r may follow kept, the latest registration that is
// kept of the same wallet, or is the very same again, as a retry sends it. An
// old one that somebody replays is a conflict.
func (r *Registration) CheckNext(domain wallet.Domain, kept *Registration) (again bool, err error) {
	switch {
	case r.Wallet != kept.Wallet:
		return false, Errorf(CodeInvalid, "registration.wallet is %v; the one before is %v's", r.Wallet, kept.Wallet)
	case r.Digest(domain) == kept.Digest(domain):
		return true, nil
	case r.Owner != kept.Owner:
		return false, Errorf(CodeForbidden, "%v belongs to %v; the owner can't be changed but by taking over with another wallet", r.Wallet, kept.Owner)
	case r.Seq <= kept.Seq:
		return false, Errorf(CodeConflict, "registration.seq is %d; one with %d is kept, and seq must rise", r.Seq, kept.Seq)
	case !r.Replaces.IsZero():
		return false, Errorf(CodeConflict, "registration.replaces: %v is registered, and only a wallet's first registration may replace another", r.Wallet)
	}
	return false, nil
}

// CheckReplaces reports whether the registration may take over from old, the
// latest one that is kept of the wallet that it names: whoever owned that must
// have signed, as the wallet or owner of the new one, which Verify checks, or
// besides. seq goes on rising.
func (s *SignedRegistration) CheckReplaces(domain wallet.Domain, old *Registration) error {
	r := &s.Registration
	switch {
	case r.Replaces.IsZero() || r.Replaces != old.Wallet:
		return Errorf(CodeInvalid, "registration.replaces is %v, not %v", r.Replaces, old.Wallet)
	case r.Seq <= old.Seq:
		return Errorf(CodeConflict, "registration.seq is %d; %v has %d, and seq must rise", r.Seq, old.Wallet, old.Seq)
	}
	signs := old.Owner == r.Owner || old.Owner == r.Wallet
	switch {
	case signs && !s.ReplacedSignature.IsZero():
		return Errorf(CodeInvalid, "registration: a replacedSignature, and %v, who owned %v, signs the registration itself", old.Owner, old.Wallet)
	case signs:
		return nil
	}
	if err := wallet.Verify(old.Owner, r.Digest(domain), s.ReplacedSignature); err != nil {
		return Errorf(CodeSignature, "registration: the signature of %v's owner: %v", old.Wallet, err)
	}
	return nil
}
