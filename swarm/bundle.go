package swarm

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/swarmseal/swarmseal/wallet"
)

// BundleFormat is the format member of a Bundle.
const BundleFormat = "swarmseal-bundle/1"

// Limits of a bundle that is verified. A hop has five signatures at most, and
// so a bundle within the limits takes some seconds at most (see BenchmarkVerify).
const (
	MaxBundleBytes = 256 << 20 // of its JSON, contents in base64 included
	MaxBundleHops  = 10_000
)

// Bundle is the proof of a run: every delegation of its tree with what came
// of it, each as its signer signed it. It has no member that no signature
// covers, save the format and the chain id, which is part of every digest.
//
// What may differ between two documents of one bundle is how JSON is written
// (white space, the order of members, escapes in strings, an address all in
// lower case), in which order siblings stand, and which contents are there.
// Any other change breaks a rule, save what signatures can't show; see the
// package's doc.
type Bundle struct {
	Format  string `json:"format"`
	ChainID uint64 `json:"chainId"`
	// Hops has the delegation at hop 0 first, and each other one behind the
	// one above it.
	Hops []BundleHop `json:"hops"`
	// Contents has the bytes of attachments, where the bundle brings them: each
	// once, in the order in which the hops first name their hashes (a hop's
	// delegation before its result). Attach puts them there.
	Contents []Content `json:"contents,omitempty"`
}

// BundleHop is one delegation and what came of it. Result is absent where no
// answer came, and Arrival is there exactly where Result is.
type BundleHop struct {
	Delegation SignedDelegation `json:"delegation"`
	Result     *SignedResult    `json:"result,omitempty"`
	Arrival    *SignedArrival   `json:"arrival,omitempty"`
}

// attachments gives those of the delegation, then those of the result.
func (h *BundleHop) attachments() []Attachment {
	list := h.Delegation.Delegation.Attachments
	if h.Result != nil {
		list = append(list[:len(list):len(list)], h.Result.Result.Attachments...)
	}
	return list
}

// Content is an attachment's bytes. Its text is base64 with padding, of RFC
// 4648, section 4; only the one text that encoding gives is read.
type Content []byte

var errContent = errors.New("want base64 with padding, as RFC 4648, section 4 has it, with no line breaks and no spare bits")

// MarshalText implements [encoding.TextMarshaler].
func (c Content) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, c), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Content) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil || base64.StdEncoding.EncodedLen(len(raw)) != len(text) { // line breaks are passed over
		return errContent
	}
	*c = raw
	return nil
}

// Attach adds the bytes of attachments that the hops name, in any order and
// beside those that are there. One that no hop names is an error, and none is
// added.
func (b *Bundle) Attach(contents ...[]byte) error {
	have := make(map[wallet.Digest]Content)
	for _, c := range b.Contents {
		have[wallet.Keccak256(c)] = c
	}
	unnamed := make(map[wallet.Digest]bool)
	for _, c := range contents {
		hash := wallet.Keccak256(c)
		have[hash], unnamed[hash] = c, true
	}
	var ordered []Content
	for i := range b.Hops {
		for _, a := range b.Hops[i].attachments() {
			delete(unnamed, a.Hash)
			if c, ok := have[a.Hash]; ok {
				ordered = append(ordered, c)
				delete(have, a.Hash)
			}
		}
	}
	for hash := range unnamed {
		return Errorf(CodeInvalid, "no attachment of the bundle has the hash %v", hash)
	}
	b.Contents = ordered
	return nil
}

// ParseBundle reads a bundle's JSON strictly; see DecodeStrict. It looks at no
// signature.
func ParseBundle(data []byte) (*Bundle, error) {
	b, err := parseBundle(data)
	if err == nil {
		return b, nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return nil, e
	}
	return nil, Errorf(CodeInvalid, "%v", err)
}

func parseBundle(data []byte) (*Bundle, error) {
	if len(data) > MaxBundleBytes {
		return nil, Errorf(CodeTooLarge, "bundle has %d bytes; at most %d are allowed", len(data), MaxBundleBytes)
	}
	var b Bundle
	if err := decodeStrict(data, &b); err != nil {
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
		return Errorf(CodeInvalid, "format is %.80q; this program reads %q", b.Format, BundleFormat)
	case b.ChainID > maxSafeInteger:
		return Errorf(CodeInvalid, "chainId is %d; at most 2^53-1", b.ChainID)
	case len(b.Hops) == 0:
		return Errorf(CodeInvalid, "hops is empty: a bundle has the delegation at hop 0 at least")
	case len(b.Hops) > MaxBundleHops:
		return Errorf(CodeTooLarge, "bundle has %d hops; at most %d are allowed", len(b.Hops), MaxBundleHops)
	case b.Contents != nil && len(b.Contents) == 0:
		return Errorf(CodeInvalid, "contents is empty: leave it out")
	}
	return nil
}

// MarshalIndent gives the bundle's JSON as files have it.
func (b *Bundle) MarshalIndent() ([]byte, error) { return json.MarshalIndent(b, "", "  ") }

// VerifyJSON reads a bundle and verifies it. A document that is no bundle
// gives a report with one broken check, RuleForm, at the hop in which it is
// malformed, or −1.
func VerifyJSON(data []byte, expect Expect) *Report {
	b, err := parseBundle(data)
	if err == nil {
		return b.Verify(expect)
	}
	index, detail := -1, err.Error()
	if e, ok := errors.AsType[*Error](err); ok {
		detail = e.Message
	}
	if e, ok := errors.AsType[*placeError](err); ok {
		index = e.hop()
	}
	return &Report{
		Hops: []HopSummary{}, Attachments: []AttachmentSummary{},
		Checks: []Check{{Index: index, Rule: RuleForm, Detail: detail}},
	}
}
