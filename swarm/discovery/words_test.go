package discovery

import (
	"slices"
	"strings"
	"testing"
)

func TestDocumentTerms(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Counts words, lines & sentences.", "count word line sentenc"},
		{"openWeatherMap", "open weather map openweathermap"},
		{"HTTPServer", "http server httpserver"},
		{"node-red_helper", "node red helper noderedhelp"},
		{"e-mail", "e mail email"},
		{"a -- b - c", "a b c"},
		{"web3 3D MP3s", "web3 3d mp3s"},
		{"ＦＵＬＬ ﬁnance", "full financ"},
		{"STRASSE Straße", "strass strass"},
		{"Übersetzungen Grüße", "übersetzungen grüsse"},
		{"тексты Ελλάς", "тексты ελλάσ"},
		{"天气预报", "天 气 天气 预 气预 报 预报"},
		{"北京weather東京", "北 京 北京 weather 東 京 東京"},
		{"猫", "猫"},
		{"한국어", "한 국 한국 어 국어"},
		{"हिन्दी", "हिन्दी"},
		{"user's", "user s"},
		{"🙂 … —", ""},
		{"", ""},
	} {
		if got := strings.Join(documentTerms(c.text), " "); got != c.want {
			t.Errorf("documentTerms(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestQueryTerms(t *testing.T) {
	indexed := func(term string) bool { return slices.Contains([]string{"github", "email", "realtim"}, term) }
	for _, c := range []struct{ text, want string }{
		{"Please help me count the words", "count word"},
		{"words, words, word", "word"},
		{"GitHub openWeather", "github open weather"},
		{"e-mail x-ray", "email x ray"},
		{"real-time", "real time"},
		{"天气预报", "天气 气预 预报"},
		{"猫", "猫"},
		{"to be or not to be", "to be or not"},
		{"I don't know", "i don t know"},
		{"?!", ""},
	} {
		if got := strings.Join(queryTerms(c.text, indexed), " "); got != c.want {
			t.Errorf("queryTerms(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// Whatever is asked in a document's own words must find it.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"openWeather", "e-mail", "天气 weather", "don't", "a\xff b", "İstanbul", "İ\u0670", "ǅ ß ﬁ", "x-", "น้ำ", "Ꮈ ꮈ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		have := make(map[string]bool)
		for _, term := range documentTerms(s) {
			if term == "" {
				t.Errorf("documentTerms(%q) has an empty term", s)
			}
			have[term] = true
		}
		for _, term := range queryTerms(s, func(term string) bool { return have[term] }) {
			if !have[term] {
				t.Errorf("%q is looked for under %q, but not found there", s, term)
			}
		}
		if once := fold(s); fold(once) != once {
			t.Errorf("fold(%q) = %q, which folds to %q", s, once, fold(once))
		}
	})
}
