package server

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// handleDelegate takes a signed delegation. With "Prefer: wait=SECONDS" it
// answers 200 with the outcome, else, or when that time is over, 202.
func (s *Server) handleDelegate(w http.ResponseWriter, r *http.Request) error {
	signed, err := readStrict[swarm.SignedDelegation](r)
	if err != nil {
		return err
	}
	run, err := s.admit(r.Context(), signed)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/delegations/"+run.id)
	s.writeOutcome(w, r, run)
	return nil
}

func (s *Server) writeOutcome(w http.ResponseWriter, r *http.Request, run *liveRun) {
	outcome := s.await(r.Context(), run, preferWait(r))
	status := http.StatusOK
	if !outcome.State.Terminal() {
		status = http.StatusAccepted
	}
	s.writeJSON(w, status, outcome)
}

// handleDelegation gives a delegation's record. Whoever has its id may read
// it: ids are hashes of random nonces.
func (s *Server) handleDelegation(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runAt(r, "id")
	if err != nil {
		return err
	}
	s.writeOutcome(w, r, run)
	return nil
}

func (s *Server) runAt(r *http.Request, name string) (*liveRun, error) {
	id, err := pathRun(r, name)
	if err != nil {
		return nil, err
	}
	return s.find(r.Context(), id)
}

// handleReceipt gives the bundle of the whole tree that a run belongs to.
func (s *Server) handleReceipt(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runAt(r, "id")
	if err != nil {
		return err
	}
	var bundle *swarm.Bundle
	var lost bool
	s.table.read(func() { bundle, lost = run.tree.bundle(s.cfg.ChainID), run.tree.lost })
	if lost {
		return gone(run.id, "a run of its tree is no longer there, and the proof would not be whole")
	}
	s.writeJSON(w, http.StatusOK, bundle)
	return nil
}

// handleCancel stops a run for whoever asked for it, or for its root.
func (s *Server) handleCancel(w http.ResponseWriter, r *http.Request) error {
	run, err := s.runAt(r, "id")
	if err != nil {
		return err
	}
	var root wallet.Address
	s.table.read(func() { root = run.tree.order[0].from() })
	if root == s.cfg.Key.Address() && r.Header.Get("Authorization") == "" {
		// Nobody signed for it, so nobody can sign in as its requester.
		if err := s.anonymousHere(r); err != nil {
			return err
		}
	} else {
		who, err := s.caller(r)
		if err != nil {
			return err
		}
		if who != run.from() && who != root {
			return swarm.Errorf(swarm.CodeForbidden, "signed in as %v; only %v, who asked for it, may cancel the run", who, run.from())
		}
	}
	if err := s.end(run, swarm.StateCancelled, "cancelled by the requester"); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, s.viewOf(run))
	return nil
}

// handleCollect is check_collaboration_result: a result is given to its
// requester once.
func (s *Server) handleCollect(w http.ResponseWriter, r *http.Request) error {
	id, err := pathRun(r, "id")
	if err != nil {
		return err
	}
	who, err := s.caller(r)
	if err != nil {
		return err
	}
	got, err := s.collect(r.Context(), id, who)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, got)
	return nil
}

// workersRun gives the run of the path for its own worker.
func (s *Server) workersRun(r *http.Request) (*liveRun, error) {
	run, err := s.runAt(r, "id")
	if err != nil {
		return nil, err
	}
	return run, s.callerIs(r, run.to())
}

// handleFindIn is agent_find: a worker searches in the midst of a task.
func (s *Server) handleFindIn(w http.ResponseWriter, r *http.Request) error {
	run, err := s.workersRun(r)
	if err != nil {
		return err
	}
	ask, err := readStrict[swarm.FindRequest](r)
	if err != nil {
		return err
	}
	found, err := s.findIn(run, swarm.Query{
		Text: ask.Query, TopK: ask.TopK, Strictness: ask.Strictness, Detail: ask.Detail, Tags: ask.IncludeTags,
	})
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, found)
	return nil
}

// handleReport takes a worker's events, a JSON object a line.
func (s *Server) handleReport(w http.ResponseWriter, r *http.Request) error {
	run, err := s.workersRun(r)
	if err != nil {
		return err
	}
	execution := r.Header.Get(swarm.ReportExecution)
	first, err := strconv.ParseUint(r.Header.Get(swarm.ReportFirst), 10, 63)
	if err != nil || execution == "" || len(execution) > maxExecutionBytes {
		return swarm.Errorf(swarm.CodeInvalid, "want the headers %s (1 to %d bytes) and %s (a number from 0)",
			swarm.ReportExecution, maxExecutionBytes, swarm.ReportFirst)
	}
	var posted [][]byte
	lines := bufio.NewReader(r.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			posted = append(posted, line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return bodyError(err)
		}
	}
	if err := s.report(run, execution, first, posted); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, map[string]uint64{"next": first + uint64(len(posted))})
	return nil
}

const maxExecutionBytes = 64

// handleResult takes a worker's signed result, which is its own
// authentication.
func (s *Server) handleResult(w http.ResponseWriter, r *http.Request) error {
	id, err := pathRun(r, "id")
	if err != nil {
		return err
	}
	signed, err := readStrict[swarm.SignedResult](r)
	if err != nil {
		return err
	}
	outcome, err := s.settle(r.Context(), id, signed)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, outcome)
	return nil
}
