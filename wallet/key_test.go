package wallet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
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

// However a key is printed, its secret does not show: neither as hex of either
// case, nor as decimal digits, nor as a list of bytes.
func TestKeyRedacts(t *testing.T) {
	key := mustKey(t, knownKey)
	type holder struct {
		Key *wallet.Key
		key *wallet.Key
		val wallet.Key
	}
	values := map[string]any{
		"pointer": key, "value": *key, "in a struct": holder{key, key, *key}, "pointer to a struct": &holder{key, key, *key},
		"in a slice": []*wallet.Key{key}, "in a map": map[string]*wallet.Key{"k": key}, "as a Signer": struct{ S wallet.Signer }{key},
	}
	shown := make(map[string]string)
	for name, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%p", "%T", "% x", "%08b"} {
			shown[name+" "+verb] = fmt.Sprintf(verb, v)
		}
		if data, err := json.Marshal(v); err == nil {
			shown[name+" JSON"] = string(data)
		}
		for kind, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"slog JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("m", "key", v, slog.Group("g", "key", v))
			shown[name+" "+kind] = b.String()
		}
		shown[name+" error"] = fmt.Errorf("wrapped: %w", errors.New(fmt.Sprint(v))).Error()
	}
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	shown["MarshalText"] = string(text)

	const decimal = "77814517325470205911140941194401928579557062014761831930645393041380819009408"
	const asBytes = "172 9 116 190 195 154"
	for how, s := range shown {
		// Short pieces, since a format may put spaces between the bytes.
		plain := strings.ToLower(strings.NewReplacer(" ", "", ",", "", "0x", "").Replace(s))
		if strings.Contains(plain, knownKey[:16]) || strings.Contains(s, decimal[:16]) || strings.Contains(s, asBytes) {
			t.Errorf("%s shows the secret: %s", how, s)
		}
	}
	for _, how := range []string{"pointer %v", "pointer %+v", "pointer %#v", "pointer %x", "pointer %s", "pointer %q", "pointer JSON",
		"pointer slog text", "pointer slog JSON", "pointer error", "MarshalText", "in a struct JSON"} {
		if !strings.Contains(shown[how], "REDACTED") {
			t.Errorf("%s gives %q, want REDACTED in it", how, shown[how])
		}
	}
	if want := "Key(REDACTED, " + knownAddress + ")"; key.String() != want {
		t.Errorf("String = %q, want %q", key, want)
	}
	if got := fmt.Sprintf("%v", (*wallet.Key)(nil)); got != "Key(nil)" {
		t.Errorf("a nil key prints as %q", got)
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
