package wallet_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/wallet"
)

// Faults that others shipped: texts that their software took for an address or
// a signature, or for another one than it was.

// readers are the two JSON libraries that are used here.
var readers = map[string]func(data []byte, v any) error{
	"encoding/json":           json.Unmarshal,
	"go-json-experiment/json": func(data []byte, v any) error { return json2.Unmarshal(data, v) },
}

// newOf gives something of a kind to read into.
func newOf(kind string) any {
	return map[string]any{
		"address": new(wallet.Address), "digest": new(wallet.Digest), "signature": new(wallet.Signature), "amount": new(wallet.Amount),
		"addresses": new([]wallet.Address), "digests": new([]wallet.Digest), "signatures": new([]wallet.Signature), "amounts": new([]wallet.Amount),
		"addresses by address": new(map[wallet.Address]wallet.Address), "struct": new(struct{ From wallet.Address }),
	}[kind]
}

func TestFaultsOfText(t *testing.T) {
	const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	digits := address[2:]
	hash := "0x" + strings.Repeat("ab", 32)
	sig := "0x" + strings.Repeat("ab", 64) + "1b"
	for _, c := range []struct {
		name, kind, text string
		want             error // nil for any
	}{
		{"wrong checksum", "address", `"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"`, wallet.ErrAddressChecksum},
		{"upper case", "address", `"0x` + strings.ToUpper(digits) + `"`, wallet.ErrAddressChecksum},
		{"upper case but for one digit", "address", `"0x` + strings.ToUpper(digits[:39]) + `d"`, wallet.ErrAddressChecksum},
		{"0X", "address", `"0X` + digits + `"`, wallet.ErrAddressForm},
		{"without 0x", "address", `"` + digits + `"`, wallet.ErrAddressForm},
		{"without 0x, in lower case", "address", `"` + strings.ToLower(digits) + `"`, wallet.ErrAddressForm},
		{"without 0x, in upper case", "address", `"` + strings.ToUpper(digits) + `"`, wallet.ErrAddressForm},
		{"a digit short, which others pad", "address", `"0x` + digits[1:] + `"`, wallet.ErrAddressForm},
		{"long, which others crop", "address", `"0x00` + digits + `"`, wallet.ErrAddressForm},
		{"a word of the ABI", "address", `"0x` + strings.Repeat("0", 24) + strings.ToLower(digits) + `"`, wallet.ErrAddressForm},
		{"no hex, which others take for zero", "address", `"zz"`, wallet.ErrAddressForm},
		{"empty, which others take for zero", "address", `""`, wallet.ErrAddressForm},
		{"0x, which others take for zero", "address", `"0x"`, wallet.ErrAddressForm},
		{"white space", "address", `" ` + address + `"`, wallet.ErrAddressForm},
		{"a line feed behind", "address", `"` + address + `\n"`, wallet.ErrAddressForm},
		{"a lone surrogate", "address", `"` + address + `\ud800"`, nil},
		{"a name", "address", `"vitalik.eth"`, wallet.ErrAddressForm},
		{"ICAP", "address", `"XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS"`, wallet.ErrAddressForm},
		{"a number", "address", `518398`, nil},
		{"null", "address", `null`, nil},
		{"a list", "address", `["` + address + `"]`, nil},
		{"null in a list", "addresses", `[null]`, nil},
		{"null behind one", "addresses", `["` + address + `",null]`, nil},
		{"null in an object", "struct", `{"From":null}`, nil},
		{"null by address", "addresses by address", `{"` + address + `":null}`, nil},
		{"wrong checksum as a name", "addresses by address", `{"0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed":"` + address + `"}`, wallet.ErrAddressChecksum},

		{"digest in upper case", "digest", `"0x` + strings.Repeat("AB", 32) + `"`, nil},
		{"digest without 0x", "digest", `"` + hash[2:] + `"`, nil},
		{"digest null", "digest", `null`, nil},
		{"digests null", "digests", `[null]`, nil},
		{"digest short", "digest", `"0x"`, nil},

		{"2 bytes", "signature", `"0x1b1c"`, nil},
		{"no bytes", "signature", `"0x"`, nil},
		{"64 bytes", "signature", `"` + sig[:130] + `"`, nil},
		{"66 bytes", "signature", `"` + sig + `00"`, nil},
		{"64 bytes and v with 0x before it", "signature", `"` + sig[:130] + `0x1b"`, nil},
		{"signature in upper case", "signature", `"0x` + strings.ToUpper(sig[2:]) + `"`, nil},
		{"signature without 0x", "signature", `"` + sig[2:] + `"`, nil},
		{"signature as bytes", "signature", `[27,28]`, nil},
		{"signature of r, s and v", "signature", `{"r":"0x01","s":"0x01","v":27}`, nil},
		{"signature null", "signature", `null`, nil},
		{"signatures null", "signatures", `["` + sig + `",null]`, nil},

		{"amount over 2^53 as a number", "amount", `9007199254740993`, nil},
		{"amount as a small number", "amount", `1`, nil},
		{"amount with an exponent", "amount", `"1e3"`, nil},
		{"amount in hex", "amount", `"0x1"`, nil},
		{"amount below zero", "amount", `"-1"`, nil},
		{"amount null", "amount", `null`, nil},
		{"amounts null", "amounts", `[null]`, nil},
	} {
		for by, read := range readers {
			if err := read([]byte(c.text), newOf(c.kind)); err == nil || !errors.Is(err, c.want) && c.want != nil {
				t.Errorf("%s: %s reads %s as %s: %v; want %v", c.name, by, c.text, c.kind, err, c.want)
			}
		}
	}
	for kind, text := range map[string]string{
		"address": `"` + address + `"`, "addresses": `["` + strings.ToLower(address) + `"]`, "digest": `"` + hash + `"`, "signature": `"` + sig + `"`,
		"amount": `"9007199254740993"`, "addresses by address": `{"` + address + `":"` + address + `"}`, "struct": `{"From":"0\u0078` + digits + `"}`,
	} {
		for by, read := range readers {
			if err := read([]byte(text), newOf(kind)); err != nil {
				t.Errorf("%s reads %s as %s: %v", by, text, kind, err)
			}
		}
	}
}

