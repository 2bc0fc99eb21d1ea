package swarm

import (
	"encoding/json"

	"github.com/swarmseal/swarmseal/wallet"
)

// BundleFormat is the format member of a Bundle.
const BundleFormat = "swarmseal-bundle/1"

// Limits of a bundle that is verified.
const (
	MaxBundleBytes = 256 << 20
	MaxBundleHops  = 10_000
)

// Bundle is the proof of a run: every delegation of its tree with what came
// of it, each as its signer signed it. It has no member that no signature
// covers, save the format and the chain id, which is part of every digest.
type Bundle struct {
	Format  string `json:"format"`
	ChainID uint64 `json:"chainId"`
	// Hops has the delegation at hop 0 first, and each other one behind the
	// one above it.
	Hops []BundleHop `json:"hops"`
}

// BundleHop is one delegation and what came of it. Result is absent where no
// answer came, and Arrival is there exactly where Result is.
type BundleHop struct {
	Delegation SignedDelegation `json:"delegation"`
	Result     *SignedResult    `json:"result,omitempty"`
	Arrival    *SignedArrival   `json:"arrival,omitempty"`
}

// ParseBundle reads a bundle's JSON strictly.
func ParseBundle(data []byte) (*Bundle, error) {
	if len(data) > MaxBundleBytes {
		return nil, Errorf(CodeTooLarge, "bundle has %d bytes; at most %d are allowed", len(data), MaxBundleBytes)
	}
	var b Bundle
	if err := DecodeStrict(data, &b); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return &b, nil
}

// check reports whether b is a bundle at all.
func (b *Bundle) check() error {
	switch {
	case b.Format != BundleFormat:
		return Errorf(CodeInvalid, "format is %q; this program reads %q", b.Format, BundleFormat)
	case b.ChainID > maxSafeInteger:
		return Errorf(CodeInvalid, "chainId is %d; at most 2^53-1", b.ChainID)
	case len(b.Hops) == 0:
		return Errorf(CodeInvalid, "hops is empty: a bundle has the delegation at hop 0 at least")
	case len(b.Hops) > MaxBundleHops:
		return Errorf(CodeTooLarge, "bundle has %d hops; at most %d are allowed", len(b.Hops), MaxBundleHops)
	}
	return nil
}

// Rule names one thing that a verifier checks.
type Rule string

// The rules, in the order in which a report lists them for a hop.
const (
	RuleForm                Rule = "bundle.form"          // the document is a bundle
	RuleTree                Rule = "bundle.tree"          // hops hang together under one root, each once
	RuleResult              Rule = "bundle.result"        // hop 0 has a completed result
	RuleDelegationSignature Rule = "delegation.signature" // signed by from
	RuleDelegationChain     Rule = "delegation.chain"     // bounds, place, nothing widened, nobody twice
	RuleInput               Rule = "delegation.input"     // the task's bytes have the signed hash
	RuleResultSignature     Rule = "result.signature"     // signed by the delegation's to
	RuleResultParties       Rule = "result.parties"       // answers this delegation, from and to its parties
	RuleOutput              Rule = "result.output"        // the answer's bytes have the signed hash
	RuleResultTime          Rule = "result.time"          // made within the delegation's time, or marked late
	RuleResultPrice         Rule = "result.price"         // at most the delegation's
	RuleResultStatus        Rule = "result.status"        // a known status, whole
	RuleChildren            Rule = "result.children"      // names exactly the delegations made for it
	RuleArrivalSignature    Rule = "arrival.signature"    // signed by the delegation's server
	RuleArrivalResult       Rule = "arrival.result"       // about this result
	RuleArrivalTime         Rule = "arrival.time"         // not before the result; late where it must be
	RuleExpected            Rule = "expected"             // what the verifier asked for besides
)

// Check is one rule applied to one hop.
type Check struct {
	Index  int    `json:"index"` // of the hop in the bundle; −1 for the bundle as a whole
	Rule   Rule   `json:"rule"`
	Held   bool   `json:"held"`
	Detail string `json:"detail,omitempty"` // why it broke
}

// HopSummary is a hop in a report, in a few words.
type HopSummary struct {
	Index      int            `json:"index"`
	Hop        int            `json:"hop"`
	From       wallet.Address `json:"from"`
	To         wallet.Address `json:"to"`
	Delegation wallet.Digest  `json:"delegation"`
	State      string         `json:"state"` // completed, failed, none; "late " before it where so
	// ByServer says that the server's own key asked, on behalf of somebody
	// who did not sign.
	ByServer bool `json:"byServer"`
}

// Report is what Verify found. Nothing in it is trusted but the bundle's
// bytes: Verified says that every check held.
type Report struct {
	Verified bool         `json:"verified"`
	ChainID  uint64       `json:"chainId"`
	Hops     []HopSummary `json:"hops"`
	Checks   []Check      `json:"checks"`
}

// Broken gives the checks that did not hold.
func (r *Report) Broken() []Check {
	var broken []Check
	for _, c := range r.Checks {
		if !c.Held {
			broken = append(broken, c)
		}
	}
	return broken
}

// Expect is what the verifier knows of its own accord. A bundle proves what
// was signed, by whom; only the verifier knows whether that is what it paid for.
type Expect struct {
	Root   *wallet.Digest  // digest of the delegation at hop 0
	From   *wallet.Address // who asked at hop 0
	To     *wallet.Address // who answered hop 0
	Server *wallet.Address // who dated the results
}

// VerifyJSON reads a bundle and verifies it. A document that is no bundle
// gives a report with one broken check, RuleForm.
func VerifyJSON(data []byte, expect Expect) *Report {
	b, err := ParseBundle(data)
	if err != nil {
		return &Report{Hops: []HopSummary{}, Checks: []Check{{Index: -1, Rule: RuleForm, Detail: err.(*Error).Message}}}
	}
	return b.Verify(expect)
}

// MarshalIndent gives the bundle's JSON as files have it.
func (b *Bundle) MarshalIndent() ([]byte, error) { return json.MarshalIndent(b, "", "  ") }
