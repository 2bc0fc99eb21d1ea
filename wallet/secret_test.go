package wallet_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/wallet"
)

// holders give a secret thing in all the ways in which it lies in other things.
func holders[T any](p *T) map[string]any {
	type holder struct {
		P *T
		p *T
		V T
		v T
		I any
	}
	h := holder{p, p, *p, *p, p}
	return map[string]any{
		"pointer": p, "value": *p, "pointer to pointer": &p, "struct": h, "pointer to struct": &h,
		"slice": []*T{p}, "array of values": [1]T{*p}, "map": map[string]*T{"k": p}, "map of values": map[string]T{"k": *p},
		"function": func() *T { return p }, "struct of any": struct{ V any }{*p},
	}
}

// secretThings are what may never show, with the pieces that would tell.
func secretThings(t *testing.T) map[string]struct {
	in     map[string]any
	pieces []string
} {
	key := mustKey(t, knownKey)
	const own = "swordfish"
	seed := mustSeed(t, junk, own)
	account, err := seed.Key(0)
	if err != nil {
		t.Fatal(err)
	}
	type thing = struct {
		in     map[string]any
		pieces []string
	}
	return map[string]thing{
		"key":  {holders(key), pieces(fromHex(t, knownKey))},
		"seed": {holders(seed), append(pieces(fromHex(t, account.Reveal()[2:])), append(pieces([]byte(junk)), append(pieces([]byte(own)), own, "junk")...)...)},
	}
}

// pieces gives what the first bytes of a secret look like in the usual forms.
func pieces(secret []byte) []string {
	first := secret[:8]
	return []string{
		fmt.Sprintf("%x", first), strings.Trim(fmt.Sprint(first), "[]"), strings.ReplaceAll(strings.Trim(fmt.Sprint(first), "[]"), " ", ","),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", first), "[]byte{"), "}"), new(big.Int).SetBytes(secret).String()[:16],
		fmt.Sprintf("%08b", first[0]) + fmt.Sprintf("%08b", first[1]), fmt.Sprintf("%q", first),
	}
}

// shown tells whether a text has any of the pieces in it, however it is spaced.
func shown(text string, pieces []string) bool {
	lower := strings.ToLower(text)
	plain := strings.NewReplacer(" ", "", "0x", "", ":", "").Replace(lower)
	for _, piece := range pieces {
		if strings.Contains(lower, strings.ToLower(piece)) || strings.Contains(plain, strings.ToLower(piece)) {
			return true
		}
	}
	return false
}

// However a key or a seed is printed, logged or marshalled, what is secret in it
// does not show.
func TestSecretsRedact(t *testing.T) {
	for what, thing := range secretThings(t) {
		for where, v := range thing.in {
			texts := make(map[string]string)
			for _, flags := range []string{"", "+", "#", " ", "0", "-80", "# ", "+#"} {
				for _, verb := range "vTtbcdoOqxXUeEfFgGsp" {
					format := "%" + flags + string(verb)
					texts[format] = fmt.Sprintf(format, v)
				}
			}
			texts["Sprint"], texts["Sprintln"] = fmt.Sprint(v), fmt.Sprintln(v)
			texts["error"] = fmt.Errorf("wrapped: %w", errors.New(fmt.Sprint(v))).Error()
			if data, err := json.Marshal(v); err == nil {
				texts["JSON"] = string(data)
			} else {
				texts["JSON's error"] = err.Error()
			}
			if data, err := json2.Marshal(v); err == nil {
				texts["JSON 2"] = string(data)
			} else {
				texts["JSON 2's error"] = err.Error()
			}
			if data, err := xml.Marshal(v); err == nil {
				texts["XML"] = string(data)
			} else {
				texts["XML's error"] = err.Error()
			}
			var b bytes.Buffer
			if err := gob.NewEncoder(&b).Encode(v); err != nil {
				texts["gob's error"] = err.Error()
			}
			texts["gob"] = fmt.Sprintf("%s %[1]x", b.Bytes())
			b.Reset()
			log.New(&b, "", 0).Printf("%v %+v", v, v)
			slog.New(slog.NewTextHandler(&b, nil)).Info("m", "v", v, slog.Group("g", "v", v))
			slog.New(slog.NewJSONHandler(&b, nil)).With("v", v).Info("m", slog.Any("v", v))
			texts["logs"] = b.String()
			texts["dump"] = dump(reflect.ValueOf(v), 0)
			for how, text := range texts {
				if shown(text, thing.pieces) {
					t.Errorf("%s, %s: %s shows the secret: %s", what, where, how, text)
				}
			}
			if where == "pointer" {
				for _, how := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "Sprint", "error", "JSON", "JSON 2", "XML", "logs"} {
					if !strings.Contains(texts[how], "REDACTED") {
						t.Errorf("%s: %s gives %q, want REDACTED in it", what, how, texts[how])
					}
				}
			}
		}
	}
	for v, want := range map[fmt.Stringer]string{
		mustKey(t, knownKey): "Key(REDACTED, " + knownAddress + ")", (*wallet.Key)(nil): "Key(nil)",
		mustSeed(t, junk, ""): "Seed(REDACTED, " + knownAddress + ")", (*wallet.Seed)(nil): "Seed(nil)",
	} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("it prints as %q, want %q", got, want)
		}
	}
}

