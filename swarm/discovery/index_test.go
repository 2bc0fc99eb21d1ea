package discovery

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func address(n int) wallet.Address {
	var a wallet.Address
	binary.BigEndian.PutUint32(a[16:], uint32(n))
	return a
}

func newIndex(cards ...swarm.Card) *Index {
	x := NewIndex()
	for i := range cards {
		if cards[i].Wallet.IsZero() {
			cards[i].Wallet = address(i + 1)
		}
		x.Put(&cards[i])
	}
	return x
}

func names(found *swarm.Found) string {
	var list []string
	for _, m := range found.Results {
		list = append(list, m.Name)
	}
	return strings.Join(list, ", ")
}

func ptr(f float64) *float64 { return &f }

func TestSearch(t *testing.T) {
	x := newIndex(
		swarm.Card{Name: "Weather", Summary: "Forecasts the weather of a city.", Tags: []string{"weather", "free"}},
		swarm.Card{Name: "Climate", Summary: "History of weather records of a city", Tags: []string{"Weather"}},
		swarm.Card{Name: "Ann", Kind: swarm.KindHuman, Summary: "Forecasts the weather of a city."},
		swarm.Card{Name: "wordCount", Skills: []swarm.Skill{{ID: "count-words", Name: "Count words", Tags: []string{"text"}}}},
		swarm.Card{Name: "Umfragen", Summary: "Übersetzungen für Städte", Capabilities: []swarm.Capability{
			{Name: "Straße", Description: "Stadtplan"}}},
		swarm.Card{Name: "天气助手", Summary: "查询北京的天气预报"},
		swarm.Card{Name: "Twin", Summary: "Plays chess.", Examples: []string{"Castle queenside"}},
		swarm.Card{Name: "twin", Summary: "Plays chess.", Examples: []string{"Castle queenside"}},
		swarm.Card{Name: "About Twin", Summary: "Tells all about a Twin twin TWIN"},
	)
	for _, c := range []struct {
		name string
		q    swarm.Query
		want string
	}{
		{"both words before one", swarm.Query{Text: "weather forecast"}, "Weather, Climate"},
		{"plural and case", swarm.Query{Text: "FORECASTING weathers"}, "Weather, Climate"},
		{"at most TopK", swarm.Query{Text: "weather forecast", TopK: 1}, "Weather"},
		{"tags to the letter", swarm.Query{Text: "weather", Tags: []string{"Weather"}}, "Climate"},
		{"any of the tags", swarm.Query{Text: "weather", Tags: []string{"nosuch", "Weather", "free"}}, "Weather, Climate"},
		{"tag of nobody", swarm.Query{Text: "weather", Tags: []string{"nosuch"}}, ""},
		{"a skill's tag is no tag of the agent", swarm.Query{Text: "count words", Tags: []string{"text"}}, ""},
		{"humans are left out", swarm.Query{Text: "ann"}, ""},
		{"humans by wallet, too", swarm.Query{Text: address(3).String()}, ""},
		{"camelCase by parts", swarm.Query{Text: "a count of words"}, "wordCount"},
		{"camelCase as a whole", swarm.Query{Text: "wordcounts"}, "wordCount"},
		{"skill id", swarm.Query{Text: "Count-Words"}, "wordCount"},
		{"name first though others say it more", swarm.Query{Text: "climate"}, "Climate"},
		{"equal names by wallet, then the rest", swarm.Query{Text: " TWIN "}, "Twin, twin, About Twin"},
		{"equal scores by name, then wallet", swarm.Query{Text: "castling"}, "Twin, twin"},
		{"other languages unharmed", swarm.Query{Text: "übersetzungen"}, "Umfragen"},
		{"capability", swarm.Query{Text: "STRASSE stadtplan"}, "Umfragen"},
		{"Chinese", swarm.Query{Text: "北京天气"}, "天气助手"},
		{"unrelated", swarm.Query{Text: "vaccinate my puppy"}, ""},
		{"one common word of many", swarm.Query{Text: "paint a city wall green before winter comes"}, ""},
		{"the same, not strict", swarm.Query{Text: "paint a city wall green before winter comes", Strictness: ptr(0)}, "Weather, Climate"},
		{"nothing in common", swarm.Query{Text: "zymurgy", Strictness: ptr(0)}, ""},
		{"exact though strict", swarm.Query{Text: "Weather", Strictness: ptr(1)}, "Weather"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := x.Search(c.q, nil)
			if got := names(found); got != c.want {
				t.Errorf("Search(%q) found %q, want %q", c.q.Text, got, c.want)
			}
			if found.Results == nil {
				t.Error("Results is nil")
			}
			if (len(found.Results) == 0) != strings.HasPrefix(found.Message, "No available agent") {
				t.Errorf("%d results, and the message %q", len(found.Results), found.Message)
			}
		})
	}
}

func TestSearchByWallet(t *testing.T) {
	a := wallet.MustParseAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	x := newIndex(swarm.Card{Name: "Other", Summary: a.String()}, swarm.Card{Name: "It", Wallet: a})
	for _, text := range []string{a.String(), strings.ToLower(a.String()), strings.ToUpper(a.String()), " " + a.String()} {
		found := x.Search(swarm.Query{Text: text}, nil)
		if names(found) != "It, Other" || found.Results[0].Score != 1 {
			t.Errorf("Search(%q) = %v", text, found.Results)
		}
	}
}

func TestSearchOutOfBounds(t *testing.T) {
	x := newIndex(swarm.Card{Name: "a"})
	for _, q := range []swarm.Query{{}, {Text: "a", TopK: 99}, {Text: "a", Strictness: ptr(2)}} {
		found := x.Search(q, nil)
		if found.Results == nil || len(found.Results) > 0 || !strings.HasPrefix(found.Message, "invalid_request") {
			t.Errorf("Search(%+v) = %+v", q, found)
		}
	}
}

