package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/swarmseal/swarmseal/events"
)

// settled is how long a connection must stand to count as progress.
const settled = 30 * time.Second

// follower is the state of one sequence, over all its connections.
type follower struct {
	client  *Client
	yield   func(events.Event, error) bool
	endless bool
	runID   string
	path    string // of the GET that takes up; "" where there is none
	backoff Backoff

	lastID string
	given  bool // the caller gave lastID and no event has come after it
	opened bool // a stream was open at least once
	seen   bool // the caller has had an event

	terminal bool
	after    time.Duration // once terminal: the time left for what may follow

	attempts int           // tries since the last progress
	down     time.Duration // time without a connection since then, until lostAt
	lostAt   time.Time

	modelEnded bool // the newest event ends a model's answer
}

// follow reads the stream to its end over as many connections as it takes;
// conn is the first, nil where it is to be opened.
func (f *follower) follow(ctx context.Context, conn *connection) {
	f.lostAt = time.Now()
	for {
		if conn == nil {
			var err error
			if conn, err = f.open(ctx); err != nil {
				if !f.again(ctx, err) {
					return
				}
				continue
			}
		}
		f.opened = true
		if conn.over {
			conn.close()
			if !f.endless && !f.terminal && !f.given {
				f.fail(ctx, f.truncated(errOver))
			}
			return
		}
		err, done := f.read(ctx, conn)
		conn.close()
		if done {
			return
		}
		if time.Since(conn.openedAt) >= settled {
			f.progress()
		}
		conn, f.lostAt = nil, time.Now()
		if !f.again(ctx, err) {
			return
		}
	}
}

// open takes the stream up after the last event id.
func (f *follower) open(ctx context.Context) (*connection, error) {
	req, err := f.client.request(http.MethodGet, f.path, nil)
	if err != nil {
		return nil, err
	}
	if f.lastID != "" {
		if !headerSafe(f.lastID) {
			return nil, &requestError{fmt.Sprintf("last event id %q: no header can hold its control characters", f.lastID)}
		}
		req.Header.Set("Last-Event-ID", f.lastID)
	}
	idle := f.client.idle()
	if f.terminal {
		idle = min(idle, f.after)
	}
	start := time.Now()
	conn, err := f.client.connect(ctx, req, idle)
	if f.terminal {
		f.after -= time.Since(start)
	}
	if err != nil {
		return nil, err
	}
	f.down += time.Since(f.lostAt)
	if !conn.over {
		if conn.runID == "" {
			conn.runID = f.runID
		}
		f.client.notifyOpen(conn, f.lastID)
	}
	return conn, nil
}

// read gives the caller the events of one connection. done says that the
// sequence is at its end or the caller has left; else err tells how the
// connection was lost.
func (f *follower) read(ctx context.Context, conn *connection) (err error, done bool) {
	scanner := NewScanner(conn.body)
	scanner.MaxFrameBytes = f.client.MaxFrameBytes
	scanner.id, scanner.lastID = f.lastID, f.lastID
	if f.terminal {
		conn.body.left = max(0, f.after)
	}
	for ctx.Err() == nil {
		frame, err := scanner.Next()
		if id := scanner.LastEventID(); id != f.lastID {
			f.lastID = id
			f.progress()
		}
		if ms, ok := scanner.Retry(); ok {
			f.backoff.serverRetry(ms)
		}
		if err != nil {
			if err == io.EOF {
				if !scanner.Truncated() {
					return errEnded, f.terminal || f.modelEnded
				}
				err = io.ErrUnexpectedEOF
			}
			// A cut after the terminal event may have taken a receipt with it.
			// It can still be had in the time that is left.
			f.after = conn.body.left
			return err, false
		}
		ev := events.Decode(frame.ID, frame.Event, frame.Data)
		// [DONE] does not say how the run ended, but a stream that has it was
		// not cut short.
		if !f.endless && !f.terminal && (ev.Terminal() || ev.Type == events.TypeDoneSentinel) {
			f.terminal = true
			conn.body.left = f.client.afterTerminal()
		}
		// The end of a model's answer is the end of the run only where the
		// stream ends behind it: more may be asked of the model.
		f.modelEnded = !f.endless && (ev.Type == events.TypeModelDone || ev.Type == events.TypeModelError)
		f.seen, f.given = true, false
		if !f.yield(ev, nil) {
			return nil, true
		}
	}
	return context.Cause(ctx), false
}

// again waits for the time of another try. It is false where there is none;
// then the sequence has ended, with an error where there is one to tell.
func (f *follower) again(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		f.fail(ctx, err)
		return false
	}
	f.attempts++
	wait := f.backoff.wait(f.attempts)
	if f.terminal {
		// All that counts was given: what stands in the way of the rest is no
		// error.
		f.after -= wait
		if f.final(err) != nil || f.after <= 0 {
			return false
		}
	} else {
		if end := f.final(err); end != nil {
			f.fail(ctx, end)
			return false
		}
		if e, ok := errors.AsType[*HTTPError](err); ok && e.RetryAfter > wait {
			wait = e.RetryAfter + rand.N(e.RetryAfter/10+1)
		}
		if !f.endless && f.down+time.Since(f.lostAt)+wait > f.backoff.GiveUp {
			f.fail(ctx, f.truncated(err))
			return false
		}
	}
	if f.client.OnRetry != nil {
		f.client.OnRetry(err, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		f.fail(ctx, err)
		return false
	case <-timer.C:
		return true
	}
}

// final gives the error that the sequence ends with, nil where another try may
// mend err.
func (f *follower) final(err error) error {
	switch {
	case errors.Is(err, ErrFrameTooLong): // it would come again each time
		return err
	case !f.opened && (!f.endless || unknownHost(err)):
		return err
	case f.endless && !temporary(err):
		return err
	case !temporary(err), f.backoff.never:
		return f.truncated(err)
	case f.endless:
		return nil
	case f.path == "":
		return f.truncated(fmt.Errorf("%w, and %w", err, errNoRunID))
	case f.seen && f.lastID == "":
		// From the start again would give each event a second time.
		return f.truncated(fmt.Errorf("%w, and %w", err, errNoIDs))
	}
	return nil
}

func (f *follower) progress() { f.attempts, f.down = 0, 0 }

func (f *follower) truncated(err error) error {
	return &TruncatedError{RunID: f.runID, LastEventID: f.lastID, Err: err}
}

// fail ends the sequence with err, or with why ctx ended where it did.
func (f *follower) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	f.yield(events.Event{}, err)
}

// headerSafe reports whether text can be a header's value.
func headerSafe(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
