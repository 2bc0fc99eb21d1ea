package discovery

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
	"pgregory.net/rapid"
)

// naive computes a search from the cards alone, by the formula as it stands in
// books: no postings, no slots, nothing kept from one call to the next.
func naive(cards map[wallet.Address]*swarm.Card, q swarm.Query, skip func(*swarm.Card) bool) []swarm.Match {
	fieldTerms := func(c *swarm.Card) (fields [fieldCount][]string) {
		for f, text := range fieldTexts(c) {
			fields[f] = append(fields[f], documentTerms(text)...)
		}
		return fields
	}
	count := func(list []string, term string) (n float64) {
		for _, t := range list {
			if t == term {
				n++
			}
		}
		return n
	}
	var mean [fieldCount]float64
	for _, c := range cards {
		for f, list := range fieldTerms(c) {
			mean[f] += float64(len(list)) / float64(len(cards))
		}
	}
	df := func(term string) (n float64) {
		for _, c := range cards {
			for _, list := range fieldTerms(c) {
				if count(list, term) > 0 {
					n++
					break
				}
			}
		}
		return n
	}
	terms := queryTerms(q.Text, func(term string) bool { return df(term) > 0 })
	idf := make(map[string]float64)
	var idfs []float64
	for _, term := range terms {
		idf[term] = math.Log(1 + (float64(len(cards))+unseen-df(term)+0.5)/(df(term)+0.5))
		idfs = append(idfs, idf[term])
	}
	slices.Sort(idfs)
	var whole float64
	for _, v := range idfs[max(0, len(idfs)-weightiest):] {
		whole += v
	}

	var all []swarm.Match
	raw := make(map[wallet.Address]float64)
	for _, c := range cards {
		if c.Kind == swarm.KindHuman || len(q.Tags) > 0 && !c.HasTag(q.Tags) || skip(c) {
			continue
		}
		exact := fold(c.Name) == fold(q.Text) ||
			slices.ContainsFunc(c.Skills, func(s swarm.Skill) bool { return fold(s.ID) == fold(q.Text) })
		var sum float64
		fields := fieldTerms(c)
		for _, term := range terms {
			var tf float64
			for f, list := range fields {
				if n := count(list, term); n > 0 {
					tf += weights[f] * n / (1 - lengthShare + lengthShare*float64(len(list))/mean[f])
				}
			}
			sum += idf[term] * tf / (saturation + tf)
		}
		score := math.Round(sum/whole*1e4) / 1e4
		switch {
		case exact:
			raw[c.Wallet] = math.Inf(1)
			all = append(all, swarm.Match{AgentID: c.Wallet, Score: 1, Card: c.AtDetail(q.Detail)})
		case sum > 0 && score >= *q.Strictness:
			raw[c.Wallet] = score
			all = append(all, swarm.Match{AgentID: c.Wallet, Score: min(1, score), Card: c.AtDetail(q.Detail)})
		}
	}
	slices.SortFunc(all, func(a, b swarm.Match) int {
		return cmp.Or(cmp.Compare(raw[b.AgentID], raw[a.AgentID]), cmp.Compare(fold(a.Name), fold(b.Name)),
			bytes.Compare(a.AgentID[:], b.AgentID[:]))
	})
	return all[:min(len(all), q.TopK)]
}

var vocabulary = []string{
	"count", "counting", "words", "word", "wordCount", "e-mail", "email", "chess", "Chess", "play", "the", "please",
	"天气", "天气预报", "北京", "straße", "node-red", "weather", "3D", "GitHub", "git", "hub",
}

func drawText(t *rapid.T, label string, most int) string {
	var b bytes.Buffer
	for i, w := range rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, most).Draw(t, label) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

func drawCard(t *rapid.T) *swarm.Card {
	c := &swarm.Card{
		Wallet:      address(rapid.IntRange(1, 12).Draw(t, "wallet")),
		Name:        drawText(t, "name", 2),
		Summary:     drawText(t, "summary", 4),
		Description: drawText(t, "description", 8),
		Tags:        rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 2).Draw(t, "tags"),
		Kind:        rapid.SampledFrom([]swarm.Kind{"", "", "", swarm.KindAI, swarm.KindHuman}).Draw(t, "kind"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "skills") {
		c.Skills = append(c.Skills, swarm.Skill{
			ID: rapid.SampledFrom(vocabulary).Draw(t, "id"), Name: drawText(t, "skill", 2), Description: drawText(t, "about", 5),
			Examples: []string{drawText(t, "example", 3)},
		})
	}
	return c
}

// After any puts and removals the index answers as if made anew.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := NewIndex()
		cards := make(map[wallet.Address]*swarm.Card)
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				a := address(rapid.IntRange(1, 12).Draw(t, "which"))
				x.Remove(a)
				delete(cards, a)
			} else {
				c := drawCard(t)
				x.Put(c)
				cards[c.Wallet] = c
			}
		}
		if x.Len() != len(cards) {
			t.Fatalf("Len = %d, want %d", x.Len(), len(cards))
		}
		for range 3 {
			q, err := swarm.Query{
				Text:       drawText(t, "query", 7) + " " + rapid.SampledFrom(vocabulary).Draw(t, "word"),
				TopK:       rapid.IntRange(1, 20).Draw(t, "topk"),
				Strictness: ptr(rapid.SampledFrom([]float64{0, 0.2, 0.5, 1}).Draw(t, "strictness")),
				Tags:       rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 2).Draw(t, "any of"),
			}.Normalize()
			if err != nil {
				t.Fatal(err)
			}
			odd := rapid.Bool().Draw(t, "skip odd")
			skip := func(c *swarm.Card) bool { return odd && c.Wallet[19]%2 == 1 }
			got, want := x.Search(q, skip).Results, naive(cards, q, skip)
			if len(got) != len(want) {
				t.Fatalf("%q: %d results, want %d\n got %v\nwant %v", q.Text, len(got), len(want), got, want)
			}
			for i := range got {
				// Sums in another order may differ in their last bit, and so round apart.
				if got[i].AgentID != want[i].AgentID || math.Abs(got[i].Score-want[i].Score) > 1.01e-4 {
					t.Fatalf("%q, result %d: %v %v, want %v %v", q.Text, i, got[i].AgentID, got[i].Score, want[i].AgentID, want[i].Score)
				}
			}
		}
	})
}