func TestSkipNeverShortens(t *testing.T) {
	x := NewIndex()
	for i := range 100 {
		x.Put(&swarm.Card{Wallet: address(i + 1), Name: fmt.Sprintf("counter %02d", i), Summary: "counts sheep"})
	}
	asked := 0
	found := x.Search(swarm.Query{Text: "count sheep", TopK: 10}, func(c *swarm.Card) bool {
		asked++
		x.Get(c.Wallet) // skip may use the index
		return c.Name < "counter 50"
	})
	if len(found.Results) != 10 || found.Results[0].Name != "counter 50" || found.Results[9].Name != "counter 59" {
		t.Errorf("found %s", names(found))
	}
	if asked != 60 {
		t.Errorf("skip was asked %d times, want 60: once for each agent down to the tenth that passed", asked)
	}
}

func TestDetail(t *testing.T) {
	x := newIndex(swarm.Card{Name: "a", Summary: "s", Description: "d", Skills: []swarm.Skill{{ID: "i", Name: "n"}}})
	for level, want := range map[swarm.Detail][3]bool{
		"": {true, false, false}, swarm.DetailMinimal: {}, swarm.DetailSummary: {true, false, false},
		swarm.DetailCapabilities: {true, true, false}, swarm.DetailFull: {true, true, true},
	} {
		m := x.Search(swarm.Query{Text: "a", Detail: level}, nil).Results[0]
		if got := [3]bool{m.Summary != "", m.Skills != nil, m.Description != ""}; got != want {
			t.Errorf("detail %q has summary, skills, description: %v, want %v", level, got, want)
		}
		if m.AgentID != address(1) || !m.Wallet.IsZero() {
			t.Errorf("detail %q: agent_id %v, wallet %v", level, m.AgentID, m.Wallet)
		}
	}
}

func TestScoreMeansTheSame(t *testing.T) {
	card := swarm.Card{Name: "Tally", Summary: "Counts the words of a text."}
	few := newIndex(card)
	many := newIndex(card)
	for i := range 2000 {
		many.Put(&swarm.Card{Wallet: address(100 + i), Name: fmt.Sprintf("other %d", i), Summary: fmt.Sprintf("item%d and more", i)})
	}
	for _, text := range []string{"count words", "count the words of this text for me please", "count words in Portuguese"} {
		a, b := few.Search(swarm.Query{Text: text}, nil), many.Search(swarm.Query{Text: text}, nil)
		if len(a.Results) != 1 || len(b.Results) != 1 {
			t.Fatalf("%q: %d and %d results, want 1", text, len(a.Results), len(b.Results))
		}
		if d := a.Results[0].Score - b.Results[0].Score; d > 0.1 || d < -0.1 {
			t.Errorf("%q scores %v among one agent and %v among 2,001", text, a.Results[0].Score, b.Results[0].Score)
		}
	}
}

func TestPutReplacesRemoveRemoves(t *testing.T) {
	x := NewIndex()
	card := &swarm.Card{Wallet: address(1), Name: "old", Summary: "plays chess", Skills: []swarm.Skill{{ID: "old", Name: "s"}}}
	x.Put(card)
	x.Put(&swarm.Card{Wallet: address(1), Name: "new", Summary: "plays checkers"})
	if x.Len() != 1 {
		t.Errorf("Len = %d, want 1", x.Len())
	}
	for text, want := range map[string]string{"old": "", "chess": "", "checkers": "new", "NEW": "new"} {
		if got := names(x.Search(swarm.Query{Text: text}, nil)); got != want {
			t.Errorf("after the second Put, %q finds %q, want %q", text, got, want)
		}
	}
	x.Remove(address(1))
	x.Remove(address(1))
	if _, ok := x.Get(address(1)); ok || x.Len() != 0 || names(x.Search(swarm.Query{Text: "checkers"}, nil)) != "" {
		t.Error("something is left after Remove")
	}
	if len(x.terms) != 0 || len(x.exact) != 0 || x.totals != [fieldCount]uint64{} {
		t.Errorf("left behind: %v %v %v", x.terms, x.exact, x.totals)
	}
	x.Put(card)
	if got, _ := x.Get(address(1)); got != card {
		t.Errorf("Get = %v", got)
	}
}

func TestAll(t *testing.T) {
	x := newIndex(swarm.Card{Name: "c", Wallet: address(3)}, swarm.Card{Name: "a", Wallet: address(1)}, swarm.Card{Name: "b", Wallet: address(2)})
	var got []string
	for card := range x.All() {
		got = append(got, card.Name)
		x.Remove(card.Wallet) // the loop may change the index
	}
	if !slices.Equal(got, []string{"a", "b", "c"}) || x.Len() != 0 {
		t.Errorf("All gave %v, Len = %d", got, x.Len())
	}
	for range newIndex(swarm.Card{Name: "a"}, swarm.Card{Name: "b"}).All() {
		break
	}
}

func TestConcurrentUse(t *testing.T) {
	x := NewIndex()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				a := address(1 + g*1000 + i%20)
				x.Put(&swarm.Card{Wallet: a, Name: fmt.Sprintf("agent %d of %d", i, g), Summary: "counts sheep"})
				if found := x.Search(swarm.Query{Text: a.String()}, nil); len(found.Results) == 0 || found.Results[0].AgentID != a {
					t.Errorf("%v is not searchable after Put", a)
				}
				x.Search(swarm.Query{Text: "count sheep"}, nil)
				if i%3 == 0 {
					x.Remove(a)
				}
			}
		})
	}
	wg.Wait()
}
