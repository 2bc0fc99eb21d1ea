package wallet

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// Seed is a mnemonic of BIP-39 with all the keys that come from it, those of
// m/44'/60'/0'/0/i by BIP-32 and BIP-44: the same that other Ethereum wallets
// show as its first, second and further account. However it is printed, logged or
// marshalled, it shows as REDACTED. Its methods may be called from many goroutines
// at once.
type Seed struct {
	secret  func() *seedSecret // see Key
	address Address
}

type seedSecret struct {
	mu sync.Mutex
	// plain is what a seed file holds: the words, and behind a line feed the
	// mnemonic's passphrase where it has one. nil once closed.
	plain   []byte
	account *node // m/44'/60'/0'/0
}

// ErrSeedClosed is what a closed Seed gives.
var ErrSeedClosed = errors.New("seed: closed")

// NewSeed makes a mnemonic of 12, 15, 18, 21 or 24 words (16 to 32 bytes of
// entropy) from the system's random source.
func NewSeed(words int) (*Seed, error) {
	if err := checkWords(words); err != nil {
		return nil, err
	}
	entropy := make([]byte, words*4/3)
	defer clear(entropy)
	_, _ = rand.Read(entropy) // never fails
	return newSeed(mnemonicOf(entropy), "")
}

// ParseSeed reads a mnemonic of English words, in any case and with any white
// space between them, and checks its checksum. passphrase is the mnemonic's own
// (its "25th word"), "" for none: each gives other keys, and none is wrong. The
// errors are ErrMnemonicLength, ErrMnemonicWord, ErrMnemonicChecksum and
// ErrMnemonicSecret; they have no word in them.
func ParseSeed(mnemonic, passphrase string) (*Seed, error) {
	words, err := parseMnemonic(mnemonic)
	if err != nil {
		return nil, err
	}
	return newSeed(words, passphrase)
}

func newSeed(words, passphrase string) (*Seed, error) {
	stretched, err := stretch(words, passphrase)
	if err != nil {
		return nil, err
	}
	defer clear(stretched)
	master, err := masterNode(stretched)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	defer master.clear()
	account, err := master.descend(hardened+44, hardened+60, hardened, 0)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	plain := []byte(words)
	if passphrase != "" {
		plain = append(append(plain, '\n'), passphrase...)
	}
	secret := &seedSecret{plain: plain, account: account}
	s := &Seed{secret: func() *seedSecret { return secret }}
	first, err := s.Key(0)
	if err != nil {
		return nil, err
	}
	s.address = first.address
	return s, nil
}

// Address gives the address of the first key, Key(0).
func (s *Seed) Address() Address { return s.address }

// Key gives the key of m/44'/60'/0'/0/index, index below 2^31. It stays good
// after Close.
func (s *Seed) Key(index uint32) (*Key, error) {
	if index >= hardened {
		return nil, fmt.Errorf("seed: index %d; want 0 to %d", index, hardened-1)
	}
	secret := s.secret()
	secret.mu.Lock()
	defer secret.mu.Unlock()
	if secret.plain == nil {
		return nil, ErrSeedClosed
	}
	child, err := secret.account.child(index)
	if err != nil {
		return nil, fmt.Errorf("seed: index %d: %w", index, err)
	}
	defer child.clear()
	key, err := crypto.ToECDSA(child.key)
	if err != nil {
		return nil, fmt.Errorf("seed: index %d: %w", index, errNoKey)
	}
	return newKey(key), nil
}

// Reveal gives the words and the mnemonic's passphrase, "" for none: the one way
// by which they leave in the open, for people who write them down or move them to
// another wallet.
func (s *Seed) Reveal() (words, passphrase string, err error) {
	secret := s.secret()
	secret.mu.Lock()
	defer secret.mu.Unlock()
	if secret.plain == nil {
		return "", "", ErrSeedClosed
	}
	words, passphrase, _ = strings.Cut(string(secret.plain), "\n")
	return words, passphrase, nil
}

