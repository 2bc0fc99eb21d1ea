package survey

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Secret is a value that looks like one. The value itself is not kept.
type Secret struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1, where it begins
	Kind string `json:"kind"`
	// Masked is the value's first four characters and its length without
	// white space, as in "AKIA… (20 characters)".
	Masked string `json:"masked"`
	Test   bool   `json:"test"` // in a test file, so perhaps a secret of nothing
}

// A finding is where a secret stands in a file.
type finding struct {
	kind       string
	start, end int
}

func (f finding) mask(src []byte) string {
	// All that is matched is ASCII, so bytes are characters, and has more
	// than four of them.
	n := 0
	for _, c := range src[f.start:f.end] {
		if c != '\n' && !blank(c) {
			n++
		}
	}
	return fmt.Sprintf("%s… (%d characters)", src[f.start:f.start+4], n)
}

// blot writes over what mask does not show. Line ends stay, so that lines
// keep their numbers; and dots neither open nor close a comment.
func (f finding) blot(src []byte) {
	for i := f.start + 4; i < f.end; i++ {
		if src[i] != '\n' {
			src[i] = '.'
		}
	}
}

// A secretForm is a kind of secret that tells itself by its form.
type secretForm struct {
	kind string
	// hints are texts of which every secret of the kind begins with one. They
	// are searched first, as that is fifty times as fast as an expression.
	hints []string
	// match finds the secret in a text that begins with a hint.
	match func(text []byte) (from, to int, ok bool)
}

var secretForms = []secretForm{
	{"private key", []string{"-----BEGIN "}, privateKeyBody},
	{
		"AWS access key id", []string{"AKIA", "ASIA", "ABIA", "ACCA"},
		form(`^([A-Z]{4}[A-Z2-7]{16})(?:[^A-Za-z0-9]|$)`, func(s []byte) bool { return !placeholder(s) }),
	},
	{
		"GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		form(`^(gh[pousr]_[A-Za-z0-9]{36})(?:[^A-Za-z0-9_]|$)`, genuine),
	},
	{
		"GitHub token", []string{"github_pat_"},
		form(`^(github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})(?:[^A-Za-z0-9_]|$)`, genuine),
	},
	{
		"Slack token", []string{"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"},
		form(`^(xox[abeoprs]-(?:\d{10,13}-){1,3}[A-Za-z0-9]{16,64})(?:[^A-Za-z0-9-]|$)`, genuine),
	},
	{
		"Slack webhook", []string{"hooks.slack.com/services/T"},
		form(`^hooks\.slack\.com/services/(T[A-Z0-9]{8,12}/B[A-Z0-9]{8,12}/[A-Za-z0-9]{20,32})(?:[^A-Za-z0-9]|$)`, genuine),
	},
	{
		"JSON web token", []string{"eyJ"},
		form(`^(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,})(?:[^A-Za-z0-9_-]|$)`, isWebToken),
	},
}

// form matches an expression whose first group is the secret.
func form(expr string, check func(secret []byte) bool) func([]byte) (int, int, bool) {
	re := regexp.MustCompile(expr)
	return func(text []byte) (int, int, bool) {
		m := re.FindSubmatchIndex(text)
		if m == nil || !check(text[m[2]:m[3]]) {
			return 0, 0, false
		}
		return m[2], m[3], true
	}
}

// maxSecret bounds what is read of one secret, so that a file of nothing but
// beginnings is not read again and again.
const maxSecret = 16 << 10

