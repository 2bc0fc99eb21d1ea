package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
)

// Bounds of what a reporter holds.
const (
	flushEvery   = 20 * time.Millisecond
	maxBuffered  = 4 << 20  // bytes; a handler that reports faster waits
	maxTextDelta = 64 << 10 // bytes; an event has less than twice as many, at most six times that in JSON
)

// reporter posts a handler's events in batches. Pieces of text that follow one
// another within a batch become one event.
type reporter struct {
	client    *client.Client
	path      string
	execution string
	maxBatch  int // bytes of one post

	mu     sync.Mutex
	room   sync.Cond // signalled when a batch has gone
	queue  [][]byte
	bytes  int
	delta  []byte // text that is not an event yet
	closed bool
	failed error // why nothing is posted any more

	wake    chan struct{} // something is queued, or the reporter was closed
	done    chan struct{} // run has returned
	posting sync.Mutex    // one batch at a time, in order
	next    uint64        // number of the next event that is posted
}

// newReporter makes a reporter for a server that takes maxBody bytes at once.
func newReporter(c *client.Client, id, execution string, maxBody int64) *reporter {
	r := &reporter{
		client: c, path: "/delegations/" + id + "/events", execution: execution, maxBatch: maxBuffered,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if maxBody > 0 && maxBody < maxBuffered {
		r.maxBatch = int(maxBody)
	}
	r.room.L = &r.mu
	return r
}

func (r *reporter) text(delta string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(delta)
	for delta != "" {
		piece := delta[:textPiece(delta)]
		delta = delta[len(piece):]
		r.delta = append(r.delta, piece...)
		if len(r.delta) >= maxTextDelta {
			r.endText()
		}
	}
	r.queued(n)
}

// textPiece gives how much of a text goes into one event: maxTextDelta bytes
// at most, and no part of a character.
func textPiece(text string) int {
	if len(text) <= maxTextDelta {
		return len(text)
	}
	for n := maxTextDelta; n > maxTextDelta-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return maxTextDelta // it is no UTF-8 anyway
}

func (r *reporter) emit(event []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endText()
	r.queue = append(r.queue, event)
	r.queued(len(event))
}

// queued waits for room; the lock is held.
func (r *reporter) queued(n int) {
	r.bytes += n
	select {
	case r.wake <- struct{}{}:
	default:
	}
	for r.bytes > maxBuffered && r.failed == nil && !r.closed {
		r.room.Wait()
	}
}

// endText makes an event of the text so far; the lock is held.
func (r *reporter) endText() {
	if len(r.delta) == 0 {
		return
	}
	event, err := json.Marshal(map[string]string{"type": events.TypeTextDelta, "delta": string(r.delta)})
	if err == nil { // a map of strings always marshals
		r.queue = append(r.queue, event)
	}
	r.delta = nil
}

// run says that the task was taken, and posts what is queued until close.
func (r *reporter) run(ctx context.Context) {
	defer close(r.done)
	r.fail(r.ack(ctx))
	timer := time.NewTimer(flushEvery)
	defer timer.Stop()
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			r.fail(context.Cause(ctx))
			return
		}
		r.mu.Lock()
		closed := r.closed
		r.mu.Unlock()
		if !closed {
			// What comes within the next 20 ms goes along.
			timer.Reset(flushEvery)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		}
		_ = r.flush(ctx) // kept in r.failed
		if closed {
			return
		}
	}
}

func (r *reporter) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		r.failed = err
	}
	r.queue, r.delta, r.bytes = nil, nil, 0
	r.room.Broadcast()
}

// close posts what is left and waits until it is.
func (r *reporter) close() {
	r.mu.Lock()
	r.closed = true
	r.room.Broadcast()
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	<-r.done
}

// ack tells the server that the task was taken.
func (r *reporter) ack(ctx context.Context) error {
	return r.post(ctx, 0, []byte(`{"type":"`+swarm.EventAck+`"}`))
}

// flush posts everything that is queued now. Where ctx ends first, which may be
// that of one search alone, what was not posted stays in the queue, under the
// same numbers.
func (r *reporter) flush(ctx context.Context) error {
	r.posting.Lock()
	defer r.posting.Unlock()
	r.mu.Lock()
	r.endText()
	batch, err := r.queue, r.failed
	r.queue, r.bytes = nil, 0
	r.room.Broadcast()
	r.mu.Unlock()
	for len(batch) > 0 && err == nil {
		n, size := 0, 0
		for n < len(batch) && (n == 0 || size+len(batch[n]) < r.maxBatch) {
			size += len(batch[n]) + 1
			n++
		}
		// The acknowledgement has number 0.
		if err = r.post(ctx, r.next+1, bytes.Join(batch[:n], []byte("\n"))); err == nil {
			r.next += uint64(n)
			batch = batch[n:]
		}
	}
	if err != nil && ctx.Err() != nil {
		r.putBack(batch)
	} else {
		r.fail(err)
	}
	return err
}

func (r *reporter) putBack(batch [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(batch, r.queue...)
	for _, event := range batch {
		r.bytes += len(event)
	}
}

// lost gives why events were not posted, nil where all were.
func (r *reporter) lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *reporter) post(ctx context.Context, first uint64, lines []byte) error {
	header := http.Header{
		"Content-Type":        {"application/x-ndjson"},
		swarm.ReportExecution: {r.execution},
		swarm.ReportFirst:     {strconv.FormatUint(first, 10)},
	}
	return client.Retry(ctx, func() error { return r.client.Post(ctx, r.path, header, lines, nil) })
}
