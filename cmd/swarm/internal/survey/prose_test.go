package survey

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestPlainText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a.txt", "\ufeff# As *it* is\r\n", "# As *it* is\n"},
		{"a.md", "# Title #\nOne\ntwo.\n\n## Sub\n", "Title\n\nOne\ntwo.\n\nSub\n"},
		{"a.md", "Under\n=====\nText\n\n---\nMore\n", "Under\n\nText\n\nMore\n"},
		{"a.md", "a\n```go\nx := 1\n\n# no\n```\nb\n~~~\n```\n~~~\nc\n", "a\n\nb\n\nc\n"},
		{"a.md", "a\n````\n```\n````\nb\n```\nnever closed\n", "a\n\nb\n"},
		{"a.md", "a\n\n    code\n\n\tcode\nb\n", "a\n\nb\n"},
		{"a.md", "a\n    b\n", "a\nb\n"}, // goes on with a paragraph
		{"a.md", "- one\n\n    more of it\n- [x] two\n1. three\n", "one\n\nmore of it\n\ntwo\n\nthree\n"},
		{"a.md", "See [the *page*](https://x.y/z) and ![alt](i.png)`code` <b>bold</b> <https://a.b> https://c.d/e.\n", "See the page and  bold\n"},
		{"a.md", "[x]: https://a.b\n<!-- a\nb -->c snake_case __d__ ~~e~~\n", "c snake_case d e\n"},
		{"a.md", "| a | b |\n|---|:-:|\n| c | `d` |\n", "a\n\nb\n\nc\n"},
		{"a.md", "---\ntitle: x\n---\ntext\n", "text\n"},
		{"a.md", "> quoted\n> text\n", "quoted\ntext\n"},
		{"a.rst", "Title\n=====\n\nSee::\n\n   code\n   more\n\n.. note:: x\n   y\n\n* item ``c`` :ref:`r` `link <u>`_ **b**\n\n:field: v\n", "Title\n\nSee:\n\nitem   link b\n"},
	}
	for _, test := range tests {
		if got := plainText(test.name, test.in); got != test.want {
			t.Errorf("%s %q:\n got %q\nwant %q", test.name, test.in, got, test.want)
		}
	}
}

func TestSentences(t *testing.T) {
	tests := map[string]int{
		"":                                0,
		"...":                             0,
		"No end":                          1,
		"One. Two! Three? \"Four.\" Five": 5,
		"One... Two?! Three":              3,
		"Version 3.14 of file.go works.":  1,
		"Use tools, e.g. this, i.e. that, etc. of":         1,
		"Mr. Smith met Dr. Jones. J. R. R. Tolkien wrote.": 2,
		"The answer is no. It is.":                         2,
		"Heading\n\nText goes\non here.\n \nItem":          3,
		"日本語です。はい！":                                        2,
	}
	for text, want := range tests {
		if got := sentences(text); got != want {
			t.Errorf("%q: %d sentences, want %d", text, got, want)
		}
	}
}

func TestSyllables(t *testing.T) {
	tests := map[int]string{
		1: "the cat make makes walked strength be eye brr 42",
		2: "table tables wanted boxes agent stories matches",
		3: "agencies delegate syllable beautiful",
		4: "delegation",
	}
	for want, words := range tests {
		for _, w := range strings.Fields(words) {
			if got := syllables(w); got != want {
				t.Errorf("%s: %d syllables, want %d", w, got, want)
			}
		}
	}
}

