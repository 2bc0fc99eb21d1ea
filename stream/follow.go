package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/swarmseal/swarmseal/events"
)

// follower is the state of one sequence, over all its connections.
type follower struct {
	client  *Client
	yield   func(events.Event, error) bool
	endless bool
	method  string // of the request that opens the stream or takes it up
	path    string // of that request; "" where there is none
	body    []byte
	runID   string
	backoff Backoff

	lastID string
	given  bool // the caller gave lastID and no event has come after it
	opened bool // a stream was open at least once
	seen   bool // the caller has had an event

	terminal bool
	failure  *RunError // the run told that it failed
	// The newest event, receipts and [DONE] aside, ends a model's answer; as
	// an error where modelFailure is not nil.
	modelEnded   bool
	modelFailure *RunError

	// left is how long reads may still block: until the next event or, once
	// terminal, until the stream's end.
	left   time.Duration
	quiet  time.Duration // what left is set to by each event
	quiets int           // how often left has run out since the last progress

	places   places
	attempts int           // tries since the last progress
	down     time.Duration // time without a connection since then, until lostAt
	lostAt   time.Time
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
			switch {
			case f.terminal:
				f.end()
			case !f.endless && !f.given:
				f.fail(ctx, f.truncated(errOver))
			}
			return
		}
		first, err := f.read(ctx, conn)
		conn.close()
		if err == nil {
			return
		}
		if f.places.moved(first, f.lastID) {
			f.attempts, f.down, f.quiets = 0, 0, 0
		} else if time.Since(conn.openedAt) >= settled {
			f.down = 0
		}
		if errors.Is(err, ErrQuiet) && !f.terminal {
			f.quiets++
			f.left = f.quiet
		}
		conn, f.lostAt = nil, time.Now()
		if !f.again(ctx, err) {
			return
		}
	}
}

// open takes the stream up after the last event id.
func (f *follower) open(ctx context.Context) (*connection, error) {
	req, err := f.client.request(f.method, f.path, f.body)
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
		idle = min(idle, f.left)
	}
	start := time.Now()
	conn, err := f.client.connect(ctx, req, idle)
	if f.terminal {
		f.left -= time.Since(start)
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

// read gives the caller the events of one connection, until it is lost: err
// tells how, and first is the first id that it brought. err is nil where the
// sequence is at its end or the caller has left.
func (f *follower) read(ctx context.Context, conn *connection) (first string, err error) {
	scanner := NewScanner(conn.body)
	scanner.MaxFrameBytes = f.client.MaxFrameBytes
	scanner.id, scanner.lastID = f.lastID, f.lastID
	if tell := f.client.OnComment; tell != nil {
		scanner.OnComment = func(text []byte) { tell(string(text)) }
	}
	conn.body.left = f.left
	for ctx.Err() == nil {
		frame, err := scanner.Next()
		if id := scanner.LastEventID(); id != f.lastID {
			f.lastID = id
			first = cmp.Or(first, id)
		}
		if ms, ok := scanner.Retry(); ok {
			f.backoff.serverRetry(ms)
		}
		if err != nil {
			if err == io.EOF && !scanner.Truncated() {
				if f.terminal || f.modelEnded {
					f.end()
					return first, nil
				}
				err = errEnded
			} else if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			// A cut after the terminal event may have taken a receipt with it.
			// It can still be had in the time that is left.
			f.left = conn.body.left
			return first, err
		}
		ev := events.Decode(frame.ID, frame.Event, frame.Data)
		wasTerminal := f.terminal
		f.note(ev)
		switch {
		case !f.terminal:
			conn.body.left = f.quiet
		case !wasTerminal:
			conn.body.left = f.client.afterTerminal()
		}
		if !f.yield(ev, nil) {
			return first, nil
		}
	}
	return first, context.Cause(ctx)
}

// note takes in what an event says of how the run ended.
func (f *follower) note(ev events.Event) {
	f.seen, f.given = true, false
	if f.endless {
		return
	}
	switch ev.Type {
	case events.TypeReceipt, events.TypeComposeReceipt:
	case events.TypeDoneSentinel:
		// It does not say how the run ended, but a stream that has it was not
		// cut short.
		f.terminal = true
	case events.TypeModelDone:
		// The end of a model's answer is the end of the run only where the
		// stream ends behind it: more may be asked of the model.
		f.modelEnded, f.modelFailure = true, nil
	case events.TypeModelError:
		f.modelEnded, f.modelFailure = true, f.runError(ev)
	default:
		f.modelEnded, f.modelFailure = false, nil
		if !ev.Terminal() {
			return
		}
		f.terminal = true
		if f.failure == nil && ev.Failed() {
			f.failure = f.runError(ev)
		}
	}
}

func (f *follower) runError(ev events.Event) *RunError {
	return &RunError{RunID: f.runID, Event: ev.Clone(), Message: ev.ErrorText(), Code: ev.ErrorCode()}
}

// end ends the sequence of a run that has told how it ended.
func (f *follower) end() {
	if failure := cmp.Or(f.failure, f.modelFailure); failure != nil {
		f.yield(events.Event{}, failure)
	}
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
		f.left -= wait
		if f.final(err) != nil || f.left <= 0 {
			f.end()
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
	case !f.opened && !f.endless && f.lastID != "" && isGone(err):
		// The caller has the events before lastID, and never all of the rest.
		return f.truncated(err)
	case !f.opened && (!f.endless || unknownHost(err)):
		return err
	case f.endless && !temporary(err):
		return err
	case !temporary(err), f.backoff.never:
		return f.truncated(err)
	case f.endless:
		return nil
	case f.quiets > 1:
		return f.truncated(err)
	case f.path == "":
		return f.truncated(fmt.Errorf("%w, and %w", err, errNoRunID))
	case f.seen && f.lastID == "":
		// From the start again would give each event a second time.
		return f.truncated(fmt.Errorf("%w, and %w", err, errNoIDs))
	}
	return nil
}

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
