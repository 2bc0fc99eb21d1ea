package wallet

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"
)

// Digest is a 32-byte Keccak-256 hash: of a content, of a typed-data struct,
// or the EIP-712 digest that is signed. Its text is 0x and 64 hex digits.
type Digest [32]byte

// Keccak256 hashes the parts one after the other.
func Keccak256(parts ...[]byte) Digest { return Digest(crypto.Keccak256(parts...)) }

// ParseDigest reads 0x and 64 hex digits in lower case.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	if err := parseHex(d[:], s); err != nil {
		return Digest{}, fmt.Errorf("digest: %w", err)
	}
	return d, nil
}

// IsZero reports whether d is 32 zero bytes, which stands for "none".
func (d Digest) IsZero() bool { return d == Digest{} }

func (d Digest) String() string { return "0x" + hex.EncodeToString(d[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is ParseDigest.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// SignatureLength is the length of a Signature in bytes.
const SignatureLength = 65

// Signature is r‖s‖v as wallets give it: v is 27 or 28, s in the lower half
// of the curve's order. Its text is 0x and 130 hex digits.
//
// A Signature is never an identity: (r, s, v) has a second form that recovers
// to the same address. Key by the digest that was signed.
type Signature [SignatureLength]byte

// ParseSignature reads 0x and 130 hex digits in lower case. It checks the length alone;
// Recover checks v and s.
func ParseSignature(s string) (Signature, error) {
	var sig Signature
	if err := parseHex(sig[:], s); err != nil {
		return Signature{}, fmt.Errorf("signature: %w", err)
	}
	return sig, nil
}

func (s Signature) String() string { return "0x" + hex.EncodeToString(s[:]) }

// IsZero reports whether s is all zero, which is no signature.
func (s Signature) IsZero() bool { return s == Signature{} }

// MarshalText implements [encoding.TextMarshaler].
func (s Signature) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSignature.
func (s *Signature) UnmarshalText(text []byte) error {
	parsed, err := ParseSignature(string(text))
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// Errors of Recover and Verify.
var (
	ErrSignatureV    = errors.New("signature: v must be 27 or 28")
	ErrSignatureS    = errors.New("signature: s is in the upper half of the curve's order")
	ErrSignatureForm = errors.New("signature: r and s are no point of the curve")
)

// SignerError says that a signature is well-formed but by somebody else.
type SignerError struct{ Want, Got Address }

func (e *SignerError) Error() string {
	return fmt.Sprintf("signature: made by %v, not by %v", e.Got, e.Want)
}

// halfOrder is N/2 of secp256k1: the largest s that is accepted, big endian.
// go-ethereum's recovery does not look at it, and its pure Go build accepts
// v up to 5, so both are checked here first.
var halfOrder = [32]byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// Recover gives the address whose key signed digest.
func Recover(digest Digest, sig Signature) (Address, error) {
	v := sig[64]
	if v != 27 && v != 28 {
		return Address{}, fmt.Errorf("%w, not %d", ErrSignatureV, v)
	}
	if bytes.Compare(sig[32:64], halfOrder[:]) > 0 {
		return Address{}, ErrSignatureS
	}
	sig[64] = v - 27 // sig is our own copy
	pub, err := crypto.Ecrecover(digest[:], sig[:])
	if err != nil {
		return Address{}, fmt.Errorf("%w (%v)", ErrSignatureForm, err)
	}
	// The first byte marks an uncompressed point and is not hashed.
	return Address(crypto.Keccak256(pub[1:])[12:]), nil
}

// Verify reports whether addr signed digest: nil, one of the errors above, or
// a *SignerError that names who did.
func Verify(addr Address, digest Digest, sig Signature) error {
	got, err := Recover(digest, sig)
	if err != nil {
		return err
	}
	if got != addr {
		return &SignerError{Want: addr, Got: got}
	}
	return nil
}

func parseHex(dst []byte, s string) error {
	if len(s) != 2+2*len(dst) || s[0] != '0' || s[1] != 'x' {
		return fmt.Errorf("want 0x and %d hex digits, not %d characters", 2*len(dst), len(s))
	}
	// One text for one value: a document in which a digit's case was changed
	// is a changed document.
	if i := strings.IndexFunc(s[2:], func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }); i >= 0 {
		return fmt.Errorf("want 0x and %d hex digits in lower case, not %q", 2*len(dst), s[2+i])
	}
	_, err := hex.Decode(dst, []byte(s[2:]))
	return err
}