// findSecrets gives the secrets of a file in order, none overlapping another.
func findSecrets(name string, src []byte) []finding {
	var all []finding
	for _, f := range secretForms {
		for _, hint := range f.hints {
			for at := range occurrences(src, hint) {
				// Also what keeps a run of hints from being read once for each.
				if at > 0 && (wordByte(src[at-1]) || src[at-1] == '-') {
					continue
				}
				if from, to, ok := f.match(src[at:min(len(src), at+maxSecret)]); ok {
					all = append(all, finding{f.kind, at + from, at + to})
				}
			}
		}
	}
	lower := lowerASCII(src)
	for _, word := range secretNames {
		for at := range occurrences(lower, word) {
			if from, to, ok := assignedValue(src[at+len(word):], settingsFile(name)); ok {
				all = append(all, finding{assigned, at + len(word) + from, at + len(word) + to})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b finding) int { return a.start - b.start })
	kept := all[:0]
	for _, f := range all {
		last := len(kept) - 1
		switch {
		case last < 0 || f.start >= kept[last].end:
			kept = append(kept, f)
		case kept[last].kind == assigned && f.kind != assigned:
			// The known form tells more; but what either takes in is secret.
			kept[last] = finding{f.kind, kept[last].start, max(f.end, kept[last].end)}
		default:
			kept[last].end = max(f.end, kept[last].end)
		}
	}
	return kept
}

// occurrences gives the places of a text, each beginning after the last's end.
func occurrences(src []byte, text string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		find := []byte(text)
		for at := 0; ; at += len(find) {
			i := bytes.Index(src[at:], find)
			if i < 0 || !yield(at+i) {
				return
			}
			at += i
		}
	}
}

func digit(c byte) bool    { return '0' <= c && c <= '9' }
func letter(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func wordByte(c byte) bool { return c == '_' || digit(c) || letter(c) }
func base64Byte(c byte) bool {
	return digit(c) || letter(c) || c == '+' || c == '/' || c == '='
}

// privateKeyBody finds the key in a PEM block. Source code that reads or
// writes keys has the first line alone, which is no secret.
func privateKeyBody(text []byte) (from, to int, ok bool) {
	const begin, dashes = "-----BEGIN ", "-----"
	n := bytes.Index(text[len(begin):min(len(text), 64)], []byte(dashes))
	if n < 0 {
		return 0, 0, false
	}
	label := bytes.TrimSuffix(text[len(begin):len(begin)+n], []byte(" BLOCK"))
	if !bytes.HasSuffix(label, []byte("PRIVATE KEY")) {
		return 0, 0, false
	}
	at := len(begin) + n + len(dashes)
	for range 6 { // PEM's headers may stand before the key
		skipped := lineEnds(text[at:])
		if skipped == 0 {
			return 0, 0, false
		}
		at += skipped
		if !bytes.HasPrefix(text[at:], []byte("Proc-Type:")) && !bytes.HasPrefix(text[at:], []byte("DEK-Info:")) &&
			!bytes.HasPrefix(text[at:], []byte("Version:")) && !bytes.HasPrefix(text[at:], []byte("Comment:")) {
			break
		}
		for at < len(text) && text[at] != '\r' && text[at] != '\n' && text[at] != '\\' {
			at++
		}
	}
	from, to = at, at
	for {
		for at < len(text) && base64Byte(text[at]) {
			at++
		}
		if at > to {
			to = at
		}
		skipped := lineEnds(text[at:])
		if skipped == 0 || at+skipped == len(text) || !base64Byte(text[at+skipped]) {
			return from, to, to-from >= 16
		}
		at += skipped
	}
}

// lineEnds is the length of the line ends that text begins with, as bytes or
// escaped as JSON has them, with the blanks around; 0 when there is none.
func lineEnds(text []byte) int {
	at, ended := 0, false
	for at < len(text) {
		switch c := text[at]; {
		case c == '\n':
			ended = true
			at++
		case blank(c):
			at++
		case c == '\\' && at+1 < len(text) && (text[at+1] == 'n' || text[at+1] == 'r'):
			ended = true
			at += 2
		default:
			if !ended {
				return 0
			}
			return at
		}
	}
	return at
}

// assigned is the kind of a secret that tells itself by its name.
const assigned = "value named like a secret"

// secretNames are looked for in any case, at the end of a name.
var secretNames = []string{"password", "passwd", "pwd", "secret", "token", "apikey", "api_key", "api-key",
	"accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key", "secretkey", "secret_key", "secret-key"}

const minAssigned, maxAssigned = 12, 256

// assignedValue finds a random-looking value given to the name that rest
// follows: quoted in any file, bare in settings files, where nothing but a
// value would stand there. It is no expression, as one takes a hundred times
// as long, and files are full of such names.
func assignedValue(rest []byte, settings bool) (from, to int, ok bool) {
	rest = rest[:min(len(rest), maxAssigned+64)]
	at := 0
	next := func(set string) bool {
		if at < len(rest) && strings.IndexByte(set, rest[at]) >= 0 {
			at++
			return true
		}
		return false
	}
	const quotes = "\"'`"
	closed := next(quotes) // the name's own, as in {"token": …
	closed = next("]") || closed
	for next(" \t") {
	}
	if next(":") {
		_ = next("=") // Go's :=
	} else if next("=") {
		_ = next(">") // Ruby's =>
	} else {
		return 0, 0, false
	}
	for next(" \t") {
	}
	quoted := next(quotes)
	if !quoted && (closed || !settings) {
		return 0, 0, false
	}
	never := "\"'`\\<>{}$%*()" // parts of references, formats and calls
	if !quoted {
		never += "#;,"
	}
	from = at
	for at < len(rest) && rest[at] > ' ' && rest[at] < 0x7f && strings.IndexByte(never, rest[at]) < 0 {
		at++
	}
	value := rest[from:at]
	ends := at == len(rest) || strings.IndexByte(" \t\r\n#;,", rest[at]) >= 0
	if quoted {
		ends = at < len(rest) && strings.IndexByte(quotes, rest[at]) >= 0
	}
	ok = ends && len(value) >= minAssigned && len(value) <= maxAssigned && genuine(value) && !structured(value)
	return from, at, ok
}

// lowerASCII lowers A to Z and leaves every byte in its place, as
// bytes.ToLower would not.
func lowerASCII(src []byte) []byte {
	out := make([]byte, len(src))
	for i, c := range src {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

func settingsFile(name string) bool {
	switch path.Ext(name) {
	case ".env", ".ini", ".cfg", ".conf", ".cnf", ".properties", ".yaml", ".yml":
		return true
	}
	return name == ".env" || strings.HasPrefix(name, ".env.") || name == ".netrc" || name == ".npmrc"
}

func genuine(s []byte) bool { return random(s) && !placeholder(s) }

// random is true of a text with a letter, two digits and the variety of a
// generated value. Words and identifiers have fewer digits or repeat letters.
func random(s []byte) bool {
	letters, digits := 0, 0
	for _, c := range s {
		if digit(c) {
			digits++
		} else if letter(c) {
			letters++
		}
	}
	return letters > 0 && digits > 1 && entropy(s) >= 3.2
}

// entropy is Shannon's, in bits per byte, of the bytes' frequencies.
func entropy(s []byte) float64 {
	var n [256]int
	for _, c := range s {
		n[c]++
	}
	var e float64
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(s))
			e -= p * math.Log2(p)
		}
	}
	return e
}

