package wallet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
)

// junk is the mnemonic that every Ethereum tool tests with.
const junk = "test test test test test test test test test test test junk"

func mustSeed(tb testing.TB, words, passphrase string) *wallet.Seed {
	tb.Helper()
	seed, err := wallet.ParseSeed(words, passphrase)
	if err != nil {
		tb.Fatal(err)
	}
	return seed
}

// vectors reads a list of test vectors.
func vectors[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	var list []T
	if err := json.Unmarshal(data, &list); err != nil {
		tb.Fatal(err)
	}
	if len(list) == 0 {
		tb.Fatalf("%s is empty", name)
	}
	return list
}

func fromHex(tb testing.TB, s string) []byte {
	tb.Helper()
	data, err := hex.DecodeString(s)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

type bip39Vector struct{ Entropy, Mnemonic, Seed string }

// The official vectors of BIP-39 (github.com/trezor/python-mnemonic); their
// passphrase is "TREZOR".
func TestBIP39(t *testing.T) {
	list := vectors[bip39Vector](t, "bip39.json")
	if len(list) != 24 {
		t.Errorf("%d vectors, want 24", len(list))
	}
	for _, v := range list {
		if got := wallet.MnemonicOf(fromHex(t, v.Entropy)); got != v.Mnemonic {
			t.Errorf("%s is %q, want %q", v.Entropy, got, v.Mnemonic)
		}
		if got, err := wallet.Stretch(v.Mnemonic, "TREZOR"); err != nil || hexOf(got) != v.Seed {
			t.Errorf("%s: %x, %v; want %s", v.Mnemonic, got, err, v.Seed)
		}
	}
}

// The list is BIP-39's, byte for byte.
func TestEnglishWords(t *testing.T) {
	words := wallet.EnglishWords()
	sum := sha256.Sum256([]byte(strings.Join(words, "\n") + "\n"))
	if got := hexOf(sum[:]); got != "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda" {
		t.Errorf("the list's SHA-256 is %s", got)
	}
	if len(words) != 2048 || !slices.IsSorted(words) {
		t.Errorf("%d words, in order: %t", len(words), slices.IsSorted(words))
	}
}

// unbase58 reads the key and the chain code in an xprv of BIP-32.
func unbase58(t *testing.T, text string) (key, chain []byte) {
	t.Helper()
	const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n := new(big.Int)
	for _, c := range text {
		n.Mul(n, big.NewInt(58)).Add(n, big.NewInt(int64(strings.IndexRune(digits, c))))
	}
	data := n.FillBytes(make([]byte, 82))
	first := sha256.Sum256(data[:78])
	if sum := sha256.Sum256(first[:]); !bytes.Equal(sum[:4], data[78:]) {
		t.Fatalf("%s: wrong checksum", text)
	}
	return data[46:78], data[13:45]
}

// The official vectors 1 to 4 of BIP-32; 3 and 4 have leading zeros.
func TestBIP32(t *testing.T) {
	for _, v := range vectors[struct{ Seed, Path, XPrv string }](t, "bip32.json") {
		var path []uint32
		for _, step := range strings.Split(v.Path, "/")[1:] {
			number, hard := strings.CutSuffix(step, "H")
			n, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				t.Fatal(err)
			}
			if hard {
				n += 1 << 31
			}
			path = append(path, uint32(n))
		}
		key, chain, err := wallet.Descend(fromHex(t, v.Seed), path...)
		if err != nil {
			t.Fatal(err)
		}
		if wantKey, wantChain := unbase58(t, v.XPrv); !bytes.Equal(key, wantKey) || !bytes.Equal(chain, wantChain) {
			t.Errorf("%s %s: key %x, chain code %x; want %x, %x", v.Seed, v.Path, key, chain, wantKey, wantChain)
		}
	}
}

