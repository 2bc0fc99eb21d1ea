package display

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// screen is a terminal of a fixed width and any height, which knows what a
// Terminal may send and fails the test for all else.
type screen struct {
	t     *testing.T
	mu    sync.Mutex // the spinner writes while a test reads
	width int
	cells [][]string // by row and column; "" is the second half of a wide one
	row   int
	col   int
}

var escape = regexp.MustCompile(`^\x1b\[([?]?)([0-9;]*)([A-Za-z])`)

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for text := string(p); text != ""; {
		switch {
		case text[0] == '\r':
			s.col, text = 0, text[1:]
		case text[0] == '\n':
			s.row, text = s.row+1, text[1:]
		case text[0] == 0x1b:
			m := escape.FindStringSubmatch(text)
			if m == nil {
				s.t.Errorf("unknown sequence at %q", text[:min(len(text), 20)])
				return 0, io.ErrUnexpectedEOF
			}
			s.control(m[1]+m[3], m[2])
			text = text[len(m[0]):]
		default:
			cluster, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			s.put(cluster, width)
			text = text[len(cluster):]
		}
	}
	return len(p), nil
}

func (s *screen) control(kind, arg string) {
	switch kind {
	case "m":
	case "?l", "?h":
		if arg != "7" {
			s.t.Errorf("mode %s is changed", arg)
		}
	case "A":
		n, err := strconv.Atoi(arg)
		if err != nil {
			n = 1
		}
		if s.row -= n; s.row < 0 {
			s.t.Errorf("the cursor leaves the top by %d", -s.row)
			s.row = 0
		}
	case "K":
		s.grow()
		s.cells[s.row] = s.cells[s.row][:min(s.col, len(s.cells[s.row]))]
	case "J":
		s.control("K", "")
		s.cells = s.cells[:s.row+1]
	default:
		s.t.Errorf("unknown control %q", kind)
	}
}

func (s *screen) grow() {
	for len(s.cells) <= s.row {
		s.cells = append(s.cells, nil)
	}
}

func (s *screen) put(cluster string, width int) {
	if r, _ := utf8.DecodeRuneInString(cluster); r < ' ' || r == 0x7f {
		s.t.Errorf("control character %q", cluster)
	}
	if s.col+width > s.width {
		s.t.Errorf("row %d is too wide: %q follows %q", s.row, cluster, strings.Join(s.cells[s.row], ""))
		s.col = 0
		s.row++
	}
	s.grow()
	line := s.cells[s.row]
	for len(line) < s.col+width {
		line = append(line, " ")
	}
	line[s.col] = cluster
	for i := 1; i < width; i++ {
		line[s.col+i] = ""
	}
	s.cells[s.row] = line
	s.col += width
}

// text gives what stands on the screen, and where the cursor is.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.cells {
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + fmt.Sprintf("\n[cursor at %d,%d]\n", s.row, s.col)
}
