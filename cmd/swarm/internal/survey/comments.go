package survey

import (
	"bytes"
	"unicode/utf8"
)

// A Tally counts the lines of a text. A line ends with a line feed; text after
// the last one is a line too, where wc -l counts line feeds alone.
type Tally struct {
	Lines   int `json:"lines"`
	Code    int `json:"code"`
	Comment int `json:"comment"`
	Blank   int `json:"blank"`
}

func (t *Tally) add(o Tally) {
	t.Lines += o.Lines
	t.Code += o.Code
	t.Comment += o.Comment
	t.Blank += o.Blank
}

// count sorts lines into blank (nothing but white space, wherever it stands),
// comment (nothing but comment) and code (anything else). comment, where not
// nil, gets every piece of comment of a line with its line's number from 1:
// the text between its marks, never empty of visible characters.
func count(src []byte, syn *syntax, comment func(line int, text []byte)) Tally {
	if syn == nil {
		syn = noSyntax
	}
	// A byte order mark is no text, and would turn a first comment to code.
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	s := scanner{src: src, syn: syn, comment: comment}
	s.run()
	return s.Tally
}

var noSyntax = &syntax{starts: new([256]bool)}

type scanner struct {
	Tally
	src     []byte
	syn     *syntax
	comment func(int, []byte)

	at        int
	lineStart int
	code      bool // the line so far has code
	remark    bool // the line so far has comment
}

func (s *scanner) run() {
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case c == '\n':
			s.endLine()
		case blank(c):
			s.at++
		case s.syn.starts[c] && s.open():
		default:
			s.code = true
			s.at++
		}
	}
	if s.lineStart < len(s.src) {
		s.endLine()
	}
}

// blank is white space within a line.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

// endLine books the line that ends at s.at and steps over its line feed.
func (s *scanner) endLine() {
	s.Lines++
	switch {
	case s.code:
		s.Code++
	case s.remark:
		s.Comment++
	default:
		s.Blank++
	}
	s.code, s.remark = false, false
	s.at++
	s.lineStart = s.at
}

func (s *scanner) has(text string) bool {
	return len(s.src)-s.at >= len(text) && string(s.src[s.at:s.at+len(text)]) == text
}

// open takes in the comment or quotation that begins at s.at, if one does.
func (s *scanner) open() bool {
	for _, b := range s.syn.block {
		if s.has(b.open) && (!b.column0 || s.at == s.lineStart) {
			s.takeBlock(b)
			return true
		}
	}
	for _, o := range s.syn.line {
		if s.has(o.text) && s.stands(o.where) {
			s.remark = true
			s.at += len(o.text)
			end := len(s.src)
			if i := bytes.IndexByte(s.src[s.at:], '\n'); i >= 0 {
				end = s.at + i
			}
			s.piece(s.at, end)
			s.at = end
			return true
		}
	}
	for _, q := range s.syn.quotes {
		if s.has(q.open) && s.takeQuote(q) {
			return true
		}
	}
	return false
}

func (s *scanner) stands(where place) bool {
	switch where {
	case afterBlank:
		return s.at == s.lineStart || blank(s.src[s.at-1])
	case firstOnLine:
		return !s.code && !s.remark
	}
	return true
}

func (s *scanner) takeBlock(b block) {
	s.remark = true
	s.at += len(b.open)
	from := s.at
	for depth := 1; s.at < len(s.src); {
		c := s.src[s.at]
		switch {
		case c == '\n':
			s.piece(from, s.at)
			s.endLine()
			from = s.at
		case c == b.close[0] && s.has(b.close) && (!b.column0 || s.at == s.lineStart):
			s.remark = true
			depth--
			s.at += len(b.close)
			if depth == 0 {
				s.piece(from, s.at-len(b.close))
				if b.column0 { // the rest of the line belongs to the closer
					for s.at < len(s.src) && s.src[s.at] != '\n' {
						s.at++
					}
				}
				return
			}
		case b.nests && c == b.open[0] && s.has(b.open):
			s.remark = true
			depth++
			s.at += len(b.open)
		default:
			s.remark = s.remark || !blank(c)
			s.at++
		}
	}
	s.piece(from, s.at)
}

func (s *scanner) piece(from, to int) {
	if s.comment == nil || from >= to {
		return
	}
	if text := bytes.TrimSpace(s.src[from:to]); len(text) > 0 {
		s.comment(s.Lines+1, text)
	}
}

func (s *scanner) takeQuote(q quote) bool {
	if q.char {
		return s.takeChar()
	}
	s.code = true
	s.at += len(q.open)
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case c == '\n' && !q.lines:
			return true // unfinished: a typing error, or a quote we misread
		case c == '\n':
			s.endLine()
		case c == q.close[0] && s.has(q.close):
			s.code = true
			s.at += len(q.close)
			return true
		case c == '\\' && q.escape && s.at+1 < len(s.src) && s.src[s.at+1] != '\n':
			s.code = true
			s.at += 2
		default:
			s.code = s.code || !blank(c)
			s.at++
		}
	}
	return true
}

// takeChar takes 'x', '\n', '\u{1F600}'. A single quote that opens none of
// these is a lifetime, a digit separator or a prime: not a quotation.
func (s *scanner) takeChar() bool {
	rest := s.src[s.at+1 : min(len(s.src), s.at+16)]
	n := 0
	if len(rest) > 2 && rest[0] == '\\' {
		n = bytes.IndexByte(rest[2:], '\'') + 2 // 1 when there is none
		if bytes.IndexByte(rest[:max(n, 0)], '\n') >= 0 {
			return false
		}
	} else if len(rest) > 0 && rest[0] != '\n' && rest[0] != '\'' {
		_, n = utf8.DecodeRune(rest)
	}
	if n < 1 || n >= len(rest) || rest[n] != '\'' {
		return false
	}
	s.code = true
	s.at += n + 2
	return true
}
