package display

import (
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// maxPending bounds the text of an unfinished line, in bytes: a longer line is
// broken. maxPendings bounds the children that have one.
const (
	maxPending  = 2000
	maxPendings = 100
)

// pending is text whose line has not come to its end.
type pending struct {
	piece Line // the latest, for its kind, depth and who
	text  string
}

// tab is what a tab is shown as: where it would lead to depends on what stands
// before it, the bar included.
const tab = "    "

// ownText adds a piece of the run's own text. In a pipe it is written as it
// comes; in a live view the unfinished line is part of what is redrawn.
func (t *Terminal) ownText(l Line) {
	if t.own != nil && t.own.piece.Kind != l.Kind {
		t.endText()
	}
	for part := range strings.Lines(strings.ReplaceAll(l.Text, "\t", tab)) {
		line, ended := strings.CutSuffix(part, "\n")
		if t.own == nil {
			t.own = &pending{piece: l}
			if t.live == nil {
				t.buf = append(t.buf, t.styles.mark(l.Kind, l.Mark)+" "...)
			}
		}
		if t.live == nil {
			t.buf = append(t.buf, t.styles.text(l, line)...)
		} else {
			t.own.text += line
			t.own.text = t.wrap(t.own, t.own.text)
		}
		if ended {
			t.endText()
		}
	}
}

// endText ends the line of the run's own text, if one is open.
func (t *Terminal) endText() {
	switch {
	case t.own == nil:
		return
	case t.live == nil:
		t.buf = append(t.buf, '\n')
	default:
		t.row(t.prose(t.own, t.own.text))
	}
	t.own = nil
}

// childText adds a piece of a child's text, which is written line by line:
// several children may write at once.
func (t *Terminal) childText(l Line) {
	p, known := t.children[l.Stream]
	if !known && len(t.children) >= maxPendings {
		t.flushChildren(Line{})
	}
	p.piece = l
	for part := range strings.Lines(strings.ReplaceAll(l.Text, "\t", tab)) {
		line, ended := strings.CutSuffix(part, "\n")
		p.text += line
		if ended || len(p.text) > maxPending {
			t.endText()
			t.childLine(&p)
		}
	}
	t.children[l.Stream] = p
}

func (t *Terminal) childLine(p *pending) {
	if strings.TrimSpace(p.text) != "" {
		rest := p.text
		if t.live != nil {
			rest = t.wrap(p, rest)
		}
		t.row(t.prose(p, rest))
	}
	p.text = ""
}

// flushChildren ends the unfinished lines of children: those of the child that
// a line tells of, or of all for one at the run's own level, before which they
// must stand.
func (t *Terminal) flushChildren(l Line) {
	for _, stream := range slices.Sorted(maps.Keys(t.children)) {
		p := t.children[stream]
		if l.Depth == 0 || p.piece.Depth == l.Depth && p.piece.Who == l.Who {
			t.childLine(&p)
			delete(t.children, stream)
		}
	}
}

// prose gives a row of text behind its bar.
func (t *Terminal) prose(p *pending, text string) string {
	who := ""
	if p.piece.Depth > 0 && p.piece.Who != "" {
		who = t.styles.apply(&t.styles.faint, p.piece.Who+": ")
	}
	return p.piece.indent() + t.styles.mark(p.piece.Kind, p.piece.Mark) + " " + who + t.styles.text(p.piece, text)
}

// wrap writes the rows that a text fills, and gives what is left of it.
func (t *Terminal) wrap(p *pending, text string) string {
	limit, _ := t.size()
	limit = max(limit-ansi.StringWidth(t.prose(&pending{piece: p.piece}, "")), 1)
	for {
		n := fit(text, limit)
		if n == len(text) {
			return text
		}
		end := strings.LastIndexByte(text[:n+1], ' ')
		if end <= 0 { // one long word
			end = n
		}
		t.row(t.prose(p, text[:end]))
		text = strings.TrimPrefix(text[end:], " ")
	}
}

// fit gives how many bytes of text fit into so many cells; at least one
// character does.
func fit(text string, cells int) int {
	n, used := 0, 0
	for n < len(text) {
		cluster, width := ansi.FirstGraphemeCluster(text[n:], ansi.GraphemeWidth)
		if used += width; used > cells && n > 0 {
			break
		}
		n += len(cluster)
	}
	return n
}
