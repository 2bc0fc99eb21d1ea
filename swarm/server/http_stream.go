package server

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

// reconnectAfter is what our streams tell clients to wait before they resume.
const reconnectAfter = time.Second

// composeRequest is the body of Compose's POST /agent/{wallet}/stream. Members
// that we do not know are passed over, as there.
type composeRequest struct {
	Message     string `json:"message"`
	ThreadID    string `json:"threadId"`
	RunID       string `json:"runId"` // the caller's own name for the run: the same again finds it
	UserAddress string `json:"userAddress"`
}

// handleComposeStream starts a run for somebody who does not sign, and streams it.
func (s *Server) handleComposeStream(w http.ResponseWriter, r *http.Request) error {
	agent, err := pathWallet(r)
	if err != nil {
		return err
	}
	if err := s.anonymousHere(r); err != nil {
		return err
	}
	body, err := readLoose[composeRequest](r)
	if err != nil {
		return err
	}
	if body.Message == "" {
		return swarm.Errorf(swarm.CodeInvalid, `body: "message" is missing: say what the agent is to do`)
	}
	run, err := s.admitAnonymous(r.Context(), agent, body.Message, body.RunID)
	if err != nil {
		return err
	}
	return s.streamRun(w, r, run, 0)
}

// handleComposeStop is Compose's way to cancel.
func (s *Server) handleComposeStop(w http.ResponseWriter, r *http.Request) error {
	agent, err := pathWallet(r)
	if err != nil {
		return err
	}
	run, err := s.runAt(r, "runId")
	if err != nil {
		return err
	}
	if run.to() != agent {
		return swarm.Errorf(swarm.CodeNotFound, "the run %s is not %v's", run.id, agent)
	}
	r.SetPathValue("id", run.id)
	return s.handleCancel(w, r)
}

// handleEvents streams a run from Last-Event-ID (a header, or ?lastEventId=)
// on. 204 says that there is nothing after that id, which ends the
// reconnecting of a browser's EventSource.
func (s *Server) handleEvents(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runAt(r, "id")
	if err != nil {
		return err
	}
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("lastEventId")
	}
	var cursor uint64
	if text != "" {
		if cursor, err = strconv.ParseUint(text, 10, 64); err != nil {
			return swarm.Errorf(swarm.CodeInvalid, "Last-Event-ID is %q; ids here are decimal numbers", text)
		}
	}
	return s.streamRun(w, r, run, cursor)
}

// runStream sends one run's frames to one client.
type runStream struct {
	server *Server
	out    *stream.Writer
	render *renderer
	cursor uint64 // what the client has
	seen   uint64 // what was rendered
}

// streamRun sends what comes after cursor, and ends with the run.
func (s *Server) streamRun(w http.ResponseWriter, r *http.Request, run *liveRun, cursor uint64) error {
	root := run.tree.rootID
	// Subscribed before the journal is read: what is written meanwhile is
	// in one or the other, or in both.
	sub := s.hub.subscribe(root)
	defer func() { s.hub.unsubscribe(sub) }()
	var ended bool
	s.table.read(func() { ended = run.outcome != nil && cursor >= run.outcomeSeq })
	if ended {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("X-Request-Id", run.id)
	w.Header().Set("x-run-id", run.id)
	out, err := stream.NewWriter(w, r, stream.WriterOptions{Ping: s.cfg.Ping, WriteTimeout: s.cfg.WriteTimeout})
	if err != nil {
		return err
	}
	defer out.Close()
	rs := &runStream{
		server: s, out: out, cursor: cursor,
		render: &renderer{tree: newTree(s.domain, root), view: run.id, name: s.agents.name},
	}
	if out.Retry(reconnectAfter) != nil {
		return nil
	}
	for {
		last, err := rs.replay(r.Context(), root)
		if last || err != nil {
			return rs.gone(err)
		}
		if last, err = rs.live(sub); last || err != nil {
			return rs.gone(err)
		}
		sub = s.hub.subscribe(root)
	}
}

// gone ends a stream whose headers are out: there is no status left to say
// anything by. The client sees a stream without its end, and resumes.
func (rs *runStream) gone(err error) error {
	if err != nil && !rs.server.isClosed() {
		rs.server.cfg.Log.Debug("stream ended early", "run", rs.render.view, "error", err)
	}
	return nil
}

// replay sends what the journal has, up to what the server itself has taken
// in: the hub brings the rest. A client that sees the end of a run may ask for
// its receipt at once, and must not be told that there is none yet.
func (rs *runStream) replay(ctx context.Context, root string) (last bool, err error) {
	upTo := rs.server.seen.Load()
	for e, err := range rs.server.engine.Read(ctx, root, rs.seen+1) {
		if err != nil {
			return false, err
		}
		if e.Seq > upTo {
			break
		}
		rec, err := decodeRecord(e.Data)
		if err != nil {
			return false, err
		}
		if last, err := rs.send(e, rec); last || err != nil {
			return last, err
		}
	}
	return false, nil
}

// live sends what comes from the hub, until the run ends or the client goes.
// Neither last nor an error says that this stream fell behind.
func (rs *runStream) live(sub *subscription) (last bool, err error) {
	for {
		select {
		case n, ok := <-sub.records:
			if !ok {
				return false, nil
			}
			if n.entry.Seq <= rs.seen {
				continue
			}
			if last, err := rs.send(n.entry, n.record); last || err != nil {
				return last, err
			}
		case <-rs.out.Done():
			return false, rs.out.Err()
		case <-rs.server.closed:
			return false, errClosed
		}
	}
}

// send renders a record and writes its frames in one go. All but the last bear
// the id of what came before, so that a client which is cut off between them
// gets the whole group again, and none is lost.
func (rs *runStream) send(e engine.Entry, rec *record) (last bool, err error) {
	rs.seen = e.Seq
	if e.Seq <= rs.cursor {
		rs.render.tree.apply(e, rec) // the client has it; what follows builds on it
		return rec.Kind == kindOutcome && e.Run == rs.render.view, nil
	}
	data, last, err := rs.render.render(e, rec)
	if err != nil || len(data) == 0 {
		return false, err
	}
	frames := make([]stream.Frame, len(data))
	for i, d := range data {
		id := e.Seq - 1
		if i == len(data)-1 {
			id = e.Seq
		}
		frames[i] = stream.Frame{ID: strconv.FormatUint(id, 10), Event: "message", Data: d}
	}
	return last, rs.out.Send(frames...)
}
