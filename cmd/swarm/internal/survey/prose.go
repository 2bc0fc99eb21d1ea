package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxProse is how many prose files are told of: the largest. READMEs,
// Markdown and reStructuredText go before .txt, which is often a list or the
// input of a test.
const MaxProse = 10

// WordsPerMinute is the rate that reading times go by: the mean of adults who
// read English non-fiction silently, in Brysbaert's review of 190 studies
// (Journal of Memory and Language 109, 2019).
const WordsPerMinute = 238

// A ProseReport tells how the folder's prose reads.
type ProseReport struct {
	Files []ProseFile `json:"files"` // at most MaxProse, .txt last, else the largest first
	Count int         `json:"count"` // of all prose files
	Total Reading     `json:"total"` // of the files read, as if they were one
	Top   []WordCount `json:"top"`   // over all of them
	Scope Scope       `json:"scope"`
}

// A ProseFile is one text.
type ProseFile struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Reading
	WordStats WordStats `json:"wordStats"` // of its plain text, as [Words] counts
}

// Reading tells how a text reads.
type Reading struct {
	Words       int     `json:"words"`
	Sentences   int     `json:"sentences"`
	PerSentence float64 `json:"wordsPerSentence"` // to a tenth, 0 where there are no sentences
	// Ease is Flesch's reading ease, 206.835 − 1.015 × words per sentence −
	// 84.6 × syllables per word, to a tenth: about 100 is very easy, 60 plain,
	// 30 hard. An estimate, as syllables are counted by spelling. Null where
	// the text does not look English, as the formula is for English alone:
	// less than a fifth of its words are common English ones, or it has fewer
	// than 30 words.
	Ease    *float64 `json:"readingEase"`
	Seconds int      `json:"readingSeconds"` // at WordsPerMinute, rounded up
}

// Prose reads the largest prose files below dir: README with any ending that
// is not a program's, *.md, *.markdown, *.rst and *.txt but for requirements
// files, CMakeLists.txt and robots.txt, which are for machines. Code, markup
// and addresses are left out of Markdown and reStructuredText; headings and
// list items count as sentences. Where there is no such file, the error
// matches [ErrNothing].
func Prose(ctx context.Context, dir string) (ProseReport, error) {
	return readProse(ctx, dir, stated)
}

type proseText struct {
	path string
	size int64
	text string
}

// compare orders texts from the first to give way to the last.
func (t proseText) compare(o proseText) int {
	if txt := isTxt(t.path); txt != isTxt(o.path) {
		if txt {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(t.size, o.size), strings.Compare(o.path, t.path))
}

func isTxt(name string) bool {
	return strings.EqualFold(path.Ext(name), ".txt") && !strings.EqualFold(path.Base(name), "readme.txt")
}

func readProse(ctx context.Context, dir string, lim limits) (ProseReport, error) {
	r := ProseReport{Files: []ProseFile{}, Scope: newScope(lim)}
	// The first to give way first.
	var largest []proseText
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		if !isProse(e.name) {
			return nil
		}
		r.Count++
		t := proseText{path: e.path, size: e.size}
		if len(largest) == MaxProse && t.compare(largest[0]) < 0 {
			return nil
		}
		src, ok := e.text()
		if !ok {
			return nil
		}
		t.text = plainText(e.name, string(src))
		i, _ := slices.BinarySearchFunc(largest, t, proseText.compare)
		largest = slices.Insert(largest, i, t)
		if len(largest) > MaxProse {
			largest = slices.Delete(largest, 0, 1)
		}
		return nil
	})
	if err == nil && r.Count == 0 {
		err = &nothingError{"README, .md, .rst or .txt file", dir, r.Scope}
	}
	if err != nil {
		return ProseReport{}, err
	}
	all := newTallyOfWords()
	var sum measure
	for _, t := range slices.Backward(largest) {
		if ctx.Err() != nil {
			return ProseReport{}, context.Cause(ctx)
		}
		one := newTallyOfWords()
		one.text(t.text)
		all.text(t.text)
		m := measured(t.text, one)
		sum.add(m)
		r.Files = append(r.Files, ProseFile{File: Quote(t.path), Bytes: t.size, Reading: m.reading(), WordStats: one.stats()})
	}
	r.Total, r.Top = sum.reading(), all.stats().Top
	return r, nil
}

