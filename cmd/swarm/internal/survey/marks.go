package survey

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// A MarkReport lists what people left to be done, and what looks like a
// secret left by mistake.
type MarkReport struct {
	Counts  []MarkCount `json:"counts"` // of TODO, FIXME, XXX and HACK, in this order
	Marks   []Mark      `json:"marks"`  // by path and line, at most MaxListed
	Secrets []Secret    `json:"secrets"`
	// SecretCount is of all secrets, Secrets holds at most MaxListed.
	SecretCount int   `json:"secretCount"`
	InTests     int   `json:"inTests"` // how many of all are in test files
	Scope       Scope `json:"scope"`
}

// A MarkCount is how often a word marks a comment.
type MarkCount struct {
	Word  string `json:"word"`
	Count int    `json:"count"`
}

// A Mark is one TODO, FIXME, XXX or HACK.
type Mark struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
	Word string `json:"word"`
	Text string `json:"text"` // from the word on, at most 120 characters, secrets masked
}

// maxMark is how many characters of a mark's text are told.
const maxMark = 120

var markWords = []string{"TODO", "FIXME", "XXX", "HACK"}

// Where a comment begins with the word, that is enough. In the middle of one,
// and where we can't tell comments from the rest, a colon must follow, or a
// name in brackets and a colon: there XXX is often a blank to be filled in,
// and the other words are talked about.
var (
	opening = regexp.MustCompile(`^[*@/!#;\s-]*(TODO|FIXME|XXX|HACK)(?:[:(\[!]|\s|$)`)
	inText  = regexp.MustCompile(`(?:^|[^\w-])(TODO|FIXME|XXX|HACK)(?:\([^)]{0,40}\))?:`)
)

// Marks searches every text file below dir for TODO, FIXME, XXX and HACK, and
// for secrets.
//
// A mark is one of the four words in capitals at the beginning of a comment's
// line, or further in it with a colon, or a name in brackets and a colon,
// behind. In files of a kind whose comments we don't know the latter counts
// anywhere. At most one is told for each line.
//
// Secrets looked for: private key blocks with key material in them, AWS access
// key ids, GitHub tokens, Slack tokens and webhooks, JSON web tokens, and
// values that look random given to names that end in password, passwd, pwd,
// secret, token, api key, access key or private key. The value must have 12
// characters or more, a letter, two digits and at least 3.2 bits of entropy
// per character, and be quoted unless the file is a settings file; values
// that say they are examples, and published examples, are passed over. So a
// weak password is not found, and none found is no proof of none.
//
// A report never holds a secret: of each it tells the first four characters
// and the length.
func Marks(ctx context.Context, dir string) (MarkReport, error) {
	return findMarks(ctx, dir, stated)
}

func findMarks(ctx context.Context, dir string, lim limits) (MarkReport, error) {
	r := MarkReport{Marks: []Mark{}, Secrets: []Secret{}, Scope: newScope(lim)}
	counts := map[string]int{}
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		src, ok := e.text()
		if !ok {
			return nil
		}
		secrets := findSecrets(e.name, src)
		r.SecretCount += len(secrets)
		test := len(secrets) > 0 && testFile(e.path)
		if test {
			r.InTests += len(secrets)
		}
		line, at := 1, 0
		for _, f := range secrets[:min(len(secrets), lim.listed-len(r.Secrets))] {
			line += bytes.Count(src[at:f.start], newline)
			at = f.start
			r.Secrets = append(r.Secrets, Secret{File: Quote(e.path), Line: line, Kind: f.kind, Masked: f.mask(src), Test: test})
		}
		// Before the marks are read, as a secret may stand in the text of one.
		for _, f := range secrets {
			f.blot(src)
		}
		markLines(e.name, src, func(line int, word string, text []byte) {
			counts[word]++
			if len(r.Marks) < lim.listed {
				r.Marks = append(r.Marks, Mark{File: Quote(e.path), Line: line, Word: word, Text: clip(string(text), maxMark)})
			}
		})
		return nil
	})
	if err != nil {
		return MarkReport{}, err
	}
	for _, word := range markWords {
		r.Counts = append(r.Counts, MarkCount{word, counts[word]})
	}
	return r, nil
}

