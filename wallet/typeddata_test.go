package wallet_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/swarmseal/swarmseal/wallet"
	"pgregory.net/rapid"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// Every word of the Encoder gives what go-ethereum's generic encoder gives.
func TestEncoderAgainstOracle(t *testing.T) {
	const typeText = "All(bytes32 a,address b,uint64 c,bool d,uint256 e,string f,bytes32[] g)"
	typeHash := wallet.Keccak256([]byte(typeText))
	rapid.Check(t, func(t *rapid.T) {
		b32 := func(label string) wallet.Digest {
			return wallet.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
		}
		// The oracle leaves out a domain's empty members.
		name, version := rapid.StringN(1, 9, 30).Draw(t, "name"), rapid.StringN(1, 9, 30).Draw(t, "version")
		chain := rapid.Uint64().Draw(t, "chain")
		domain := wallet.NewDomain(name, version, chain)
		a, e := b32("a"), wallet.Amount(b32("e"))
		b := wallet.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "b"))
		c, d, f := rapid.Uint64().Draw(t, "c"), rapid.Bool().Draw(t, "d"), rapid.String().Draw(t, "f")
		var g []wallet.Digest
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			g = append(g, b32("g"))
			list = append(list, g[len(g)-1].String())
		}
		got := wallet.TypedDigest(domain.Separator(), wallet.NewEncoder(typeHash, 7).
			Bytes32(a).Address(b).Uint64(c).Bool(d).Amount(e).String(f).Array(g).Sum())

		want, _, err := apitypes.TypedDataAndHash(apitypes.TypedData{
			Types: apitypes.Types{
				"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "version", Type: "string"}, {Name: "chainId", Type: "uint256"}},
				"All": {{Name: "a", Type: "bytes32"}, {Name: "b", Type: "address"}, {Name: "c", Type: "uint64"}, {Name: "d", Type: "bool"},
					{Name: "e", Type: "uint256"}, {Name: "f", Type: "string"}, {Name: "g", Type: "bytes32[]"}},
			},
			PrimaryType: "All",
			Domain: apitypes.TypedDataDomain{Name: name, Version: version,
				ChainId: (*math.HexOrDecimal256)(new(big.Int).SetUint64(chain))},
			Message: apitypes.TypedDataMessage{"a": a.String(), "b": b.String(), "c": fmt.Sprint(c), "d": d, "e": e.String(), "f": f, "g": list},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got != wallet.Digest(want) {
			t.Errorf("digest %v, go-ethereum's is 0x%x", got, want)
		}
	})
}

// The message of EIP-712's own example ("Ether Mail"). Its domain has a
// verifying contract, which Domain has not, so the separator is given.
func TestEncoderVector(t *testing.T) {
	person := wallet.Keccak256([]byte("Person(string name,address wallet)"))
	cow := wallet.NewEncoder(person, 2).String("Cow").Address(wallet.MustParseAddress("0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826")).Sum()
	bob := wallet.NewEncoder(person, 2).String("Bob").Address(wallet.MustParseAddress("0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB")).Sum()
	mail := wallet.NewEncoder(wallet.Keccak256([]byte("Mail(Person from,Person to,string contents)Person(string name,address wallet)")), 3).
		Bytes32(cow).Bytes32(bob).String("Hello, Bob!").Sum()
	if want := "0xc52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e"; mail.String() != want {
		t.Errorf("hash of the struct %v, want %v", mail, want)
	}
	separator, err := wallet.ParseDigest("0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f")
	if err != nil {
		t.Fatal(err)
	}
	if want := "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"; wallet.TypedDigest(separator, mail).String() != want {
		t.Errorf("digest %v, want %v", wallet.TypedDigest(separator, mail), want)
	}
}

const largestAmount = "115792089237316195423570985008687907853269984665640564039457584007913129639935"

func TestAmount(t *testing.T) {
	for _, s := range []string{"0", "1", "10", "18446744073709551616", largestAmount} {
		a, err := wallet.ParseAmount(s)
		if err != nil || a.String() != s {
			t.Errorf("ParseAmount(%q) = %v, %v", s, a, err)
		}
		data, err := json.Marshal(a)
		if err != nil || string(data) != `"`+s+`"` {
			t.Errorf("Marshal(%s) = %s, %v; want text, since numbers in JSON lose digits", s, data, err)
		}
		var back wallet.Amount
		if err := json.Unmarshal(data, &back); err != nil || back != a {
			t.Errorf("Unmarshal(%s) = %v, %v", data, back, err)
		}
	}
	for name, s := range map[string]string{
		"empty": "", "leading zero": "01", "two zeros": "00", "minus": "-1", "plus": "+1", "hex": "0x1", "space": " 1", "underscore": "1_0",
		"fraction": "1.0", "exponent": "1e3", "one too many": largestAmount[:77] + "6", "long": strings.Repeat("9", 100), "Arabic": "١",
	} {
		if a, err := wallet.ParseAmount(s); err == nil || a != (wallet.Amount{}) {
			t.Errorf("%s: ParseAmount(%q) = %v, %v", name, s, a, err)
		}
	}
	a := wallet.Amount{31: 7}
	if err := json.Unmarshal([]byte(`"-1"`), &a); err == nil || a != (wallet.Amount{31: 7}) {
		t.Errorf("a bad amount gave %v, %v; want an error and no change", a, err)
	}
}

// One text for one amount.
func FuzzAmount(f *testing.F) {
	for _, s := range []string{"0", "1", "00", "-1", "1e3", largestAmount, largestAmount + "0"} {
		f.Add(s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, s string, raw []byte) {
		a, err := wallet.ParseAmount(s)
		switch {
		case err != nil && a != (wallet.Amount{}):
			t.Errorf("ParseAmount(%q) = %v with the error %v", s, a, err)
		case err == nil && a.String() != s:
			t.Errorf("ParseAmount(%q) prints as %q", s, a)
		}
		var b wallet.Amount
		copy(b[:], raw)
		if back, err := wallet.ParseAmount(b.String()); err != nil || back != b {
			t.Errorf("ParseAmount(%q) = %v, %v", b, back, err)
		}
	})
}
