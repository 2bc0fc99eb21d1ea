package display

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean makes foreign text safe to show on one line. White space, line ends
// included, becomes single spaces; control sequences of terminals (CSI, OSC 8
// links, titles and the like) and all other control characters are dropped, as
// is whatever has no width or turns the direction of writing: bidi overrides,
// zero-width characters, tags. Bytes that are no UTF-8 become U+FFFD.
//
// Dropping a joiner takes emoji sequences apart and changes the shapes of some
// scripts. That is the price of showing two different names differently.
//
// Cleaning what is clean changes nothing.
func Clean(text string) string { return clean(text, false) }

// CleanText is Clean for text of several lines: LF and tab stay, and so do
// spaces as they are. CR, CR LF, VT, FF, NEL and the Unicode separators become
// LF, so that nothing written over is lost.
func CleanText(text string) string { return clean(text, true) }

func clean(text string, lines bool) string {
	if isPlain(text, lines) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	prev := ' ' // the last rune written, a space in waiting included
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		if n := sequence(text[i:], c, size); n > 0 {
			i += n
			continue
		}
		i += size
		switch {
		case lines && (c == '\n' || c == '\t'):
		case lines && c == '\r':
			if strings.HasPrefix(text[i:], "\n") {
				continue
			}
			c = '\n'
		case lines && (c == '\v' || c == '\f' || c == 0x85 || c == 0x2028 || c == 0x2029):
			c = '\n'
		case !lines && unicode.IsSpace(c):
			prev = ' '
			continue
		case c == 0xFE0E || c == 0xFE0F:
			// They choose between a character's text and emoji forms, so
			// one after a character is no trick.
			if unicode.IsSpace(prev) || unicode.Is(unicode.Variation_Selector, prev) {
				continue
			}
		case invisible(c):
			continue
		case c&0xFFFE == 0xFFFE || c >= 0xFDD0 && c <= 0xFDEF: // noncharacters
			c = utf8.RuneError
		}
		if !lines && prev == ' ' && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
		prev = c
	}
	return b.String()
}

// isPlain reports whether cleaning text would change nothing, for the plain
// ASCII that most text is.
func isPlain(text string, lines bool) bool {
	space := !lines // at the start, and after a space
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' && !lines:
			if space {
				return false
			}
			space = true
		case c >= ' ' && c < 0x7f || lines && (c == '\n' || c == '\t'):
			space = false
		default:
			return false
		}
	}
	return lines || !space || text == ""
}

// invisible reports whether c shows nothing of its own.
func invisible(c rune) bool {
	if unicode.Is(unicode.Prepended_Concatenation_Mark, c) {
		return false // format characters by their class, and yet visible
	}
	return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// sequence gives the length of the control sequence that text starts with, c
// being its first rune; 0 for none. A sequence that is cut short or broken is
// its introducer alone: what follows stays to be seen, or an unfinished OSC
// would hide the rest of a text.
func sequence(text string, c rune, size int) int {
	var kind byte
	body := size
	switch {
	case c == 0x1b && len(text) > 1:
		kind = text[1]
		body = 2
	case c == 0x90 || c == 0x98 || c >= 0x9b && c <= 0x9f: // C1, in UTF-8
		kind = byte(c - 0x40)
	default:
		return 0
	}
	switch {
	case kind == '[':
		i := body
		i += span(text[i:], 0x30, 0x3f)
		i += span(text[i:], 0x20, 0x2f)
		if span(text[i:], 0x40, 0x7e) > 0 {
			return i + 1
		}
	case strings.IndexByte("]PX^_", kind) >= 0:
		// A string, up to BEL or ST. It ends at any other control
		// character too, so that each byte is looked at once.
		rest := text[body:]
		end := strings.IndexFunc(rest, unicode.IsControl)
		if end < 0 {
			break
		}
		for _, terminator := range []string{"\a", "\x1b\\", "\u009c"} {
			if strings.HasPrefix(rest[end:], terminator) {
				return body + end + len(terminator)
			}
		}
	case c == 0x1b:
		i := 1
		i += span(text[i:], 0x20, 0x2f)
		if span(text[i:], 0x30, 0x7e) > 0 {
			return i + 1
		}
	}
	return size
}

// span counts the bytes from low to high that text starts with.
func span(text string, low, high byte) int {
	n := 0
	for n < len(text) && text[n] >= low && text[n] <= high {
		n++
	}
	return n
}

// brief cleans text and cuts it to so many cells, an ellipsis included. It
// looks at no more of a long text than that can need.
func brief(text string, cells int) string {
	const bytesPerCell = 16 // enough for a letter with its marks
	long := len(text) > cells*bytesPerCell
	if long {
		text = text[:cells*bytesPerCell]
	}
	text = Clean(text)
	if long {
		text += "…"
	}
	return ansi.Truncate(text, cells, "…")
}

// firstLine gives the first line of text that has anything on it, with an
// ellipsis where more follow.
func firstLine(text string) string {
	text = strings.TrimSpace(text)
	line, rest, more := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if more && rest != "" && !strings.HasSuffix(line, "…") {
		line += " …"
	}
	return line
}