var newline = []byte{'\n'}

// markLines finds the marks of a file: line, word, and the text from the word
// to the end of its comment or line.
func markLines(name string, src []byte, found func(line int, word string, text []byte)) {
	if !hasMark(src) {
		return // the usual case, without finding out the language
	}
	last := 0
	look := func(line int, text []byte, forms ...*regexp.Regexp) {
		if line == last || !hasMark(text) {
			return
		}
		for _, form := range forms {
			if m := form.FindSubmatchIndex(text); m != nil {
				last = line
				found(line, string(text[m[2]:m[3]]), text[m[2]:])
				return
			}
		}
	}
	if syn := syntaxes[language(name, src)]; syn != nil {
		count(src, syn, func(line int, text []byte) { look(line, text, opening, inText) })
		return
	}
	n := 0
	for text := range bytes.Lines(src) {
		n++
		look(n, text, inText)
	}
}

// testFile goes by linguist's rules and Go's testdata.
func testFile(path string) bool {
	return enry.IsTest(path) || strings.Contains("/"+path, "/testdata/")
}

func hasMark(text []byte) bool {
	for _, word := range markWords {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// Text has a line of counts, then the first marks and secrets.
func (r MarkReport) Text() string {
	var b strings.Builder
	r.marksText(&b)
	r.secretsText(&b)
	r.Scope.text(&b)
	return b.String()
}

// MarksText is Text without the secrets, for whoever has them looked for by
// somebody else.
func (r MarkReport) MarksText() string {
	var b strings.Builder
	r.marksText(&b)
	r.Scope.text(&b)
	return b.String()
}

// SecretsText is Text without the marks.
func (r MarkReport) SecretsText() string {
	var b strings.Builder
	r.secretsText(&b)
	r.Scope.text(&b)
	return b.String()
}

// maxTold is how many marks, and how many secrets, a text names.
const maxTold = 15

func (r MarkReport) marksText(b *strings.Builder) {
	total := 0
	var counts []string
	for _, c := range r.Counts {
		total += c.Count
		counts = append(counts, fmt.Sprintf("%s %s", group(c.Count), c.Word))
	}
	fmt.Fprintf(b, "%s: %s.\n", plural(total, "mark"), strings.Join(counts, ", "))
	for _, m := range r.Marks[:min(len(r.Marks), maxTold)] {
		fmt.Fprintf(b, "  %s:%d: %s\n", m.File, m.Line, m.Text)
	}
	if more := total - min(len(r.Marks), maxTold); more > 0 {
		fmt.Fprintf(b, "  and %s more\n", group(more))
	}
}

func (r MarkReport) secretsText(b *strings.Builder) {
	switch r.SecretCount {
	case 0:
		b.WriteString("Nothing that looks like a secret.")
	case 1:
		b.WriteString("1 value that looks like a secret")
	default:
		fmt.Fprintf(b, "%s values that look like secrets", group(r.SecretCount))
	}
	if r.SecretCount > 0 {
		fmt.Fprintf(b, ", %s of them in test files.", group(r.InTests))
	}
	b.WriteString(" Looked for private keys, AWS, GitHub and Slack tokens, JSON web tokens and random values given to names like password or token.\n")
	// Those outside of tests first: they are the ones to look at.
	told := slices.Clone(r.Secrets)
	slices.SortStableFunc(told, func(a, b Secret) int {
		switch {
		case a.Test == b.Test:
			return 0
		case b.Test:
			return -1
		}
		return 1
	})
	for _, s := range told[:min(len(told), maxTold)] {
		fmt.Fprintf(b, "  %s:%d: %s %s", s.File, s.Line, s.Kind, s.Masked)
		if s.Test {
			b.WriteString(", in a test file")
		}
		b.WriteByte('\n')
	}
	if more := r.SecretCount - min(len(r.Secrets), maxTold); more > 0 {
		fmt.Fprintf(b, "  and %s more\n", group(more))
	}
}
