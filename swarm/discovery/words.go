package discovery

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold makes two spellings of one text equal: compatibility forms (full-width
// letters, ligatures), case, and runs of white space.
func fold(s string) string {
	return strings.Join(strings.Fields(foldCase(norm.NFKC.String(s))), " ")
}

// foldCase folds case fully ("ß" is "ss") and gives the normal form: folding
// may bring a mark ("İ" is "i" and a dot above) that those behind it must be
// put in order with. x/text turns Cherokee letters into their other case, each
// way, so that alone it would not fold them together.
func foldCase(s string) string { return norm.NFKC.String(strings.ToLower(cases.Fold().String(s))) }

// A word is a run of letters, digits and marks of a text, with its parts where
// its spelling has any: camelCase ("openWeather") or hyphens ("real-time").
type word struct {
	whole   string   // joined: "openweather", "realtime"
	parts   []string // one or more; the whole alone where there are no parts
	hyphens bool
	short   bool // some part is a single letter
	dense   bool // of a script without spaces; one part, to be cut into grams
}

// splitWords splits at everything that is neither letter, digit nor mark, and
// folds. Scripts that put no space between words come as runs of their own.
func splitWords(text string) []word {
	var (
		words []word
		cur   word
	)
	add := func(run []rune) {
		for _, part := range splitCamel(run) {
			cur.parts = append(cur.parts, foldCase(string(part)))
			cur.short = cur.short || len(part) == 1
		}
	}
	flush := func() {
		if len(cur.parts) > 0 {
			cur.whole = strings.Join(cur.parts, "")
			words = append(words, cur)
		}
		cur = word{}
	}
	runes := []rune(norm.NFKC.String(text))
	for i := 0; i < len(runes); {
		if !isWord(runes[i]) {
			i++
			continue
		}
		start, dense := i, isDense(runes[i])
		for i++; i < len(runes) && (unicode.IsMark(runes[i]) || isWord(runes[i]) && isDense(runes[i]) == dense); i++ {
		}
		if dense {
			words = append(words, word{whole: foldCase(string(runes[start:i])), dense: true})
			continue
		}
		add(runes[start:i])
		// A single hyphen or underscore between letters joins, all else parts.
		if i+1 < len(runes) && (runes[i] == '-' || runes[i] == '_') && isWord(runes[i+1]) && !isDense(runes[i+1]) {
			cur.hyphens = true
			i++
			continue
		}
		flush()
	}
	flush()
	return words
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isDense reports whether r is of a script that is written without spaces, or
// (Hangul) whose words carry endings that no stemmer here takes off.
func isDense(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// splitCamel splits before an upper-case letter that follows a lower-case one
// (open|Weather) or that begins a word after capitals (HTTP|Server). Digits
// end nothing: "3D" and "web3" are one part.
func splitCamel(run []rune) [][]rune {
	var parts [][]rune
	start := 0
	for i := 1; i < len(run); i++ {
		if unicode.IsUpper(run[i]) && (unicode.IsLower(run[i-1]) || i+1 < len(run) && unicode.IsLower(run[i+1])) {
			parts = append(parts, run[start:i])
			start = i
		}
	}
	return append(parts, run[start:])
}

// grams gives the pairs of neighbouring characters of a run in a script
// without spaces, and the characters themselves where single asks for them.
func grams(run string, singles bool) []string {
	runes := []rune(run)
	if len(runes) == 1 {
		return []string{run}
	}
	var out []string
	for i := range runes {
		if singles {
			out = append(out, string(runes[i]))
		}
		if i > 0 {
			out = append(out, string(runes[i-1:i+1]))
		}
	}
	return out
}

// documentTerms gives the terms under which a text is found: of a word with
// parts both the parts and the whole.
func documentTerms(text string) []string {
	var terms []string
	for _, w := range splitWords(text) {
		if w.dense {
			terms = append(terms, grams(w.whole, true)...)
			continue
		}
		for _, part := range w.parts {
			terms = append(terms, stem(part))
		}
		if len(w.parts) > 1 {
			terms = append(terms, stem(w.whole))
		}
	}
	return terms
}

// queryTerms gives the terms to look for, each once, in the order of the text,
// without stop words. A word in camelCase is looked for as a whole where some
// document has the whole ("GitHub"), else by its parts; one with hyphens by
// its parts, unless they are too short to mean anything ("e-mail").
func queryTerms(text string, indexed func(term string) bool) []string {
	var terms, stops []string
	seen := make(map[string]bool)
	add := func(list *[]string, term string) {
		if !seen[term] {
			seen[term] = true
			*list = append(*list, term)
		}
	}
	for _, w := range splitWords(text) {
		if w.dense {
			for _, gram := range grams(w.whole, false) {
				add(&terms, gram)
			}
			continue
		}
		if len(w.parts) > 1 && (!w.hyphens || w.short) {
			if whole := stem(w.whole); indexed(whole) {
				add(&terms, whole)
				continue
			}
		}
		for _, part := range w.parts {
			if stopWords[part] {
				add(&stops, stem(part))
			} else {
				add(&terms, stem(part))
			}
		}
	}
	if len(terms) == 0 {
		return stops // "to be or not to be": better than nothing
	}
	return terms
}

// stem takes the endings off an English word. A word with other letters than
// a to z is of another language, and is left alone.
func stem(w string) string {
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	env := snowballstem.NewEnv(w)
	english.Stem(env)
	return env.Current()
}
