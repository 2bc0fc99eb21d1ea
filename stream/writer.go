package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"
)

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
// the format has no way to keep it, and bytes that are no UTF-8 as U+FFFD. On
// an error, which is a *FieldError, dst comes back as it was.
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

// WriterOptions are the ways of a Writer. The zero value suits most streams.
type WriterOptions struct {
	// Ping is the silence after which a reader is sent the comment "ping", so
	// that it, and whatever stands in between, can tell a quiet stream from a
	// dead one; zero means 10 s.
	Ping time.Duration
	// WriteTimeout is how long a reader has for each 64 KiB of what it is
	// sent; zero means 5 s. One that takes longer is cut off, and can come
	// back with its last event id. A bound on a whole write would cut off for
	// ever whoever is sent a large frame over a slow line.
	WriteTimeout time.Duration
}

const (
	defaultPing         = 10 * time.Second
	defaultWriteTimeout = 5 * time.Second
	writeStep           = 64 << 10 // bytes
)

// Writer writes a response as an event stream, and keeps it alive while its
// handler has nothing to say. Its methods may be called from many goroutines
// at once. After an error of a write it gives that error for ever.
type Writer struct {
	w             http.ResponseWriter
	control       *http.ResponseController
	ping, timeout time.Duration
	unwatch       func() bool // stops watching the request's context

	// turn holds a value while somebody writes. It is a channel and no mutex:
	// in a testing/synctest bubble time stands still while one waits for a
	// mutex, also the time at which a reader that takes nothing is cut off.
	turn   chan struct{}
	last   time.Time     // when the newest write ended
	beater *time.Timer   // nil before the first write
	err    error         // why nothing can be sent any more
	done   chan struct{} // closed when err is set
}

// NewWriter sends the head of an event stream at once, so that a client knows
// of its run before the first event; set other headers before. Call Close
// before the handler returns.
//
// It lifts the server's ReadTimeout and WriteTimeout, which are made for short
// answers; WriterOptions.WriteTimeout takes their place.
//
// An error that wraps http.ErrNotSupported says that w can't be flushed, as
// where a middleware's wrapper lacks an Unwrap method; nothing was sent then.
// Any other says that the reader has left. Deadlines are left out where w has
// none, as in httptest.ResponseRecorder.
func NewWriter(w http.ResponseWriter, r *http.Request, opts WriterOptions) (*Writer, error) {
	out := &Writer{
		w: w, control: http.NewResponseController(w), ping: opts.Ping, timeout: opts.WriteTimeout,
		turn: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if out.ping <= 0 {
		out.ping = defaultPing
	}
	if out.timeout <= 0 {
		out.timeout = defaultWriteTimeout
	}
	ctx := r.Context()
	out.unwatch = context.AfterFunc(ctx, func() {
		// A write on its way knows better why than the context, which net/http
		// ends for a write that fails, too.
		out.turn <- struct{}{}
		defer out.release()
		out.end(context.Cause(ctx))
	})
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	// A proxy that may transform compresses, and holds frames back to do so.
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // nginx would hold frames back
	err := ignoreUnsupported(out.control.SetReadDeadline(time.Time{}))
	if err == nil {
		err = out.write(nil) // the flush sends the head, with status 200, where none was sent
	}
	if err != nil {
		out.Close()
		if errors.Is(err, http.ErrNotSupported) {
			err = fmt.Errorf("event stream: %T can't be flushed, nor can what its Unwrap gives: %w", w, err)
		}
		return nil, err
	}
	out.turn <- struct{}{}
	defer out.release()
	if out.err != nil {
		return nil, out.err
	}
	out.beater = time.AfterFunc(out.ping, out.beat)
	return out, nil
}

// Close ends the heartbeat and waits for a ping that is on its way. The stream
// itself ends when its handler returns, which must be after Close: a ping that
// came later would be written into somebody else's response.
func (w *Writer) Close() {
	w.unwatch()
	w.turn <- struct{}{}
	defer w.release()
	w.end(errWriterClosed)
}

var errWriterClosed = errors.New("the stream's writer was closed")

func (w *Writer) release() { <-w.turn }

// end notes, with the turn held, that nothing can be sent any more.
func (w *Writer) end(err error) {
	if w.err != nil {
		return // the first error stays
	}
	w.err = err
	close(w.done)
	if w.beater != nil {
		w.beater.Stop()
	}
}

// Done gives a channel that is closed when nothing can be sent any more: the
// reader has left, or was cut off, or the Writer was closed. A handler that
// waits for news waits for this, too.
func (w *Writer) Done() <-chan struct{} { return w.done }

// Err says why Done is closed, and is nil while it is not. For a reader that
// was cut off it wraps os.ErrDeadlineExceeded, for one that left it is the
// cause of the request's context or the error of a write.
func (w *Writer) Err() error {
	select {
	case <-w.done:
		return w.err
	default:
		return nil
	}
}

// Retry tells readers how long to wait before they take up a lost stream; at
// least a millisecond.
func (w *Writer) Retry(d time.Duration) error {
	if d < time.Millisecond {
		return fmt.Errorf("retry %v: want a millisecond or more", d)
	}
	return w.write(appendMessage(nil, &sse.Message{Retry: d}))
}

// Comment sends text that readers ignore. A Writer sends its own while there
// is nothing else to send.
func (w *Writer) Comment(text string) error {
	var m sse.Message
	m.AppendComment(wholeLines(text))
	return w.write(appendMessage(nil, &m))
}

// Send sends frames one after the other, with nothing in between, all or,
// where one has a *FieldError, none.
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

// SendEncoded sends frames that AppendFrame has made, as Send does. It keeps
// no hold of them.
func (w *Writer) SendEncoded(frames []byte) error { return w.write(frames) }

// beat sends a ping where the silence has lasted. It looks at the time of the
// last write, so that a write need not touch the timer.
func (w *Writer) beat() {
	w.turn <- struct{}{}
	defer w.release()
	wait := w.ping - time.Since(w.last)
	if wait <= 0 {
		_ = w.writeNow([]byte(": ping\n\n")) // its error is noted
		wait = w.ping
	}
	if w.err == nil {
		w.beater.Reset(wait)
	}
}

func (w *Writer) write(data []byte) error {
	w.turn <- struct{}{}
	defer w.release()
	return w.writeNow(data)
}

// writeNow is write with the turn held.
func (w *Writer) writeNow(data []byte) error {
	if w.err != nil {
		return w.err
	}
	if err := w.deliver(data); err != nil {
		w.end(err)
		return err
	}
	w.last = time.Now()
	return nil
}

// deliver sends data step by step and flushes.
func (w *Writer) deliver(data []byte) error {
	for more := true; more; more = len(data) > 0 {
		step := data[:min(len(data), writeStep)]
		data = data[len(step):]
		start := time.Now()
		err := ignoreUnsupported(w.control.SetWriteDeadline(start.Add(w.timeout)))
		if err == nil && len(step) > 0 {
			_, err = w.w.Write(step)
		}
		if err == nil {
			err = w.control.Flush()
		}
		if err != nil && time.Since(start) >= w.timeout {
			// HTTP/2 says only that the stream was closed.
			return fmt.Errorf("reader cut off: %w after %v: %w", os.ErrDeadlineExceeded, w.timeout, err)
		}
		if err != nil {
			return err
		}
	}
	// Left in place, it would end an idle HTTP/2 stream when it passes.
	return ignoreUnsupported(w.control.SetWriteDeadline(time.Time{}))
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
