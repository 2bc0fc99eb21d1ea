package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"
)

// writeTimeout bounds each write: a reader that takes no bytes for so long is
// cut off. It can come back with its last event id.
const writeTimeout = 5 * time.Second

// FieldError says that a frame's id or event name cannot travel.
type FieldError struct {
	Field string // "id" or "event"
	Value string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("frame's %s %.80q: want text without CR, LF and NUL", e.Field, e.Value)
}

// AppendFrame appends a frame as it travels, its blank line included. An ID ""
// gives no id line, an Event "" or "message" no event line. Data of several
// lines becomes as many data lines; a CR, or CR LF, in it arrives as LF, since
// the format has no way to keep it. On an error, which is a *FieldError, dst
// comes back as it was.
//
// A frame for many readers is best encoded once and given to each reader's
// Writer.SendEncoded.
func AppendFrame(dst []byte, f Frame) ([]byte, error) {
	var m sse.Message
	if f.ID != "" {
		id, err := sse.NewID(f.ID)
		// The library lets NUL pass, which makes readers ignore the id.
		if err != nil || strings.IndexByte(f.ID, 0) >= 0 {
			return dst, &FieldError{"id", f.ID}
		}
		m.ID = id
	}
	if f.Event != "" && f.Event != "message" {
		name, err := sse.NewType(f.Event)
		if err != nil || strings.IndexByte(f.Event, 0) >= 0 {
			return dst, &FieldError{"event", f.Event}
		}
		m.Type = name
	}
	m.AppendData(wholeLines(string(f.Data)))
	return appendMessage(dst, &m), nil
}

// wholeLines ends text's last line. The library takes text for a list of
// lines, and drops the last one where it is empty: "" would be no data at all,
// and "a\n" arrive as "a". A CR, unlike an LF, never merges with what is there.
func wholeLines(text string) string { return text + "\r" }

func appendMessage(dst []byte, m *sse.Message) []byte {
	buf := bytes.NewBuffer(dst)
	_, _ = m.WriteTo(buf) // a buffer's writes do not fail
	return buf.Bytes()
}

// Writer writes a response as an event stream. It is for one goroutine at a
// time. After an error of a write it gives that error for ever.
type Writer struct {
	ctx     context.Context // the request's: its end is the reader's leaving
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// NewWriter sends the head of an event stream at once, so that a client knows
// of its run before the first event; set other headers before. It lifts the
// server's ReadTimeout and WriteTimeout, which are made for short answers;
// instead each write has 5 s, after which the reader is cut off.
//
// The error says that w cannot be flushed, or that the reader has left.
// Deadlines are left out where w has none, as in httptest.ResponseRecorder.
func NewWriter(w http.ResponseWriter, r *http.Request) (*Writer, error) {
	out := &Writer{ctx: r.Context(), w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would hold frames back
	if err := ignoreUnsupported(out.control.SetReadDeadline(time.Time{})); err != nil {
		return nil, err
	}
	// Flush sends the head, with status 200, where none was sent.
	if err := out.write(nil); err != nil {
		return nil, err
	}
	return out, nil
}

// Retry tells readers how long to wait before they take up a lost stream; at
// least a millisecond.
func (w *Writer) Retry(d time.Duration) error {
	if d < time.Millisecond {
		return fmt.Errorf("retry %v: want a millisecond or more", d)
	}
	return w.write(appendMessage(nil, &sse.Message{Retry: d}))
}

// Comment sends text that readers ignore, to keep a silent connection alive.
func (w *Writer) Comment(text string) error {
	var m sse.Message
	m.AppendComment(wholeLines(text))
	return w.write(appendMessage(nil, &m))
}

// Send sends frames in one write, all or, where one has a *FieldError, none.
func (w *Writer) Send(frames ...Frame) error {
	var out []byte
	for _, f := range frames {
		var err error
		if out, err = AppendFrame(out, f); err != nil {
			return err
		}
	}
	return w.write(out)
}

// SendEncoded sends frames that AppendFrame has made, in one write. It keeps
// no hold of them.
func (w *Writer) SendEncoded(frames []byte) error { return w.write(frames) }

// write sends data and flushes.
func (w *Writer) write(data []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.ctx.Err() != nil {
		w.err = context.Cause(w.ctx)
		return w.err
	}
	w.err = ignoreUnsupported(w.control.SetWriteDeadline(time.Now().Add(writeTimeout)))
	if w.err == nil && len(data) > 0 {
		_, w.err = w.w.Write(data)
	}
	if w.err == nil {
		w.err = w.control.Flush()
	}
	if w.err == nil {
		// Left in place, it would end an idle HTTP/2 stream when it passes.
		w.err = ignoreUnsupported(w.control.SetWriteDeadline(time.Time{}))
	}
	return w.err
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
