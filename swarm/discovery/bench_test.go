package discovery

import (
	"fmt"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
)

// tenThousand gives the 2,269 agents of testdata several times over.
func tenThousand(b *testing.B) []swarm.Card {
	agents := readLines[swarm.Card](b, "testdata/agents.jsonl")
	cards := make([]swarm.Card, 10_000)
	for i := range cards {
		cards[i] = agents[i%len(agents)]
		cards[i].Wallet = address(i + 1)
		cards[i].Name = fmt.Sprint(cards[i].Name, " ", i)
	}
	return cards
}

func BenchmarkSearch10k(b *testing.B) {
	x := newIndex(tenThousand(b)...)
	queries := readLines[judgedQuery](b, "testdata/queries-dev.jsonl")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Search(swarm.Query{Text: queries[i%len(queries)].Query}, nil)
	}
}

func BenchmarkPut10k(b *testing.B) {
	cards := tenThousand(b)
	x := newIndex(cards...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Put(&cards[i%len(cards)])
	}
}
