package display

import (
	"fmt"
	"slices"
	"time"

	"charm.land/bubbles/v2/spinner"
	"github.com/charmbracelet/x/ansi"
)

// maxRunning bounds the rows of running calls; fewer on a low terminal.
const maxRunning = 8

// live is the part below the lines that is redrawn: the unfinished line of the
// answer, and the running calls. The cursor stands at the end of its last row,
// or where it would begin. The cursor is not hidden, for nobody would show it
// again for a program that is killed.
type live struct {
	rows   []string // as drawn
	widths []int    // of the rows, in cells
	frame  int      // of the spinner
}

// tick turns the spinner until Close.
func (t *Terminal) tick() {
	ticker := time.NewTicker(spinner.MiniDot.FPS)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
		}
		t.mu.Lock()
		if !t.closed && len(t.live.rows) > 0 {
			t.live.frame++
			t.flush()
		}
		t.mu.Unlock()
	}
}

// region gives the rows of the live part.
func (t *Terminal) region() []string {
	if t.closed {
		return nil
	}
	var rows []string
	if t.own != nil {
		rows = append(rows, t.prose(t.own, t.own.text))
	}
	if t.over {
		return rows
	}
	limit, height := t.size()
	running, more := t.renderer.running(time.Now(), min(maxRunning, max(height/3, 1)))
	frames := spinner.MiniDot.Frames
	for _, l := range running {
		l.Mark = frames[t.live.frame%len(frames)]
		rows = append(rows, ansi.Truncate(l.indent()+l.render(t.styles), limit, "…"))
	}
	if more > 0 {
		rows = append(rows, t.styles.apply(&t.styles.faint, fmt.Sprintf("  and %d more", more)))
	}
	return rows
}

// draw puts the live part around what is to be written: back to where it
// begins, over it the new lines, and below them the live part again.
func (t *Terminal) draw() {
	rows := t.region()
	if len(t.buf) == 0 && slices.Equal(rows, t.live.rows) {
		return
	}
	limit, _ := t.size()
	up := -1
	for _, width := range t.live.widths {
		// A terminal that was made narrower since has wrapped the rows.
		up += max((width+limit)/(limit+1), 1)
	}
	b := make([]byte, 0, 1024)
	b = append(b, '\r')
	if up > 0 {
		b = append(b, ansi.CursorUp(up)...)
	}
	b = append(b, t.buf...)
	t.live.rows, t.live.widths = rows, t.live.widths[:0]
	if len(rows) > 0 {
		// A row that this program measures shorter than the terminal does
		// must not wrap, or the way back up would be wrong.
		b = append(b, ansi.ResetModeAutoWrap...)
		for i, row := range rows {
			if i > 0 {
				b = append(b, "\r\n"...)
			}
			b = append(append(b, ansi.EraseLineRight...), row...)
			t.live.widths = append(t.live.widths, ansi.StringWidth(row))
		}
		b = append(b, ansi.SetModeAutoWrap...)
	}
	t.buf = append(b, ansi.EraseScreenBelow...)
}
