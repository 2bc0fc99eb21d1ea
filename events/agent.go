package events

import (
	"sync/atomic"

	"github.com/swarmseal/swarmseal/wallet"
)

// pick chooses an agent among the texts that may name it: the first that is an
// address, else the first text.
type pick struct {
	address string // EIP-55
	text    string
}

func (p *pick) offer(s string) {
	if s == "" || p.address != "" {
		return
	}
	if a, ok := foldAddress(s); ok {
		p.address = a
	} else if p.text == "" {
		p.text = s
	}
}

func (p *pick) offerAll(n *names) {
	for i := range n {
		if n[i] != "" {
			p.offer(n[i])
		}
	}
}

// offerOutput offers what an unwrapped output names: its own members, or for a
// find those of the first agent in its list.
func (p *pick) offerOutput(out *output, t tool) {
	var found pick
	if t.act == actFind {
		found.offerFirst(out)
	} else {
		found.offerAll(&out.layer.answer.names)
	}
	if p.address == "" {
		p.address = found.address
	}
	if p.text == "" {
		p.text = found.text
	}
}

// offerFirst offers what the first in a find's list of results names.
func (p *pick) offerFirst(out *output) {
	list := out.value
	if list.isObject() {
		if list = out.layer.answer.results; !list.isList() {
			list = out.layer.answer.agents
		}
	}
	var n names
	for first := range list.elements() {
		for key, v := range first.members() {
			n.set(key, v)
		}
		break
	}
	p.offerAll(&n)
}

// agent gives the choice. Only a delegation may name its agent by a foreign
// id; in a find such a text is as likely a filter.
func (p *pick) agent(t tool) string {
	if p.address != "" || t.act != actDelegate {
		return p.address
	}
	return p.text
}

// checksum gives an address in its EIP-55 form and any other text as it is.
func checksum(s string) string {
	if a, ok := foldAddress(s); ok {
		return a
	}
	return s
}

// folded remembers the EIP-55 forms of the addresses seen last, each at a slot
// of its own text. The same few agents are named in most frames of a stream,
// and the hash behind the form costs more than the rest of a frame.
var folded [256]atomic.Pointer[foldedAddress]

type foldedAddress struct{ text, eip55 string }

const addressText = 2 + 2*wallet.AddressLength

// foldAddress gives the EIP-55 form of an address in any case.
func foldAddress(s string) (string, bool) {
	if len(s) != addressText {
		return "", false
	}
	// FNV-1a over the middle digits, which spread well enough.
	h := uint32(2166136261)
	for _, c := range []byte(s[8:20]) {
		h = (h ^ uint32(c)) * 16777619
	}
	slot := &folded[(h^h>>8^h>>16)%uint32(len(folded))]
	if known := slot.Load(); known != nil && known.text == s {
		return known.eip55, true
	}
	a, ok := wallet.FoldAddress(s)
	if !ok {
		return "", false
	}
	entry := &foldedAddress{string([]byte(s)), a.String()}
	slot.Store(entry)
	return entry.eip55, true
}
