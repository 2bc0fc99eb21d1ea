package discovery

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Index holds agents' cards in memory and ranks them for a query. It is safe
// for concurrent use. An agent is searchable the moment Put returns.
type Index struct {
	mu     sync.RWMutex
	slots  map[wallet.Address]uint32
	docs   []document // by slot
	free   []uint32   // slots of removed documents
	terms  map[string][]posting
	exact  map[string][]uint32 // folded names and skill ids to slots
	totals [fieldCount]uint64  // terms in each field, over all documents
}

// document is a card as it is indexed; a free slot has no card.
type document struct {
	card    *swarm.Card
	name    string   // folded
	terms   []string // each once: what to take back on removal
	keys    []string // of exact
	lengths [fieldCount]uint32
}

// posting says how often a document has a term, field by field. A list of
// postings is sorted by slot.
type posting struct {
	slot   uint32
	counts [fieldCount]uint16
}

// NewIndex gives an empty index.
func NewIndex() *Index {
	return &Index{
		slots: make(map[wallet.Address]uint32),
		terms: make(map[string][]posting),
		exact: make(map[string][]uint32),
	}
}

// Put adds a card, or replaces the one of the same wallet. The index keeps the
// pointer: the card must not change afterwards.
func (x *Index) Put(card *swarm.Card) {
	doc, counts := newDocument(card)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(card.Wallet)
	var slot uint32
	if last := len(x.free) - 1; last >= 0 {
		slot, x.free = x.free[last], x.free[:last]
		x.docs[slot] = doc
	} else {
		slot = uint32(len(x.docs))
		x.docs = append(x.docs, doc)
	}
	x.slots[card.Wallet] = slot
	for _, term := range doc.terms {
		list := x.terms[term]
		at, _ := findPosting(list, slot)
		x.terms[term] = slices.Insert(list, at, posting{slot, *counts[term]})
	}
	for _, key := range doc.keys {
		x.exact[key] = append(x.exact[key], slot)
	}
	for f, n := range doc.lengths {
		x.totals[f] += uint64(n)
	}
}

// newDocument reads a card's fields; counts has the terms' counts by term.
func newDocument(card *swarm.Card) (document, map[string]*[fieldCount]uint16) {
	doc := document{card: card, name: fold(card.Name)}
	counts := make(map[string]*[fieldCount]uint16)
	for f, text := range fieldTexts(card) {
		for _, term := range documentTerms(text) {
			c := counts[term]
			if c == nil {
				c = new([fieldCount]uint16)
				counts[term] = c
				doc.terms = append(doc.terms, term)
			}
			if c[f] < math.MaxUint16 {
				c[f]++
			}
			doc.lengths[f]++
		}
	}
	doc.keys = []string{doc.name}
	for _, s := range card.Skills {
		if key := fold(s.ID); !slices.Contains(doc.keys, key) {
			doc.keys = append(doc.keys, key)
		}
	}
	return doc, counts
}

func findPosting(list []posting, slot uint32) (int, bool) {
	return slices.BinarySearchFunc(list, slot, func(p posting, slot uint32) int { return cmp.Compare(p.slot, slot) })
}

// Remove takes an agent out; one that is not there is no error.
func (x *Index) Remove(agent wallet.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(agent)
}

func (x *Index) remove(agent wallet.Address) {
	slot, ok := x.slots[agent]
	if !ok {
		return
	}
	doc := &x.docs[slot]
	for _, term := range doc.terms {
		list := x.terms[term]
		at, _ := findPosting(list, slot)
		if list = slices.Delete(list, at, at+1); len(list) == 0 {
			delete(x.terms, term)
		} else {
			x.terms[term] = list
		}
	}
	for _, key := range doc.keys {
		list := x.exact[key]
		at := slices.Index(list, slot)
		if list = slices.Delete(list, at, at+1); len(list) == 0 {
			delete(x.exact, key)
		} else {
			x.exact[key] = list
		}
	}
	for f, n := range doc.lengths {
		x.totals[f] -= uint64(n)
	}
	*doc = document{}
	x.free = append(x.free, slot)
	delete(x.slots, agent)
}

// Get gives an agent's card.
func (x *Index) Get(agent wallet.Address) (*swarm.Card, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	slot, ok := x.slots[agent]
	if !ok {
		return nil, false
	}
	return x.docs[slot].card, true
}

// Len gives the number of agents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.slots)
}

// All gives the cards sorted by wallet, as they were when the loop began. The
// loop may change the index.
func (x *Index) All() iter.Seq[*swarm.Card] {
	return func(yield func(*swarm.Card) bool) {
		x.mu.RLock()
		cards := make([]*swarm.Card, 0, len(x.slots))
		for _, slot := range x.slots {
			cards = append(cards, x.docs[slot].card)
		}
		x.mu.RUnlock()
		slices.SortFunc(cards, func(a, b *swarm.Card) int { return bytes.Compare(a.Wallet[:], b.Wallet[:]) })
		for _, card := range cards {
			if !yield(card) {
				return
			}
		}
	}
}
