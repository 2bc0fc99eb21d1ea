package wallet_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// edit gives a keystore file's JSON with members of its top level changed.
func edit(t *testing.T, data []byte, change func(file map[string]any)) []byte {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	change(file)
	edited, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return edited
}

func TestKeystore(t *testing.T) {
	key := mustKey(t, knownKey)
	data, err := wallet.EncryptKey(t.Context(), key, "correct horse", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.ToLower(string(data)), knownKey[:16]) {
		t.Errorf("the file has the secret in it: %s", data)
	}
	if !regexp.MustCompile(`"id":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`).Match(data) {
		t.Errorf("the file has no UUID: %s", data)
	}
	other := checksummed[0]
	for _, c := range []struct {
		name, passphrase string
		data             []byte
		want             error
	}{
		{"as written", "correct horse", data, nil},
		{"no address in it", "correct horse", edit(t, data, func(f map[string]any) { delete(f, "address") }), nil},
		{"address with 0x, EIP-55", "correct horse", edit(t, data, func(f map[string]any) { f["address"] = knownAddress }), nil},
		{"address in upper case", "correct horse", edit(t, data, func(f map[string]any) { f["address"] = strings.ToUpper(knownAddress) }), nil},
		{"wrong passphrase", "correct horse ", data, wallet.ErrPassphrase},
		{"no passphrase", "", data, wallet.ErrPassphrase},
		{"another's address", "correct horse", edit(t, data, func(f map[string]any) { f["address"] = other }), wallet.ErrKeystoreAddress},
		{"address that is none", "correct horse", edit(t, data, func(f map[string]any) { f["address"] = "me" }), wallet.ErrKeystoreAddress},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := wallet.DecryptKey(t.Context(), c.data, c.passphrase)
			if !errors.Is(err, c.want) || (got == nil) != (c.want != nil) {
				t.Fatalf("DecryptKey = %v, %v; want %v", got, err, c.want)
			}
			if got != nil && got.Address() != key.Address() {
				t.Errorf("DecryptKey = %v, want %v", got, key)
			}
		})
	}
	for name, text := range map[string]string{
		"empty": "", "no JSON": "key", "list": "[]", "null": "null", "no members": "{}", "version 1": `{"version":1,"crypto":{}}`,
		"no crypto": `{"version":3}`, "unknown cipher": `{"version":3,"id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","crypto":{"cipher":"rot13"}}`,
	} {
		if got, err := wallet.DecryptKey(t.Context(), []byte(text), "x"); err == nil || got != nil || !strings.HasPrefix(err.Error(), "keystore: ") {
			t.Errorf("%s: DecryptKey = %v, %v", name, got, err)
		}
	}
}

