package survey

import (
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// Unrecognised stands where a text file's language is not known.
const Unrecognised = "(unrecognised)"

// languageHead is how much of a file decides on its language.
const languageHead = 16 << 10

// language names the language of a text file as linguist does: by mode line,
// name, first line, ending and telling content.
//
// Linguist's last resort, a classifier, is left out: languages with equal
// scores come out in a random order, so a report would not be the same twice.
// Where several remain, one whose comments we know wins, then the first in the
// alphabet.
func language(name string, content []byte) string {
	head := content[:min(len(content), languageHead)]
	var left []string
	for _, by := range []enry.Strategy{
		enry.GetLanguagesByModeline, enry.GetLanguagesByFilename, enry.GetLanguagesByShebang,
		enry.GetLanguagesByExtension, enry.GetLanguagesByXML, enry.GetLanguagesByManpage, enry.GetLanguagesByContent,
	} {
		some := by(name, head, left)
		if len(some) == 1 && some[0] != enry.OtherLanguage {
			return some[0]
		}
		if len(some) > 0 {
			left = some
		}
	}
	left = slices.DeleteFunc(slices.Clone(left), func(l string) bool { return l == enry.OtherLanguage })
	if len(left) == 0 {
		return Unrecognised
	}
	slices.SortFunc(left, func(a, b string) int {
		if known := syntaxes[a] != nil; known != (syntaxes[b] != nil) {
			if known {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return left[0]
}

// kind is linguist's sort of language.
func kind(language string) string {
	switch enry.GetLanguageType(language) {
	case enry.Programming:
		return "programming"
	case enry.Markup:
		return "markup"
	case enry.Data:
		return "data"
	case enry.Prose:
		return "prose"
	}
	return "unknown"
}
