package server

import (
	"context"
	"fmt"
	"slices"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

// runStream sends one run's frames to one client.
type runStream struct {
	server *Server
	out    *stream.Writer
	run    *liveRun
	render *renderer

	from   cursor               // what the client came with, where it is of this run
	seen   uint64               // the newest record that was looked at
	runs   map[string]*followed // of the tree, those that were met
	lastID string               // of the newest frame that the client has or is being sent
	gap    string               // why a gap event stands before the next frame; "" for none
	buf    []byte               // frames that are to be sent
}

// Bounds of a stream's buffer: how much of the journal is gathered for one
// write, and how much a stream keeps that waits for news.
const (
	gatherBytes = 32 << 10
	keepBytes   = 4 << 10
)

// followed is a run as one stream has followed it.
type followed struct {
	*run           // nil where its beginning is lost
	shown bool     // in this stream
	last  uint64   // its newest record that has come
	ended []uint64 // the outcomes of runs right below it that have come
}

// Why there is a gap, as the gap event tells it.
var (
	gapLost  = fmt.Sprintf("events in between are lost: records are kept for %d h, and less where they are purged", retentionHours)
	gapOther = "the last event id is none of this run's: it is another run's, or of a journal that was lost; the run follows from its beginning"
)

// gapFrame is the data of a gap event.
type gapFrame struct {
	Type    string `json:"type"`
	RunID   string `json:"runId"`
	After   string `json:"after"`
	Next    string `json:"next"`
	Message string `json:"message"`
}

// begin finds the place that a cursor is. One that is none of this run's is
// told by a gap event, and the run is sent whole.
func (rs *runStream) begin(ctx context.Context, given cursor) error {
	if given == (cursor{}) {
		return nil
	}
	rs.lastID = given.String()
	at, there, err := rs.server.engine.At(ctx, given.seq)
	if err != nil {
		return err
	}
	ours := there && at.Root == rs.run.tree.rootID
	if !there {
		// It may have been: what came after it will tell what is missing.
		rs.server.table.read(func() { ours = given.seq >= rs.run.tree.firstSeq && given.seq <= rs.run.tree.lastSeq })
	}
	if !ours {
		rs.gap = gapOther
		return nil
	}
	rs.from, rs.seen = given, given.whole()
	return nil
}

// left ends a stream whose headers are out: there is no status left to say
// anything by. The client sees a stream without its end, and resumes.
func (rs *runStream) left(err error) error {
	if err != nil && !rs.server.isClosed() {
		rs.server.cfg.Log.Debug("stream ended early", "run", rs.run.id, "error", err)
	}
	return nil
}

// replay sends what the journal has, up to what the server itself has taken
// in: the hub brings the rest. A client that sees the end of a run may ask for
// its receipt at once, and must not be told that there is none yet.
func (rs *runStream) replay(ctx context.Context) (last bool, err error) {
	defer func() {
		if flushErr := rs.flush(); err == nil {
			err = flushErr
		}
	}()
	upTo := rs.server.seen.Load()
	for e, err := range rs.server.engine.Read(ctx, rs.run.tree.rootID, rs.seen+1) {
		if err != nil {
			return false, err
		}
		if e.Seq > upTo {
			break
		}
		if rs.server.isClosed() {
			return false, errClosed
		}
		rec, err := decodeRecord(e.Data)
		if err != nil {
			continue // of a newer version, and missing as if it were lost
		}
		if last, err := rs.add(ctx, e, rec); last || err != nil {
			return last, err
		}
		if len(rs.buf) >= gatherBytes {
			if err := rs.send(); err != nil {
				return false, err
			}
		}
	}
	// An outcome that is known and was not there to be read has been purged.
	// Nobody would bring it.
	end, outcome := engine.Entry{Root: rs.run.tree.rootID, Run: rs.run.id}, (*record)(nil)
	rs.server.table.read(func() { end.Seq, outcome = rs.run.outcomeSeq, rs.run.outcome })
	if outcome == nil || end.Seq > upTo {
		return false, nil
	}
	return rs.add(ctx, end, outcome)
}

// live sends what comes from the hub, until the run ends or the client goes.
// Neither last nor an error says that this stream fell behind.
func (rs *runStream) live(ctx context.Context, sub *subscription) (last bool, err error) {
	for {
		select {
		case n, ok := <-sub.records:
			if !ok {
				return false, nil
			}
			if n.entry.Seq <= rs.seen {
				continue
			}
			last, err := rs.add(ctx, n.entry, n.record)
			if err == nil {
				err = rs.flush()
			}
			if last || err != nil {
				return last, err
			}
		case <-rs.out.Done():
			return false, rs.out.Err()
		case <-rs.server.closed:
			return false, errClosed
		}
	}
}

// flush sends what was gathered, and gives back what was taken for it.
func (rs *runStream) flush() error {
	err := rs.send()
	if cap(rs.buf) > keepBytes {
		rs.buf = nil
	}
	return err
}

func (rs *runStream) send() error {
	if len(rs.buf) == 0 {
		return nil
	}
	err := rs.out.SendEncoded(rs.buf)
	rs.buf = rs.buf[:0]
	return err
}

// add renders a record and gathers its frames, without those that the client
// has.
func (rs *runStream) add(ctx context.Context, e engine.Entry, rec *record) (last bool, err error) {
	r, err := rs.follow(ctx, e, rec)
	rs.seen = max(rs.seen, e.Seq)
	if err != nil || r == nil {
		return false, err
	}
	data, last, err := rs.render.render(r, e, rec)
	if err != nil || len(data) == 0 {
		return false, err
	}
	had := 0
	if e.Seq == rs.from.seq {
		if had = rs.from.frames; had >= len(data) {
			had = 0 // no id of ours; rather twice than never
		}
		rs.gap = "" // told before, if there was one
	}
	if rs.gap != "" {
		gap, err := json2.Marshal(gapFrame{
			Type: events.TypeGap, RunID: rs.run.id, After: rs.lastID, Next: frameID(e.Seq, had+1, len(data)), Message: rs.gap,
		})
		if err != nil {
			return false, err
		}
		if err := rs.frame(frameID(e.Seq, 0, len(data)), gap); err != nil {
			return false, err
		}
		rs.gap = ""
	}
	for i := had; i < len(data); i++ {
		if err := rs.frame(frameID(e.Seq, i+1, len(data)), data[i]); err != nil {
			return false, err
		}
	}
	return last, nil
}

func (rs *runStream) frame(id string, data []byte) (err error) {
	rs.buf, err = stream.AppendFrame(rs.buf, stream.Frame{ID: id, Data: data})
	rs.lastID = id
	return err
}

// follow notes that a record has come, and whether others before it are
// missing. It gives the record's run, or nil where its beginning is lost.
func (rs *runStream) follow(ctx context.Context, e engine.Entry, rec *record) (*run, error) {
	f, err := rs.met(ctx, e.Run)
	if err != nil {
		return nil, err
	}
	missing := rec.After > f.last || rec.Known > rs.seen
	f.last = e.Seq
	if rec.Kind == kindOutcome {
		for _, seq := range rec.Ended {
			missing = missing || seq > rs.from.whole() && !slices.Contains(f.ended, seq)
		}
		if f.run != nil && f.parent != nil {
			above, err := rs.met(ctx, f.parentID)
			if err != nil {
				return nil, err
			}
			above.ended = append(above.ended, e.Seq)
		}
	}
	if missing && (f.shown || f.run == nil) {
		rs.gap = gapLost
	}
	return f.run, nil
}

// met gives a run of the tree as this stream has followed it, or, at first
// sight, as the client came with it.
func (rs *runStream) met(ctx context.Context, id string) (*followed, error) {
	if f := rs.runs[id]; f != nil {
		return f, nil
	}
	f := &followed{last: rs.from.whole()}
	rs.server.table.read(func() { f.run = rs.run.tree.runs[id] })
	if f.run == nil {
		r, _, err := rs.server.recall(ctx, id)
		switch swarm.CodeOf(err) {
		case "":
			f.run = r
		case swarm.CodeNotFound, swarm.CodeGone:
		default:
			return nil, err
		}
	}
	f.shown = f.run != nil && (f.id == rs.run.id || rs.render.below(f.run))
	rs.runs[id] = f
	return f, nil
}