// Close clears what the seed has in memory; its other methods then fail with
// ErrSeedClosed. It can't reach copies that the runtime and the libraries below
// made on the way, nor keys that were derived, which are cleared only when their
// memory is used again. Close may be called again.
func (s *Seed) Close() {
	secret := s.secret()
	secret.mu.Lock()
	defer secret.mu.Unlock()
	clear(secret.plain)
	secret.plain = nil
	secret.account.clear()
}

// String gives REDACTED and the first key's address.
func (s *Seed) String() string {
	if s == nil {
		return "Seed(nil)"
	}
	return "Seed(" + redacted + ", " + s.address.String() + ")"
}

// Format prints as String does for every verb.
func (s *Seed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements [slog.LogValuer].
func (s *Seed) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON gives "REDACTED": a seed leaves only through EncryptSeed and Reveal.
func (s *Seed) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText gives REDACTED, for encoders of other formats.
func (s *Seed) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// seedFile is a seed file. It is ours: wallets share no form of one.
type seedFile struct {
	Version int      `json:"swarmsealSeed"`
	Address Address  `json:"address"`
	Crypto  v3Crypto `json:"crypto"`
	ID      string   `json:"id"`
}

const (
	seedMember  = "swarmsealSeed"
	seedVersion = 1
)

// EncryptSeed gives the bytes of a seed file, whose form the package's
// documentation has. ctx is as for EncryptKey.
func EncryptSeed(ctx context.Context, seed *Seed, passphrase string, work Scrypt) ([]byte, error) {
	secret := seed.secret()
	secret.mu.Lock()
	plain := bytes.Clone(secret.plain)
	secret.mu.Unlock()
	if plain == nil {
		return nil, ErrSeedClosed
	}
	defer clear(plain)
	c, err := seal(ctx, plain, passphrase, work)
	if err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	return json.Marshal(&seedFile{Version: seedVersion, Address: seed.address, Crypto: *c, ID: newID()})
}

// DecryptSeed opens a seed file's bytes, with the bounds of DecryptKey. The
// address in it must be that of the first key.
func DecryptSeed(ctx context.Context, data []byte, passphrase string) (*Seed, error) {
	var file struct {
		version int
		address string
		crypto  v3Crypto
	}
	err := readFile(data, member{seedMember, &file.version}, member{"address", &file.address}, member{"crypto", &file.crypto})
	switch {
	case err != nil:
		return nil, fmt.Errorf("keystore: no seed file: %w", err)
	case file.version != seedVersion:
		return nil, fmt.Errorf("keystore: no seed file: %q is %d; want %d", seedMember, file.version, seedVersion)
	}
	plain, err := file.crypto.open(ctx, passphrase)
	switch {
	case errors.Is(err, ErrPassphrase):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("keystore: %w", err)
	}
	defer clear(plain)
	words, own, _ := strings.Cut(string(plain), "\n")
	seed, err := ParseSeed(words, own)
	if err != nil {
		return nil, fmt.Errorf("keystore: what it holds is no seed: %w", err)
	}
	if err := checkAddress(file.address, seed.address); err != nil {
		seed.Close()
		return nil, err
	}
	return seed, nil
}

// WriteSeedFile writes a seed file as WriteKeyFile writes a keystore file.
func WriteSeedFile(ctx context.Context, path string, seed *Seed, passphrase string, work Scrypt) error {
	data, err := EncryptSeed(ctx, seed, passphrase, work)
	if err != nil {
		return err
	}
	return writeNew(path, data)
}

// ReadSeedFile opens a seed file; see DecryptSeed, and ReadKeyFile for the mode
// that it must have.
func ReadSeedFile(ctx context.Context, path, passphrase string) (*Seed, error) {
	data, mode, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	seed, err := DecryptSeed(ctx, data, passphrase)
	if err == nil {
		err = checkMode(mode, passphrase)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return seed, nil
}
