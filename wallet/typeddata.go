package wallet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
)

// Domain is an EIP-712 domain of name, version and chain id, with no
// verifying contract. NewDomain makes one; the zero value is none.
type Domain struct {
	name, version string
	chainID       uint64
	separator     Digest // hashed once: a verifier needs it for every message
}

var domainType = Keccak256([]byte("EIP712Domain(string name,string version,uint256 chainId)"))

// NewDomain makes a domain. Chain id 0 is allowed: a swarm tied to no chain.
func NewDomain(name, version string, chainID uint64) Domain {
	separator := NewEncoder(domainType, 3).String(name).String(version).Uint64(chainID).Sum()
	return Domain{name: name, version: version, chainID: chainID, separator: separator}
}

// Separator gives the domain's separator: the hash of its struct.
func (d Domain) Separator() Digest { return d.separator }

// TypedDigest gives the digest that is signed: of 0x19 0x01, the domain's
// separator and the hash of the message's struct.
func TypedDigest(separator, structHash Digest) Digest {
	return Keccak256([]byte{0x19, 0x01}, separator[:], structHash[:])
}

// Encoder encodes a typed-data struct by hand, member after member in the
// order of its type. The generic encoder of go-ethereum takes several times as
// long (go test -bench Digest ./swarm) and panics on [null] in an array.
type Encoder struct{ words []byte }

// NewEncoder starts a struct of the type whose encoded type hashes to
// typeHash; members is how many there are, for the size of the buffer.
func NewEncoder(typeHash Digest, members int) *Encoder {
	e := &Encoder{make([]byte, 0, 32*(members+1))}
	return e.Bytes32(typeHash)
}

// Bytes32 appends a bytes32 member, or the hash of a struct or an array. It is
// not inlined, as every other member is one of these: structs of a dozen members
// would each take kilobytes of code, for less time than one of their hashes takes.
//
//go:noinline
func (e *Encoder) Bytes32(d Digest) *Encoder {
	e.words = append(e.words, d[:]...)
	return e
}

// Address appends an address member.
func (e *Encoder) Address(a Address) *Encoder {
	var word [32]byte
	copy(word[12:], a[:])
	return e.Bytes32(word)
}

// Uint64 appends a member of any unsigned type that v fits.
func (e *Encoder) Uint64(v uint64) *Encoder {
	var word [32]byte
	binary.BigEndian.PutUint64(word[24:], v)
	return e.Bytes32(word)
}

// Bool appends a bool member.
func (e *Encoder) Bool(v bool) *Encoder {
	if v {
		return e.Uint64(1)
	}
	return e.Uint64(0)
}

// Amount appends a uint256 member.
func (e *Encoder) Amount(v Amount) *Encoder { return e.Bytes32(Digest(v)) }

// String appends a string member: the hash of its bytes.
func (e *Encoder) String(s string) *Encoder { return e.Bytes32(Keccak256([]byte(s))) }

// Array appends an array member: the hash of its elements' words.
func (e *Encoder) Array(elements []Digest) *Encoder {
	words := make([]byte, 0, 32*len(elements))
	for _, d := range elements {
		words = append(words, d[:]...)
	}
	return e.Bytes32(Keccak256(words))
}

// Sum gives the hash of the struct.
func (e *Encoder) Sum() Digest { return Keccak256(e.words) }

// Amount is a uint256 in big-endian order, for sums of a token's smallest
// unit. Its text is decimal digits without leading zeros.
type Amount [32]byte

var errAmount = errors.New("want decimal digits without leading zeros, below 2^256")

// ParseAmount reads decimal digits.
func ParseAmount(s string) (Amount, error) {
	var a Amount
	digits := len(s) > 0 && len(s) <= 78 && (s[0] != '0' || s == "0")
	for i := 0; digits && i < len(s); i++ {
		digits = s[i] >= '0' && s[i] <= '9'
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !digits || !ok || n.BitLen() > 256 {
		return a, fmt.Errorf("amount: %w", errAmount)
	}
	n.FillBytes(a[:])
	return a, nil
}

func (a Amount) String() string { return new(big.Int).SetBytes(a[:]).String() }

// MarshalText implements [encoding.TextMarshaler].
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is ParseAmount.
func (a *Amount) UnmarshalText(text []byte) error {
	parsed, err := ParseAmount(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}
