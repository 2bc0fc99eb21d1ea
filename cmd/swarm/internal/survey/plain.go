package survey

import (
	"path"
	"regexp"
	"strings"
)

// plainText turns prose into plain text, for counting: what is code or markup
// goes, paragraphs, headings and list items stand apart by an empty line.
// name tells Markdown and reStructuredText; other text stays as it is.
func plainText(name, text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return markdown(text)
	case ".rst":
		return restructured(text)
	}
	return text
}

var (
	mdComment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	mdImage     = regexp.MustCompile(`!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])?`)
	mdLink      = regexp.MustCompile(`\[([^\[\]\n]+)\](?:\([^)\n]*\)|\[[^\]\n]*\])`)
	mdCode      = regexp.MustCompile("``[^\n]*?``|`[^`\n]*`")
	mdTag       = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
	mdReference = regexp.MustCompile(`^ {0,3}\[[^\]]+\]:\s`)
	mdHeading   = regexp.MustCompile(`^ {0,3}#{1,6}(?:\s+|$)`)
	mdItem      = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?`)
	mdRule      = regexp.MustCompile(`^\s*(?:[-=*_]\s*){2,}$|^[\s|:+-]*-[\s|:+-]*$`)
	mdEmphasis  = regexp.MustCompile(`\*+|\b_+|_+\b|~~`)
	bareURL     = regexp.MustCompile(`(?:https?|ftp)://[^\s<>)\]]+`)
)

// markdown leaves out fenced and indented code, code in a line, front matter,
// comments, tags, images, addresses and table rules.
func markdown(text string) string {
	text = mdComment.ReplaceAllString(text, "")
	var out paragraphs
	fence := ""
	blank, list, code := true, false, false
	for i, line := range strings.Split(frontMatter(text), "\n") {
		bare := strings.TrimLeft(strings.TrimSpace(line), "> ")
		if fence != "" {
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
			out.end()
			continue
		}
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		item := mdItem.FindString(line)
		switch {
		case bare == "":
			out.end()
			blank = true
			continue
		case indented && !list && (code || blank || i == 0):
			code = true
			continue
		case mdReference.MatchString(line), mdRule.MatchString(bare):
			out.end()
			continue
		case mdHeading.MatchString(line):
			out.end()
			out.add(inline(strings.TrimRight(mdHeading.ReplaceAllString(line, ""), "# ")))
			out.end()
			list = false
		case item != "":
			out.end()
			out.add(inline(line[len(item):]))
			list = true
		case strings.HasPrefix(bare, "|"):
			out.end()
			for cell := range strings.SplitSeq(bare, "|") {
				out.add(inline(cell))
				out.end()
			}
		default:
			out.add(inline(bare))
			// A list goes on through indented paragraphs, and ends at one that
			// is not.
			list = list && (indented || !blank || strings.HasPrefix(line, " "))
		}
		blank, code = false, false
	}
	return out.String()
}

// frontMatter takes the settings off that some tools put before a page.
func frontMatter(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if i := strings.Index(rest, "\n---\n"); i >= 0 {
			return rest[i+len("\n---\n"):]
		}
	}
	return text
}

func inline(s string) string {
	s = mdImage.ReplaceAllString(s, "")
	s = mdCode.ReplaceAllString(s, "")
	s = mdLink.ReplaceAllString(s, "$1")
	s = bareURL.ReplaceAllString(s, "")
	s = mdTag.ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "<>", "") // what is left of <https://…>
	return mdEmphasis.ReplaceAllString(s, "")
}

var (
	rstDirective = regexp.MustCompile(`^\s*\.\.(?:\s|$)`)
	rstField     = regexp.MustCompile(`^\s*:[A-Za-z][\w -]*:`)
	rstRule      = regexp.MustCompile("^[\\s=+|~^\"'`#*-]+$")
	rstItem      = regexp.MustCompile(`^\s*(?:[-*+•]|\(?(?:\d{1,9}|#)[.)])\s+`)
	rstRole      = regexp.MustCompile(":[a-z][a-z:-]*:`[^`\n]*`")
	rstCode      = regexp.MustCompile("``[^\n]*?``")
	rstLink      = regexp.MustCompile("`([^`<\n]+?)\\s*(?:<[^>\n]*>)?`_{0,2}")
)

// restructured leaves out literal blocks, directives with what is indented
// below them, fields, code in a line and rules.
func restructured(text string) string {
	var out paragraphs
	inside := -1 // the indent of the line whose block is left out, -1 for none
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		if bare == "" {
			out.end()
			continue
		}
		if inside >= 0 && indent > inside {
			continue
		}
		inside = -1
		switch {
		case rstDirective.MatchString(line):
			inside = indent
			out.end()
			continue
		case rstRule.MatchString(bare), rstField.MatchString(line):
			out.end()
			continue
		}
		if item := rstItem.FindString(line); item != "" {
			out.end()
			bare = line[len(item):]
		}
		if strings.HasSuffix(bare, "::") {
			inside = indent
			bare = strings.TrimSuffix(bare, ":")
		}
		bare = rstCode.ReplaceAllString(bare, "")
		bare = rstRole.ReplaceAllString(bare, "")
		bare = rstLink.ReplaceAllString(bare, "$1")
		out.add(mdEmphasis.ReplaceAllString(bareURL.ReplaceAllString(bare, ""), ""))
	}
	return out.String()
}

// paragraphs puts text together, one paragraph a block of lines.
type paragraphs struct {
	b    strings.Builder
	open bool
}

func (p *paragraphs) add(line string) {
	if line = strings.TrimSpace(line); line == "" {
		return
	}
	if !p.open && p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.open = true
	p.b.WriteString(line)
	p.b.WriteByte('\n')
}

func (p *paragraphs) end() { p.open = false }

func (p *paragraphs) String() string { return p.b.String() }