// Accounts as other wallets show them: those of the mnemonic that Hardhat and
// Foundry have, and with passphrases as @scure/bip39 and @scure/bip32 2.4.0 give
// them, one of them of characters that NFKD changes.
func TestSeedKeys(t *testing.T) {
	hardhat := strings.Fields(`0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 0x70997970C51812dc3A010C7d01b50e0d17dc79C8
		0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC 0x90F79bf6EB2c4f870365E785982E1f101E93b906 0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65
		0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc 0x976EA74026E726554dB657fA54763abd0C3a0aa9 0x14dC79964da2C08b23698B3D3cc7Ca32193d9955
		0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f 0xa0Ee7A142d267C1f36714E4a8F75612F20a79720`)
	seed := mustSeed(t, junk, "")
	for i, want := range hardhat {
		if key, err := seed.Key(uint32(i)); err != nil || key.Address().String() != want {
			t.Errorf("Key(%d) = %v, %v; want %s", i, key, err, want)
		}
	}
	if seed.Address().String() != hardhat[0] {
		t.Errorf("Address = %v, want that of the first key", seed.Address())
	}
	for _, v := range []struct {
		passphrase string
		index      uint32
		key        string
	}{
		{"", 0, knownKey},
		{"", 1, "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"},
		{"", 1<<31 - 1, "1a86f13c2119c78590b03254f8a21fb25b8933a320ac5c61176dc57bc4140129"},
		{"TREZOR", 1, "363784bfbf8ac02e6595a87edef240f40d3842254efdb39cf0ff0fd7ac653b32"},
		{"㍍ガバヴァぱばぐゞちぢ十人十色", 0, "6d515b6bc344af3fe5726cd326e327d922695948be55a7733ea31a4bafdc519c"},
		{"Ålesund ½", 1<<31 - 1, "495891ec1d926a842b62d373d37804ae1c62a693ce2ee6668546a031732c7d0b"},
	} {
		key, err := mustSeed(t, junk, v.passphrase).Key(v.index)
		if err != nil || key.Reveal() != "0x"+v.key {
			t.Errorf("Key(%d) with the passphrase %q = %v, %v", v.index, v.passphrase, key, err)
		}
	}
	if key, err := seed.Key(1 << 31); err == nil || key != nil {
		t.Errorf("Key(2^31) = %v, %v", key, err)
	}
}

func TestParseSeed(t *testing.T) {
	const legal24 = "legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth title"
	for name, text := range map[string]string{
		"as it is": junk, "upper case": strings.ToUpper(junk), "white space": "\t" + strings.ReplaceAll(junk, " ", "\n  ") + "\r\n",
	} {
		if words, own, err := mustSeed(t, text, "").Reveal(); err != nil || words != junk || own != "" {
			t.Errorf("%s: Reveal = %q, %q, %v", name, words, own, err)
		}
	}
	if words, own, err := mustSeed(t, legal24, " x ").Reveal(); err != nil || words != legal24 || own != " x " {
		t.Errorf("Reveal = %q, %q, %v", words, own, err)
	}
	for _, c := range []struct {
		name, words, passphrase string
		want                    error
	}{
		{"empty", "", "", wallet.ErrMnemonicLength},
		{"11 words", junk[5:], "", wallet.ErrMnemonicLength},
		{"13 words", junk + " junk", "", wallet.ErrMnemonicLength},
		{"9 words", strings.Repeat("test ", 9), "", wallet.ErrMnemonicLength},
		{"27 words", strings.Repeat("test ", 27), "", wallet.ErrMnemonicLength},
		{"very long", strings.Repeat("test ", 1<<20), "", wallet.ErrMnemonicLength},
		{"unknown word", strings.Replace(junk, "junk", "swordfish", 1), "", wallet.ErrMnemonicWord},
		{"four letters of a word", strings.Replace(legal24, "winner", "winn", 1), "", wallet.ErrMnemonicWord},
		{"a word of another list", strings.Replace(junk, "junk", "abaisser", 1), "", wallet.ErrMnemonicWord},
		{"another word", strings.Replace(junk, "junk", "test", 1), "", wallet.ErrMnemonicChecksum},
		{"words swapped", strings.Replace(legal24, "legal winner", "winner legal", 1), "", wallet.ErrMnemonicChecksum},
		{"passphrase of two lines", junk, "a\nb", wallet.ErrMnemonicSecret},
		{"passphrase not UTF-8", junk, "\xff", wallet.ErrMnemonicSecret},
	} {
		seed, err := wallet.ParseSeed(c.words, c.passphrase)
		if !errors.Is(err, c.want) || seed != nil {
			t.Errorf("%s: ParseSeed = %v, %v; want %v", c.name, seed, err, c.want)
			continue
		}
		for _, secret := range []string{"test", "legal", "winn", "swordfish", "abaisser", "a\nb"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error has %q in it: %v", c.name, secret, err)
			}
		}
	}
}

