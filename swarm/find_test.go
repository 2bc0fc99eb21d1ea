package swarm_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
)

func TestQueryNormalize(t *testing.T) {
	at := func(f float64) *float64 { return &f }
	good := swarm.Query{Text: "count words"}
	with := func(f func(q *swarm.Query)) swarm.Query { q := good; f(&q); return q }
	for _, c := range []struct {
		name string
		q    swarm.Query
		says []string // parts of the error: argument, value, what is allowed
	}{
		{"bare", good, nil},
		{"one letter", swarm.Query{Text: "x"}, nil},
		{"all given", swarm.Query{Text: "x", TopK: 20, Strictness: at(1), Detail: swarm.DetailFull, Tags: []string{"a"}}, nil},
		{"strictness 0", with(func(q *swarm.Query) { q.Strictness = at(0) }), nil},
		{"as long as may be", swarm.Query{Text: strings.Repeat("x", 4096)}, nil},
		{"empty", swarm.Query{}, []string{"query is empty"}},
		{"white space", swarm.Query{Text: " \n\t"}, []string{"query is empty"}},
		{"too long", swarm.Query{Text: strings.Repeat("x", 4097)}, []string{"query", "4097", "4096"}},
		{"top_k −1", with(func(q *swarm.Query) { q.TopK = -1 }), []string{"top_k is -1", "1 to 20"}},
		{"top_k 21", with(func(q *swarm.Query) { q.TopK = 21 }), []string{"top_k is 21", "1 to 20"}},
		{"strictness below 0", with(func(q *swarm.Query) { q.Strictness = at(-0.1) }), []string{"strictness is -0.1", "0 to 1"}},
		{"strictness above 1", with(func(q *swarm.Query) { q.Strictness = at(1.1) }), []string{"strictness is 1.1", "0 to 1"}},
		{"strictness no number", with(func(q *swarm.Query) { q.Strictness = at(math.NaN()) }), []string{"strictness is NaN", "0 to 1"}},
		{"unknown detail", with(func(q *swarm.Query) { q.Detail = "Full" }), []string{"output_detail", `"Full"`, "minimal, summary, capabilities, full"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.q.Normalize()
			if len(c.says) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if got.TopK < 1 || got.Strictness == nil || got.Detail == "" {
					t.Errorf("defaults are missing: %+v", got)
				}
				if again, err := got.Normalize(); err != nil || again.Text != got.Text || *again.Strictness != *got.Strictness {
					t.Errorf("normalising again gives %+v, %v", again, err)
				}
				return
			}
			wantCode(t, err, swarm.CodeInvalid)
			for _, part := range c.says {
				if err != nil && !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not say %q", err, part)
				}
			}
		})
	}
	got, err := swarm.Query{Text: "  count words\n"}.Normalize()
	if err != nil || got.Text != "count words" || got.TopK != 5 || *got.Strictness != 0.2 || got.Detail != swarm.DetailSummary || got.Tags != nil {
		t.Errorf("Normalize = %+v, %v", got, err)
	}
	*got.Strictness = 0.9
	if again, _ := good.Normalize(); *again.Strictness != swarm.DefaultStrictness {
		t.Error("two queries share one strictness")
	}
}

func TestHasTag(t *testing.T) {
	card := swarm.Card{Tags: []string{"web", "Go"}}
	for _, c := range []struct {
		tags []string
		want bool
	}{{nil, false}, {[]string{"web"}, true}, {[]string{"x", "Go"}, true}, {[]string{"go"}, false}, {[]string{"we"}, false}} {
		if got := card.HasTag(c.tags); got != c.want {
			t.Errorf("HasTag(%q) = %v", c.tags, got)
		}
	}
}

func TestAtDetail(t *testing.T) {
	card := swarm.Card{
		Wallet: addressOf(scout), Name: "n", Summary: "s", Description: "d", URL: "u", PaymentAddress: "p", Version: "1", Tags: []string{"t"},
		Capabilities: []swarm.Capability{{Name: "c"}}, Skills: []swarm.Skill{{ID: "i", Name: "n"}},
	}
	members := func(c swarm.Card) (list []string) {
		for name, has := range map[string]bool{
			"wallet": !c.Wallet.IsZero(), "name": c.Name != "", "summary": c.Summary != "", "description": c.Description != "", "url": c.URL != "",
			"payment": c.PaymentAddress != "", "version": c.Version != "", "tags": c.Tags != nil, "capabilities": c.Capabilities != nil, "skills": c.Skills != nil,
		} {
			if has {
				list = append(list, name)
			}
		}
		slices.Sort(list)
		return list
	}
	for level, want := range map[swarm.Detail]string{
		swarm.DetailMinimal:      "name payment url",
		swarm.DetailSummary:      "name payment summary tags url",
		swarm.DetailCapabilities: "capabilities name payment skills summary tags url",
		swarm.DetailFull:         "capabilities description name payment skills summary tags url version",
	} {
		if got := strings.Join(members(card.AtDetail(level)), " "); got != want {
			t.Errorf("%s has %q, want %q", level, got, want)
		}
	}
	if card.Wallet != addressOf(scout) {
		t.Error("AtDetail changed the card")
	}
}
