package discovery

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

type judgedQuery struct {
	ID       string           `json:"id"`
	Query    string           `json:"query"`
	Relevant []wallet.Address `json:"relevant"`
	Kind     string           `json:"kind"`
}

func readLines[T any](tb testing.TB, path string) []T {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	var list []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		tb.Fatalf("%s is empty", path)
	}
	return list
}

// measures are those of testdata/README.md, as sums over n queries.
type measures struct{ n, hit, ndcg, answered float64 }

func (m *measures) add(relevant []wallet.Address, results []swarm.Match) {
	m.n++
	if len(results) > 0 {
		m.answered++
		if slices.Contains(relevant, results[0].AgentID) {
			m.hit++
		}
	}
	var gain, ideal float64
	for i := range min(10, len(relevant)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	for i, r := range results[:min(10, len(results))] {
		if slices.Contains(relevant, r.AgentID) {
			gain += 1 / math.Log2(float64(i+2))
		}
	}
	if ideal > 0 {
		m.ndcg += gain / ideal
	}
}

// TestRelevance states what the ranking reaches on the development queries.
// Plain BM25 with a stop list has hit@1 0.377 and nDCG@10 0.473, and finds
// something for every query that nobody answers.
func TestRelevance(t *testing.T) {
	x := NewIndex()
	for _, card := range readLines[swarm.Card](t, "testdata/agents.jsonl") {
		x.Put(&card)
	}
	queries := readLines[judgedQuery](t, "testdata/queries-dev.jsonl")
	for _, c := range []struct {
		strictness              float64
		hit, ndcg, unanswerable float64 // floors for the first two, a ceiling for the last
	}{
		{0, 0.385, 0.485, 1},
		{swarm.DefaultStrictness, 0.33, 0.37, 0.30},
	} {
		kinds := make(map[string]*measures)
		for _, q := range queries {
			found := x.Search(swarm.Query{Text: q.Query, TopK: 10, Strictness: &c.strictness}, nil)
			all := []string{q.Kind}
			if len(q.Relevant) > 0 {
				all = append(all, "all answerable")
			}
			for _, kind := range all {
				if kinds[kind] == nil {
					kinds[kind] = new(measures)
				}
				kinds[kind].add(q.Relevant, found.Results)
			}
		}
		t.Logf("strictness %v", c.strictness)
		for _, kind := range []string{"livemcp", "metatool", "metatool-multi", "all answerable", "unanswerable"} {
			m := kinds[kind]
			t.Logf("%-15s n %3.0f  hit@1 %.3f  nDCG@10 %.3f  any result %.3f", kind, m.n, m.hit/m.n, m.ndcg/m.n, m.answered/m.n)
		}
		all, none := kinds["all answerable"], kinds["unanswerable"]
		if all.hit/all.n < c.hit || all.ndcg/all.n < c.ndcg || none.answered/none.n > c.unanswerable {
			t.Errorf("worse than hit@1 %v, nDCG@10 %v, any result %v", c.hit, c.ndcg, c.unanswerable)
		}
	}
}

func TestRelevanceFilesAreWhole(t *testing.T) {
	if n := len(readLines[swarm.Card](t, "testdata/agents.jsonl")); n != 2269 {
		t.Errorf("%d agents, want 2269", n)
	}
	if n := len(readLines[judgedQuery](t, "testdata/queries-dev.jsonl")); n != 235 {
		t.Errorf("%d queries, want 235", n)
	}
}
