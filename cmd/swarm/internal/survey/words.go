package survey

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordStats counts the words of one text.
type WordStats struct {
	Words      int         `json:"words"`
	Characters int         `json:"characters"` // code points; a byte that is not UTF-8 is one
	Lines      int         `json:"lines"`      // text after the last line feed is a line too
	Distinct   int         `json:"distinct"`   // words that differ, capitals or not
	Top        []WordCount `json:"top"`        // at most ten, most frequent first, then by the alphabet
}

// WordCount is how often a word occurs.
type WordCount struct {
	Word  string `json:"word"` // in lower case
	Count int    `json:"count"`
}

const maxTop = 10

// Words counts the words of a plain text handed in.
//
// A word is a run of letters, marks and digits; an apostrophe or hyphen
// between two of them belongs to the word, so "don't" and "well-known" are one
// each. In scripts without blanks between words a run is counted as one. Top
// leaves out the commonest English words, numbers and single letters. Words
// runs in time and memory in proportion to the text; the caller bounds it.
func Words(text string) WordStats {
	t := newTallyOfWords()
	t.text(text)
	return t.stats()
}

type tallyOfWords struct {
	WordStats
	counts map[string]int
	stop   int // how many are stop words: a sign of English
}

func newTallyOfWords() *tallyOfWords { return &tallyOfWords{counts: map[string]int{}} }

func (t *tallyOfWords) text(text string) {
	t.Characters += utf8.RuneCountInString(text)
	t.Lines += strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		t.Lines++
	}
	for word := range words(text) {
		t.word(strings.ToLower(word))
	}
}

func (t *tallyOfWords) word(word string) {
	t.Words++
	t.counts[word]++
	if stopWords[word] {
		t.stop++
	}
}

func (t *tallyOfWords) stats() WordStats {
	s := t.WordStats
	s.Distinct = len(t.counts)
	s.Top = []WordCount{}
	for word, n := range t.counts {
		if utf8.RuneCountInString(word) < 2 || stopWords[word] || !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		s.Top = append(s.Top, WordCount{word, n})
	}
	slices.SortFunc(s.Top, func(a, b WordCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Word, b.Word)
	})
	// Clipped, or the list would hold on to every word of the text.
	s.Top = slices.Clone(s.Top[:min(len(s.Top), maxTop)])
	for i := range s.Top {
		s.Top[i].Word = clip(s.Top[i].Word, 60)
	}
	return s
}

// words gives the words of a text as they stand.
func words(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, end := -1, 0 // of the word so far; end is after its last letter
		for i, r := range text {
			if wordRune(r) {
				switch {
				case start < 0:
					start = i
				case end < i && !joins(text[end:i]):
					if !yield(text[start:end]) {
						return
					}
					start = i
				}
				end = i + utf8.RuneLen(r)
			}
		}
		if start >= 0 {
			yield(text[start:end])
		}
	}
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

func joins(between string) bool {
	switch between {
	case "'", "’", "-", "‐", "\u00ad":
		return true
	}
	return false
}

// Text is one line.
func (s WordStats) Text() string {
	var top []string
	for _, w := range s.Top {
		top = append(top, fmt.Sprintf("%s %s", w.Word, group(w.Count)))
	}
	tail := "."
	if len(top) > 0 {
		tail = "; most frequent: " + strings.Join(top, ", ") + "."
	}
	return fmt.Sprintf("%s, %s different, %s, %s%s\n", plural(s.Words, "word"), group(s.Distinct),
		plural(s.Characters, "character"), plural(s.Lines, "line"), tail)
}

// stopWords are the commonest words of English, that say nothing of a text's
// subject.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
a about above after again against all also am an and any are aren't as at be because been before being below
between both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each
either else ever every few for from further get gets had hadn't has hasn't have haven't having he her here hers
herself him himself his how however i if in into is isn't it it's its itself just let's like may me might more
most must my myself no nor not now of off on once one only or other our ours ourselves out over own per same
shall she should shouldn't since so some such than that that's the their theirs them themselves then there
there's these they this those through thus to too two under until up upon us use used uses using very via was
wasn't we were weren't what when where whether which while who whom why will with within without won't would
wouldn't yet you you're your yours yourself yourselves`) {
		m[w] = true
		m[strings.ReplaceAll(w, "'", "’")] = true
	}
	return m
}()
