package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
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
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(idle, cancel)
	resp, err := c.do(req.WithContext(ctx))
	if err != nil {
		if !timer.Stop() {
			err = ErrIdle
		}
		cancel()
		return nil, err
	}
	conn := &connection{
		runID:     resp.Header.Get("X-Run-Id"),
		requestID: resp.Header.Get("X-Request-Id"),
		openedAt:  time.Now(),
		close: func() {
			timer.Stop()
			cancel()
			resp.Body.Close()
		},
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		conn.body = &patientBody{body: resp.Body, timer: timer, idle: c.idle(), left: idle}
		if !timer.Stop() { // it bounded the wait for the head
			conn.body.lost = ErrIdle
		}
		err = checkContent(resp.Header, conn.body)
	case resp.StatusCode == http.StatusNoContent:
		conn.over = true
	case redirects(resp.StatusCode): // one that HTTP's CheckRedirect does not follow
		err = &RedirectError{Status: resp.StatusCode, Location: resp.Header.Get("Location"), Err: errNotFollowed}
	default:
		err = answerError(resp)
	}
	if err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// letter is the body of a request that must not go out twice without the
// caller's saying so. Whoever sends it, net/http or another transport, has to
// read it first, so what was never read was never sent; a trace of connections
// would tell no more, and links reflection's function calls.
type letter struct{ state atomic.Int32 }

const (
	unread = iota
	begun
	withdrawn
)

var errWithdrawn = errors.New("the request was given up before it was sent")

// enclose makes body the body of req.
func (l *letter) enclose(req *http.Request, body []byte) {
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(&letterReader{l, bytes.NewReader(body)}), nil
	}
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(body))
}

// withdraw reports whether the body was never read. It never will be then, not
// even by a transport that has given up just now and is still at it.
func (l *letter) withdraw() bool { return l.state.CompareAndSwap(unread, withdrawn) }

type letterReader struct {
	letter *letter
	body   *bytes.Reader
}

func (r *letterReader) Read(p []byte) (int, error) {
	if r.letter.state.CompareAndSwap(unread, begun); r.letter.state.Load() == withdrawn {
		return 0, errWithdrawn
	}
	return r.body.Read(p)
}

// checkContent refuses what is no event stream, with what its body says.
func checkContent(header http.Header, body io.Reader) error {
	mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	encoding := header.Get("Content-Encoding")
	if mediaType == "text/event-stream" && (encoding == "" || strings.EqualFold(encoding, "identity")) {
		return nil
	}
	// What matters is the type; a body that breaks off still tells of it.
	start, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	return contentTypeError(header, start)
}

// unbounded is as long as reads may block where nothing bounds them.
const unbounded = time.Duration(math.MaxInt64)

// patientBody bounds how long its reads may block. Time between reads does not
// count: a slow reader is no silent server.
type patientBody struct {
	body  io.Reader
	timer *time.Timer // ends the read, and the connection, when it fires
	idle  time.Duration
	left  time.Duration // for all reads to come
	lost  error         // what Read gives from now on
}

// Read gives ErrIdle where no byte came for idle, and ErrQuiet where left has
// run out.
func (b *patientBody) Read(p []byte) (int, error) {
	bound, patience := b.idle, ErrIdle
	if b.left <= b.idle {
		bound, patience = b.left, ErrQuiet
	}
	if b.lost == nil && bound <= 0 {
		b.lost = patience
	}
	if b.lost != nil {
		return 0, b.lost
	}
	b.timer.Reset(bound)
	start := time.Now()
	n, err := b.body.Read(p)
	if !b.timer.Stop() { // the connection is over, though bytes may have come
		b.lost = patience
	}
	b.left -= time.Since(start)
	if err != nil && err != io.EOF && b.lost != nil {
		err = b.lost
	}
	return n, err
}
