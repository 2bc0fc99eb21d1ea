package swarm_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
)

func TestParseCard(t *testing.T) {
	w := addressOf(scout).String()
	many := `["` + strings.Repeat(`x","`, 128) + `x"]`
	for _, c := range []struct {
		name, text string
		code       swarm.Code
		says       string
	}{
		{"least", `{"wallet":"` + w + `","name":"Scout"}`, "", ""},
		{"lower-case wallet", `{"wallet":"` + strings.ToLower(w) + `","name":"Scout"}`, "", ""},
		{"human", `{"wallet":"` + w + `","name":"Ann","kind":"human"}`, "", ""},
		{"metadata", `{"wallet":"` + w + `","name":"Scout","metadata":{"any":[1,{"thing":null}]}}`, "", ""},
		{"longest name", `{"wallet":"` + w + `","name":"` + strings.Repeat("x", 200) + `"}`, "", ""},
		{"unknown member", `{"wallet":"` + w + `","name":"Scout","colour":"red"}`, swarm.CodeInvalid, "colour"},
		{"unknown member of a skill", `{"wallet":"` + w + `","name":"Scout","skills":[{"id":"a","name":"a","x":1}]}`, swarm.CodeInvalid, "x"},
		{"another case", `{"wallet":"` + w + `","Name":"Scout"}`, swarm.CodeInvalid, "Name"},
		{"member twice", `{"wallet":"` + w + `","name":"Scout","name":"Scout"}`, swarm.CodeInvalid, "duplicate"},
		{"member twice in metadata", `{"wallet":"` + w + `","name":"Scout","metadata":{"a":1,"a":2}}`, swarm.CodeInvalid, "duplicate"},
		{"no wallet", `{"name":"Scout"}`, swarm.CodeInvalid, "card.wallet"},
		{"zero wallet", `{"wallet":"0x0000000000000000000000000000000000000000","name":"Scout"}`, swarm.CodeInvalid, "card.wallet"},
		{"short wallet", `{"wallet":"0x12","name":"Scout"}`, swarm.CodeInvalid, "40 hex digits"},
		{"wrong checksum", `{"wallet":"0x6813EB9362372EEF6200f3b1dbC3f819671cBA69","name":"Scout"}`, swarm.CodeInvalid, "EIP-55"},
		{"wallet a number", `{"wallet":7,"name":"Scout"}`, swarm.CodeInvalid, "wallet"},
		{"no name", `{"wallet":"` + w + `"}`, swarm.CodeInvalid, "card.name"},
		{"blank name", `{"wallet":"` + w + `","name":" \t"}`, swarm.CodeInvalid, "card.name"},
		{"long name", `{"wallet":"` + w + `","name":"` + strings.Repeat("x", 201) + `"}`, swarm.CodeInvalid, "201"},
		{"control characters", `{"wallet":"` + w + `","name":"a\u001b[31m"}`, swarm.CodeInvalid, "control"},
		{"invalid UTF-8", `{"wallet":"` + w + `","name":"` + "\xff" + `"}`, swarm.CodeInvalid, "UTF-8"},
		{"unknown kind", `{"wallet":"` + w + `","name":"Scout","kind":"dog"}`, swarm.CodeInvalid, `"dog"`},
		{"metadata a list", `{"wallet":"` + w + `","name":"Scout","metadata":[]}`, swarm.CodeInvalid, "card.metadata"},
		{"too many tags", `{"wallet":"` + w + `","name":"Scout","tags":` + many + `}`, swarm.CodeInvalid, "card.tags has 129"},
		{"too many examples", `{"wallet":"` + w + `","name":"Scout","examples":` + many + `}`, swarm.CodeInvalid, "card.examples has 129"},
		{"skill without an id", `{"wallet":"` + w + `","name":"Scout","skills":[{"id":"a","name":"a"},{"name":"b"}]}`, swarm.CodeInvalid, "skills[1]"},
		{"skill without a name", `{"wallet":"` + w + `","name":"Scout","skills":[{"id":"a"}]}`, swarm.CodeInvalid, "skills[0]"},
		{"two values", `{"wallet":"` + w + `","name":"Scout"}{}`, swarm.CodeInvalid, "after"},
		{"empty", ``, swarm.CodeInvalid, "card"},
		{"null", `null`, swarm.CodeInvalid, "not null"},
		{"tags [null]", `{"wallet":"` + w + `","name":"Scout","tags":[null]}`, swarm.CodeInvalid, "card: tags[0]: want a value, or no such member, not null"},
		{"tags null", `{"wallet":"` + w + `","name":"Scout","tags":null}`, swarm.CodeInvalid, "card: tags: "},
		{"name null", `{"wallet":"` + w + `","name":null}`, swarm.CodeInvalid, "card: name: "},
		{"skills [null]", `{"wallet":"` + w + `","name":"Scout","skills":[null]}`, swarm.CodeInvalid, "card: skills[0]: "},
		{"lone surrogate", `{"wallet":"` + w + `","name":"\ud800"}`, swarm.CodeInvalid, "surrogate"},
		{"upper-case wallet", `{"wallet":"0x` + strings.ToUpper(w[2:]) + `","name":"Scout"}`, swarm.CodeInvalid, "EIP-55"},
		{"wallet without 0x", `{"wallet":"` + w[2:] + `","name":"Scout"}`, swarm.CodeInvalid, "40 hex digits"},
		{"null in a schema", `{"wallet":"` + w + `","name":"Scout","capabilities":[{"name":"a","input_schema":{"enum":[null]}}],"metadata":{"a":null}}`, "", ""},
		{"list", `[]`, swarm.CodeInvalid, "card"},
		{"too large", `{"wallet":"` + w + `","name":"Scout","description":"` + strings.Repeat("x", 64<<10) + `"}`, swarm.CodeTooLarge, "65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			card, err := swarm.ParseCard([]byte(c.text))
			wantCode(t, err, c.code)
			if (card == nil) != (c.code != "") {
				t.Errorf("card %v with the error %v", card, err)
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func TestCardRoundTrip(t *testing.T) {
	card := &swarm.Card{
		Wallet: addressOf(scout), Kind: swarm.KindAI, Name: "Scout", Summary: "s", Description: "d", Version: "1.2", URL: "https://example.org",
		DocumentationURL: "https://example.org/doc", Organization: "o", Developer: "dev", PaymentAddress: "0xabc", Tags: []string{"t"},
		Examples:     []string{"e"},
		Capabilities: []swarm.Capability{{Name: "c", Description: "d", InputSchema: []byte(`{"type":"string"}`), OutputSchema: []byte(`true`), Version: "1"}},
		Skills:       []swarm.Skill{{ID: "i", Name: "n", Description: "d", Tags: []string{"t"}, Examples: []string{"e"}}},
		InputModes:   []string{"text/plain"}, OutputModes: []string{"text/plain"}, AuthSchemes: []string{"bearer"}, Protocols: []string{"a2a"},
		Metadata: []byte(`{"a":1.50}`),
	}
	data, err := json.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	back, err := swarm.ParseCard(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, card) {
		t.Errorf("round trip gave %+v, want %+v", back, card)
	}
	// A member that is added to Card must be added above, too.
	for i, v := 0, reflect.ValueOf(*card); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not tried", v.Type().Field(i).Name)
		}
	}
}