var placeholders = regexp.MustCompile(`(?i)example|changeme|change_me|placeholder|your[_-]|dummy|sample|redacted|xxxx|\.\.\.|0123456789|1234567890|abcdef`)

// placeholder is true of values that say they are not real. The last ones are
// sequences that nobody's generator makes.
func placeholder(s []byte) bool { return placeholders.Match(s[:min(len(s), 300)]) }

var structures = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://|/|\./|\.\./|[\w-]+(?:\.[A-Za-z_][\w-]*)+$|[\w-]+(?:/[\w.-]+)+$|sha(?:1|256|512)[:-])`)

// structured is true of addresses, paths, dotted names and digests: they look
// random to entropy, and telling names are given to them (a token's endpoint).
func structured(s []byte) bool { return structures.Match(s) }

// published begins the claims of the example that documentation has everywhere:
// {"sub":"1234567890
var published = []byte("eyJzdWIiOiIxMjM0NTY3ODkw")

// isWebToken is true when the first part is what it must be.
func isWebToken(token []byte) bool {
	head, _, _ := bytes.Cut(token, []byte{'.'})
	text, err := base64.RawURLEncoding.DecodeString(string(head))
	if err != nil {
		return false
	}
	var header struct {
		Alg string `json:"alg"`
	}
	return json.Unmarshal(text, &header) == nil && header.Alg != "" && !bytes.Contains(token, published)
}
