package wallet_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
	"pgregory.net/rapid"
)

var curveOrder, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// twin gives the second form of a signature, which recovers to the same
// address where high s is let pass.
func twin(sig wallet.Signature) wallet.Signature {
	s := new(big.Int).SetBytes(sig[32:64])
	s.Sub(curveOrder, s).FillBytes(sig[32:64])
	sig[64] = 27 + 28 - sig[64]
	return sig
}

func TestRecover(t *testing.T) {
	key := mustKey(t, knownKey)
	digest := wallet.Keccak256([]byte("hello"))
	good, err := key.SignDigest(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(s *wallet.Signature)) wallet.Signature {
		sig := good
		change(&sig)
		return sig
	}
	fill := func(part []byte, v *big.Int) { v.FillBytes(part) }
	half := new(big.Int).Rsh(curveOrder, 1)
	for _, c := range []struct {
		name string
		sig  wallet.Signature
		want error
	}{
		{"high s", twin(good), wallet.ErrSignatureS},
		{"high s, v as it was", with(func(s *wallet.Signature) { *s = twin(*s); s[64] = good[64] }), wallet.ErrSignatureS},
		{"s one over half", with(func(s *wallet.Signature) { fill(s[32:64], new(big.Int).Add(half, big.NewInt(1))) }), wallet.ErrSignatureS},
		{"s of all ones", with(func(s *wallet.Signature) { copy(s[32:64], strings.Repeat("\xff", 32)) }), wallet.ErrSignatureS},
		{"v 0", with(func(s *wallet.Signature) { s[64] -= 27 }), wallet.ErrSignatureV},
		{"v 1", with(func(s *wallet.Signature) { s[64] = 1 }), wallet.ErrSignatureV},
		{"v 2", with(func(s *wallet.Signature) { s[64] = 2 }), wallet.ErrSignatureV},
		{"v 4", with(func(s *wallet.Signature) { s[64] = 4 }), wallet.ErrSignatureV},
		{"v 5", with(func(s *wallet.Signature) { s[64] = 5 }), wallet.ErrSignatureV},
		{"v 26", with(func(s *wallet.Signature) { s[64] = 26 }), wallet.ErrSignatureV},
		{"v 29", with(func(s *wallet.Signature) { s[64] = 29 }), wallet.ErrSignatureV},
		{"v 31", with(func(s *wallet.Signature) { s[64] += 4 }), wallet.ErrSignatureV},
		{"v 255", with(func(s *wallet.Signature) { s[64] = 255 }), wallet.ErrSignatureV},
		{"all zero", wallet.Signature{}, wallet.ErrSignatureV},
		{"r and s zero", wallet.Signature{64: 27}, wallet.ErrSignatureForm},
		{"r zero", with(func(s *wallet.Signature) { clear(s[:32]) }), wallet.ErrSignatureForm},
		{"s zero", with(func(s *wallet.Signature) { clear(s[32:64]) }), wallet.ErrSignatureForm},
		{"r the curve's order", with(func(s *wallet.Signature) { fill(s[:32], curveOrder) }), wallet.ErrSignatureForm},
	} {
		before := c.sig
		if got, err := wallet.Recover(digest, c.sig); !errors.Is(err, c.want) || !got.IsZero() {
			t.Errorf("%s: Recover = %v, %v; want %v", c.name, got, err, c.want)
		}
		if err := wallet.Verify(key.Address(), digest, c.sig); !errors.Is(err, c.want) {
			t.Errorf("%s: Verify = %v; want %v", c.name, err, c.want)
		}
		if c.sig != before {
			t.Errorf("%s: the signature was changed", c.name)
		}
	}
	// The largest s that is allowed is not refused for being large.
	if _, err := wallet.Recover(digest, with(func(s *wallet.Signature) { fill(s[32:64], half) })); errors.Is(err, wallet.ErrSignatureS) {
		t.Error("s of exactly half the order is refused")
	}
	if got, err := wallet.Recover(digest, good); err != nil || got != key.Address() {
		t.Errorf("Recover = %v, %v", got, err)
	}
}

