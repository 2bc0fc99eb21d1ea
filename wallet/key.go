package wallet

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
)

const redacted = "REDACTED"

// Key is a private key in memory, and a Signer. However it is printed,
// logged or marshalled, it shows as REDACTED.
type Key struct {
	// secret is a function, since dumpers that look into unexported fields by
	// reflection can't look into that.
	secret  func() *ecdsa.PrivateKey
	address Address
}

// NewKey makes a key from the system's random source.
func NewKey() (*Key, error) {
	secret, err := crypto.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	return newKey(secret), nil
}

// ParseKey reads a private key: 64 hex digits, with or without 0x. The error
// never has the text in it.
func ParseKey(s string) (*Key, error) {
	secret, err := crypto.HexToECDSA(strings.TrimPrefix(strings.TrimSpace(s), "0x"))
	if err != nil {
		// The library's error may quote a digit of the secret.
		return nil, errors.New("key: want 64 hex digits of a number from 1 to the curve's order less 1")
	}
	return newKey(secret), nil
}

func newKey(secret *ecdsa.PrivateKey) *Key {
	return &Key{secret: func() *ecdsa.PrivateKey { return secret }, address: Address(crypto.PubkeyToAddress(secret.PublicKey))}
}

// Address gives the address that the key signs for.
func (k *Key) Address() Address { return k.address }

// Sign implements Signer. It never blocks and ignores ctx.
func (k *Key) Sign(ctx context.Context, m Message) (Signature, error) {
	if m.IsZero() {
		return Signature{}, ErrNoMessage
	}
	return k.SignDigest(ctx, m.Digest())
}

// SignDigest signs a digest that is no Message's: only a key in memory can. It
// never blocks and ignores ctx.
func (k *Key) SignDigest(_ context.Context, digest Digest) (Signature, error) {
	raw, err := crypto.Sign(digest[:], k.secret())
	if err != nil {
		return Signature{}, fmt.Errorf("sign: %w", err)
	}
	sig := Signature(raw)
	sig[64] += 27
	return sig, nil
}

// String gives REDACTED and the address.
func (k *Key) String() string {
	if k == nil {
		return "Key(nil)"
	}
	return "Key(" + redacted + ", " + k.address.String() + ")"
}

// Format prints as String does for every verb: %x or %#v would reach the secret.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// LogValue implements [slog.LogValuer].
func (k *Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Reveal gives the secret itself, as 0x and 64 hex digits: the one way by which
// it leaves in the open, for people who move it to another wallet.
func (k *Key) Reveal() string { return "0x" + hex.EncodeToString(crypto.FromECDSA(k.secret())) }

// MarshalJSON gives "REDACTED": a key leaves only through EncryptKey and Reveal.
func (k *Key) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText gives REDACTED, for encoders of other formats.
func (k *Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }
