package wallet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/crypto/scrypt"
)

// v3Crypto is the "crypto" member of a keystore file of version 3. It is read
// and written here rather than by go-ethereum's own package, which brings the
// types of a whole chain along into every program that reads events
// (TestSizeOfPrograms in package swarm tells what that comes to), and panics on
// files whose members are missing.
type v3Crypto struct {
	Cipher       string         `json:"cipher"`
	CipherText   string         `json:"ciphertext"`
	CipherParams v3CipherParams `json:"cipherparams"`
	KDF          string         `json:"kdf"`
	KDFParams    v3KDFParams    `json:"kdfparams"`
	MAC          string         `json:"mac"`
}

type v3CipherParams struct {
	IV string `json:"iv"`
}

type v3KDFParams struct {
	DKLen int    `json:"dklen"`
	N     int    `json:"n,omitzero"`
	P     int    `json:"p,omitzero"`
	R     int    `json:"r,omitzero"`
	C     int    `json:"c,omitzero"`
	PRF   string `json:"prf,omitzero"`
	Salt  string `json:"salt"`
}

// object is a JSON object whose member names match by case, which those of
// encoding/json do not: what is checked must be what is used. A member that is
// there twice counts as it is last.
type object map[string]json.RawMessage

// member is where a member of an object is to be read to.
type member struct {
	name string
	into any
}

// read reads members; those that are not there stay as they were.
func (o object) read(members ...member) error {
	for _, m := range members {
		if raw, ok := o[m.name]; ok {
			if err := json.Unmarshal(raw, m.into); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
	}
	return nil
}

// UnmarshalJSON reads the member of a file; check tells whether it can be opened.
func (c *v3Crypto) UnmarshalJSON(data []byte) error {
	var all, params, kdf object
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if err := all.read(member{"cipher", &c.Cipher}, member{"ciphertext", &c.CipherText}, member{"cipherparams", &params},
		member{"kdf", &c.KDF}, member{"kdfparams", &kdf}, member{"mac", &c.MAC}); err != nil {
		return err
	}
	if err := params.read(member{"iv", &c.CipherParams.IV}); err != nil {
		return fmt.Errorf("cipherparams.%w", err)
	}
	k := &c.KDFParams
	if err := kdf.read(member{"dklen", &k.DKLen}, member{"n", &k.N}, member{"p", &k.P}, member{"r", &k.R},
		member{"c", &k.C}, member{"prf", &k.PRF}, member{"salt", &k.Salt}); err != nil {
		return fmt.Errorf("kdfparams.%w", err)
	}
	return nil
}

const (
	v3Cipher = "aes-128-ctr"
	v3DKLen  = 32
	v3PRF    = "hmac-sha256"
	scryptR  = 8
)

// Bounds of a file that is opened. maxScryptMemory is of 128·n·r, in bytes:
// twice what ScryptStandard takes.
const (
	maxScryptMemory = 512 << 20
	maxScryptP      = 16
	maxPBKDF2Rounds = 10_000_000
)

// derivations serialises them: each may take 256 MiB. It is a channel rather
// than a mutex, so that whoever waits can give up.
var derivations = make(chan struct{}, 1)

// seal encrypts a secret. It waits for its turn until ctx ends.
func seal(ctx context.Context, secret []byte, passphrase string, work Scrypt) (*v3Crypto, error) {
	n, p := 1<<18, 1
	if work == ScryptLight {
		n, p = 1<<12, 6
	}
	var salt [32]byte
	var iv [aes.BlockSize]byte
	_, _ = rand.Read(salt[:]) // never fails
	_, _ = rand.Read(iv[:])
	c := &v3Crypto{
		Cipher: v3Cipher, CipherParams: v3CipherParams{hex.EncodeToString(iv[:])}, KDF: "scrypt",
		KDFParams: v3KDFParams{DKLen: v3DKLen, N: n, P: p, R: scryptR, Salt: hex.EncodeToString(salt[:])},
	}
	derived, err := c.derive(ctx, passphrase, salt[:])
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	text, err := aesCTR(derived[:16], iv[:], secret)
	if err != nil {
		return nil, err
	}
	mac := Keccak256(derived[16:32], text)
	c.CipherText, c.MAC = hex.EncodeToString(text), hex.EncodeToString(mac[:])
	return c, nil
}

// open gives the secret. It waits for its turn until ctx ends.
func (c *v3Crypto) open(ctx context.Context, passphrase string) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	var parts [4][]byte
	for i, part := range []struct{ name, text string }{
		{"ciphertext", c.CipherText}, {"cipherparams.iv", c.CipherParams.IV}, {"mac", c.MAC}, {"kdfparams.salt", c.KDFParams.Salt},
	} {
		data, err := hex.DecodeString(part.text)
		if err != nil {
			return nil, fmt.Errorf("crypto.%s: want hex digits", part.name)
		}
		parts[i] = data
	}
	text, iv, mac, salt := parts[0], parts[1], parts[2], parts[3]
	derived, err := c.derive(ctx, passphrase, salt)
	if err != nil {
		return nil, err
	}
	defer clear(derived)
	if want := Keccak256(derived[16:32], text); subtle.ConstantTimeCompare(want[:], mac) != 1 {
		return nil, ErrPassphrase
	}
	return aesCTR(derived[:16], iv, text)
}

