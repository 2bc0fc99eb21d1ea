package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// capabilities are all that the suite's docs/optional_features.md names.
var capabilities = []string{
	"bom", "comments", "event-type-listeners", "headers", "last-event-id", "post",
	"read-timeout", "report", "restart", "server-directed-shutdown-request",
}

// maxRequestBytes bounds what the suite may ask in one request.
const maxRequestBytes = 1 << 20

// service is the suite's side of this program.
type service struct {
	http.Handler

	mu       sync.Mutex
	sessions map[string]*session
	opened   int
}

// newService gives a service that calls stop when the suite says so.
func newService(stop func()) *service {
	s := &service{sessions: make(map[string]*session)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"name": "swarmseal", "capabilities": capabilities})
	})
	mux.HandleFunc("DELETE /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		stop()
	})
	mux.HandleFunc("POST /{$}", s.handleOpen)
	mux.HandleFunc("POST /streams/{id}", s.handleCommand)
	mux.HandleFunc("DELETE /streams/{id}", s.handleClose)
	s.Handler = http.NewCrossOriginProtection().Handler(mux)
	return s
}

// close ends all sessions.
func (s *service) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, session := range s.sessions {
		session.close()
		delete(s.sessions, id)
	}
}

func (s *service) handleOpen(w http.ResponseWriter, r *http.Request) {
	var p params
	if !decode(w, r, &p) {
		return
	}
	session, err := open(p)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.opened++
	id := strconv.Itoa(s.opened)
	s.sessions[id] = session
	s.mu.Unlock()
	w.Header().Set("Location", "/streams/"+id)
	w.WriteHeader(http.StatusCreated)
}

func (s *service) handleCommand(w http.ResponseWriter, r *http.Request) {
	session := s.session(w, r, false)
	var c struct {
		Command string `json:"command"`
		Listen  struct {
			Type string `json:"type"`
		} `json:"listen"`
	}
	if session == nil || !decode(w, r, &c) {
		return
	}
	switch {
	case c.Command == "restart":
		session.restart()
	case c.Command == "listen" && c.Listen.Type != "":
		session.listen(c.Listen.Type)
	case c.Command == "listen":
		http.Error(w, `listen: want {"type":"…"}`, http.StatusBadRequest)
		return
	default:
		http.Error(w, fmt.Sprintf("command %q: want listen or restart", c.Command), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *service) handleClose(w http.ResponseWriter, r *http.Request) {
	if session := s.session(w, r, true); session != nil {
		session.close()
		w.WriteHeader(http.StatusNoContent)
	}
}

// session gives the one that r names, forgetting it where it is the last time;
// nil where there is none, and then r is answered.
func (s *service) session(w http.ResponseWriter, r *http.Request, last bool) *session {
	id := r.PathValue("id")
	s.mu.Lock()
	found := s.sessions[id]
	if last {
		delete(s.sessions, id)
	}
	s.mu.Unlock()
	if found == nil {
		http.Error(w, fmt.Sprintf("no stream %q", id), http.StatusNotFound)
	}
	return found
}

// decode reads a request; where it is false r is answered. Members that it does
// not know are those of a newer suite.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		http.Error(w, "body: "+err.Error(), http.StatusBadRequest)
	}
	return err == nil
}
