package wallet

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
)

// hardened marks an index of BIP-32 whose child can't be had from a public key.
const hardened = 1 << 31

// node is a private key in BIP-32's tree, with its chain code. It is some 60
// lines, against a dependency with the parameters of several chains.
type node struct{ key, chain []byte } // 32 bytes each

var errNoKey = errors.New("no key has this index; take the next")

// masterNode gives the root of a seed's tree.
func masterNode(seed []byte) (*node, error) { return nodeOf([]byte("Bitcoin seed"), seed, nil) }

// child gives the node with an index below n.
func (n *node) child(index uint32) (*node, error) {
	data := make([]byte, 0, 37)
	defer func() { clear(data[:cap(data)]) }()
	if index >= hardened {
		data = append(append(data, 0), n.key...)
	} else {
		key, err := crypto.ToECDSA(n.key)
		if err != nil {
			return nil, err
		}
		data = append(data, crypto.CompressPubkey(&key.PublicKey)...)
	}
	return nodeOf(n.chain, binary.BigEndian.AppendUint32(data, index), n.key)
}

// descend gives the node at the end of a path, and clears those on it.
func (n *node) descend(path ...uint32) (*node, error) {
	at := n
	for _, index := range path {
		next, err := at.child(index)
		if at != n {
			at.clear()
		}
		if err != nil {
			return nil, fmt.Errorf("index %d: %w", index, err)
		}
		at = next
	}
	return at, nil
}

// nodeOf gives the node whose key is that of parent, if any, and the left half of
// the hash; the right half is its chain code. One hash in 2^127 gives no key.
func nodeOf(hashKey, data, parent []byte) (*node, error) {
	mac := hmac.New(sha512.New, hashKey)
	mac.Write(data)
	sum := mac.Sum(nil)
	order := crypto.S256().Params().N
	k := new(big.Int).SetBytes(sum[:32])
	defer func() { clear(k.Bits()) }()
	if k.Cmp(order) >= 0 {
		return nil, errNoKey
	}
	k.Add(k, new(big.Int).SetBytes(parent)).Mod(k, order)
	if k.Sign() == 0 {
		return nil, errNoKey
	}
	return &node{key: k.FillBytes(sum[:32:32]), chain: sum[32:]}, nil
}

func (n *node) clear() {
	clear(n.key)
	clear(n.chain)
}