// Plain gives the plain text of one prose file below dir, as [Prose] counts
// it: to hand to someone else for counting. file is a path as reports have it,
// quoted or not. The same rules hold as for a survey: no links, no folder that
// is skipped, no more than MaxFileBytes.
func Plain(ctx context.Context, dir, file string) (string, error) {
	want := file
	if strings.HasPrefix(file, `"`) {
		var err error
		if want, err = strconv.Unquote(file); err != nil {
			return "", fmt.Errorf("file %s: not a Go string literal", file)
		}
	}
	if !isProse(path.Base(want)) {
		return "", fmt.Errorf("file %s is not a README, .md, .rst or .txt file", Quote(want))
	}
	var text string
	found := errors.New("found")
	scope := newScope(stated)
	// A walk, not an open: it keeps every rule with nothing to keep in step.
	err := walk(ctx, dir, &scope, func(e *entry) error {
		if e.path != want {
			return nil
		}
		src, ok := e.text()
		if !ok {
			return fmt.Errorf("file %s: unreadable, binary or over %s", Quote(want), size(MaxFileBytes))
		}
		text = plainText(e.name, string(src))
		return found
	})
	switch {
	case err == nil:
		return "", fmt.Errorf("no file %s in %s", Quote(want), Quote(dir))
	case errors.Is(err, found):
		return text, nil
	}
	return "", err
}

func isProse(name string) bool {
	lower := strings.ToLower(name)
	switch ext := path.Ext(lower); {
	case ext == ".md", ext == ".markdown", ext == ".rst":
		return true
	case ext == ".txt":
		machine, _ := path.Match("*requirements*.txt", lower)
		return !machine && lower != "cmakelists.txt" && lower != "robots.txt"
	case lower == "readme":
		return true
	case strings.HasPrefix(lower, "readme."):
		return kind(language(name, nil)) == "prose" || kind(language(name, nil)) == "unknown"
	}
	return false
}

// measure is what reading ease is made of.
type measure struct{ words, sentences, syllables, stop int }

func (m *measure) add(o measure) {
	m.words += o.words
	m.sentences += o.sentences
	m.syllables += o.syllables
	m.stop += o.stop
}

func measured(text string, t *tallyOfWords) measure {
	m := measure{words: t.Words, stop: t.stop, sentences: sentences(text)}
	for word, n := range t.counts {
		m.syllables += n * syllables(word)
	}
	return m
}

func (m measure) reading() Reading {
	r := Reading{Words: m.words, Sentences: m.sentences, Seconds: (m.words*60 + WordsPerMinute - 1) / WordsPerMinute}
	if m.sentences == 0 {
		return r
	}
	per := float64(m.words) / float64(m.sentences)
	r.PerSentence = math.Round(per*10) / 10
	if m.words >= 30 && m.stop*5 >= m.words {
		ease := math.Round((206.835-1.015*per-84.6*float64(m.syllables)/float64(m.words))*10) / 10
		r.Ease = &ease
	}
	return r
}

// Abbreviations whose full stop seldom ends a sentence, and single letters,
// that are initials or the parts of e.g. and i.e.
var abbreviation = regexp.MustCompile(`(?i)(?:^|[\s("'.])(?:[a-z]|mr|mrs|ms|dr|prof|vs|cf|etc|approx|fig|vol|al)$`)