// What people's files ask of whoever opens them is what other wallets' do.
func TestKeystoreStandard(t *testing.T) {
	key := mustKey(t, knownKey)
	data, err := wallet.EncryptKey(t.Context(), key, "pass", wallet.ScryptStandard)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"version":3`, `"kdf":"scrypt"`, `"n":262144`, `"r":8`, `"p":1`, `"dklen":32`, `"cipher":"aes-128-ctr"`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the file lacks %s: %s", want, data)
		}
	}
	if got, err := wallet.DecryptKey(t.Context(), data, "pass"); err != nil || got.Reveal() != key.Reveal() {
		t.Errorf("DecryptKey = %v, %v", got, err)
	}
}

// go-ethereum panics on most of these, and would take a terabyte for one.
func TestKeystoreHostile(t *testing.T) {
	data, err := wallet.EncryptKey(t.Context(), mustKey(t, knownKey), "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		f          func(crypto, params map[string]any)
	}{
		{"no parameters", "salt", func(c, _ map[string]any) { delete(c, "kdfparams") }},
		{"no salt", "salt", func(_, p map[string]any) { delete(p, "salt") }},
		{"salt a number", "salt", func(_, p map[string]any) { p["salt"] = 7 }},
		{"no n", "n, r and p", func(_, p map[string]any) { delete(p, "n") }},
		{"n in upper case", "n, r and p", func(_, p map[string]any) { p["N"] = p["n"]; delete(p, "n") }},
		{"n as text", "kdfparams.n", func(_, p map[string]any) { p["n"] = "4096" }},
		{"a terabyte", "n, r and p", func(_, p map[string]any) { p["n"] = 1 << 30 }},
		{"a week", "n, r and p", func(_, p map[string]any) { p["p"] = 1 << 20 }},
		{"n and r whose product is over 64 bits", "n, r and p", func(_, p map[string]any) { p["n"] = 1 << 29; p["r"] = 1 << 40 }},
		{"n no power of two", "N must be", func(_, p map[string]any) { p["n"] = 4095 }},
		{"n a fraction", "kdfparams.n", func(_, p map[string]any) { p["n"] = 4096.5 }},
		{"negative p", "n, r and p", func(_, p map[string]any) { p["p"] = -1 }},
		{"no dklen", "dklen", func(_, p map[string]any) { delete(p, "dklen") }},
		{"a short dklen", "dklen", func(_, p map[string]any) { p["dklen"] = 8 }},
		{"short iv", "iv", func(c, _ map[string]any) { c["cipherparams"] = map[string]any{"iv": "00"} }},
		{"no iv", "iv", func(c, _ map[string]any) { delete(c, "cipherparams") }},
		{"pbkdf2 without prf", "prf", func(c, p map[string]any) { c["kdf"] = "pbkdf2"; p["c"] = 1 }},
		{"pbkdf2 for ever", "rounds", func(c, p map[string]any) { c["kdf"] = "pbkdf2"; p["prf"] = "hmac-sha256"; p["c"] = 1e12 }},
		{"another prf", "prf", func(c, p map[string]any) { c["kdf"] = "pbkdf2"; p["prf"] = "hmac-md5"; p["c"] = 1 }},
		{"parameters a list", "kdfparams", func(c, _ map[string]any) { c["kdfparams"] = []any{nil} }},
		{"parameters null", "salt", func(c, _ map[string]any) { c["kdfparams"] = nil }},
		{"salt no hex", "salt", func(_, p map[string]any) { p["salt"] = "salt" }},
		{"no mac", "wrong passphrase", func(c, _ map[string]any) { delete(c, "mac") }},
		{"mac no hex", "mac", func(c, _ map[string]any) { c["mac"] = "mac" }},
		{"no text", "wrong passphrase", func(c, _ map[string]any) { delete(c, "ciphertext") }},
		{"text null in a list", "ciphertext", func(c, _ map[string]any) { c["ciphertext"] = []any{nil} }},
		{"another cipher", "aes-128-ctr", func(c, _ map[string]any) { c["cipher"] = "aes-128-cbc" }},
		{"unknown kdf", "kdf", func(c, _ map[string]any) { c["kdf"] = "md5" }},
	} {
		file := edit(t, data, func(f map[string]any) {
			crypto := f["crypto"].(map[string]any)
			c.f(crypto, crypto["kdfparams"].(map[string]any))
		})
		if got, err := wallet.DecryptKey(t.Context(), file, "pass"); err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: DecryptKey = %v, %v", c.name, got, err)
		}
	}
}

// What is checked is what is used: a second n in upper case, which other readers
// may take for n, is not read at all, and of two that are alike the last is both.
func TestKeystoreTwoReadings(t *testing.T) {
	data, err := wallet.EncryptKey(t.Context(), mustKey(t, knownKey), "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, with string
		opens      bool
	}{
		{"in upper case behind", `"n":4096,"N":1073741824`, true},
		{"in upper case before", `"N":1073741824,"n":4096`, true},
		{"twice, the last too large", `"n":4096,"n":1073741824`, false},
		{"twice, the first too large", `"n":1073741824,"n":4096`, true},
	} {
		file := strings.Replace(string(data), `"n":4096`, c.with, 1)
		if got, err := wallet.DecryptKey(t.Context(), []byte(file), "pass"); (err == nil) != c.opens {
			t.Errorf("%s: DecryptKey = %v, %v", c.name, got, err)
		}
	}
}

// One derivation runs at a time, and whoever waits for it can give up.
func TestKeystoreTurns(t *testing.T) {
	key, seed := mustKey(t, knownKey), mustSeed(t, junk, "")
	keyFile, err := wallet.EncryptKey(t.Context(), key, "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	seedFile, err := wallet.EncryptSeed(t.Context(), seed, "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]func(ctx context.Context) error{
		"EncryptKey": func(ctx context.Context) error {
			_, err := wallet.EncryptKey(ctx, key, "pass", wallet.ScryptLight)
			return err
		},
		"DecryptKey": func(ctx context.Context) error { _, err := wallet.DecryptKey(ctx, keyFile, "pass"); return err },
		"EncryptSeed": func(ctx context.Context) error {
			_, err := wallet.EncryptSeed(ctx, seed, "pass", wallet.ScryptLight)
			return err
		},
		"DecryptSeed": func(ctx context.Context) error { _, err := wallet.DecryptSeed(ctx, seedFile, "pass"); return err },
	}
	if cap(wallet.Derivations) != 1 {
		t.Errorf("%d derivations run at a time", cap(wallet.Derivations))
	}
	gone := errors.New("gone")
	wallet.Derivations <- struct{}{} // somebody's turn
	for name, do := range all {
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- do(ctx) }()
		select {
		case err := <-ended:
			t.Errorf("%s did not wait: %v", name, err)
		case <-time.After(20 * time.Millisecond):
		}
		cancel(gone)
		if err := <-ended; !errors.Is(err, gone) {
			t.Errorf("%s: %v, want %v", name, err, gone)
		}
	}
	<-wallet.Derivations
	var users sync.WaitGroup
	for name, do := range all {
		users.Go(func() {
			if err := do(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	users.Wait()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	for name, do := range all {
		if err := do(ctx); !errors.Is(err, gone) {
			t.Errorf("%s with nobody before it: %v, want %v", name, err, gone)
		}
	}
}

// FuzzDecrypt opens what is cheap to open, and reads everything: nothing panics,
// and there is a key or an error, whose address is what the file says.
func FuzzDecrypt(f *testing.F) {
	// PBKDF2 with one round: the fuzzer is to have many tries.
	cheap := func(change func(file, crypto, params map[string]any)) []byte {
		var file map[string]any
		const text = `{"address":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266","id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","version":3,"crypto":{"cipher":"aes-128-ctr",
			"cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},"kdf":"pbkdf2","kdfparams":{"c":1,"dklen":32,"prf":"hmac-sha256","salt":"00"},"ciphertext":"00","mac":"00"}}`
		if err := json.Unmarshal([]byte(text), &file); err != nil {
			f.Fatal(err)
		}
		crypto := file["crypto"].(map[string]any)
		change(file, crypto, crypto["kdfparams"].(map[string]any))
		data, err := json.Marshal(file)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	f.Add(cheap(func(_, _, _ map[string]any) {}))
	f.Add(cheap(func(file, _, _ map[string]any) { delete(file, "version"); file["swarmsealSeed"] = 1 }))
	f.Add(cheap(func(_, c, _ map[string]any) { c["kdfparams"] = []any{nil} }))
	f.Add(cheap(func(_, _, p map[string]any) { p["dklen"] = 1 << 40 }))
	f.Add(cheap(func(_, c, p map[string]any) { c["kdf"] = "scrypt"; p["n"], p["r"], p["p"] = 2, 8, 1 }))
	f.Add([]byte(`{"version":3,"crypto":null}`))
	f.Add([]byte(`[null]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var work struct {
			Crypto struct {
				KDFParams struct{ N, R, P, C float64 }
			}
		}
		if json.Unmarshal(data, &work) == nil {
			if k := work.Crypto.KDFParams; k.N*k.R*max(k.P, 1) > 1<<12 || k.C > 1<<10 {
				return
			}
		}
		if key, err := wallet.DecryptKey(t.Context(), data, ""); (key == nil) == (err == nil) {
			t.Errorf("DecryptKey = %v, %v", key, err)
		}
		if seed, err := wallet.DecryptSeed(t.Context(), data, ""); (seed == nil) == (err == nil) {
			t.Errorf("DecryptSeed = %v, %v", seed, err)
		}
	})
}

// A file that another program wrote is read: the PBKDF2 vector of the Web3
// Secret Storage definition, which has no address in it.
func TestKeystoreFromElsewhere(t *testing.T) {
	const vector = `{"crypto":{"cipher":"aes-128-ctr","cipherparams":{"iv":"6087dab2f9fdbbfaddc31a909735c1e6"},
		"ciphertext":"5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46","kdf":"pbkdf2",
		"kdfparams":{"c":262144,"dklen":32,"prf":"hmac-sha256","salt":"ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
		"mac":"517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"},
		"id":"3198bc9c-6672-5ab3-d995-4942343ae5b6","version":3}`
	got, err := wallet.DecryptKey(t.Context(), []byte(vector), "testpassword")
	if err != nil {
		t.Fatal(err)
	}
	want := mustKey(t, "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d")
	if got.Address() != want.Address() {
		t.Errorf("DecryptKey = %v, want %v", got, want)
	}
}

func TestKeyFile(t *testing.T) {
	key := mustKey(t, knownKey)
	dir := filepath.Join(t.TempDir(), "keys")
	path := filepath.Join(dir, "agent.json")
	if err := wallet.WriteKeyFile(t.Context(), path, key, "pass", wallet.ScryptLight); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, dir: 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, info.Mode().Perm(), want, err)
		}
	}
	if got, err := wallet.ReadKeyFile(t.Context(), path, "pass"); err != nil || got.Address() != key.Address() {
		t.Errorf("ReadKeyFile = %v, %v", got, err)
	}
	if _, err := wallet.ReadKeyFile(t.Context(), path, "fail"); !errors.Is(err, wallet.ErrPassphrase) || !strings.Contains(err.Error(), path) {
		t.Errorf("with the wrong passphrase: %v", err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := wallet.WriteKeyFile(t.Context(), path, mustKey(t, "01"+knownKey[2:]), "pass", wallet.ScryptLight); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing over a key: %v, want %v", err, fs.ErrExist)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left in the folder: %v, %v", files, err)
	}
	if _, err := wallet.ReadKeyFile(t.Context(), filepath.Join(dir, "none"), "pass"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 70_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := wallet.ReadKeyFile(t.Context(), large, "pass"); err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("a large file: %v", err)
	}
}
