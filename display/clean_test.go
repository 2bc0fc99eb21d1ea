package display

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var cleanTests = []struct{ name, in, line, text string }{
	{"empty", "", "", ""},
	{"plain", "an answer", "an answer", "an answer"},
	{"other scripts", "答え ответ जवाब", "答え ответ जवाब", "答え ответ जवाब"},
	{"lines", " one\n\ttwo  three\n", "one two three", " one\n\ttwo  three\n"},
	{"CR LF is one line end", "a\r\nb\rc", "a b c", "a\nb\nc"},
	{"what is written over stays", "good\rbad\b\b\bevil", "good badevil", "good\nbadevil"},
	{"other line ends", "a\vb\fc\u0085d\u2028e\u2029f", "a b c d e f", "a\nb\nc\nd\ne\nf"},
	{"colour", "\x1b[1;31mred\x1b[0m", "red", "red"},
	{"screen and cursor", "a\x1b[2J\x1b[10;20Hb\x1b[?25lc", "abc", "abc"},
	{"C1 forms", "a\u009b2Jb\u009d0;title\u009cc", "abc", "abc"},
	{"link", "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x07 now", "here now", "here now"},
	{"title and clipboard", "\x1b]0;t\x07\x1b]52;c;YQ==\x07x", "x", "x"},
	{"device control", "\x1bP+q544e\x1b\\x\x1b_apc\x1b\\y", "xy", "xy"},
	{"other escapes", "\x1bcx\x1b(By\x1b7z", "xyz", "xyz"},
	{"an unfinished OSC hides nothing", "\x1b]0;all the rest", "]0;all the rest", "]0;all the rest"},
	{"an OSC ends where another begins", "\x1b]0;a\x1b]0;b\x07c", "]0;ac", "]0;ac"},
	{"an unfinished CSI", "\x1b[12", "[12", "[12"},
	{"escapes inside one another", "\x1b\x1b[31m[31mx\x1b", "[31mx", "[31mx"},
	{"no sequence forms of what is left", "\x1b\x00[31mx", "[31mx", "[31mx"},
	{"NUL and DEL", "a\x00b\x7fc", "abc", "abc"},
	{"bidi", "abc\u202etxt.exe\u202c\u2066x\u2069\u200f", "abctxt.exex", "abctxt.exex"},
	{"zero width", "pay\u200bpal\u200d\u2060\ufeff\u00ad\u115f", "paypal", "paypal"},
	{"tags", "x\U000e0041\U000e0042y", "xy", "xy"},
	{"smuggled selectors", "x\U000e0100\U000e0101\ufe00", "x", "x"},
	{"emoji presentation", "⚠\ufe0f!\ufe0f\ufe0f", "⚠\ufe0f!\ufe0f", "⚠\ufe0f!\ufe0f"},
	{"a selector with nothing before it", "\ufe0fx \ufe0fy", "x y", "x y"},
	{"visible format characters", "\u06dd١", "\u06dd١", "\u06dd١"},
	{"no UTF-8", "a\xffb\xc3", "a\ufffdb\ufffd", "a\ufffdb\ufffd"},
	{"noncharacters", "a\uffffb\ufdd0", "a\ufffdb\ufffd", "a\ufffdb\ufffd"},
}

func TestClean(t *testing.T) {
	for _, tt := range cleanTests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.line {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.line)
			}
			if got := CleanText(tt.in); got != tt.text {
				t.Errorf("CleanText(%q) = %q, want %q", tt.in, got, tt.text)
			}
		})
	}
}

// checkClean fails the test if text has something in it that may not reach a
// terminal.
func checkClean(t *testing.T, what, text, allowed string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is no UTF-8: %q", what, text)
	}
	for i, c := range text {
		switch {
		case strings.ContainsRune(allowed, c), unicode.Is(unicode.Prepended_Concatenation_Mark, c):
		case unicode.In(c, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp),
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
			t.Errorf("%s has %U at byte %d: %q", what, c, i, text)
			return
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, tt := range cleanTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		line, text := Clean(in), CleanText(in)
		checkClean(t, "the line", line, "")
		checkClean(t, "the text", text, "\n\t")
		if strings.TrimSpace(line) != line || strings.Contains(line, "  ") {
			t.Errorf("spaces are left in %q", line)
		}
		if again := Clean(line); again != line {
			t.Errorf("Clean(%q) = %q", line, again)
		}
		if again := CleanText(text); again != text {
			t.Errorf("CleanText(%q) = %q", text, again)
		}
		if again := Clean(text); again != line {
			t.Errorf("by way of the text the line is %q, else %q", again, line)
		}
	})
}

// A text of nothing but beginnings of sequences takes time in proportion.
func BenchmarkCleanHostile(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		text := strings.Repeat("\x1b]0;", size/4)
		b.Run(unit(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				Clean(text)
			}
		})
	}
}

func unit(size int) string {
	if size < 1<<20 {
		return "1KiB"
	}
	return "1MiB"
}
