package stream

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// connection is one open stream.
type connection struct {
	body      *patientBody
	runID     string
	requestID string
	openedAt  time.Time
	over      bool // the answer was 204: there is nothing to read
	close     func()
}

// connect sends req and waits, at most for idle, for a stream's head. The
// connection lives until its close, ctx's end or, in a read, the end of
// patience.
func (c *Client) connect(ctx context.Context, req *http.Request, idle time.Duration) (*connection, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idle, func() { cancel(ErrIdle) })
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if errors.Is(context.Cause(ctx), ErrIdle) {
			err = ErrIdle
		}
		cancel(nil)
		return nil, err
	}
	conn := &connection{
		runID:     resp.Header.Get("X-Run-Id"),
		requestID: resp.Header.Get("X-Request-Id"),
		openedAt:  time.Now(),
		close: func() {
			timer.Stop()
			cancel(nil)
			resp.Body.Close()
		},
	}
	switch resp.StatusCode {
	case http.StatusOK:
		// The timer that bounded the wait for the head may have fired by now;
		// the first read then says so.
		timer.Stop()
		conn.body = &patientBody{ctx: ctx, body: resp.Body, timer: timer, idle: c.idle(), left: idle}
		err = checkContentType(resp.Header.Get("Content-Type"), conn.body)
		conn.body.left = -1
	case http.StatusNoContent:
		if req.Method == http.MethodGet {
			conn.over = true
			break
		}
		fallthrough
	default:
		err = answerError(resp)
	}
	if err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// checkContentType refuses what is no event stream, quoting how it starts.
func checkContentType(contentType string, body io.Reader) error {
	if mediaType, _, _ := mime.ParseMediaType(contentType); mediaType == "text/event-stream" {
		return nil
	}
	// What matters is the type; an excerpt that breaks off is still one.
	start, _ := io.ReadAll(io.LimitReader(body, maxBodyExcerpt))
	return &ContentTypeError{ContentType: contentType, Body: string(start)}
}

// patientBody bounds how long its reads may block. Time between reads does not
// count: a slow reader is no silent server.
type patientBody struct {
	ctx   context.Context // of this connection; it ends with ErrIdle
	body  io.Reader
	timer *time.Timer // ends ctx, and so the read, when it fires
	idle  time.Duration
	left  time.Duration // for all reads to come; negative: no such bound
}

func (b *patientBody) Read(p []byte) (int, error) {
	bound := b.idle
	if b.left >= 0 {
		bound = min(bound, b.left)
	}
	b.timer.Reset(bound)
	start := time.Now()
	n, err := b.body.Read(p)
	b.timer.Stop()
	if b.left >= 0 {
		b.left = max(0, b.left-time.Since(start))
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), ErrIdle) {
		err = ErrIdle
	}
	return n, err
}
