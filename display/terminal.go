package display

import (
	"cmp"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/swarmseal/swarmseal/events"
)

// When says when a Terminal does something that not every output bears.
type When int

const (
	Auto   When = iota // where the output is a terminal that can, and nobody objects
	Always             // whatever the output is
	Never
)

// Options configure a Terminal. The zero value is right for most programs.
type Options struct {
	// Color says whether lines have colours. Auto is yes on a terminal,
	// unless the environment has NO_COLOR (of any value but the empty),
	// CLICOLOR=0 or TERM=dumb; CLICOLOR_FORCE makes it yes in a pipe too.
	Color When

	// Live says whether running calls stand below the lines, with a spinner
	// and their time, and are redrawn. Auto is yes on a terminal, unless
	// the environment has TERM=dumb.
	Live When

	// Width is that of the output in cells. Zero asks the terminal at each
	// drawing, and is 80 where there is none to ask.
	Width int

	// Env is the environment, in the form of [os.Environ]. Nil means that.
	Env []string
}

// The size of an output that tells none.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// Terminal shows the events of one run on w as they come. On a terminal that
// is a live view; anywhere else plain lines, one an event, without a single
// escape sequence. The pieces of an answer are joined: each of its lines is a
// line behind a bar, so that no answer can pose as an event.
//
// Nothing is read from standard input and no mode of the terminal is changed,
// so Ctrl-C reaches the program as ever, and a program that is killed leaves
// no broken terminal behind. Other writes to the same terminal while the view
// is live would tear it.
//
// Its methods are safe for concurrent use.
type Terminal struct {
	mu       sync.Mutex
	w        io.Writer
	fd       int // of a terminal, else -1
	width    int // fixed, else 0
	styles   *styles
	renderer *Renderer

	buf      []byte             // what is to be written next
	own      *pending           // the run's own text whose line has not ended
	children map[string]pending // those of children, by Line.Stream
	over     bool               // the run has ended

	live   *live // nil for none
	stop   chan struct{}
	ticker sync.WaitGroup
	closed bool
	err    error // the first of writing
}

// NewTerminal gives a Terminal that writes to w. Close it: in a live view a
// goroutine redraws until then.
func NewTerminal(w io.Writer, opts Options) *Terminal {
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	t := &Terminal{w: w, fd: -1, width: opts.Width, styles: plain, renderer: NewRenderer(), children: make(map[string]pending)}
	t.renderer.clock = time.Now
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.fd = int(f.Fd())
		lipgloss.EnableLegacyWindowsANSI(f)
	}
	env := environment(opts.Env)
	if yes(opts.Color, env.colour(t.fd >= 0)) {
		t.styles = coloured
	}
	if yes(opts.Live, t.fd >= 0 && !env.dumb()) {
		t.live = new(live)
		t.stop = make(chan struct{})
		t.ticker.Go(t.tick)
	}
	return t
}

func yes(when When, auto bool) bool { return when == Always || when == Auto && auto }

// environment is that of a process, as os.Environ gives it.
type environment []string

func (env environment) get(name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last counts
		}
	}
	return value
}

func (env environment) dumb() bool { return env.get("TERM") == "dumb" }

// colour follows no-color.org and bixense.com/clicolors.
func (env environment) colour(terminal bool) bool {
	switch force := env.get("CLICOLOR_FORCE"); {
	case env.get("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case env.get("CLICOLOR") == "0" || env.dumb():
		return false
	}
	return terminal
}

// Event shows the run's next event. After Close it does nothing.
func (t *Terminal) Event(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	l, ok := t.renderer.Line(e)
	switch {
	case !ok:
		return
	case l.Kind != KindText && l.Kind != KindThinking:
		t.endText()
		t.flushChildren(l)
		t.line(l)
	case l.Depth > 0:
		t.childText(l)
	default:
		t.ownText(l)
	}
	switch l.Kind {
	case KindEnd, KindError:
		t.over = true
	case KindToolStart:
		t.over = false
	}
	t.flush()
}

// Close ends the view: what is left of a text is written, calls that never
// ended are named, and nothing of the live part stays on the screen. It gives
// the first error of writing.
func (t *Terminal) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return t.err
	}
	t.closed = true
	t.endText()
	t.flushChildren(Line{})
	running, _ := t.renderer.running(time.Now(), maxCalls)
	for _, l := range running {
		l.Kind, l.Mark = KindStatus, markNote
		l.Who, l.Verb, l.Whom, l.Text = cmp.Or(l.Whom, l.Who), "did not end", "", ""
		t.line(l)
	}
	t.flush()
	t.mu.Unlock()
	if t.live != nil {
		close(t.stop)
		t.ticker.Wait()
	}
	return t.err
}

// line writes a line: in a live view cut to the width, but for failures, ends
// and receipts, which are wrapped: nothing else tells what they tell.
func (t *Terminal) line(l Line) {
	text := l.indent() + l.render(t.styles)
	if t.live == nil {
		t.row(text)
		return
	}
	limit, _ := t.size()
	if !l.Failed && l.Kind != KindEnd && l.Kind != KindReceipt {
		t.row(ansi.Truncate(text, limit, "…"))
		return
	}
	hang := l.indent() + "  "
	wrapped := ansi.Wrap(l.render(t.styles), max(limit-len(hang), 1), "")
	for i, row := range strings.Split(wrapped, "\n") {
		indent := hang
		if i == 0 {
			indent = l.indent()
		}
		t.row(indent + row)
	}
}

// row adds a whole row to what is to be written.
func (t *Terminal) row(row string) {
	if t.live == nil {
		t.buf = append(append(t.buf, row...), '\n')
		return
	}
	// Cleared before, not after: at the right edge the cursor stands on the
	// last character.
	t.buf = append(t.buf, ansi.EraseLineRight...)
	t.buf = append(append(t.buf, row...), "\r\n"...)
}

// size gives the cells that a row may take, one less than there are (terminals
// disagree on what happens in the last column), and the height.
func (t *Terminal) size() (limit, height int) {
	width, height := t.width, defaultHeight
	if t.fd >= 0 {
		if w, h, err := term.GetSize(t.fd); err == nil && w > 0 && h > 0 {
			height = h
			if width == 0 {
				width = w
			}
		}
	}
	if width <= 0 {
		width = defaultWidth
	}
	return max(width-1, 1), height
}

// flush writes what there is to write, in one call, and with it the live part.
func (t *Terminal) flush() {
	if t.live != nil {
		t.draw()
	}
	if len(t.buf) > 0 && t.err == nil {
		_, t.err = t.w.Write(t.buf)
	}
	t.buf = t.buf[:0]
}
