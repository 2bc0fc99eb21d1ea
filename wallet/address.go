package wallet

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
)

// AddressLength is the length of an Address in bytes.
const AddressLength = 20

// Address is an account's address: the last 20 bytes of the Keccak-256 hash
// of its public key. The zero value stands for "none".
//
// It marshals to its EIP-55 form (0x and 40 hex digits whose case is a
// checksum) and never to lower case.
type Address [AddressLength]byte

// Errors of ParseAddress, each wrapped in an *AddressError.
var (
	ErrAddressForm     = errors.New("want 0x and 40 hex digits")
	ErrAddressChecksum = errors.New("wrong EIP-55 checksum (all lower case is accepted too)")
)

// AddressError tells which text is no address, and why.
type AddressError struct {
	Text string // as it came
	Err  error  // ErrAddressForm or ErrAddressChecksum
}

func (e *AddressError) Error() string {
	text := e.Text
	if len(text) > 64 {
		text = text[:64] + "…"
	}
	return fmt.Sprintf("address %q: %v", text, e.Err)
}

func (e *AddressError) Unwrap() error { return e.Err }

// ParseAddress reads 0x and 40 hex digits. Digits in lower case are taken as
// they are; any upper-case digit makes the case a checksum, which must hold.
// The error is an *AddressError.
func ParseAddress(s string) (Address, error) {
	a, ok := FoldAddress(s)
	if !ok {
		return Address{}, &AddressError{s, ErrAddressForm}
	}
	for _, c := range s[2:] {
		if c >= 'A' && c <= 'F' {
			if a.String() != s {
				return Address{}, &AddressError{s, ErrAddressChecksum}
			}
			break
		}
	}
	return a, nil
}

// MustParseAddress is ParseAddress for constants; it panics on an error.
func MustParseAddress(s string) Address {
	a, err := ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

// FoldAddress reads 0x and 40 hex digits of any case and checks no checksum.
// It is for text that others wrote and that nobody acts upon, such as the
// events of a foreign stream; use ParseAddress for all else.
func FoldAddress(s string) (Address, bool) {
	var a Address
	if len(s) != 2+2*AddressLength || s[0] != '0' || s[1] != 'x' {
		return a, false
	}
	if _, err := hex.Decode(a[:], []byte(s[2:])); err != nil {
		return Address{}, false
	}
	return a, true
}

// IsZero reports whether a is the zero address, which stands for none.
func (a Address) IsZero() bool { return a == Address{} }

// String gives the EIP-55 form.
func (a Address) String() string { return string(a.appendText(nil)) }

// Short gives the first and last four digits, for people to recognise.
func (a Address) Short() string {
	s := a.String()
	return s[:6] + "…" + s[len(s)-4:]
}

func (a Address) appendText(b []byte) []byte {
	b = append(b, "0x"...)
	start := len(b)
	b = hex.AppendEncode(b, a[:])
	digits := b[start:]
	hash := crypto.Keccak256(digits)
	for i, c := range digits {
		nibble := hash[i/2] >> 4
		if i%2 == 1 {
			nibble = hash[i/2] & 0x0f
		}
		if c >= 'a' && nibble >= 8 {
			digits[i] = c - 'a' + 'A'
		}
	}
	return b
}

// AppendText implements [encoding.TextAppender].
func (a Address) AppendText(b []byte) ([]byte, error) { return a.appendText(b), nil }

// MarshalText implements [encoding.TextMarshaler].
func (a Address) MarshalText() ([]byte, error) { return a.appendText(nil), nil }

// UnmarshalText is ParseAddress.
func (a *Address) UnmarshalText(text []byte) error {
	parsed, err := ParseAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
