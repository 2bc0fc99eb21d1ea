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
	if err := ownKey(s); err != nil {
		return nil, err
	}
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