func TestVerifyNamesTheSigner(t *testing.T) {
	key, digest := mustKey(t, knownKey), wallet.Keccak256([]byte("hello"))
	sig, err := key.SignDigest(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	other := wallet.MustParseAddress(checksummed[0])
	e, ok := errors.AsType[*wallet.SignerError](wallet.Verify(other, digest, sig))
	if !ok || e.Want != other || e.Got != key.Address() {
		t.Errorf("Verify for another address: %v", e)
	}
	if wallet.Verify(key.Address(), wallet.Keccak256([]byte("hullo")), sig) == nil {
		t.Error("the signature holds for another digest")
	}
	if wallet.Verify(wallet.Address{}, digest, wallet.Signature{}) == nil {
		t.Error("no signature holds for no address")
	}
}

// Whatever is signed verifies, and its second form never does.
func TestSignatures(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 31, 31).Draw(rt, "secret")
		key, err := wallet.ParseKey("01" + hexOf(secret))
		if err != nil {
			rt.Fatal(err)
		}
		digest := wallet.Digest(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "digest"))
		sig, err := key.SignDigest(t.Context(), digest)
		if err != nil {
			rt.Fatal(err)
		}
		if err := wallet.Verify(key.Address(), digest, sig); err != nil {
			rt.Errorf("Verify: %v", err)
		}
		if err := wallet.Verify(key.Address(), digest, twin(sig)); !errors.Is(err, wallet.ErrSignatureS) {
			rt.Errorf("Verify of the second form: %v", err)
		}
		if parsed, err := wallet.ParseSignature(sig.String()); err != nil || parsed != sig {
			rt.Errorf("ParseSignature(%v) = %v, %v", sig, parsed, err)
		}
		i := rapid.IntRange(0, wallet.SignatureLength*8-1).Draw(rt, "bit")
		sig[i/8] ^= 1 << (i % 8)
		if wallet.Verify(key.Address(), digest, sig) == nil {
			rt.Errorf("Verify holds with bit %d flipped", i)
		}
	})
}

func TestHexText(t *testing.T) {
	digest := wallet.Keccak256()
	const empty = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
	if digest.String() != empty {
		t.Errorf("Keccak256() = %v, want %v", digest, empty)
	}
	if got, want := wallet.Keccak256([]byte("a"), []byte("b")), wallet.Keccak256([]byte("ab")); got != want {
		t.Errorf("Keccak256 of parts = %v, of the whole %v", got, want)
	}
	long := "0x" + strings.Repeat("ab", 65)
	for _, c := range []struct {
		name, digest, signature string
	}{
		{"empty", "", ""},
		{"no 0x", empty[2:], long[2:]},
		{"0X", "0X" + empty[2:], "0X" + long[2:]},
		{"short", empty[:65], long[:131]},
		{"long", empty + "00", long + "00"},
		{"upper case", strings.ToUpper(empty[:2]) + empty[2:], "0x" + strings.ToUpper(long[2:])},
		{"one digit in upper case", "0xC" + empty[3:], "0xA" + long[3:]},
		{"no hex digit", empty[:65] + "g", long[:131] + "g"},
		{"white space", " " + empty[:65], " " + long[:131]},
	} {
		if d, err := wallet.ParseDigest(c.digest); err == nil || !d.IsZero() {
			t.Errorf("%s: ParseDigest(%q) = %v, %v", c.name, c.digest, d, err)
		}
		if s, err := wallet.ParseSignature(c.signature); err == nil || !s.IsZero() {
			t.Errorf("%s: ParseSignature(%q) = %v, %v", c.name, c.signature, s, err)
		}
	}
	type both struct {
		D wallet.Digest
		S wallet.Signature
	}
	text := `{"D":"` + empty + `","S":"` + long + `"}`
	var v both
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(v); err != nil || string(got) != text {
		t.Errorf("JSON round trip gave %s, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"D":"0x00"}`), &v); err == nil || v.D != digest {
		t.Errorf("a bad digest gave %v, %v; want an error and no change", v.D, err)
	}
	if err := json.Unmarshal([]byte(`{"S":"0x00"}`), &v); err == nil || v.S.IsZero() {
		t.Errorf("a bad signature gave %v, %v; want an error and no change", v.S, err)
	}
}
