package server

import (
	"context"

	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// statusOf is the one table from codes to HTTP statuses.
var statusOf = map[swarm.Code]int{
	swarm.CodeSelfRequest:     http.StatusUnprocessableEntity,
	swarm.CodeAgentNotFound:   http.StatusNotFound,
	swarm.CodeNotAvailable:    http.StatusConflict,
	swarm.CodeHuman:           http.StatusUnprocessableEntity,
	swarm.CodeLoop:            http.StatusUnprocessableEntity,
	swarm.CodeChainTooLong:    http.StatusUnprocessableEntity,
	swarm.CodeRegistry:        http.StatusServiceUnavailable,
	swarm.CodeSignature:       http.StatusUnauthorized,
	swarm.CodeExpired:         http.StatusUnprocessableEntity,
	swarm.CodeNonceConflict:   http.StatusConflict,
	swarm.CodeBudget:          http.StatusUnprocessableEntity,
	swarm.CodeRateLimited:     http.StatusTooManyRequests,
	swarm.CodeInvalid:         http.StatusBadRequest,
	swarm.CodeUnauthenticated: http.StatusUnauthorized,
	swarm.CodeForbidden:       http.StatusForbidden,
	swarm.CodeNotFound:        http.StatusNotFound,
	swarm.CodeGone:            http.StatusGone,
	swarm.CodeMethod:          http.StatusMethodNotAllowed,
	swarm.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	swarm.CodeConflict:        http.StatusConflict,
	swarm.CodeUnavailable:     http.StatusServiceUnavailable,
	swarm.CodeInternal:        http.StatusInternalServerError,
	swarm.CodeTimeout:         http.StatusGatewayTimeout,
	swarm.CodeCancelled:       http.StatusConflict,
	swarm.CodeWorker:          http.StatusBadGateway,
}

// Handler serves the routes that the package's doc lists.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /healthz":                           s.handleHealth,
		"GET /readyz":                            s.handleReady,
		"GET /.well-known/swarmseal":             s.handleInfo,
		"POST /sessions":                         s.handleSignIn,
		"GET /agents":                            s.handleAgents,
		"GET /agents/search":                     s.handleSearch,
		"GET /agents/{wallet}":                   s.handleAgent,
		"PUT /agents/{wallet}":                   s.handleRegister,
		"GET /agents/{wallet}/inbox":             s.handleInbox,
		"GET /agent/{wallet}":                    s.handleCard,
		"POST /agent/{wallet}/stream":            s.handleComposeStream,
		"POST /agent/{wallet}/runs/{runId}/stop": s.handleComposeStop,
		"POST /delegations":                      s.handleDelegate,
		"GET /delegations/{id}":                  s.handleDelegation,
		"GET /delegations/{id}/events":           s.handleEvents,
		"GET /delegations/{id}/receipt":          s.handleReceipt,
		"POST /delegations/{id}/cancel":          s.handleCancel,
		"POST /delegations/{id}/collect":         s.handleCollect,
		"POST /delegations/{id}/find":            s.handleFindIn,
		"POST /delegations/{id}/events":          s.handleReport,
		"POST /delegations/{id}/result":          s.handleResult,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				s.refuse(w, r, err)
			}
		})
	}
	return s.guard(mux)
}

// guard is what every request passes through.
func (s *Server) guard(mux *http.ServeMux) http.Handler {
	// Browsers must not be made to post here by somebody else's page.
	crossOrigin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if v := recover(); v != nil {
				if v == http.ErrAbortHandler {
					panic(v)
				}
				s.cfg.Log.Error("panic", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
				s.refuse(w, r, swarm.Errorf(swarm.CodeInternal, "internal error"))
			}
		}()
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := crossOrigin.Check(r); err != nil {
			s.refuse(w, r, swarm.Errorf(swarm.CodeForbidden, "%v", err))
			return
		}
		handler, pattern := mux.Handler(r)
		if pattern == "" {
			s.refuse(w, r, noRoute(handler, w, r))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, s.cfg.MaxBodyBytes)
		mux.ServeHTTP(w, r)
	})
}

// noRoute says in our own form what the mux would have said in plain text.
func noRoute(handler http.Handler, w http.ResponseWriter, r *http.Request) error {
	said := muteWriter{header: make(http.Header)}
	handler.ServeHTTP(&said, r)
	if said.status == http.StatusMethodNotAllowed {
		allow := said.header.Get("Allow")
		w.Header().Set("Allow", allow)
		return swarm.Errorf(swarm.CodeMethod, "%s %s: the methods here are %s", r.Method, r.URL.Path, allow)
	}
	return swarm.Errorf(swarm.CodeNotFound, "no route %s %s", r.Method, r.URL.Path)
}