func TestNewSeed(t *testing.T) {
	for _, n := range []int{12, 15, 18, 21, 24} {
		seed, err := wallet.NewSeed(n)
		if err != nil {
			t.Fatal(err)
		}
		words, own, err := seed.Reveal()
		if err != nil || len(strings.Fields(words)) != n || own != "" {
			t.Errorf("NewSeed(%d) has %d words, %q, %v", n, len(strings.Fields(words)), own, err)
		}
		if again := mustSeed(t, words, ""); again.Address() != seed.Address() {
			t.Errorf("%d words: read again they are %v, not %v", n, again, seed)
		}
	}
	for _, n := range []int{-12, 0, 11, 13, 16, 25, 27} {
		if seed, err := wallet.NewSeed(n); !errors.Is(err, wallet.ErrMnemonicLength) || seed != nil {
			t.Errorf("NewSeed(%d) = %v, %v", n, seed, err)
		}
	}
	a, err := wallet.NewSeed(12)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := wallet.NewSeed(12); err != nil || a.Address() == b.Address() {
		t.Errorf("two new seeds: %v and %v, %v", a, b, err)
	}
}

func TestSeedClose(t *testing.T) {
	seed := mustSeed(t, junk, "")
	key, err := seed.Key(1)
	if err != nil {
		t.Fatal(err)
	}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for i := range uint32(20) {
				if k, err := seed.Key(i); (k == nil) == (err == nil) || err != nil && !errors.Is(err, wallet.ErrSeedClosed) {
					t.Errorf("Key(%d) = %v, %v", i, k, err)
				}
			}
		})
	}
	seed.Close()
	seed.Close()
	users.Wait()
	if k, err := seed.Key(0); !errors.Is(err, wallet.ErrSeedClosed) || k != nil {
		t.Errorf("Key of a closed seed = %v, %v", k, err)
	}
	if words, own, err := seed.Reveal(); !errors.Is(err, wallet.ErrSeedClosed) || words+own != "" {
		t.Errorf("Reveal of a closed seed = %v", err)
	}
	if data, err := wallet.EncryptSeed(t.Context(), seed, "", wallet.ScryptLight); !errors.Is(err, wallet.ErrSeedClosed) || data != nil {
		t.Errorf("EncryptSeed of a closed seed: %v", err)
	}
	if seed.Address().String() != knownAddress {
		t.Errorf("a closed seed's address is %v", seed.Address())
	}
	if sig, err := key.Sign(t.Context(), wallet.PersonalMessage("x")); err != nil || sig.IsZero() {
		t.Errorf("a key of a closed seed signs no more: %v", err)
	}
}

func TestSeedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "seed.json")
	seed := mustSeed(t, junk, "25th\tword é")
	if err := wallet.WriteSeedFile(t.Context(), path, seed, "pass", wallet.ScryptLight); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(data); strings.Contains(s, "junk") || strings.Contains(s, "25th") || !strings.Contains(s, seed.Address().String()) {
		t.Errorf("the file is %s", s)
	}
	got, err := wallet.ReadSeedFile(t.Context(), path, "pass")
	if err != nil || got.Address() != seed.Address() {
		t.Fatalf("ReadSeedFile = %v, %v", got, err)
	}
	if words, own, err := got.Reveal(); err != nil || words != junk || own != "25th\tword é" {
		t.Errorf("Reveal = %q, %q, %v", words, own, err)
	}
	if _, err := wallet.ReadSeedFile(t.Context(), path, "fail"); !errors.Is(err, wallet.ErrPassphrase) || !strings.Contains(err.Error(), path) {
		t.Errorf("with the wrong passphrase: %v", err)
	}
	if err := wallet.WriteSeedFile(t.Context(), path, seed, "pass", wallet.ScryptLight); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing over a seed: %v", err)
	}
	if _, err := wallet.ReadKeyFile(t.Context(), path, "pass"); !errors.Is(err, wallet.ErrSeedFile) {
		t.Errorf("read as one key's: %v", err)
	}
	keyFile, err := wallet.EncryptKey(t.Context(), mustKey(t, knownKey), "pass", wallet.ScryptLight)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		data       []byte
	}{
		{"a key's file", "no seed file", keyFile},
		{"another's address", wallet.ErrKeystoreAddress.Error(), edit(t, data, func(f map[string]any) { f["address"] = knownAddress })},
		{"a later version", `"swarmsealSeed" is 2; want 1`, edit(t, data, func(f map[string]any) { f["swarmsealSeed"] = 2 })},
		{"version as text", "swarmsealSeed", edit(t, data, func(f map[string]any) { f["swarmsealSeed"] = "1" })},
		{"no crypto", "crypto.cipher", edit(t, data, func(f map[string]any) { delete(f, "crypto") })},
		{"a key in it", "what it holds is no seed: mnemonic: want 12", edit(t, keyFile, func(f map[string]any) { f["swarmsealSeed"] = 1 })},
		{"no JSON", "no seed file", []byte("seed")},
		{"too long", "at most 65536", make([]byte, 70_000)},
	} {
		if got, err := wallet.DecryptSeed(t.Context(), c.data, "pass"); err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: DecryptSeed = %v, %v", c.name, got, err)
		}
	}
	if got, err := wallet.DecryptSeed(t.Context(), edit(t, data, func(f map[string]any) { delete(f, "address") }), "pass"); err != nil || got.Address() != seed.Address() {
		t.Errorf("without its address: %v, %v", got, err)
	}
}

