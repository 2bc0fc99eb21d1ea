package survey

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	tests := []struct {
		text string
		want WordStats
	}{
		{"", WordStats{Top: []WordCount{}}},
		{" \n\n", WordStats{Characters: 3, Lines: 2, Top: []WordCount{}}},
		{"Agents find agents.\nThe agents don't stop", WordStats{Words: 7, Characters: 41, Lines: 2, Distinct: 5,
			Top: []WordCount{{"agents", 3}, {"find", 1}, {"stop", 1}}}},
		{"well-known -- non‐stop 'quoted' rock’n’roll", WordStats{Words: 4, Characters: 43, Lines: 1, Distinct: 4,
			Top: []WordCount{{"non‐stop", 1}, {"quoted", 1}, {"rock’n’roll", 1}, {"well-known", 1}}}},
		{"3.14 is a number, 42 too; x", WordStats{Words: 8, Characters: 27, Lines: 1, Distinct: 8,
			Top: []WordCount{{"number", 1}}}},
		{"Größe größe GRÖSSE 日本語", WordStats{Words: 4, Characters: 22, Lines: 1, Distinct: 3,
			Top: []WordCount{{"größe", 2}, {"grösse", 1}, {"日本語", 1}}}},
		{"ok\xffok", WordStats{Words: 2, Characters: 5, Lines: 1, Distinct: 1, Top: []WordCount{{"ok", 2}}}},
		{"k j i h g f e dd cc bb aa ee ff gg hh ii jj kk", WordStats{Words: 18, Characters: 46, Lines: 1, Distinct: 18,
			Top: []WordCount{{"aa", 1}, {"bb", 1}, {"cc", 1}, {"dd", 1}, {"ee", 1}, {"ff", 1}, {"gg", 1}, {"hh", 1}, {"ii", 1}, {"jj", 1}}}},
	}
	for _, test := range tests {
		equal(t, test.text, Words(test.text), test.want)
	}
	equal(t, "text", Words("Agents find agents.\n").Text(), "3 words, 2 different, 20 characters, 1 line; most frequent: agents 2, find 1.\n")
}

func FuzzWords(f *testing.F) {
	f.Add("Agents find agents.\n", "It isn't\r\nwell-known")
	f.Add("", "\n")
	f.Add("a-", "-b\xff’")
	f.Fuzz(func(t *testing.T, a, b string) {
		one, two, both := Words(a), Words(b), Words(a+"\n\n"+b)
		if both.Words != one.Words+two.Words {
			t.Errorf("words: %d + %d = %d", one.Words, two.Words, both.Words)
		}
		if both.Characters != one.Characters+two.Characters+2 {
			t.Errorf("characters: %d + %d + 2 = %d", one.Characters, two.Characters, both.Characters)
		}
		if both.Distinct > one.Distinct+two.Distinct || both.Distinct < max(one.Distinct, two.Distinct) || both.Distinct > both.Words {
			t.Errorf("distinct: %d and %d give %d", one.Distinct, two.Distinct, both.Distinct)
		}
		if one.Words > one.Characters || one.Lines != len(strings.Split(a, "\n"))-map[bool]int{true: 1}[a == "" || strings.HasSuffix(a, "\n")] {
			t.Errorf("%+v", one)
		}
		sum := 0
		for i, w := range both.Top {
			sum += w.Count
			if w.Count < 1 || i > 0 && w.Count > both.Top[i-1].Count || !utf8.ValidString(w.Word) {
				t.Errorf("top: %+v", both.Top)
			}
		}
		if sum > both.Words {
			t.Errorf("the top words are %d of %d", sum, both.Words)
		}
	})
}
