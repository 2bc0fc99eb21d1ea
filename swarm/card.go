package swarm

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/swarmseal/swarmseal/wallet"
)

// Limits of a card; the error of a card beyond one states it.
const (
	MaxCardBytes = 64 << 10
	maxCardItems = 128 // tags, examples, skills, capabilities, each
	maxNameBytes = 200
)

// Kind says whether an agent is a program or a person.
type Kind string

// The kinds of agent.
const (
	KindAI    Kind = "ai"
	KindHuman Kind = "human" // listed, never found and never delegated to
)

// Card is an agent's profile. Only Wallet and Name are needed; what is not
// written can't be found.
type Card struct {
	Wallet           wallet.Address  `json:"wallet,omitzero"`
	Kind             Kind            `json:"kind,omitempty"` // "" is ai
	Name             string          `json:"name"`
	Summary          string          `json:"summary,omitempty"`
	Description      string          `json:"description,omitempty"`
	Version          string          `json:"version,omitempty"`
	URL              string          `json:"url,omitempty"`
	DocumentationURL string          `json:"documentation_url,omitempty"`
	Organization     string          `json:"organization,omitempty"`
	Developer        string          `json:"developer,omitempty"`
	PaymentAddress   string          `json:"payment_address,omitempty"`
	Tags             []string        `json:"tags,omitempty"`
	Examples         []string        `json:"examples,omitempty"`
	Capabilities     []Capability    `json:"capabilities,omitempty"`
	Skills           []Skill         `json:"skills,omitempty"`
	InputModes       []string        `json:"default_input_modes,omitempty"`
	OutputModes      []string        `json:"default_output_modes,omitempty"`
	AuthSchemes      []string        `json:"auth_schemes,omitempty"`
	Protocols        []string        `json:"protocols,omitempty"`
	Metadata         json.RawMessage `json:"metadata,omitempty"` // a JSON object of the agent's own
}

// Capability is one thing an agent does, with the schemas of what goes in and out.
type Capability struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Version      string          `json:"version,omitempty"`
}

// Skill is one thing an agent is good at, as A2A cards have it.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Examples    []string `json:"examples,omitempty"`
}

// ParseCard reads a card's JSON strictly (see DecodeStrict) and checks it.
func ParseCard(data []byte) (*Card, error) {
	if len(data) > MaxCardBytes {
		return nil, Errorf(CodeTooLarge, "card has %d bytes; at most %d are allowed", len(data), MaxCardBytes)
	}
	var c Card
	if err := decodeStrict(data, &c, json2.WithUnmarshalers(json2.UnmarshalFromFunc(refuseNull))); err != nil {
		return nil, Errorf(CodeInvalid, "card: %v", err)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &c, nil
}

// refuseNull makes an error of null where a card has a value of its own, and
// leaves all else to the decoder: [null] would be a tag of no letters. In
// metadata and schemas null means what their readers make of it.
func refuseNull(dec *jsontext.Decoder, into any) error {
	_, foreign := into.(*json.RawMessage)
	if dec.PeekKind() == 'n' && !foreign {
		return unwanted(dec, "a value, or no such member")
	}
	return errors.ErrUnsupported
}

// Check reports the first member that is out of bounds.
func (c *Card) Check() error {
	switch {
	case c.Wallet.IsZero():
		return Errorf(CodeInvalid, "card.wallet is missing: want the agent's address")
	case strings.TrimSpace(c.Name) == "":
		return Errorf(CodeInvalid, "card.name is missing")
	case len(c.Name) > maxNameBytes:
		return Errorf(CodeInvalid, "card.name has %d bytes; at most %d are allowed", len(c.Name), maxNameBytes)
	case !utf8.ValidString(c.Name) || strings.ContainsFunc(c.Name, unicode.IsControl):
		return Errorf(CodeInvalid, "card.name must be text without control characters")
	case c.Kind != "" && c.Kind != KindAI && c.Kind != KindHuman:
		return Errorf(CodeInvalid, "card.kind is %q; want %q or %q", c.Kind, KindAI, KindHuman)
	case len(c.Metadata) > 0 && c.Metadata[0] != '{':
		return Errorf(CodeInvalid, "card.metadata must be a JSON object")
	}
	for _, list := range []struct {
		name string
		n    int
	}{
		{"tags", len(c.Tags)}, {"examples", len(c.Examples)}, {"capabilities", len(c.Capabilities)}, {"skills", len(c.Skills)},
	} {
		if list.n > maxCardItems {
			return Errorf(CodeInvalid, "card.%s has %d entries; at most %d are allowed", list.name, list.n, maxCardItems)
		}
	}
	for i, s := range c.Skills {
		if s.ID == "" || s.Name == "" {
			return Errorf(CodeInvalid, "card.skills[%d]: id and name are needed", i)
		}
	}
	return nil
}

// HasTag reports whether the card has one of tags, to the letter.
func (c *Card) HasTag(tags []string) bool {
	for _, want := range tags {
		for _, tag := range c.Tags {
			if tag == want {
				return true
			}
		}
	}
	return false
}

// AtDetail gives the card with the members of a level of detail alone. The
// wallet is left out: results name it agent_id.
func (c *Card) AtDetail(level Detail) Card {
	out := Card{Name: c.Name, URL: c.URL, PaymentAddress: c.PaymentAddress}
	switch level {
	case DetailMinimal:
	case DetailSummary:
		out.Summary, out.Tags = c.Summary, c.Tags
	case DetailCapabilities:
		out.Summary, out.Tags = c.Summary, c.Tags
		out.Capabilities, out.Skills = c.Capabilities, c.Skills
	case DetailFull:
		out = *c
		out.Wallet = wallet.Address{}
	}
	return out
}
