package wallet_test

import (
	"context"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
)

// The first account of the mnemonic "test test … junk", which every Ethereum
// tool knows.
const (
	knownKey     = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
	knownAddress = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
)

func mustKey(tb testing.TB, s string) *wallet.Key {
	tb.Helper()
	key, err := wallet.ParseKey(s)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func TestParseKey(t *testing.T) {
	for _, s := range []string{knownKey, "0x" + knownKey, strings.ToUpper(knownKey), " 0x" + knownKey + "\n"} {
		if got := mustKey(t, s).Address().String(); got != knownAddress {
			t.Errorf("ParseKey(%q) is the key of %v, want %v", s, got, knownAddress)
		}
	}
	const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	for name, s := range map[string]string{
		"empty": "", "short": knownKey[:63], "long": knownKey + "0", "no hex": knownKey[:63] + "g",
		"zero": strings.Repeat("0", 64), "the curve's order": order, "0x twice": "0x0x" + knownKey,
	} {
		key, err := wallet.ParseKey(s)
		if err == nil || key != nil {
			t.Errorf("%s: ParseKey gave %v, %v", name, key, err)
			continue
		}
		if s != "" && (strings.Contains(err.Error(), s) || strings.Contains(err.Error(), "g'")) {
			t.Errorf("%s: the error quotes the secret: %v", name, err)
		}
	}
}

func TestNewKey(t *testing.T) {
	a, err := wallet.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	b, err := wallet.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if a.Address() == b.Address() || a.Address().IsZero() {
		t.Errorf("two new keys: %v and %v", a, b)
	}
}

func TestKeySigns(t *testing.T) {
	key := mustKey(t, knownKey)
	digest := wallet.Keccak256([]byte("hello"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a key in memory never blocks, so nothing is to be cancelled
	sig, err := key.SignDigest(ctx, digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := wallet.Verify(key.Address(), digest, sig); err != nil {
		t.Errorf("its own signature: %v", err)
	}
	again, err := key.SignDigest(ctx, digest)
	if err != nil || again != sig {
		t.Errorf("signing again gave %v, %v; want the same signature (RFC 6979)", again, err)
	}
}
