package wallet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

var errNoString = errors.New("want a JSON string")

// unquote gives the text of a JSON string. null is refused, which
// encoding/json would let pass by an UnmarshalText alone: [null] would read as a
// list of one zero address, and "signature": null as one that is there.
func unquote(data []byte) ([]byte, error) {
	if len(data) < 2 || data[0] != '"' {
		return nil, errNoString
	}
	if bytes.IndexByte(data, '\\') < 0 {
		return data[1 : len(data)-1], nil
	}
	var text string
	err := json.Unmarshal(data, &text)
	return []byte(text), err
}

// UnmarshalJSON reads a JSON string by ParseAddress; null is an error.
func (a *Address) UnmarshalJSON(data []byte) error {
	text, err := unquote(data)
	if err != nil {
		return &AddressError{string(data), err}
	}
	return a.UnmarshalText(text)
}

// UnmarshalJSON reads a JSON string by ParseDigest; null is an error.
func (d *Digest) UnmarshalJSON(data []byte) error {
	text, err := unquote(data)
	if err != nil {
		return fmt.Errorf("digest: %w", err)
	}
	return d.UnmarshalText(text)
}

// UnmarshalJSON reads a JSON string by ParseSignature; null is an error.
func (s *Signature) UnmarshalJSON(data []byte) error {
	text, err := unquote(data)
	if err != nil {
		return fmt.Errorf("signature: %w", err)
	}
	return s.UnmarshalText(text)
}

// UnmarshalJSON reads a JSON string by ParseAmount; null and numbers, which lose
// digits on the way, are errors.
func (a *Amount) UnmarshalJSON(data []byte) error {
	text, err := unquote(data)
	if err != nil {
		return fmt.Errorf("amount: %w", err)
	}
	return a.UnmarshalText(text)
}
