package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// admit takes in a signed delegation: it checks everything that can be
// checked, cheap things first and signatures before anything is stored, then
// writes the run's first record. The same delegation again gives the run that
// it has; another one under its nonce is a conflict.
func (s *Server) admit(ctx context.Context, signed *swarm.SignedDelegation) (*liveRun, error) {
	d := &signed.Delegation
	switch {
	case d.Server != s.cfg.Key.Address():
		return nil, swarm.Errorf(swarm.CodeInvalid, "delegation.server is %v; this is %v", d.Server, s.cfg.Key.Address())
	case len(d.Attachments) > 0:
		return nil, swarm.Errorf(swarm.CodeInvalid, "delegation.attachments: this server carries none; put the text into the input")
	}
	if got := wallet.Keccak256([]byte(signed.Input)); got != d.InputHash {
		return nil, swarm.Errorf(swarm.CodeSignature, "delegation.inputHash is not the Keccak-256 of the input that came (%v)", got)
	}
	digest := d.Digest(s.domain)
	if err := wallet.Verify(d.From, digest, signed.Signature); err != nil {
		return nil, swarm.Errorf(swarm.CodeSignature, "delegation: %v", err)
	}
	// A retry comes before all rules about the moment: its delegation was
	// admitted when they held.
	if r, err := s.known(d, digest); r != nil || err != nil {
		return r, err
	}
	parent, err := s.checkMoment(d)
	if err != nil {
		// The run may have ended since, and left the table.
		r, earlier := s.earlier(ctx, d, digest)
		if earlier == nil || swarm.CodeOf(earlier) == swarm.CodeNonceConflict {
			return r, earlier
		}
		return nil, err
	}
	return s.create(ctx, parent, signed, digest)
}

// checkMoment applies the rules that hold or not at this moment, and gives the
// run that delegates, which is nil at hop 0.
func (s *Server) checkMoment(d *swarm.Delegation) (parent *liveRun, err error) {
	if s.draining.Load() {
		return nil, swarm.Errorf(swarm.CodeUnavailable, "the server is shutting down; try again in some seconds")
	}
	if err := d.Check(time.Now()); err != nil {
		return nil, err
	}
	if err := s.checkTarget(d); err != nil {
		return nil, err
	}
	if d.Hop == 0 {
		return nil, nil
	}
	if parent = s.table.lookupDigest(d.Parent); parent == nil {
		return nil, swarm.Errorf(swarm.CodeNotFound, "delegation.parent %v is no run in progress here", d.Parent)
	}
	return parent, nil
}

// known gives the run that a delegation has in the table, or nil.
func (s *Server) known(d *swarm.Delegation, digest wallet.Digest) (*liveRun, error) {
	r := s.table.lookup(d.ID())
	if r == nil {
		return nil, nil
	}
	if r.digest != digest {
		return nil, nonceConflict(d)
	}
	return r, nil
}

func nonceConflict(d *swarm.Delegation) error {
	return &swarm.Error{
		Code: swarm.CodeNonceConflict, Message: fmt.Sprintf("nonce %v of %v was used for another delegation", d.Nonce, d.From),
		Details: fmt.Appendf(nil, `{"id":%q}`, d.ID()),
	}
}

func (s *Server) checkTarget(d *swarm.Delegation) error {
	card, ok := s.agents.index.Get(d.To)
	switch {
	case !ok:
		return swarm.Errorf(swarm.CodeAgentNotFound, "no agent is registered under %v", d.To)
	case card.Kind == swarm.KindHuman:
		return swarm.Errorf(swarm.CodeHuman, "%v is a person; only programs are delegated to", d.To)
	case !s.inboxes.available(d.To):
		return swarm.Errorf(swarm.CodeNotAvailable, "%v is registered, but none of its workers is connected", d.To)
	}
	if d.Skill != "" && !slices.ContainsFunc(card.Skills, func(k swarm.Skill) bool { return k.ID == d.Skill }) {
		return swarm.Errorf(swarm.CodeInvalid, "delegation.skill %q is none of %v's skills", d.Skill, d.To)
	}
	return nil
}

