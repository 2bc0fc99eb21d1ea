package server

import (
	"context"
	"sync"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/discovery"
	"github.com/swarmseal/swarmseal/wallet"
)

// registered is a registration as the engine keeps it.
type registered struct {
	Signed  *swarm.SignedRegistration `json:"signed"`
	Created int64                     `json:"created"` // Unix milliseconds of the first one
	Updated int64                     `json:"updated"`
}

// registry follows the engine's registrations: what is active is in the index.
type registry struct {
	index *discovery.Index

	mu    sync.Mutex
	known map[wallet.Address]*registered
}

// see takes in a registration; an older one than is known changes nothing, so
// that a writer's own call and the watch's may come in any order.
func (g *registry) see(_ string, data []byte) {
	var reg registered
	if json2.Unmarshal(data, &reg) != nil || reg.Signed == nil {
		return // of a newer version; what is known stays
	}
	card, err := swarm.ParseCard([]byte(reg.Signed.Card))
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := &reg.Signed.Registration
	if before := g.known[r.Wallet]; before != nil && before.Signed.Registration.Seq >= r.Seq {
		return
	}
	g.known[r.Wallet] = &reg
	if r.Active {
		g.index.Put(card)
	} else {
		g.index.Remove(r.Wallet)
	}
}

func (g *registry) get(agent wallet.Address) (*registered, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	reg, ok := g.known[agent]
	return reg, ok && reg.Signed.Registration.Active
}

// name gives an agent's display name: its card's, or its address in short.
func (g *registry) name(agent wallet.Address) string {
	if card, ok := g.index.Get(agent); ok {
		return card.Name
	}
	return agent.Short()
}

// register checks a signed registration and keeps it. When it returns, the
// agent is found.
func (s *Server) register(ctx context.Context, signed *swarm.SignedRegistration) error {
	if _, err := signed.Verify(s.domain, time.Now()); err != nil {
		return err
	}
	r := &signed.Registration
	if !r.Replaces.IsZero() {
		return swarm.Errorf(swarm.CodeInvalid, "registration.replaces must be zero: this server does not rotate keys")
	}
	now := time.Now().UnixMilli()
	next := registered{Signed: signed, Created: now, Updated: now}
	var data []byte
	err := s.engine.UpdateAgent(ctx, r.Wallet.String(), func(old []byte) ([]byte, error) {
		next.Created = now
		if old != nil {
			var before registered
			if err := json2.Unmarshal(old, &before); err != nil {
				return nil, swarm.Errorf(swarm.CodeInternal, "the registration kept for %v can't be read: %v", r.Wallet, err)
			}
			b := &before.Signed.Registration
			switch {
			case b.Owner != r.Owner:
				return nil, swarm.Errorf(swarm.CodeForbidden, "%v belongs to %v; the owner can't be changed", r.Wallet, b.Owner)
			case b.Seq == r.Seq && b.Digest(s.domain) == r.Digest(s.domain):
				return old, nil // a retry
			case b.Seq >= r.Seq:
				return nil, swarm.Errorf(swarm.CodeConflict, "registration.seq is %d; one with %d is kept, and seq must rise", r.Seq, b.Seq)
			}
			next.Created = before.Created
		}
		var err error
		data, err = json2.Marshal(&next)
		return data, err
	})
	if err != nil {
		return err
	}
	if data != nil {
		s.agents.see("", data)
	}
	return nil
}