// A file that its mode alone guards must be guarded by it.
func TestFileMode(t *testing.T) {
	dir := t.TempDir()
	open := map[string]func(name, pass string) error{
		"key":  func(name, pass string) error { _, err := wallet.ReadKeyFile(t.Context(), name, pass); return err },
		"seed": func(name, pass string) error { _, err := wallet.ReadSeedFile(t.Context(), name, pass); return err },
	}
	for _, pass := range []string{"", "pass"} {
		if err := wallet.WriteKeyFile(t.Context(), filepath.Join(dir, "key"+pass), mustKey(t, knownKey), pass, wallet.ScryptLight); err != nil {
			t.Fatal(err)
		}
		if err := wallet.WriteSeedFile(t.Context(), filepath.Join(dir, "seed"+pass), mustSeed(t, junk, ""), pass, wallet.ScryptLight); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		kind, pass string
		mode       fs.FileMode
		refused    bool
	}{
		{"key", "", 0o400, false}, {"key", "", 0o640, true}, {"key", "", 0o604, true}, {"key", "", 0o622, true},
		{"key", "pass", 0o644, false}, {"seed", "", 0o600, false}, {"seed", "", 0o644, true}, {"seed", "pass", 0o644, false},
	} {
		name := filepath.Join(dir, c.kind+c.pass)
		if err := os.Chmod(name, c.mode); err != nil {
			t.Fatal(err)
		}
		var want error
		if c.refused && runtime.GOOS != "windows" { // which has no such modes
			want = wallet.ErrFileMode
		}
		if err := open[c.kind](name, c.pass); !errors.Is(err, want) {
			t.Errorf("%s with mode %04o and passphrase %q: %v, want %v", c.kind, c.mode, c.pass, err, want)
		}
	}
}

// Whatever is read as a mnemonic is 12 to 24 words of the list, and those read
// as the same keys again.
func FuzzParseSeed(f *testing.F) {
	for _, v := range vectors[bip39Vector](f, "bip39.json") {
		f.Add(v.Mnemonic, "TREZOR")
		f.Add(strings.ToUpper(v.Mnemonic)+"\n", "")
	}
	f.Add(junk, "a\nb")
	f.Add("abandon", "\xff")
	f.Fuzz(func(t *testing.T, text, passphrase string) {
		seed, err := wallet.ParseSeed(text, passphrase)
		if (seed == nil) == (err == nil) {
			t.Fatalf("ParseSeed = %v, %v", seed, err)
		}
		if err != nil {
			return
		}
		words, own, err := seed.Reveal()
		if err != nil || own != passphrase || !strings.EqualFold(words, strings.Join(strings.Fields(text), " ")) {
			t.Errorf("%q was read as %q, %q, %v", text, words, own, err)
		}
		again, err := wallet.ParseSeed(words, own)
		if err != nil || again.Address() != seed.Address() {
			t.Errorf("%q reads as %v, and its words as %v, %v", text, seed, again, err)
		}
	})
}
