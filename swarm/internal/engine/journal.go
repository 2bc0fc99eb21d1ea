package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Entry is a record of the journal with its place.
type Entry struct {
	Seq  uint64
	Root string // id of the run at hop 0
	Run  string // id of the run that the record is about
	Time time.Time
	Data []byte
}

func subject(root, run string) string { return "run." + root + "." + run }

// Create writes the first record of a run. ErrExists says that the id has a
// run already, under whatever root.
func (e *Engine) Create(ctx context.Context, root, run string, data []byte) (uint64, error) {
	seq, err := e.publish(ctx, root, run, data, jetstream.WithExpectLastSequenceForSubject(0, "run.*."+run))
	if _, taken := errors.AsType[*ConflictError](err); taken {
		return 0, ErrExists
	}
	return seq, err
}

// AppendAfter writes a record if the run has none that is later than seen;
// otherwise it gives a *ConflictError. That the record seen has expired or was
// purged is no conflict: what a run is goes on without its past.
func (e *Engine) AppendAfter(ctx context.Context, root, run string, seen uint64, data []byte) (uint64, error) {
	for expect := seen; ; {
		seq, err := e.publish(ctx, root, run, data, jetstream.WithExpectLastSequencePerSubject(expect))
		if _, ok := errors.AsType[*ConflictError](err); !ok {
			return seq, err
		}
		last, _, err := e.LastOf(ctx, root, run)
		switch {
		case err != nil:
			return 0, err
		case last.Seq >= expect: // somebody wrote, or is about to
			return 0, &ConflictError{Seen: seen}
		}
		expect = last.Seq
	}
}

func (e *Engine) publish(ctx context.Context, root, run string, data []byte, opts ...jetstream.PublishOpt) (uint64, error) {
	if len(data) > MaxRecordBytes {
		return 0, fmt.Errorf("%w: %d bytes; at most %d are allowed", ErrTooLarge, len(data), MaxRecordBytes)
	}
	ack, err := e.js.Publish(ctx, subject(root, run), data, opts...)
	if err == nil {
		return ack.Sequence, nil
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch api.ErrorCode {
		case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return 0, &ConflictError{}
		}
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Bounds of what is read at once: writers wait while the engine looks a batch
// up, and its records are held until the reader has taken them.
const (
	readBatch = 1024    // records
	readBytes = 4 << 20 // of records; the one that goes beyond is still read
	readWait  = 10 * time.Second
)

// Read gives the records of a root's runs from sequence from on, in order, up
// to the last one there is now. A break releases everything.
func (e *Engine) Read(ctx context.Context, root string, from uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for from = max(from, 1); ; {
			more, next, ok := e.readSome(ctx, "run."+root+".*", from, yield)
			if !ok || !more {
				return
			}
			from = next
		}
	}
}

// readSome reads one batch, directly: a consumer a reader would cost memory and
// a millisecond to make. ok is false when the reader is done: it broke off, or
// was given an error.
func (e *Engine) readSome(ctx context.Context, filter string, from uint64, yield func(Entry, error) bool) (more bool, next uint64, ok bool) {
	fail := func(err error) (bool, uint64, bool) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		yield(Entry{}, fmt.Errorf("%w: journal: %w", ErrUnavailable, err))
		return false, 0, false
	}
	ask, err := json.Marshal(map[string]any{"seq": from, "batch": readBatch, "max_bytes": readBytes, "next_by_subj": filter})
	if err != nil {
		return fail(err)
	}
	// SubscribeSync would make room for 65,536 messages, which costs more than
	// it takes to read some.
	batch := make(chan *nats.Msg, readBatch+1)
	inbox := e.conn.NewRespInbox()
	sub, err := e.conn.ChanSubscribe(inbox, batch)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only on a closed connection
	if err := e.conn.PublishRequest("$JS.API.DIRECT.GET.RUNS", inbox, ask); err != nil {
		return fail(err)
	}
	silence := time.NewTimer(readWait)
	defer silence.Stop()
	for {
		var msg *nats.Msg
		var open bool
		select {
		case msg, open = <-batch:
		case <-silence.C:
			return fail(nats.ErrTimeout)
		case <-ctx.Done():
			return fail(ctx.Err())
		}
		switch {
		case ctx.Err() != nil: // not one more, whichever was chosen
			return fail(ctx.Err())
		case !open:
			return fail(nats.ErrConnectionClosed)
		}
		switch status := msg.Header.Get("Status"); status {
		case "":
			entry, err := entryOf(msg)
			if err != nil {
				return fail(err)
			}
			next = entry.Seq + 1
			if !yield(entry, nil) {
				return false, 0, false
			}
			silence.Reset(readWait) // the time that the reader took does not count
		case "204": // end of the batch
			pending := msg.Header.Get("Nats-Num-Pending")
			return pending != "" && pending != "0", next, true
		case "404":
			return false, 0, true
		default:
			return fail(fmt.Errorf("%s %s", status, msg.Header.Get("Description")))
		}
	}
}

