package server

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
)

// What our streams tell clients to wait before they come back: after a
// connection that was lost, and, at random from one to the other, when the
// server closes. All at once, they would meet a server that has just started.
const (
	reconnectAfter = time.Second
	reconnectFrom  = time.Second
	reconnectTo    = 5 * time.Second
)

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
	return s.streamRun(w, r, run, cursor{})
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
	id, err := pathRun(r, "id")
	if err != nil {
		return err
	}
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("lastEventId")
	}
	from, err := parseCursor(text)
	if err != nil {
		return err
	}
	run, err := s.watched(r.Context(), id)
	if swarm.CodeOf(err) == swarm.CodeNotFound && from != (cursor{}) {
		// Whoever has an event's id has had events.
		if was, issuedErr := s.hadRecord(r.Context(), from.seq); issuedErr != nil {
			return issuedErr
		} else if was {
			return gone(id, "none of its records is there any more")
		}
	}
	if err != nil {
		return err
	}
	return s.streamRun(w, r, run, from)
}

// hadRecord reports whether there was a record at a place of the journal that
// is there no longer.
func (s *Server) hadRecord(ctx context.Context, seq uint64) (bool, error) {
	issued, err := s.engine.Issued(ctx, seq)
	if !issued || err != nil {
		return false, err
	}
	_, there, err := s.engine.At(ctx, seq)
	return !there, err
}

// newWriter opens an event stream.
func (s *Server) newWriter(w http.ResponseWriter, r *http.Request) (*stream.Writer, error) {
	out, err := stream.NewWriter(w, r, stream.WriterOptions{Ping: s.cfg.Ping, WriteTimeout: s.cfg.WriteTimeout})
	if err != nil {
		return nil, err
	}
	_ = out.Retry(reconnectAfter) // its error stays, and the first frame meets it
	return out, nil
}

// closeStream ends an event stream. Where the server is closing, the client is
// told when to come back, each at another time.
func (s *Server) closeStream(out *stream.Writer) {
	if s.isClosed() {
		_ = out.Retry(reconnectFrom + rand.N(reconnectTo-reconnectFrom)) // to whoever still reads
	}
	out.Close()
}

// streamRun sends what comes after a cursor, and ends with the run.
func (s *Server) streamRun(w http.ResponseWriter, r *http.Request, run *liveRun, from cursor) error {
	if !s.enter() {
		return errClosed
	}
	defer s.streams.Done()
	root := run.tree.rootID
	// Subscribed before the journal is read: what is written meanwhile is
	// in one or the other, or in both.
	sub := s.hub.subscribe(root)
	defer func() { s.hub.unsubscribe(sub) }()
	rs := &runStream{server: s, run: run, runs: make(map[string]*followed), render: &renderer{root: root, view: run.id, name: s.agents.name}}
	if err := rs.begin(r.Context(), from); err != nil {
		return err
	}
	var ended bool
	s.table.read(func() { ended = run.outcome != nil && rs.from.whole() >= run.outcomeSeq })
	if ended {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("X-Request-Id", run.id)
	w.Header().Set("x-run-id", run.id)
	out, err := s.newWriter(w, r)
	if err != nil {
		return err
	}
	defer s.closeStream(out)
	rs.out = out
	for {
		last, err := rs.replay(r.Context())
		if last || err != nil {
			return rs.left(err)
		}
		if last, err = rs.live(r.Context(), sub); last || err != nil {
			return rs.left(err)
		}
		sub = s.hub.subscribe(root)
	}
}
