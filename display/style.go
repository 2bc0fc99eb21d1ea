package display

import "charm.land/lipgloss/v2"

// styles are how the parts of a line look. They keep to the sixteen colours
// that a terminal's own theme sets: those are readable on any background, and
// no terminal has to be asked what it can do.
type styles struct {
	bold, faint, red, green, cyan, yellow lipgloss.Style

	coloured bool
}

var (
	plain    = &styles{}
	coloured = &styles{
		bold:     lipgloss.NewStyle().Bold(true),
		faint:    lipgloss.NewStyle().Faint(true),
		red:      lipgloss.NewStyle().Foreground(lipgloss.Red),
		green:    lipgloss.NewStyle().Foreground(lipgloss.Green),
		cyan:     lipgloss.NewStyle().Foreground(lipgloss.Cyan),
		yellow:   lipgloss.NewStyle().Foreground(lipgloss.Yellow),
		coloured: true,
	}
)

func (s *styles) apply(style *lipgloss.Style, text string) string {
	if !s.coloured || text == "" {
		return text
	}
	return style.Render(text)
}

func (s *styles) mark(k Kind, mark string) string {
	switch mark {
	case markStart:
		return s.apply(&s.cyan, mark)
	case markDone:
		return s.apply(&s.green, mark)
	case markFailed:
		return s.apply(&s.red, mark)
	case markStopped:
		return s.apply(&s.yellow, mark)
	}
	return s.apply(&s.faint, mark)
}

func (s *styles) who(text string) string     { return s.apply(&s.bold, text) }
func (s *styles) verb(text string) string    { return text }
func (s *styles) elapsed(text string) string { return s.apply(&s.faint, text) }

func (s *styles) text(l Line, text string) string {
	switch {
	case l.Mark == markFailed:
		return s.apply(&s.red, text)
	case l.Kind == KindThinking, l.Kind == KindStatus, l.Kind == KindOther, l.Kind == KindReceipt,
		l.Kind == KindText && l.Depth > 0:
		return s.apply(&s.faint, text)
	}
	return text
}
