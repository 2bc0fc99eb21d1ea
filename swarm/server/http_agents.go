package server

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Bounds of a page of agents.
const (
	defaultAgentsPage  = 100
	maxAgentsPage      = 1_000
	composeSearchLimit = 8 // Compose's search has another default than the tools
)

// handleAgents lists agents by wallet: ?limit=100 (1–1000)&after=WALLET.
func (s *Server) handleAgents(w http.ResponseWriter, r *http.Request) error {
	limit, err := intParam(r, "limit", defaultAgentsPage, maxAgentsPage)
	if err != nil {
		return err
	}
	var after wallet.Address
	if text := r.URL.Query().Get("after"); text != "" {
		if after, err = wallet.ParseAddress(text); err != nil {
			return swarm.Errorf(swarm.CodeInvalid, "after: %v", err)
		}
	}
	page := swarm.AgentsPage{Agents: []swarm.ListedAgent{}}
	for card := range s.agents.index.All() {
		if slices.Compare(card.Wallet[:], after[:]) <= 0 {
			continue
		}
		if len(page.Agents) == limit {
			page.Next = page.Agents[limit-1].Wallet
			break
		}
		page.Agents = append(page.Agents, swarm.ListedAgent{
			Wallet: card.Wallet, Name: card.Name, Kind: card.Kind, Summary: card.Summary, Tags: card.Tags,
			Available: s.inboxes.available(card.Wallet), Connected: s.inboxes.connected(card.Wallet),
		})
	}
	s.writeJSON(w, http.StatusOK, page)
	return nil
}

// handleSearch finds agents: ?q= (or query=), with Compose's limit (8; 1–50)
// or the tools' top_k (5; 1–20), strictness, output_detail and include_tags,
// which may be repeated.
func (s *Server) handleSearch(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	for name := range params {
		switch name {
		case "q", "query", "limit", "top_k", "strictness", "output_detail", "include_tags":
		default:
			return swarm.Errorf(swarm.CodeInvalid,
				"unknown parameter %q; known are q (or query), limit, top_k, strictness, output_detail, include_tags", name)
		}
	}
	q := swarm.Query{Text: params.Get("q"), Detail: swarm.Detail(params.Get("output_detail")), Tags: params["include_tags"]}
	if q.Text == "" {
		q.Text = params.Get("query")
	}
	if text := params.Get("strictness"); text != "" {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return swarm.Errorf(swarm.CodeInvalid, "strictness is %q; allowed are 0 to 1", text)
		}
		q.Strictness = &v
	}
	name, preset, most := "limit", composeSearchLimit, swarm.MaxLimit
	if params.Has("top_k") {
		name, preset, most = "top_k", swarm.DefaultTopK, swarm.MaxTopK
	}
	var err error
	if q.TopK, err = intParam(r, name, preset, most); err != nil {
		return err
	}
	if q, err = q.NormalizeWithin(most); err != nil {
		return err
	}
	// Who is signed in is a caller with whom things may be open.
	var caller wallet.Address
	if r.Header.Get("Authorization") != "" {
		if caller, err = s.caller(r); err != nil {
			return err
		}
	}
	s.writeJSON(w, http.StatusOK, s.search(caller, q, nil))
	return nil
}

func intParam(r *http.Request, name string, preset, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return preset, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, swarm.Errorf(swarm.CodeInvalid, "%s is %q; allowed are 1 to %d", name, text, most)
	}
	return n, nil
}

// handleAgent gives an agent's card with the registration that vouches for it.
func (s *Server) handleAgent(w http.ResponseWriter, r *http.Request) error {
	reg, card, err := s.registeredAt(r)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, swarm.RegisteredAgent{
		Card: *card, Registration: *reg.Signed,
		Available: s.inboxes.available(card.Wallet), Connected: s.inboxes.connected(card.Wallet),
		CreatedAt: time.UnixMilli(reg.Created).UTC(), UpdatedAt: time.UnixMilli(reg.Updated).UTC(),
	})
	return nil
}

// handleCard gives the card alone: Compose's route.
func (s *Server) handleCard(w http.ResponseWriter, r *http.Request) error {
	_, card, err := s.registeredAt(r)
	if err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, card)
	return nil
}

func (s *Server) registeredAt(r *http.Request) (*registered, *swarm.Card, error) {
	agent, err := pathWallet(r)
	if err != nil {
		return nil, nil, err
	}
	reg, ok := s.agents.get(agent)
	card, listed := s.agents.index.Get(agent)
	if !ok || !listed {
		return nil, nil, swarm.Errorf(swarm.CodeAgentNotFound, "no agent is registered under %v", agent)
	}
	return reg, card, nil
}

func (s *Server) handleRegister(w http.ResponseWriter, r *http.Request) error {
	agent, err := pathWallet(r)
	if err != nil {
		return err
	}
	signed, err := readStrict[swarm.SignedRegistration](r)
	if err != nil {
		return err
	}
	if signed.Registration.Wallet != agent {
		return swarm.Errorf(swarm.CodeInvalid, "registration.wallet is %v; the path says %v", signed.Registration.Wallet, agent)
	}
	if err := s.register(r.Context(), signed); err != nil {
		return err
	}
	s.writeJSON(w, http.StatusOK, map[string]any{"wallet": agent, "seq": signed.Registration.Seq, "active": signed.Registration.Active})
	return nil
}

// handleInbox is a worker's stream of tasks: ?slots=16 (1–1000) is how many it
// takes at once.
func (s *Server) handleInbox(w http.ResponseWriter, r *http.Request) error {
	agent, err := pathWallet(r)
	if err != nil {
		return err
	}
	if err := s.callerIs(r, agent); err != nil {
		return err
	}
	slots, err := intParam(r, "slots", defaultSlots, maxSlots)
	if err != nil {
		return err
	}
	if _, ok := s.agents.get(agent); !ok {
		return swarm.Errorf(swarm.CodeAgentNotFound, "no agent is registered under %v: register first", agent)
	}
	if s.draining.Load() {
		return swarm.Errorf(swarm.CodeUnavailable, "the server is shutting down; come back in some seconds")
	}
	if !s.enter() {
		return errClosed
	}
	defer s.streams.Done()
	out, err := s.newWriter(w, r)
	if err != nil {
		return err
	}
	defer s.closeStream(out)
	if err := out.Comment("open"); err != nil {
		return nil // gone already
	}
	conn := s.inboxes.connect(agent, slots)
	if conn == nil {
		return nil // closing: the worker comes back
	}
	defer s.inboxes.disconnect(conn)
	s.cfg.Log.Debug("worker connected", "agent", agent, "slots", slots)
	for {
		select {
		case f, ok := <-conn.frames:
			if !ok {
				return nil
			}
			data, err := json2.Marshal(f.body)
			if err == nil {
				err = out.Send(stream.Frame{Event: f.name, Data: data})
			}
			if err != nil {
				s.cfg.Log.Debug("inbox ended", "agent", agent, "error", err)
				return nil // its tasks go back to the queue
			}
		case <-out.Done():
			return nil // its tasks go back to the queue
		}
	}
}
