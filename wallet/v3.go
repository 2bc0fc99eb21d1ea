package wallet

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/uuid"
	"golang.org/x/crypto/scrypt"
)

// v3File is a keystore file of version 3. It is read and written here rather
// than by go-ethereum's own package, which brings the types of a whole
// chain along into every program that reads events (TestSizeOfPrograms in
// package swarm tells what that comes to).
type v3File struct {
	Address string   `json:"address"`
	Crypto  v3Crypto `json:"crypto"`
	ID      string   `json:"id"`
	Version int      `json:"version"`
}

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

const (
	v3Cipher = "aes-128-ctr"
	v3DKLen  = 32
	scryptR  = 8
)

// seal encrypts a key with scrypt's n and p.
func seal(key *Key, passphrase string, n, p int) (*v3File, error) {
	var salt [32]byte
	var iv [aes.BlockSize]byte
	_, _ = rand.Read(salt[:]) // never fails
	_, _ = rand.Read(iv[:])
	c := v3Crypto{
		Cipher: v3Cipher, CipherParams: v3CipherParams{hex.EncodeToString(iv[:])}, KDF: "scrypt",
		KDFParams: v3KDFParams{DKLen: v3DKLen, N: n, P: p, R: scryptR, Salt: hex.EncodeToString(salt[:])},
	}
	derived, err := c.derive(passphrase)
	if err != nil {
		return nil, err
	}
	text, err := aesCTR(derived[:16], iv[:], crypto.FromECDSA(key.secret))
	if err != nil {
		return nil, err
	}
	mac := Keccak256(derived[16:32], text)
	c.CipherText, c.MAC = hex.EncodeToString(text), hex.EncodeToString(mac[:])
	return &v3File{Address: hex.EncodeToString(key.address[:]), Crypto: c, ID: uuid.NewString(), Version: 3}, nil
}

// open gives the secret in a file that checkCrypto let pass.
func (c *v3Crypto) open(passphrase string) ([]byte, error) {
	if c.Cipher != v3Cipher {
		return nil, fmt.Errorf("crypto.cipher is %q; want %s", c.Cipher, v3Cipher)
	}
	iv, err := hex.DecodeString(c.CipherParams.IV)
	if err != nil {
		return nil, fmt.Errorf("crypto.cipherparams.iv: %w", err)
	}
	text, err := hex.DecodeString(c.CipherText)
	if err != nil {
		return nil, fmt.Errorf("crypto.ciphertext: %w", err)
	}
	mac, err := hex.DecodeString(c.MAC)
	if err != nil {
		return nil, fmt.Errorf("crypto.mac: %w", err)
	}
	derived, err := c.derive(passphrase)
	if err != nil {
		return nil, err
	}
	if want := Keccak256(derived[16:32], text); subtle.ConstantTimeCompare(want[:], mac) != 1 {
		return nil, ErrPassphrase
	}
	return aesCTR(derived[:16], iv, text)
}

func (c *v3Crypto) derive(passphrase string) ([]byte, error) {
	k := c.KDFParams
	salt, err := hex.DecodeString(k.Salt)
	if err != nil {
		return nil, fmt.Errorf("crypto.kdfparams.salt: %w", err)
	}
	if c.KDF == "pbkdf2" {
		if k.PRF != "hmac-sha256" {
			return nil, fmt.Errorf(`crypto.kdfparams.prf is %q; want "hmac-sha256"`, k.PRF)
		}
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
