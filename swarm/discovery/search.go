package discovery

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"strings"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Search gives the agents that match a query best. It normalises the query
// first; one that is out of bounds finds nothing, and the message says why.
//
// People are left out, and so is every agent for which skip (nil: none)
// returns true. Skip is asked of the best agents first, until TopK are found
// that it lets pass, so it never shortens a list that could be full. It may
// use the index.
//
// Agents whose name (without regard to case), wallet or skill id is the query
// come first and have the score 1. All others have a score of at least the
// query's strictness. Equal scores go by name, then by wallet.
func (x *Index) Search(q swarm.Query, skip func(*swarm.Card) bool) *swarm.Found {
	q, err := q.NormalizeWithin(swarm.MaxLimit)
	if err != nil {
		return &swarm.Found{Message: err.Error(), Results: []swarm.Match{}}
	}
	queue := x.candidates(&q)
	heap.Init(&queue)
	results := make([]swarm.Match, 0, q.TopK)
	for len(queue) > 0 && len(results) < q.TopK {
		c := heap.Pop(&queue).(candidate)
		if skip != nil && skip(c.card) {
			continue
		}
		score := 1.0
		if !c.exact {
			score = min(1, float64(c.score)/1e4)
		}
		results = append(results, swarm.Match{AgentID: c.card.Wallet, Score: score, Card: c.card.AtDetail(q.Detail)})
	}
	return &swarm.Found{Message: message(&q, len(results)), Results: results}
}

func message(q *swarm.Query, found int) string {
	switch {
	case found == 1:
		return "Found 1 agent."
	case found > 1:
		return fmt.Sprintf("Found %d agents, best first.", found)
	}
	var tagged string
	if len(q.Tags) > 0 {
		tagged = fmt.Sprintf(" with one of the tags %q", q.Tags)
	}
	return fmt.Sprintf("No available agent%s matches this query at strictness %v. "+
		"Say in other words what the agent should do, or lower the strictness.", tagged, *q.Strictness)
}

// candidates gives, in no order, all that may be in the answer unless skipped.
func (x *Index) candidates(q *swarm.Query) queue {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found queue
	exact := x.exactly(q.Text)
	add := func(c candidate) {
		if c.card.Kind != swarm.KindHuman && (len(q.Tags) == 0 || c.card.HasTag(q.Tags)) {
			found = append(found, c)
		}
	}
	for slot := range exact {
		doc := &x.docs[slot]
		add(candidate{card: doc.card, name: doc.name, exact: true})
	}
	terms := queryTerms(q.Text, func(term string) bool { return len(x.terms[term]) > 0 })
	least := int(math.Ceil(*q.Strictness*1e4 - 1e-6)) // 0.2 is not a hair above 2000
	for _, s := range x.score(terms) {
		if doc := &x.docs[s.slot]; s.score >= least && !exact[s.slot] {
			add(candidate{card: doc.card, name: doc.name, score: s.score})
		}
	}
	return found
}

// exactly gives the slots of the agents that the text names.
func (x *Index) exactly(text string) map[uint32]bool {
	slots := make(map[uint32]bool)
	for _, slot := range x.exact[fold(text)] {
		slots[slot] = true
	}
	if agent, ok := wallet.FoldAddress(strings.ToLower(text)); ok {
		if slot, ok := x.slots[agent]; ok {
			slots[slot] = true
		}
	}
	return slots
}

type candidate struct {
	card  *swarm.Card
	name  string // folded
	score int
	exact bool
}

// queue is a heap, the best candidate first. Most searches take five of what
// may be thousands, so sorting them all would be most of the work.
type queue []candidate

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	if a.exact != b.exact {
		return a.exact
	}
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.name, b.name),
		bytes.Compare(a.card.Wallet[:], b.card.Wallet[:])) < 0
}
func (q *queue) Push(c any) { *q = append(*q, c.(candidate)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}