func TestProse(t *testing.T) {
	// 8 sentences of 6 words and 6 syllables; "the" and "on" are common.
	cats := strings.Repeat("The cat sat on the mat. ", 8)
	dir := folder(t, map[string]string{
		"README.md":             "# Cats\n\n" + cats + "\n\n```\nnot counted\n```\n",
		"de.rst":                "Das ist kein englischer Text.\n",
		"requirements.txt":      "flask\n",
		"CMakeLists.txt":        "project(x)\n",
		"readme.go":             "package readme\n",
		"docs/readme":           "Read me.\n",
		"docs/.hidden/notes.md": "no\n",
		"bin.txt":               "a\x00b",
	})
	r, err := Prose(t.Context(), dir)
	must(t, err)
	// README: 49 words in 9 sentences, the heading one. All have one syllable:
	// 206.835 − 1.015 × 49/9 − 84.6 = 116.7.
	ease := 116.7
	equal(t, "files", fmt.Sprintf("%d %s %s %s", r.Count, r.Files[0].File, r.Files[1].File, r.Files[2].File), "4 README.md de.rst docs/readme")
	got := r.Files[0].Reading
	if got.Ease == nil || *got.Ease != ease {
		t.Errorf("reading ease %v, want %v", got.Ease, ease)
	}
	got.Ease = nil
	equal(t, "reading", got, Reading{Words: 49, Sentences: 9, PerSentence: 5.4, Seconds: 13})
	equal(t, "words", r.Files[0].WordStats, WordStats{Words: 49, Characters: 198, Lines: 3, Distinct: 6,
		Top: []WordCount{{"cat", 8}, {"mat", 8}, {"sat", 8}, {"cats", 1}}})
	equal(t, "German", r.Files[1].Reading, Reading{Words: 5, Sentences: 1, PerSentence: 5, Seconds: 2})
	if r.Total.Words != 56 || r.Total.Sentences != 11 {
		t.Errorf("total %+v", r.Total)
	}
	// 58 syllables, "englischer" has three: 206.835 − 1.015 × 56/11 − 84.6 × 58/56 = 114.0.
	want := "3 of 4 prose files: 56 words, 11 sentences, 5.1 words a sentence, reading ease about 114, 15 seconds to read.\n"
	if !strings.HasPrefix(r.Text(), want) {
		t.Errorf("text:\n%s", r.Text())
	}
	checkText(t, r)
}

func TestProseTakesTheLargest(t *testing.T) {
	files := map[string]string{"list.txt": strings.Repeat("list\n", 100), "README.txt": "x\n"}
	for i := range 12 {
		files[fmt.Sprintf("%02d.md", i)] = strings.Repeat("x", 10+i/2) // in pairs
	}
	r, err := Prose(t.Context(), folder(t, files))
	must(t, err)
	var names []string
	for _, f := range r.Files {
		names = append(names, f.File)
	}
	equal(t, "files", names, []string{"10.md", "11.md", "08.md", "09.md", "06.md", "07.md", "04.md", "05.md", "02.md", "03.md"})
	equal(t, "count", r.Count, 14)

	delete(files, "10.md")
	for _, name := range []string{"11.md", "08.md", "09.md", "06.md"} {
		delete(files, name)
	}
	r, err = Prose(t.Context(), folder(t, files))
	must(t, err)
	equal(t, "last", r.Files[len(r.Files)-1].File, "list.txt")
}

func TestPlain(t *testing.T) {
	dir := folder(t, map[string]string{"docs/a b.md": "# One\n\n`x` two\n", "new\nline.txt": "text", ".git/x.md": "no", "a.go": "package a", "bin.txt": "\x00"})
	for _, test := range []struct{ file, want, err string }{
		{"docs/a b.md", "One\n\ntwo\n", ""},
		{`"new\nline.txt"`, "text", ""},
		{"new\nline.txt", "text", ""},
		{"none.md", "", "no file none.md in "},
		{".git/x.md", "", "no file .git/x.md in "},
		{"../a.md", "", "no file ../a.md in "},
		{"a.go", "", "file a.go is not a README, .md, .rst or .txt file"},
		{"bin.txt", "", "file bin.txt: unreadable, binary or over 8 MiB"},
		{`"x`, "", `file "x: not a Go string literal`},
	} {
		got, err := Plain(t.Context(), dir, test.file)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
			t.Errorf("%q: %q, %v", test.file, got, err)
		}
	}
}

func TestNoProse(t *testing.T) {
	dir := folder(t, map[string]string{"requirements.txt": "flask\n"})
	_, err := Prose(t.Context(), dir)
	if want := "no README, .md, .rst or .txt file in " + dir; !errors.Is(err, ErrNothing) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzPlainText(f *testing.F) {
	f.Add("a.md", "# T\n\n- a\n\n```\nx\n```\n| a |\n")
	f.Add("a.rst", "T\n=\n\n.. x::\n   y\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		plain := plainText(name, text)
		if n := sentences(plain); n > Words(plain).Words {
			t.Errorf("%d sentences of %d words", n, Words(plain).Words)
		}
		if len(plain) > len(text)*2+1 {
			t.Errorf("%d bytes of text from %d", len(plain), len(text))
		}
	})
}
