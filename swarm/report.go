package swarm

import "github.com/swarmseal/swarmseal/wallet"

// Rule names one thing that a verifier checks.
type Rule string

// The rules, in the order in which a report lists them for a hop; Meaning says
// what each of them is. Those of a session are listed where a message carries
// one.
const (
	RuleForm                  Rule = "bundle.form"
	RuleTree                  Rule = "bundle.tree"
	RuleContents              Rule = "bundle.contents"
	RuleResult                Rule = "bundle.result"
	RuleDelegationSignature   Rule = "delegation.signature"
	RuleDelegationSession     Rule = "delegation.session"
	RuleDelegationChain       Rule = "delegation.chain"
	RuleInput                 Rule = "delegation.input"
	RuleDelegationAttachments Rule = "delegation.attachments"
	RuleResultSignature       Rule = "result.signature"
	RuleResultSession         Rule = "result.session"
	RuleResultParties         Rule = "result.parties"
	RuleOutput                Rule = "result.output"
	RuleResultStatus          Rule = "result.status"
	RuleResultPrice           Rule = "result.price"
	RuleResultTime            Rule = "result.time"
	RuleResultAttachments     Rule = "result.attachments"
	RuleChildren              Rule = "result.children"
	RuleArrivalSignature      Rule = "arrival.signature"
	RuleArrivalResult         Rule = "arrival.result"
	RuleArrivalTime           Rule = "arrival.time"
	RuleExpectedRoot          Rule = "expected.root" // these where the verifier expects something
	RuleExpectedFrom          Rule = "expected.from"
	RuleExpectedTo            Rule = "expected.to"
	RuleExpectedServer        Rule = "expected.server"
	RuleExpected              Rule = "expected" // in no report: of an Outcome, which has members that nobody signs
)

var meanings = map[Rule]string{
	RuleForm:                  "the document is a bundle",
	RuleTree:                  "every hop hangs on one before it, and none is there twice",
	RuleContents:              "the files it brings are those that its hops name",
	RuleResult:                "hop 0 was answered, and did not fail",
	RuleDelegationSignature:   "who asks signed it, or a key that they had let sign",
	RuleDelegationSession:     "who asks had let that key sign delegations, for this server and time",
	RuleDelegationChain:       "it is in bounds, widens nothing, and asks nobody twice",
	RuleInput:                 "the task's text is the one that was signed",
	RuleDelegationAttachments: "the task's files, so far as they are here, are the signed ones",
	RuleResultSignature:       "who was asked signed it, or a key that they had let sign",
	RuleResultSession:         "who was asked had let that key sign results, for this server and time",
	RuleResultParties:         "it answers this request, and goes to who asked",
	RuleOutput:                "the answer's text is the one that was signed",
	RuleResultStatus:          "it is whole, and says whether the task failed",
	RuleResultPrice:           "the price is at most what was allowed",
	RuleResultTime:            "it was made in time, or is marked late",
	RuleResultAttachments:     "the answer's files, so far as they are here, are the signed ones",
	RuleChildren:              "it names exactly the delegations that were made for it",
	RuleArrivalSignature:      "the server that the request names signed it",
	RuleArrivalResult:         "it is about this result",
	RuleArrivalTime:           "it came in time, or is marked late",
	RuleExpectedRoot:          "it is the run that you expect",
	RuleExpectedFrom:          "the wallet that you expect asked at hop 0",
	RuleExpectedTo:            "the wallet that you expect answered hop 0",
	RuleExpectedServer:        "the server that you expect dated the results",
	RuleExpected:              "what is said unsigned agrees with what was signed",
}

// Meaning says in one line what it means that the rule held, or "" where it is
// none of the rules.
func (r Rule) Meaning() string { return meanings[r] }

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
	// Custody says whose key signed the delegation, ResultCustody the result;
	// "" where there is none.
	Custody       Custody `json:"custody"`
	ResultCustody Custody `json:"resultCustody,omitempty"`
}

// AttachmentSummary is an attachment in a report.
type AttachmentSummary struct {
	Index     int           `json:"index"` // of the hop
	Of        string        `json:"of"`    // "delegation" or "result"
	Name      string        `json:"name"`
	MediaType string        `json:"mediaType"`
	Size      uint64        `json:"size"`
	Hash      wallet.Digest `json:"hash"`
	// Bytes says that the bytes were at hand. Without, the bundle proves what
	// their hash is, and nobody looked at them.
	Bytes bool `json:"bytes"`
}

// Report is what Verify found. Nothing in it is trusted but the bundle's
// bytes: Verified says that every check held.
type Report struct {
	Verified    bool                `json:"verified"`
	ChainID     uint64              `json:"chainId"`
	Hops        []HopSummary        `json:"hops"`
	Attachments []AttachmentSummary `json:"attachments"`
	Checks      []Check             `json:"checks"`
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
	// Attachments has the hashes and sizes, in bytes, of what the verifier has
	// of the attachments, beside the bundle's own contents. Where it is not nil,
	// the bytes of every attachment must be in one of the two.
	Attachments map[wallet.Digest]uint64
}
