package swarm

import (
	"bytes"
	"encoding"
	"fmt"
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swarmseal/swarmseal/wallet"
)

// readValue reads a value of one of the types that signed documents are made
// of. What is optional has a pointer, and gets a new value. (No generic code:
// it is written out for each type in a program, and swarm is in every one.)
func readValue(dec *jsontext.Decoder, into any) error {
	switch into := into.(type) {
	case json.UnmarshalerFrom:
		return into.UnmarshalJSONFrom(dec)
	case **SignedSession:
		*into = new(SignedSession)
		return (*into).UnmarshalJSONFrom(dec)
	case **SignedResult:
		*into = new(SignedResult)
		return (*into).UnmarshalJSONFrom(dec)
	case **SignedArrival:
		*into = new(SignedArrival)
		return (*into).UnmarshalJSONFrom(dec)
	case *[]wallet.Digest:
		*into = []wallet.Digest{} // null and [] are not the same to others
		return readArray(dec, func() any { *into = append(*into, wallet.Digest{}); return &(*into)[len(*into)-1] })
	case *[]Attachment:
		*into = []Attachment{}
		return readArray(dec, func() any { *into = append(*into, Attachment{}); return &(*into)[len(*into)-1] })
	case *[]BundleHop:
		*into = []BundleHop{}
		return readArray(dec, func() any { *into = append(*into, BundleHop{}); return &(*into)[len(*into)-1] })
	case *[]Content:
		*into = []Content{}
		return readArray(dec, func() any { *into = append(*into, nil); return &(*into)[len(*into)-1] })
	case *[]string:
		*into = []string{}
		return readArray(dec, func() any { *into = append(*into, ""); return &(*into)[len(*into)-1] })
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if err := setScalar(into, raw); err != nil {
		return broken(dec, err)
	}
	return nil
}

func setScalar(into any, raw jsontext.Value) error {
	switch into := into.(type) {
	case *string:
		text, err := unquote(raw)
		*into = string(text)
		return err
	case encoding.TextUnmarshaler:
		text, err := unquote(raw)
		if err == nil {
			err = into.UnmarshalText(text)
		}
		return err
	case *bool:
		*into = raw.Kind() == 't'
		if !*into && raw.Kind() != 'f' {
			return fmt.Errorf("want true or false, not %s", kindOf(raw.Kind()))
		}
		return nil
	case *uint64:
		n, err := whole(raw, maxSafeInteger)
		*into = n
		return err
	case *uint32:
		n, err := whole(raw, math.MaxUint32)
		*into = uint32(n)
		return err
	case *uint8:
		n, err := whole(raw, math.MaxUint8)
		*into = uint8(n)
		return err
	}
	return fmt.Errorf("%T can't be read", into)
}

// unquote gives the text of a string, which may lie in raw.
func unquote(raw jsontext.Value) ([]byte, error) {
	if raw.Kind() != '"' {
		return nil, fmt.Errorf("want a string, not %s", kindOf(raw.Kind()))
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	return jsontext.AppendUnquote(nil, raw)
}

// whole reads a number as every language reads it alike: JavaScript rounds
// what is over 2^53-1, and 1.0 or 1e3 is no integer to others.
func whole(raw jsontext.Value, largest uint64) (uint64, error) {
	if raw.Kind() != '0' {
		return 0, fmt.Errorf("want a number, not %s", kindOf(raw.Kind()))
	}
	var n uint64
	for _, c := range raw {
		digit := uint64(c - '0')
		if digit > 9 || n > (largest-digit)/10 {
			return 0, fmt.Errorf("want a whole number from 0 to %d in digits, not %.30s", largest, raw)
		}
		n = n*10 + digit
	}
	return n, nil
}
