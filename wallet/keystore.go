package wallet

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// Scrypt says how much work a keystore file asks of whoever opens it.
type Scrypt int

const (
	// ScryptStandard takes 256 MiB and about a second; it is for people's keys.
	ScryptStandard Scrypt = iota
	// ScryptLight takes 4 MiB and about 100 ms; it is for tests and for keys
	// that a strong passphrase or the file's permissions guard.
	ScryptLight
)

// Errors of DecryptKey.
var (
	ErrPassphrase      = errors.New("keystore: wrong passphrase")
	ErrKeystoreAddress = errors.New("keystore: the address in the file is not that of its key")
)

// maxKeystoreBytes bounds a keystore file; real ones have about 500 bytes.
const maxKeystoreBytes = 64 << 10

// decrypts serialises decryption: each may take 256 MiB.
var decrypts sync.Mutex

// EncryptKey gives the bytes of a V3 keystore file, which any Ethereum
// wallet reads.
func EncryptKey(key *Key, passphrase string, work Scrypt) ([]byte, error) {
	n, p := 1<<18, 1
	if work == ScryptLight {
		n, p = 1<<12, 6
	}
	decrypts.Lock()
	defer decrypts.Unlock()
	file, err := seal(key, passphrase, n, p)
	if err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	return json.Marshal(file)
}

// DecryptKey opens a V3 keystore file's bytes. One decryption runs at a time
// in a process. The file's own address, where it has one, must be the key's.
func DecryptKey(data []byte, passphrase string) (*Key, error) {
	var head struct {
		Address string          `json:"address"`
		Crypto  json.RawMessage `json:"crypto"`
		Version json.Number     `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("keystore: no V3 keystore file: %w", err)
	}
	if head.Version != "3" || len(head.Crypto) == 0 {
		return nil, errors.New(`keystore: no V3 keystore file: want "version":3 and "crypto"`)
	}
	if err := checkCrypto(head.Crypto); err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	var c v3Crypto
	if err := json.Unmarshal(head.Crypto, &c); err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	decrypts.Lock()
	defer decrypts.Unlock()
	secret, err := c.open(passphrase)
	switch {
	case errors.Is(err, ErrPassphrase):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("keystore: %w", err)
	}
	opened, err := crypto.ToECDSA(secret)
	if err != nil {
		return nil, fmt.Errorf("keystore: invalid key: %w", err)
	}
	key := newKey(opened)
	if head.Address != "" {
		// Files have it with and without 0x, in any case.
		said, ok := FoldAddress("0x" + trim0x(head.Address))
		if !ok || said != key.address {
			return nil, fmt.Errorf("%w: it says %q, the key's is %v", ErrKeystoreAddress, head.Address, key.address)
		}
	}
	return key, nil
}

// maxScryptMemory bounds 128·n·r of a file that is opened, in bytes: twice
// what ScryptStandard takes.
const maxScryptMemory = 512 << 20

// checkCrypto refuses what can't be opened (parameters that are missing or of
// another kind, an iv of another length), or would take any amount of memory and
// time to.
func checkCrypto(data []byte) error {
	var c struct {
		CipherParams struct {
			IV string `json:"iv"`
		} `json:"cipherparams"`
		KDF       string         `json:"kdf"`
		KDFParams map[string]any `json:"kdfparams"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if iv, err := hex.DecodeString(c.CipherParams.IV); err != nil || len(iv) != 16 {
		return errors.New("crypto.cipherparams.iv: want 32 hex digits")
	}
	if _, ok := c.KDFParams["salt"].(string); !ok {
		return errors.New("crypto.kdfparams.salt: want hex digits")
	}
	number := func(name string) float64 {
		n, _ := c.KDFParams[name].(float64) // 0 is out of bounds everywhere
		return n
	}
	if n := number("dklen"); n < 32 || n > 64 {
		return errors.New("crypto.kdfparams.dklen: want 32 to 64")
	}
	switch c.KDF {
	case "scrypt":
		n, r, p := number("n"), number("r"), number("p")
		if n < 2 || r < 1 || p < 1 || p > 16 || 128*n*r > maxScryptMemory {
			return fmt.Errorf("crypto.kdfparams: want n, r and p of scrypt with p up to 16 and 128·n·r up to %d", maxScryptMemory)
		}
	case "pbkdf2":
		if _, ok := c.KDFParams["prf"].(string); !ok {
			return errors.New(`crypto.kdfparams.prf: want "hmac-sha256"`)
		}
		if n := number("c"); n < 1 || n > 10_000_000 {
			return errors.New("crypto.kdfparams.c: want 1 to 10000000 rounds")
		}
	default:
		return fmt.Errorf("crypto.kdf is %q; want scrypt or pbkdf2", c.KDF)
	}
	return nil
}

// WriteKeyFile writes a keystore file of mode 0600, whole or not at all. It
// refuses to replace a file: a key that is overwritten is lost.
func WriteKeyFile(path string, key *Key, passphrase string, work Scrypt) error {
	data, err := EncryptKey(key, passphrase, work)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	// Link, unlike Rename, fails where the name is taken.
	if err := os.Link(tmp.Name(), path); err != nil {
		return fmt.Errorf("keystore: %w", err)
	}
	return nil
}

// ReadKeyFile opens a keystore file; see DecryptKey.
func ReadKeyFile(path, passphrase string) (*Key, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	if info.Size() > maxKeystoreBytes {
		return nil, fmt.Errorf("keystore: %s has %d bytes; a keystore file has at most %d", path, info.Size(), maxKeystoreBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	key, err := DecryptKey(data, passphrase)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func trim0x(s string) string {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:]
	}
	return s
}