// compact gives the 64-byte form of EIP-2098: v's bit stands atop s.
func compact(sig wallet.Signature) []byte {
	short := append([]byte(nil), sig[:64]...)
	short[32] |= (sig[64] - 27) << 7
	return short
}

// One message and key have one signature that holds: none of its other forms
// does, for this address or for any other.
func TestFaultsOfSignatures(t *testing.T) {
	key := mustKey(t, knownKey)
	parities := map[byte]bool{}
	for _, text := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		m := wallet.PersonalMessage(text)
		good, err := key.Sign(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		parities[good[64]] = true
		withV := func(v byte) wallet.Signature { s := good; s[64] = v; return s }
		fromCompact := func(v byte) wallet.Signature {
			var s wallet.Signature
			copy(s[:], compact(good))
			s[64] = v
			return s
		}
		cases := map[string]struct {
			sig  wallet.Signature
			want error
		}{
			"high s":           {twin(good), wallet.ErrSignatureS},
			"high s, v 0 or 1": {func() wallet.Signature { s := twin(good); s[64] -= 27; return s }(), wallet.ErrSignatureV},
			"v 0":              {withV(0), wallet.ErrSignatureV}, "v 1": {withV(1), wallet.ErrSignatureV},
			"v 2": {withV(2), wallet.ErrSignatureV}, "v 3": {withV(3), wallet.ErrSignatureV},
			"v 4": {withV(4), wallet.ErrSignatureV}, "v 5": {withV(5), wallet.ErrSignatureV},
			"v 29": {withV(29), wallet.ErrSignatureV}, "v 31": {withV(31), wallet.ErrSignatureV}, // 31 and 32 are Bitcoin's, for compressed keys
			"v 35": {withV(35), wallet.ErrSignatureV}, "v 37": {withV(37), wallet.ErrSignatureV}, // EIP-155's of chains 0 and 1
			"v 54": {withV(54), wallet.ErrSignatureV}, "v 55": {withV(55), wallet.ErrSignatureV}, // 27 added twice
			"v 128": {withV(good[64] + 128), wallet.ErrSignatureV}, "v 255": {withV(255), wallet.ErrSignatureV},
			"EIP-2098 and a zero": {fromCompact(0), wallet.ErrSignatureV},
			"r and s in the wrong order": {func() wallet.Signature {
				s := good
				copy(s[:32], good[32:64])
				copy(s[32:64], good[:32])
				return s
			}(), nil},
		}
		if good[64] == 28 {
			cases["EIP-2098 and its own v"] = struct {
				sig  wallet.Signature
				want error
			}{fromCompact(28), wallet.ErrSignatureS}
		}
		for name, c := range cases {
			if err := wallet.Verify(key.Address(), m.Digest(), c.sig); err == nil || !errors.Is(err, c.want) && c.want != nil {
				t.Errorf("%s: Verify = %v; want %v", name, err, c.want)
			}
			if by, err := wallet.Recover(m.Digest(), c.sig); err == nil && by == key.Address() {
				t.Errorf("%s: recovers to the same address", name)
			}
		}
		if s, err := wallet.ParseSignature("0x" + hex.EncodeToString(compact(good))); err == nil {
			t.Errorf("EIP-2098's form was read as %v", s)
		}
	}
	if len(parities) != 2 {
		t.Errorf("the messages give only v %v; take others", parities)
	}
}

// Signatures say nothing about other messages of the same content.
func TestFaultsOfKinds(t *testing.T) {
	key := mustKey(t, knownKey)
	p := &parcel{Note: "hello"}
	typed := p.message(wallet.NewDomain("Parcels", "2", 1))
	for name, other := range map[string]wallet.Message{
		"another chain":   p.message(wallet.NewDomain("Parcels", "2", 2)),
		"another version": p.message(wallet.NewDomain("Parcels", "1", 1)),
		"another name":    p.message(wallet.NewDomain("Parcel", "2", 1)),
		// Others sign whatever 32 bytes they are given: as a text they are another message.
		"its preimage as a text": wallet.PersonalMessage(string(typed.Preimage())),
		"its digest as a text":   wallet.PersonalMessage(func() string { d := typed.Digest(); return string(d[:]) }()),
	} {
		sig, err := key.Sign(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		if err := wallet.Verify(key.Address(), typed.Digest(), sig); err == nil {
			t.Errorf("%s: its signature holds for the message", name)
		}
	}
}
