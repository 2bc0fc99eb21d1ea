package display

import (
	"fmt"
	"strings"
	"time"
)

// Kind says what a line tells of, for front ends that style kinds apart.
type Kind int

const (
	KindOther     Kind = iota // an event of a type that is not known
	KindText                  // a piece of an answer, as it is written
	KindThinking              // a piece of reasoning, as it is written
	KindToolStart             // a tool call begins
	KindToolEnd               // a tool call ends
	KindChild                 // a run below the stream's own begins or ends
	KindStatus                // progress: steps, plans, tasks, approvals
	KindEnd                   // the run is over: done or stopped
	KindError                 // the run, or the stream, failed
	KindReceipt               // a receipt came; nobody has checked it yet
	KindMalformed             // a frame that is broken
	kinds                     // how many there are
)

var kindNames = [kinds]string{"other", "text", "thinking", "tool start", "tool end", "child", "status",
	"end", "error", "receipt", "malformed"}

func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Marks, each one cell wide.
const (
	markStart    = "→"
	markDone     = "✓"
	markFailed   = "✗"
	markStopped  = "■"
	markNote     = "·"
	markText     = "│" // in front of every line of an answer, so that no answer can pose as an event
	markThinking = "┊"
)

// Line is one event as a person reads it:
//
//	Mark Who Verb Whom in Elapsed: Text
//
// Its texts are cleaned: foreign text stands in them, and none of them has a
// control character, a line end or an invisible character. Only the Text of
// KindText and KindThinking keeps LF, tab and its spaces, because it is a
// piece of something longer. For a page, escape them as any text.
type Line struct {
	Kind  Kind
	Depth int    // 0 for the run itself, 1 for a child's, …
	Mark  string // →, ✓, ✗, ■, ·, │ or ┊
	Who   string // the agent or tool that acts; "" for the run itself
	Verb  string // what is done: asks, found, answered, …
	Whom  string // whom or what it is done to, an agent with its wallet
	Text  string // the task, the first line of a result, a cause, …

	// Failed is set where something went wrong or was stopped.
	Failed bool

	// Time is when it happened by the sender's clock, zero if unknown.
	Time time.Time

	// Elapsed is how long what ends here took, 0 if unknown.
	Elapsed time.Duration

	// Stream names what a piece of KindText or KindThinking continues: ""
	// for the run's own, else a child's name for itself. Pieces of one
	// Kind and Stream, joined in order, are the whole.
	Stream string
}

// maxIndent bounds the indentation; what lies deeper stands at it.
const maxIndent = 8

func (l Line) indent() string { return strings.Repeat("  ", min(max(l.Depth, 0), maxIndent)) }

// String gives the line as plain text: no colour, no line end, indented by two
// spaces for each level of depth.
func (l Line) String() string { return l.indent() + l.render(plain) }

// render joins the parts, each in its style.
func (l Line) render(s *styles) string {
	var b strings.Builder
	b.WriteString(s.mark(l.Kind, l.Mark))
	head := ""
	for _, part := range []string{s.who(l.Who), s.verb(l.Verb), s.who(l.Whom), s.elapsed(l.took())} {
		if part != "" {
			head += " " + part
		}
	}
	b.WriteString(head)
	text := l.Text
	if l.Kind == KindText || l.Kind == KindThinking {
		text = Clean(text)
	}
	if text != "" {
		if head != "" {
			b.WriteByte(':')
		}
		b.WriteByte(' ')
		b.WriteString(s.text(l, text))
	}
	return b.String()
}

func (l Line) took() string {
	switch {
	case l.Elapsed < time.Millisecond:
		return ""
	case l.Kind == KindToolStart && l.Elapsed < time.Second:
		// It is running: milliseconds would only flicker.
		return fmt.Sprintf("for %.1f s", l.Elapsed.Seconds())
	case l.Kind == KindToolStart:
		return "for " + duration(l.Elapsed)
	case l.Failed:
		return "after " + duration(l.Elapsed)
	}
	return "in " + duration(l.Elapsed)
}

// duration gives d as people say it, to the precision that matters to them.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
}