// muteWriter takes an answer for its status and header alone.
type muteWriter struct {
	header http.Header
	status int
}

func (m *muteWriter) Header() http.Header         { return m.header }
func (m *muteWriter) WriteHeader(status int)      { m.status = status }
func (m *muteWriter) Write(b []byte) (int, error) { return len(b), nil }

// asError gives the error that a client sees.
func (s *Server) asError(r *http.Request, err error) *swarm.Error {
	if e, ok := errors.AsType[*swarm.Error](err); ok {
		return e
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return swarm.Errorf(swarm.CodeTooLarge, "the body has more than %d bytes, the most that is allowed", tooLarge.Limit)
	}
	switch {
	case errors.Is(err, engine.ErrTooLarge):
		return swarm.Errorf(swarm.CodeTooLarge, "%v", err)
	case errors.Is(err, engine.ErrUnavailable), errors.Is(err, errClosed):
		s.cfg.Log.Error("engine not available", "path", r.URL.Path, "error", err)
		return swarm.Errorf(swarm.CodeUnavailable, "the engine does not answer; try again in some seconds")
	}
	s.cfg.Log.Error("internal error", "method", r.Method, "path", r.URL.Path, "error", err)
	return swarm.Errorf(swarm.CodeInternal, "internal error")
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return // nobody is there to be told
	}
	e := s.asError(r, err)
	status := statusOf[e.Code]
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="swarmseal"`)
	}
	s.writeJSON(w, status, map[string]*swarm.Error{"error": e})
}

func (s *Server) writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json2.Marshal(v, json2.Deterministic(true))
	if err != nil {
		s.cfg.Log.Error("answer not encoded", "error", err)
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // a client that is gone needs no answer
}

// readStrict reads a body that is one JSON value, as signed documents are read.
func readStrict[T any](r *http.Request) (*T, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	var v T
	if err := swarm.DecodeStrict(data, &v); err != nil {
		return nil, err
	}
	return &v, nil
}

// readLoose reads a JSON object of which others may know more than we do.
func readLoose[T any](r *http.Request) (*T, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, bodyError(err)
	}
	var v T
	if err := json2.Unmarshal(data, &v); err != nil {
		return nil, swarm.Errorf(swarm.CodeInvalid, "body: %v", err)
	}
	return &v, nil
}

func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return swarm.Errorf(swarm.CodeInvalid, "body: %v", err)
}

func pathWallet(r *http.Request) (wallet.Address, error) {
	a, err := wallet.ParseAddress(r.PathValue("wallet"))
	if err != nil {
		return a, swarm.Errorf(swarm.CodeInvalid, "path: %v", err)
	}
	return a, nil
}

func pathRun(r *http.Request, name string) (string, error) {
	id := r.PathValue(name)
	return id, swarm.CheckID(id)
}

// preferWait gives how long a client asked to wait for the outcome by
// "Prefer: wait=SECONDS" (RFC 7240), at most a delegation's longest timeout.
func preferWait(r *http.Request) time.Duration {
	for _, header := range r.Header.Values("Prefer") {
		for part := range strings.SplitSeq(header, ",") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(part), "wait="); ok {
				if n, err := strconv.ParseUint(value, 10, 16); err == nil {
					return min(time.Duration(n)*time.Second, swarm.MaxTimeout)
				}
			}
		}
	}
	return 0
}

func (s *Server) handleHealth(w http.ResponseWriter, _ *http.Request) error {
	s.writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

func (s *Server) handleReady(w http.ResponseWriter, r *http.Request) error {
	if s.draining.Load() {
		return swarm.Errorf(swarm.CodeUnavailable, "the server is shutting down")
	}
	if err := s.engine.Ready(r.Context()); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, map[string]any{"status": "ready", "inFlight": s.InFlight(), "agents": s.agents.index.Len()})
	return nil
}

func (s *Server) handleInfo(w http.ResponseWriter, _ *http.Request) error {
	s.writeJSON(w, http.StatusOK, s.Info())
	return nil
}

func (s *Server) handleSignIn(w http.ResponseWriter, r *http.Request) error {
	signed, err := readStrict[swarm.SignedSession](r)
	if err != nil {
		return err
	}
	token, err := s.signIn(r, signed)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, swarm.Token{Token: token, Wallet: signed.Session.Wallet, ExpiresAt: signed.Session.ExpiresAt})
	return nil
}
