package swarm

import (
	"strings"

	"github.com/swarmseal/swarmseal/wallet"
)

// Detail says how much of a card a result of a search carries.
type Detail string

// The levels of detail, each with what the one before has.
const (
	DetailMinimal      Detail = "minimal"      // wallet, name, url, payment address
	DetailSummary      Detail = "summary"      // and summary, tags
	DetailCapabilities Detail = "capabilities" // and capabilities, skills
	DetailFull         Detail = "full"         // everything
)

// Defaults and bounds of a Query.
const (
	DefaultTopK       = 5
	MaxTopK           = 20 // of the tools
	MaxLimit          = 50 // of any search: Compose's GET /agents/search
	DefaultStrictness = 0.2
	maxQueryBytes     = 4 << 10
)

// Query asks for agents by what they should be able to do.
type Query struct {
	Text       string   // natural language, 1 byte to 4 KiB
	TopK       int      // how many at most; 0 is DefaultTopK, else 1 to MaxTopK
	Strictness *float64 // the score below which nothing is given, 0 to 1; nil is DefaultStrictness
	Detail     Detail   // "" is DetailSummary
	Tags       []string // any of these, to the letter; none: no restriction
}

// Normalize checks a query and fills in its defaults. An error names the
// argument, its value and what is allowed.
func (q Query) Normalize() (Query, error) { return q.NormalizeWithin(MaxTopK) }

// NormalizeWithin is Normalize with another bound on TopK.
func (q Query) NormalizeWithin(most int) (Query, error) {
	q.Text = strings.TrimSpace(q.Text)
	if q.TopK == 0 {
		q.TopK = DefaultTopK
	}
	if q.Strictness == nil {
		strictness := DefaultStrictness
		q.Strictness = &strictness
	}
	if q.Detail == "" {
		q.Detail = DetailSummary
	}
	switch {
	case q.Text == "":
		return q, Errorf(CodeInvalid, "query is empty: say what the agent should be able to do")
	case len(q.Text) > maxQueryBytes:
		return q, Errorf(CodeInvalid, "query has %d bytes; at most %d are allowed", len(q.Text), maxQueryBytes)
	case q.TopK < 1 || q.TopK > most:
		return q, Errorf(CodeInvalid, "top_k is %d; allowed are 1 to %d", q.TopK, most)
	case !(*q.Strictness >= 0 && *q.Strictness <= 1): // NaN is neither
		return q, Errorf(CodeInvalid, "strictness is %v; allowed are 0 to 1", *q.Strictness)
	}
	switch q.Detail {
	case DetailMinimal, DetailSummary, DetailCapabilities, DetailFull:
	default:
		return q, Errorf(CodeInvalid, "output_detail is %q; allowed are minimal, summary, capabilities, full", q.Detail)
	}
	return q, nil
}

// Match is an agent that a search found.
type Match struct {
	AgentID wallet.Address `json:"agent_id"`
	Score   float64        `json:"similarity_score"` // 0 to 1, four places
	Card
}

// Found is what a search gives: at most TopK matches, best first, and a
// sentence about them.
type Found struct {
	Message string  `json:"message"`
	Results []Match `json:"results"` // never null
}
