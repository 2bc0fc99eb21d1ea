package wallet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/ethereum/go-ethereum/crypto"
)

// Scrypt says how much work a file asks of whoever opens it.
type Scrypt int

const (
	// ScryptStandard takes 256 MiB and about a second; it is for people's keys.
	ScryptStandard Scrypt = iota
	// ScryptLight takes 4 MiB and about 100 ms; it is for tests and for keys
	// that a strong passphrase or the file's permissions guard.
	ScryptLight
)

// Errors of files with a secret in them.
var (
	ErrPassphrase      = errors.New("keystore: wrong passphrase")
	ErrKeystoreAddress = errors.New("keystore: the address in the file is not that of its key")
	ErrSeedFile        = errors.New("keystore: this is a seed file, not one key's")
	ErrFileMode        = errors.New("keystore: others may open the file, and no passphrase guards it")
)

// keystoreVersion is that of the Web3 Secret Storage Definition.
const keystoreVersion = 3

// v3File is a keystore file.
type v3File struct {
	Address string   `json:"address"`
	Crypto  v3Crypto `json:"crypto"`
	ID      string   `json:"id"`
	Version int      `json:"version"`
}

// EncryptKey gives the bytes of a V3 keystore file, which any Ethereum wallet
// reads. One derivation of a passphrase runs at a time in a process, since each
// may take 256 MiB; ctx bounds the wait for it.
func EncryptKey(ctx context.Context, key *Key, passphrase string, work Scrypt) ([]byte, error) {
	secret := crypto.FromECDSA(key.secret())
	defer clear(secret)
	c, err := seal(ctx, secret, passphrase, work)
	if err != nil {
		return nil, fmt.Errorf("keystore: %w", err)
	}
	// Other programs write the address without 0x, and some want it so.
	address := fmt.Sprintf("%x", key.address[:])
	return json.Marshal(&v3File{Address: address, Crypto: *c, ID: newID(), Version: keystoreVersion})
}

// DecryptKey opens a V3 keystore file's bytes, at most 64 KiB: of scrypt with
// 128·n·r up to 512 MiB and p up to 16, or of PBKDF2 with up to 10,000,000
// rounds. The file's own address, where it has one, must be the key's. One
// derivation of a passphrase runs at a time in a process; ctx bounds the wait
// for it.
func DecryptKey(ctx context.Context, data []byte, passphrase string) (*Key, error) {
	file, err := parseKeystore(data)
	if err != nil {
		return nil, err
	}
	secret, err := file.Crypto.open(ctx, passphrase)
	switch {
	case errors.Is(err, ErrPassphrase):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("keystore: %w", err)
	}
	defer clear(secret)
	opened, err := crypto.ToECDSA(secret)
	if err != nil {
		return nil, errors.New("keystore: what it holds is no secp256k1 key") // the library's error may tell of it
	}
	key := newKey(opened)
	if err := checkAddress(file.Address, key.address); err != nil {
		return nil, err
	}
	return key, nil
}

func parseKeystore(data []byte) (*v3File, error) {
	file, seed := &v3File{}, 0
	err := readFile(data, member{"version", &file.Version}, member{seedMember, &seed}, member{"address", &file.Address}, member{"crypto", &file.Crypto})
	switch {
	case err != nil:
		return nil, fmt.Errorf("keystore: no V3 keystore file: %w", err)
	case seed != 0:
		return nil, ErrSeedFile
	case file.Version != keystoreVersion:
		return nil, fmt.Errorf(`keystore: no V3 keystore file: "version" is %d; want %d`, file.Version, keystoreVersion)
	}
	return file, nil
}

// readFile reads the members of a file of at most maxFileBytes.
func readFile(data []byte, members ...member) error {
	if len(data) > maxFileBytes {
		return fmt.Errorf("%d bytes; such files have at most %d", len(data), maxFileBytes)
	}
	var file object
	if err := json.Unmarshal(data, &file); err != nil {
		return err
	}
	return file.read(members...)
}

// checkAddress compares the address that a file tells, if any, with that of what
// it holds. Files have it with and without 0x, in any case.
func checkAddress(told string, held Address) error {
	if told == "" {
		return nil
	}
	if said, ok := FoldAddress("0x" + trim0x(told)); !ok || said != held {
		return fmt.Errorf("%w: it says %q, and holds that of %v", ErrKeystoreAddress, told, held)
	}
	return nil
}

// WriteKeyFile writes a keystore file of mode 0600, whole or not at all. It
// refuses to replace a file: a key that is overwritten is lost.
func WriteKeyFile(ctx context.Context, path string, key *Key, passphrase string, work Scrypt) error {
	data, err := EncryptKey(ctx, key, passphrase, work)
	if err != nil {
		return err
	}
	return writeNew(path, data)
}

// ReadKeyFile opens a keystore file; see DecryptKey. A file that the empty
// passphrase opens must not be open to others, on systems with such modes: its
// mode is all that guards it then. ErrFileMode says so.
func ReadKeyFile(ctx context.Context, path, passphrase string) (*Key, error) {
	data, mode, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	key, err := DecryptKey(ctx, data, passphrase)
	if err == nil {
		err = checkMode(mode, passphrase)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func checkMode(mode fs.FileMode, passphrase string) error {
	if passphrase == "" && mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return fmt.Errorf("%w: its mode is %04o, chmod 600 it", ErrFileMode, mode.Perm())
	}
	return nil
}

func trim0x(s string) string {
	if len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:]
	}
	return s
}

// newID gives a random UUID, version 4 of RFC 9562. The usual package brings
// database/sql into every program that has a key.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
