package survey

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// A LineReport counts lines by language.
type LineReport struct {
	Languages []LanguageLines `json:"languages"` // most lines first, then by name; never nil
	Total     Tally           `json:"total"`
	Files     int             `json:"files"` // whose lines are counted
	Generated List            `json:"generated"`
	Scope     Scope           `json:"scope"`
}

// LanguageLines are one language's lines. Each line is code, comment or
// blank, so the three add up to Lines.
type LanguageLines struct {
	Language string `json:"language"` // linguist's name, or Unrecognised
	Kind     string `json:"kind"`     // programming, markup, data, prose or unknown
	Files    int    `json:"files"`
	Tally
	// Comments is false for a language whose comments we can't tell: they
	// are counted as code.
	Comments bool `json:"commentsKnown"`
}

// Lines counts the lines of every text file below dir, by language.
//
// A line with nothing but white space is blank, one with nothing but comment
// is comment, any other is code; Python's docstrings are code. Which comments
// a language has is our own small table, that knows strings but no regular
// expression literals or here-documents. Files that a tool generated, by
// linguist's rules (name or a mark in the first lines), are listed and not
// counted.
func Lines(ctx context.Context, dir string) (LineReport, error) {
	return countLines(ctx, dir, stated)
}

func countLines(ctx context.Context, dir string, lim limits) (LineReport, error) {
	r := LineReport{Languages: []LanguageLines{}, Generated: List{First: []string{}}, Scope: newScope(lim)}
	index := map[string]int{}
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		src, ok := e.text()
		if !ok {
			return nil
		}
		if enry.IsGenerated(e.path, src[:min(len(src), languageHead)]) {
			r.Generated.add(e.path, lim.listed)
			return nil
		}
		name := language(e.name, src)
		i, seen := index[name]
		if !seen {
			i = len(r.Languages)
			index[name] = i
			r.Languages = append(r.Languages, LanguageLines{Language: name, Kind: kind(name), Comments: syntaxes[name] != nil})
		}
		t := count(src, syntaxes[name], nil)
		r.Languages[i].Files++
		r.Languages[i].add(t)
		r.Files++
		r.Total.add(t)
		return nil
	})
	if err != nil {
		return LineReport{}, err
	}
	slices.SortFunc(r.Languages, func(a, b LanguageLines) int {
		if a.Lines != b.Lines {
			return b.Lines - a.Lines
		}
		return strings.Compare(a.Language, b.Language)
	})
	return r, nil
}

// Text is a total, a line for each of the largest languages and the scope.
func (r LineReport) Text() string {
	const most = 15
	var b strings.Builder
	if r.Files == 0 {
		b.WriteString("No text files, so no lines.\n")
	} else {
		fmt.Fprintf(&b, "%s in %s: %s code, %s comment, %s blank.\n", plural(r.Total.Lines, "line"), plural(r.Files, "file"),
			group(r.Total.Code), group(r.Total.Comment), group(r.Total.Blank))
	}
	for i, l := range r.Languages {
		if i == most {
			fmt.Fprintf(&b, "  and %s\n", plural(len(r.Languages)-most, "more language"))
			break
		}
		comment := group(l.Comment)
		if !l.Comments {
			comment = "-" // not told from code
		}
		fmt.Fprintf(&b, "  %-18s %9s lines in %6s files: code %9s  comment %8s  blank %8s\n", l.Language,
			group(l.Lines), group(l.Files), group(l.Code), comment, group(l.Blank))
	}
	if r.Generated.Count > 0 {
		fmt.Fprintf(&b, "Generated, not counted: %s.\n", r.Generated)
	}
	r.Scope.text(&b)
	return b.String()
}