// check refuses what can't be opened, or would take any amount of memory and
// time to.
func (c *v3Crypto) check() error {
	k := &c.KDFParams
	switch {
	case c.Cipher != v3Cipher:
		return fmt.Errorf("crypto.cipher is %q; want %q", c.Cipher, v3Cipher)
	case len(c.CipherParams.IV) != 2*aes.BlockSize:
		return errors.New("crypto.cipherparams.iv: want 32 hex digits")
	case k.Salt == "":
		return errors.New("crypto.kdfparams.salt: want hex digits")
	case k.DKLen < v3DKLen || k.DKLen > 2*v3DKLen:
		return fmt.Errorf("crypto.kdfparams.dklen is %d; want 32 to 64", k.DKLen)
	}
	switch c.KDF {
	case "scrypt":
		// The product can't overflow: each is bounded first.
		if k.N < 2 || k.R < 1 || k.P < 1 || k.P > maxScryptP || k.N > maxScryptMemory || k.R > maxScryptMemory ||
			int64(k.N)*int64(k.R) > maxScryptMemory/128 {
			return fmt.Errorf("crypto.kdfparams: want n, r and p of scrypt with p up to %d and 128·n·r up to %d", maxScryptP, maxScryptMemory)
		}
	case "pbkdf2":
		if k.PRF != v3PRF {
			return fmt.Errorf("crypto.kdfparams.prf is %q; want %q", k.PRF, v3PRF)
		}
		if k.C < 1 || k.C > maxPBKDF2Rounds {
			return fmt.Errorf("crypto.kdfparams.c is %d; want 1 to %d rounds", k.C, maxPBKDF2Rounds)
		}
	default:
		return fmt.Errorf("crypto.kdf is %q; want scrypt or pbkdf2", c.KDF)
	}
	return nil
}

func (c *v3Crypto) derive(ctx context.Context, passphrase string, salt []byte) ([]byte, error) {
	if ctx.Err() != nil { // select would choose either
		return nil, context.Cause(ctx)
	}
	select {
	case derivations <- struct{}{}:
		defer func() { <-derivations }()
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another decryption: %w", context.Cause(ctx))
	}
	k := &c.KDFParams
	if c.KDF == "pbkdf2" {
		return pbkdf2.Key(sha256.New, passphrase, salt, k.C, k.DKLen)
	}
	return scrypt.Key([]byte(passphrase), salt, k.N, k.R, k.P, k.DKLen)
}

func aesCTR(key, iv, text []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(text))
	cipher.NewCTR(block, iv).XORKeyStream(out, text)
	return out, nil
}
