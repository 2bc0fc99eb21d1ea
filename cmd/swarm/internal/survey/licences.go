package survey

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// maxLicence bounds what of a licence file is compared with the known texts.
// The longest of them, the GPL's, has 35 kB.
const maxLicence = 1 << 20

// spdxHead is how much of a source is searched for a licence identifier. The
// convention puts it into the first lines.
const spdxHead = 16 << 10

// A LicenceReport lists licence files with the licences recognised in them,
// and the licence identifiers that sources carry.
type LicenceReport struct {
	Files []LicenceFile `json:"files"` // by path, at most MaxListed
	Count int           `json:"count"` // of all licence files
	// Identifiers are the SPDX-License-Identifier expressions of sources,
	// most frequent first; at most MaxListed.
	Identifiers []Identifier `json:"identifiers"`
	Marked      int          `json:"marked"` // files with such an identifier
	Scope       Scope        `json:"scope"`
}

// A LicenceFile is a file called LICENSE, LICENCE, UNLICENSE, COPYING or
// NOTICE, with or without more to its name, in any case.
type LicenceFile struct {
	File string `json:"file"`
	// Licences recognised, in the order of the text; empty when none was.
	// A licence that is only linked to is here too.
	Licences []string `json:"licences"`
	// Percent of the file's words that belong to known licence texts, rounded
	// to a tenth. A title or a holder's name may keep a plain licence a
	// little short of 100.
	Percent float64 `json:"percent"`
	// Cut is true when only the first MiB was compared.
	Cut bool `json:"cut,omitempty"`
}

// An Identifier is an SPDX licence expression found in sources.
type Identifier struct {
	Expression string `json:"expression"`
	Files      int    `json:"files"`
	First      string `json:"first"` // the first file that has it
}

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying|^notice`)
	// A line's comment mark, or nothing at all, may stand before it. In a string
	// or in the middle of a sentence it is talk about identifiers.
	spdxLine = regexp.MustCompile(`(?m)^[ \t]*(?:[/*#;%!.{(<"'-]{1,4}|REM|rem|dnl)?[ \t]*SPDX-License-Identifier:[ \t]*([^\r\n]{1,200})`)
	spdxExpr = regexp.MustCompile(`^\(?[A-Za-z0-9.+:-]+(?:[ ()]+[A-Za-z0-9.+:-]+)*\)?`)
)

// Licences compares every licence file below dir with the licence texts that
// github.com/google/licensecheck knows, and collects the
// SPDX-License-Identifier lines in the first 16 KiB of every text file.
// Recognising a text says what the file is like; it is no legal opinion.
func Licences(ctx context.Context, dir string) (LicenceReport, error) {
	return findLicences(ctx, dir, stated)
}

func findLicences(ctx context.Context, dir string, lim limits) (LicenceReport, error) {
	r := LicenceReport{Files: []LicenceFile{}, Identifiers: []Identifier{}, Scope: newScope(lim)}
	index := map[string]int{}
	err := walk(ctx, dir, &r.Scope, func(e *entry) error {
		if isLicenceFile(e.name) {
			src, ok := e.text()
			if !ok {
				return nil
			}
			r.Count++
			if len(r.Files) < lim.listed {
				r.Files = append(r.Files, licenceFile(e.path, src))
			}
			return nil
		}
		head, ok := e.head(spdxHead)
		if !ok {
			return nil
		}
		expr := identifier(head)
		if expr == "" {
			return nil
		}
		r.Marked++
		i, seen := index[expr]
		if !seen {
			i = len(r.Identifiers)
			index[expr] = i
			r.Identifiers = append(r.Identifiers, Identifier{Expression: expr, First: Quote(e.path)})
		}
		r.Identifiers[i].Files++
		return nil
	})
	if err != nil {
		return LicenceReport{}, err
	}
	slices.SortFunc(r.Identifiers, func(a, b Identifier) int {
		if a.Files != b.Files {
			return b.Files - a.Files
		}
		return strings.Compare(a.Expression, b.Expression)
	})
	r.Identifiers = r.Identifiers[:min(len(r.Identifiers), lim.listed)]
	return r, nil
}

func isLicenceFile(name string) bool {
	if !licenceName.MatchString(name) {
		return false
	}
	// licence.go is about licences, LICENSE.md is one.
	return kind(language(name, nil)) != "programming"
}

func licenceFile(file string, src []byte) LicenceFile {
	f := LicenceFile{File: Quote(file), Licences: []string{}, Cut: len(src) > maxLicence}
	cov := licensecheck.Scan(src[:min(len(src), maxLicence)])
	for _, m := range cov.Match {
		if !slices.Contains(f.Licences, m.ID) {
			f.Licences = append(f.Licences, m.ID)
		}
	}
	f.Percent = math.Round(cov.Percent*10) / 10
	return f
}

// identifier finds a source's licence expression, "" where it has none.
func identifier(head []byte) string {
	if !bytes.Contains(head, []byte("SPDX-License-Identifier:")) {
		return "" // the usual case, without the expression's cost
	}
	m := spdxLine.FindSubmatch(head)
	if m == nil {
		return ""
	}
	text := strings.TrimSpace(string(m[1]))
	for _, closer := range []string{"*/", "-->", "#}", "*)", "-}"} {
		text = strings.TrimSpace(strings.TrimSuffix(text, closer))
	}
	expr := spdxExpr.FindString(text)
	if expr != text {
		return "" // not an expression to its end, so not one at all
	}
	return expr
}

// Text has a line for every licence file and identifier.
func (r LicenceReport) Text() string {
	const most = 20
	var b strings.Builder
	if r.Count == 0 {
		b.WriteString("No licence file (LICENSE, LICENCE, UNLICENSE, COPYING, NOTICE).\n")
	}
	for i, f := range r.Files {
		if i == most {
			break
		}
		if len(f.Licences) == 0 {
			fmt.Fprintf(&b, "%s: no licence text recognised", f.File)
		} else {
			fmt.Fprintf(&b, "%s: %s, %.1f%% of its words", f.File, strings.Join(f.Licences, ", "), f.Percent)
		}
		if f.Cut {
			b.WriteString(" (of the first MiB)")
		}
		b.WriteString(".\n")
	}
	if more := r.Count - min(len(r.Files), most); more > 0 {
		fmt.Fprintf(&b, "And %s.\n", plural(more, "more licence file"))
	}
	if r.Marked == 0 {
		b.WriteString("No SPDX-License-Identifier in any text file.\n")
	} else {
		fmt.Fprintf(&b, "SPDX-License-Identifier in %s:\n", plural(r.Marked, "file"))
	}
	for i, id := range r.Identifiers {
		if i == most {
			fmt.Fprintf(&b, "  and %s\n", plural(len(r.Identifiers)-most, "more expression"))
			break
		}
		fmt.Fprintf(&b, "  %s in %s, first %s\n", id.Expression, plural(id.Files, "file"), id.First)
	}
	r.Scope.text(&b)
	return b.String()
}
