package discovery

import (
	"cmp"
	"math"
	"slices"
)

// The ranking is BM25F: a word's counts in the fields are weighted, put in
// relation to the fields' lengths, added up and only then saturated.
const (
	// saturation is BM25's k1: a weighted count of this many gives half of
	// what a word can give.
	saturation = 1.2
	// lengthShare is BM25's b. It is low, since an agent that has many skills
	// has long fields and is no less able in each of them.
	lengthShare = 0.3
	// unseen is how many other agents, without any of the query's words, we
	// reckon with besides those in the index. In a swarm of three, how many of
	// them have a word says next to nothing about the word; without this a
	// score would mean one thing there and another thing among thousands.
	unseen = 1000
	// weightiest is how many of a query's words a perfect match must have: the
	// rarest ones. A long request names much that no card speaks of.
	weightiest = 5
)

// rarity is BM25's idf of a term that df of n documents have.
func rarity(n, df int) float64 {
	return math.Log(1 + (float64(n-df)+unseen+0.5)/(float64(df)+0.5))
}

// fieldAverages gives the mean length of each field.
func fieldAverages(totals [fieldCount]uint64, n int) [fieldCount]float64 {
	var avg [fieldCount]float64
	for f, total := range totals {
		avg[f] = float64(total) / float64(max(n, 1))
	}
	return avg
}

// evidence gives how well a document speaks of a term, from 0 to 1.
func evidence(counts *[fieldCount]uint16, lengths *[fieldCount]uint32, avg *[fieldCount]float64) float64 {
	var sum float64
	for f, n := range counts {
		// A field with a term is not empty, so its average is not zero.
		if n > 0 {
			sum += weights[f] * float64(n) / (1 - lengthShare + lengthShare*float64(lengths[f])/avg[f])
		}
	}
	return sum / (saturation + sum)
}

// perfect gives what an agent would have that speaks of nothing but the
// weightiest of the query's terms. Scores are shares of it, and so mean the
// same for every query: terms that no agent has count here, too.
func perfect(rarities []float64) float64 {
	sorted := slices.SortedFunc(slices.Values(rarities), func(a, b float64) int { return cmp.Compare(b, a) })
	var sum float64
	for _, r := range sorted[:min(len(sorted), weightiest)] {
		sum += r
	}
	return sum
}

// scored is a document's score in ten-thousandths. It is not cut off at 1, so
// that a long query, of which more than the weightiest terms match, still
// tells agents apart.
type scored struct {
	slot  uint32
	score int
}

// score gives every document that has one of the terms.
func (x *Index) score(terms []string) []scored {
	n := len(x.slots)
	avg := fieldAverages(x.totals, n)
	sums := make([]float64, len(x.docs))
	rarities := make([]float64, len(terms))
	var hits []scored
	for i, term := range terms {
		list := x.terms[term]
		rarities[i] = rarity(n, len(list))
		for j := range list {
			p := &list[j]
			if sums[p.slot] == 0 {
				hits = append(hits, scored{slot: p.slot})
			}
			sums[p.slot] += rarities[i] * evidence(&p.counts, &x.docs[p.slot].lengths, &avg)
		}
	}
	whole := perfect(rarities)
	for i := range hits {
		hits[i].score = int(math.Round(sums[hits[i].slot] / whole * 1e4))
	}
	return hits
}