// sentences counts the pieces of a text that hold a word and end in a full
// stop, exclamation or question mark before a blank or the end, or in an
// empty line, which headings and list items have.
func sentences(text string) int {
	n := 0
	word := false // since the last end
	end := func() {
		if word {
			n++
		}
		word = false
	}
	for i, r := range text {
		switch {
		case wordRune(r):
			word = true
		case r == '\n' && emptyLineAt(text[i+1:]):
			end()
		case r == '。' || r == '！' || r == '？':
			end()
		case word && (r == '.' || r == '!' || r == '?'):
			after, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[i+1:min(len(text), i+16)], `"'”’)*_].!?`))
			if after != utf8.RuneError && !unicode.IsSpace(after) {
				continue // 3.14, file.go
			}
			if r == '.' && abbreviation.MatchString(text[max(0, i-8):i]) {
				continue
			}
			end()
		}
	}
	end()
	return n
}

// emptyLineAt is true when rest begins with a line of nothing but blanks. It
// looks at a few bytes: a line of blanks longer than that has no text either
// way.
func emptyLineAt(rest string) bool {
	for i := range min(len(rest), 64) {
		if rest[i] == '\n' {
			return true
		}
		if !blank(rest[i]) {
			return false
		}
	}
	return true
}

// syllables estimates an English word's syllables by its spelling: groups of
// vowels, less a silent e or ed at the end. At least one.
func syllables(word string) int {
	n := 0
	vowel := false
	for _, r := range word {
		v := strings.ContainsRune("aeiouyàáâäãåèéêëìíîïòóôöõùúûüæœ", r)
		if v && !vowel {
			n++
		}
		vowel = v
	}
	switch {
	case n < 2:
	case strings.HasSuffix(word, "le") && len(word) > 2 && !isVowel(word[len(word)-3]): // table
	case strings.HasSuffix(word, "e") && !isVowel(word[len(word)-2]): // make
		n--
	case strings.HasSuffix(word, "es") && len(word) > 3 && !isVowel(word[len(word)-3]) && !strings.ContainsRune("sxzcg", rune(word[len(word)-3])) &&
		!strings.HasSuffix(word, "shes") && !strings.HasSuffix(word, "ches") && !strings.HasSuffix(word, "les"): // makes; not boxes, tables
		n--
	case strings.HasSuffix(word, "ed") && len(word) > 3 && !strings.ContainsRune("tdaeiou", rune(word[len(word)-3])): // walked; not wanted
		n--
	}
	return max(n, 1)
}

func isVowel(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }

// Text has a line for the whole and for each file.
func (r ProseReport) Text() string {
	var b strings.Builder
	switch {
	case len(r.Files) == 0:
		fmt.Fprintf(&b, "None of %s could be read.\n", plural(r.Count, "prose file"))
	case r.Count > len(r.Files):
		fmt.Fprintf(&b, "%d of %s: %s.\n", len(r.Files), plural(r.Count, "prose file"), r.Total.text())
	default:
		fmt.Fprintf(&b, "%s: %s.\n", plural(r.Count, "prose file"), r.Total.text())
	}
	for _, f := range r.Files {
		fmt.Fprintf(&b, "  %s: %s\n", f.File, f.Reading.text())
	}
	if len(r.Top) > 0 {
		var top []string
		for _, w := range r.Top {
			top = append(top, fmt.Sprintf("%s %s", w.Word, group(w.Count)))
		}
		fmt.Fprintf(&b, "Most frequent words, the commonest English ones left out: %s.\n", strings.Join(top, ", "))
	}
	fmt.Fprintf(&b, "Reading ease is Flesch's, with syllables estimated from spelling; reading time is for %d words a minute.\n", WordsPerMinute)
	r.Scope.text(&b)
	return b.String()
}

func (r Reading) text() string {
	s := fmt.Sprintf("%s, %s, %.1f words a sentence", plural(r.Words, "word"), plural(r.Sentences, "sentence"), r.PerSentence)
	if r.Ease != nil {
		s += fmt.Sprintf(", reading ease about %.0f", *r.Ease)
	} else {
		s += ", too short or not English for a reading ease"
	}
	if m := (r.Seconds + 59) / 60; m > 1 {
		return s + fmt.Sprintf(", %s minutes to read", group(m))
	}
	return s + fmt.Sprintf(", %s to read", plural(r.Seconds, "second"))
}