func entryOf(msg *nats.Msg) (Entry, error) {
	seq, err := strconv.ParseUint(msg.Header.Get(nats.JSSequence), 10, 64)
	if err != nil {
		return Entry{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, msg.Header.Get(nats.JSTimeStamp))
	if err != nil {
		return Entry{}, err
	}
	entry := Entry{Seq: seq, Time: at, Data: msg.Data}
	return entry, entry.place(msg.Header.Get(nats.JSSubject))
}

func (e *Entry) place(subject string) error {
	parts := strings.Split(subject, ".")
	if len(parts) != 3 {
		return fmt.Errorf("subject %q is not run.<root>.<run>", subject)
	}
	e.Root, e.Run = parts[1], parts[2]
	return nil
}

// Follow calls see with every record of the journal from sequence from on, one
// after the other, until stop is called. It is the node's one consumer.
func (e *Engine) Follow(ctx context.Context, from uint64, see func(Entry)) (stop func(), err error) {
	consumer, err := e.runs.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:   max(from, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	consuming, err := consumer.Consume(func(msg jetstream.Msg) {
		meta, err := msg.Metadata()
		if err != nil {
			return // not a message of a stream: a status that the library handles
		}
		entry := Entry{Seq: meta.Sequence.Stream, Time: meta.Timestamp, Data: msg.Data()}
		if entry.place(msg.Subject()) == nil {
			see(entry)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return func() { consuming.Stop(); <-consuming.Closed() }, nil
}

// Last gives the sequence of the newest record that is there; 0 where there is
// none.
func (e *Engine) Last(ctx context.Context) (uint64, error) {
	entry, _, err := e.LastOf(ctx, "*", "*")
	return entry.Seq, err
}

// LastOf gives the newest record of a run; ok is false where there is none.
func (e *Engine) LastOf(ctx context.Context, root, run string) (entry Entry, ok bool, err error) {
	return entryFrom(e.runs.GetLastMsgForSubject(ctx, subject(root, run)))
}

// First gives the oldest record that is there of a run, whatever its root is;
// ok is false where there is none.
func (e *Engine) First(ctx context.Context, run string) (entry Entry, ok bool, err error) {
	return entryFrom(e.runs.GetMsg(ctx, 1, jetstream.WithGetMsgSubject(subject("*", run))))
}

// At gives the record at a sequence; ok is false where there is none, or none
// any more.
func (e *Engine) At(ctx context.Context, seq uint64) (entry Entry, ok bool, err error) {
	if seq == 0 {
		return Entry{}, false, nil
	}
	return entryFrom(e.runs.GetMsg(ctx, seq))
}

func entryFrom(msg *jetstream.RawStreamMsg, err error) (entry Entry, ok bool, _ error) {
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return Entry{}, false, nil
	case err != nil:
		return Entry{}, false, fmt.Errorf("%w: journal: %w", ErrUnavailable, err)
	}
	entry = Entry{Seq: msg.Sequence, Time: msg.Time, Data: msg.Data}
	return entry, true, entry.place(msg.Subject)
}

// Issued reports whether this journal has given a sequence to some record,
// which may be gone.
func (e *Engine) Issued(ctx context.Context, seq uint64) (bool, error) {
	info, err := e.runs.Info(ctx)
	if err != nil {
		return false, fmt.Errorf("%w: journal: %w", ErrUnavailable, err)
	}
	return seq >= info.Config.FirstSeq && seq <= info.State.LastSeq, nil
}

// Purge removes the records before a sequence: those of one root's runs, or of
// one run, or of all where both are "". The server never does; operators and
// limits do, and this is for the tests of what it then says.
func (e *Engine) Purge(ctx context.Context, root, run string, before uint64) error {
	any := func(id string) string {
		if id == "" {
			return "*"
		}
		return id
	}
	return e.runs.Purge(ctx, jetstream.WithPurgeSubject(subject(any(root), any(run))), jetstream.WithPurgeSequence(before))
}