// dump looks into a value as debuggers' dumpers do, unexported fields included.
// Numbers come out as decimal digits and as hex without spaces.
func dump(v reflect.Value, depth int) string {
	if depth > 12 || !v.IsValid() {
		return ""
	}
	var b strings.Builder
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		b.WriteString(dump(v.Elem(), depth+1))
	case reflect.Struct:
		for i := range v.NumField() {
			b.WriteString(dump(v.Field(i), depth+1) + "; ")
		}
	case reflect.Slice, reflect.Array:
		var words, hex strings.Builder
		for i := range v.Len() {
			words.WriteString(dump(v.Index(i), depth+1) + " ")
			if v.Index(i).Kind() == reflect.Uint8 {
				fmt.Fprintf(&hex, "%02x", v.Index(i).Uint())
			}
		}
		b.WriteString(words.String() + hex.String())
	case reflect.Map:
		for _, k := range v.MapKeys() {
			b.WriteString(dump(k, depth+1) + "=" + dump(v.MapIndex(k), depth+1) + " ")
		}
	case reflect.String:
		b.WriteString(v.String())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		fmt.Fprintf(&b, "%d", v.Uint())
		if v.Kind() == reflect.Uint { // a word of a big.Int
			fmt.Fprintf(&b, " %016x", v.Uint())
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprintf(&b, "%d", v.Int())
	}
	return b.String()
}

// The dumper sees what is there to see: the key that lies open, as a check on it.
func TestDumpSees(t *testing.T) {
	secret := fromHex(t, knownKey)
	for name, v := range map[string]any{
		"big.Int": struct{ d *big.Int }{new(big.Int).SetBytes(secret[:8])}, "bytes": struct{ b []byte }{secret}, "array": struct{ b [8]byte }{[8]byte(secret[:8])},
	} {
		if text := dump(reflect.ValueOf(v), 0); !shown(text, pieces(secret)) {
			t.Errorf("%s: the dump %q does not show the secret", name, text)
		}
	}
}

// What a program says as it dies shows no secret either.
func TestSecretsInPanics(t *testing.T) {
	things := secretThings(t)
	if what := os.Getenv("WALLET_TEST_PANIC"); what != "" {
		kind, where, _ := strings.Cut(what, "/")
		panic(things[kind].in[where])
	}
	for what, thing := range things {
		for _, where := range []string{"pointer", "value", "struct", "slice", "map"} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSecretsInPanics$")
			cmd.Env = append(os.Environ(), "WALLET_TEST_PANIC="+what+"/"+where, "GOTRACEBACK=system")
			out, err := cmd.CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("panic: ")) {
				t.Errorf("%s, %s: the program did not panic: %v\n%s", what, where, err, out)
			}
			if shown(string(out), thing.pieces) {
				t.Errorf("%s, %s: the panic shows the secret:\n%s", what, where, out)
			}
		}
	}
}

// Errors of secrets that are wrong don't quote them.
func TestSecretsInErrors(t *testing.T) {
	key := strings.ToUpper(knownKey)
	file, err := wallet.EncryptKey(t.Context(), mustKey(t, knownKey), "correct horse", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err    func() error
		secret string
	}{
		"key with a digit too many":  {func() error { _, err := wallet.ParseKey(key + "0"); return err }, key[:16]},
		"key with a letter in it":    {func() error { _, err := wallet.ParseKey(key[:63] + "Z"); return err }, "z"},
		"key over the order":         {func() error { _, err := wallet.ParseKey(strings.Repeat("f", 64)); return err }, "ffff"},
		"wrong passphrase":           {func() error { _, err := wallet.DecryptKey(t.Context(), file, "battery staple"); return err }, "battery"},
		"a key as a mnemonic":        {func() error { _, err := wallet.ParseSeed(key, ""); return err }, key[:16]},
		"a word with a slip of keys": {func() error { _, err := wallet.ParseSeed(strings.Replace(junk, "junk", "junj", 1), ""); return err }, "junj"},
		"two lines of passphrase":    {func() error { _, err := wallet.ParseSeed(junk, "battery\nstaple"); return err }, "staple"},
	} {
		if err := c.err(); err == nil || strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.secret)) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}