// create writes the first record. For a child the run above is held still
// meanwhile: it can't get its outcome between our look at it and our write.
func (s *Server) create(ctx context.Context, parent *liveRun, signed *swarm.SignedDelegation, digest wallet.Digest) (*liveRun, error) {
	d := &signed.Delegation
	id := d.ID()
	root, rec := id, &record{Kind: kindCreated, Delegation: signed}
	var chain []swarm.Link
	if parent != nil {
		parent.writing.Lock()
		defer parent.writing.Unlock()
		root, rec.ParentID = parent.tree.rootID, parent.id
	}
	var err error
	s.table.read(func() {
		if parent != nil {
			if parent.state.Terminal() {
				err = swarm.Errorf(swarm.CodeConflict, "the run %s that delegates has its outcome already (%s)", parent.id, parent.state)
				return
			}
			chain = links(parent.chain())
			rec.Known = parent.tree.lastSeq
		}
		err = s.checkLoad(d)
	})
	if err != nil {
		return nil, err
	}
	if err := swarm.CheckChain(chain, d); err != nil {
		return nil, err
	}
	data, err := rec.encode()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	writing, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	seq, err := s.engine.Create(writing, root, id, data)
	if errors.Is(err, engine.ErrExists) {
		return s.earlier(ctx, d, digest)
	}
	if err != nil {
		return nil, err
	}
	e := engine.Entry{Seq: seq, Root: root, Run: id}
	if r := s.table.write(e, rec); r != nil {
		s.noted(r, rec)
		return r, nil
	}
	// The consumer was faster, and saw to it; the run may even have ended.
	return s.find(ctx, id)
}

// checkLoad refuses what would be too much at once; the table's lock is held.
func (s *Server) checkLoad(d *swarm.Delegation) error {
	switch {
	case s.table.inFlight >= s.cfg.MaxInFlight:
		return swarm.Errorf(swarm.CodeRateLimited, "%d runs are in flight, the most that this server takes", s.cfg.MaxInFlight)
	case s.table.toAgent[d.To] >= s.cfg.MaxInFlightPerTo:
		return swarm.Errorf(swarm.CodeRateLimited, "%d runs to %v are in flight, the most for one agent", s.cfg.MaxInFlightPerTo, d.To)
	}
	return nil
}

// earlier gives the run under an id that was used before.
func (s *Server) earlier(ctx context.Context, d *swarm.Delegation, digest wallet.Digest) (*liveRun, error) {
	r, err := s.find(ctx, d.ID())
	switch {
	case err != nil:
		return nil, err
	case r.digest != digest:
		return nil, nonceConflict(d)
	}
	return r, nil
}

// admitAnonymous makes a delegation for somebody who does not sign: the
// server asks on its own account, and the bundle shows it. key names the
// request where it is not "": the same again finds its run.
func (s *Server) admitAnonymous(ctx context.Context, to wallet.Address, message, key string) (*liveRun, error) {
	now := time.Now()
	d := swarm.Delegation{
		MaxHops: swarm.MaxHops, To: to, Server: s.cfg.Key.Address(),
		IssuedAt: uint64(now.Unix()), ExpiresAt: uint64(now.Add(swarm.DefaultTimeout).Unix()),
	}
	_, _ = rand.Read(d.TaskID[:]) // never fails
	_, _ = rand.Read(d.Nonce[:])
	if key != "" {
		d.Nonce = swarm.NonceOf(key)
	}
	signed, err := swarm.SignDelegation(ctx, s.cfg.Key, s.domain, d, message)
	if err != nil {
		return nil, err
	}
	r, err := s.admit(ctx, signed)
	if key == "" || swarm.CodeOf(err) != swarm.CodeNonceConflict {
		return r, err
	}
	if r, err = s.find(ctx, signed.Delegation.ID()); err != nil {
		return nil, err
	}
	if r.to() != to || r.signed.Input != message {
		return nil, swarm.Errorf(swarm.CodeNonceConflict, "runId %q was used for another message", key)
	}
	return r, nil
}
