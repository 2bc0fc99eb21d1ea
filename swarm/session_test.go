package swarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestSessionVerify(t *testing.T) {
	domain, origin := swarm.Domain(testChain), swarm.SessionOrigin(addressOf(server))
	withKey := func(s *swarm.Session) {
		s.SessionKey, s.Scope = addressOf(stranger), append(s.Scope, swarm.ScopeDelegate, swarm.ScopeAnswer)
	}
	for _, c := range []struct {
		name  string
		f     func(s *swarm.Session)
		key   *wallet.Key // signs besides
		after func(s *swarm.SignedSession)
		now   int64
		code  swarm.Code
		says  string
	}{
		{name: "as it should be"},
		{name: "last second", now: 599},
		{name: "expired to the second", now: 600, code: swarm.CodeExpired, says: "expired"},
		{name: "a clock 61 s ahead", now: -61, code: swarm.CodeExpired, says: "clock"},
		{name: "another server", f: func(s *swarm.Session) { s.Origin = swarm.SessionOrigin(addressOf(stranger)) }, code: swarm.CodeUnauthenticated, says: "session.origin"},
		{name: "no origin", f: func(s *swarm.Session) { s.Origin = "" }, code: swarm.CodeUnauthenticated, says: "session.origin"},
		{name: "a key that signs", f: withKey, key: keyOf(stranger)},
		{name: "a key that has not signed", f: withKey, code: swarm.CodeSignature, says: "keySignature"},
		{name: "a key's signature by the wallet", f: withKey, key: keyOf(stranger), after: func(s *swarm.SignedSession) { s.KeySignature = s.Signature }, code: swarm.CodeSignature, says: "keySignature"},
		{name: "a key's signature and no key", after: func(s *swarm.SignedSession) { s.KeySignature = s.Signature }, code: swarm.CodeInvalid, says: "keySignature"},
		{name: "a key and nothing for it to sign", f: func(s *swarm.Session) { s.SessionKey = addressOf(stranger) }, code: swarm.CodeInvalid, says: "sessionKey"},
		{name: "no key for what it is to sign", f: func(s *swarm.Session) { s.Scope = append(s.Scope, swarm.ScopeAnswer) }, code: swarm.CodeInvalid, says: "sessionKey"},
		{name: "the wallet as its own key", f: func(s *swarm.Session) { withKey(s); s.SessionKey = addressOf(scout) }, code: swarm.CodeInvalid, says: "wallet itself"},
		{name: "scopes of messages alone", f: func(s *swarm.Session) { withKey(s); s.Scope = s.Scope[1:] }, key: keyOf(stranger), code: swarm.CodeForbidden, says: "worker"},
		{name: "a scope twice", f: func(s *swarm.Session) { s.Scope = append(s.Scope, swarm.ScopeWorker) }, code: swarm.CodeInvalid, says: "twice"},
		{name: "no scope", f: func(s *swarm.Session) { s.Scope = nil }, code: swarm.CodeInvalid, says: "worker"},
		{name: "another scope", f: func(s *swarm.Session) { s.Scope = []string{"admin"} }, code: swarm.CodeInvalid, says: "worker"},
		{name: "a scope more", f: func(s *swarm.Session) { s.Scope = append(s.Scope, "admin") }, code: swarm.CodeInvalid, says: "worker"},
		{name: "a day and a second", f: func(s *swarm.Session) { s.ExpiresAt = start + 86401 }, code: swarm.CodeInvalid, says: "86400"},
		{name: "expires before it begins", f: func(s *swarm.Session) { s.ExpiresAt = start - 1 }, code: swarm.CodeInvalid, says: "expiresAt"},
		{name: "times that wrap around", f: func(s *swarm.Session) { s.IssuedAt, s.ExpiresAt = 1<<64-2, 1<<64-1 }, code: swarm.CodeInvalid, says: "2^53-1"},
		{name: "another's wallet", after: func(s *swarm.SignedSession) { s.Session.Wallet = addressOf(critic) }, code: swarm.CodeSignature, says: "made by"},
		{name: "longer than signed", after: func(s *swarm.SignedSession) { s.Session.ExpiresAt++ }, code: swarm.CodeSignature, says: "made by"},
		{name: "no signature", after: func(s *swarm.SignedSession) { s.Signature = wallet.Signature{} }, code: swarm.CodeSignature, says: "v must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := swarm.Session{Origin: origin, Scope: []string{swarm.ScopeWorker}, IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{1}}
			if c.f != nil {
				c.f(&session)
			}
			signed, err := swarm.SignSession(t.Context(), keyOf(scout), domain, session)
			if err != nil {
				t.Fatal(err)
			}
			if c.key != nil {
				if err := signed.SignKey(t.Context(), c.key, domain); err != nil {
					t.Fatal(err)
				}
			}
			if c.after != nil {
				c.after(signed)
			}
			err = signed.Verify(domain, origin, time.Unix(start+c.now, 0))
			wantCode(t, err, c.code)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

// A bundle shows its sessions to everyone: nobody can sign in with one.
func TestSessionOfBundleSignsNobodyIn(t *testing.T) {
	b := build(t, keyedTree, change{})
	session := b.Hops[0].Delegation.Session
	if session == nil || !session.Session.Allows(swarm.ScopeWorker) {
		t.Fatalf("session %+v; want one that may sign in", session)
	}
	err := session.Verify(swarm.Domain(testChain), swarm.SessionOrigin(addressOf(server)), time.Unix(start, 0))
	wantCode(t, err, swarm.CodeSignature)
}

// A session's key signs nothing but delegations and results.
func TestSessionSignerIsNarrow(t *testing.T) {
	domain := swarm.Domain(testChain)
	s := sessionFor(t, user, change{})
	_, err := swarm.SignRegistration(t.Context(), s, domain, swarm.Registration{}, "{}")
	wantCode(t, err, swarm.CodeForbidden)
	_, err = swarm.SignSession(t.Context(), s, domain, swarm.Session{})
	wantCode(t, err, swarm.CodeForbidden)
	_, err = swarm.SignArrival(t.Context(), s, domain, swarm.Arrival{})
	wantCode(t, err, swarm.CodeForbidden)
	wantCode(t, s.Session.SignKey(t.Context(), keyOf(user), domain), swarm.CodeForbidden)
}

func TestVerifySessions(t *testing.T) {
	b := build(t, keyedTree, change{})
	report := swarm.VerifyJSON(marshal(t, b), swarm.Expect{})
	if !report.Verified {
		t.Fatalf("not verified: %+v", report.Broken())
	}
	for i, want := range [][2]swarm.Custody{
		{swarm.CustodySession, swarm.CustodyWallet}, {swarm.CustodyWallet, swarm.CustodySession},
		{swarm.CustodySession, swarm.CustodyServer}, {swarm.CustodyServer, swarm.CustodyWallet},
	} {
		if h := report.Hops[i]; h.Custody != want[0] || h.ResultCustody != want[1] {
			t.Errorf("hops[%d]: custody %q and %q, want %q", i, h.Custody, h.ResultCustody, want)
		}
	}
	domain := swarm.Domain(testChain)
	for i := range b.Hops {
		d := &b.Hops[i].Delegation
		if err := d.CheckSigner(domain, d.Delegation.Digest(domain)); err != nil {
			t.Errorf("hops[%d]: %v", i, err)
		}
		wantCode(t, d.CheckSigner(domain, wallet.Digest{1}), swarm.CodeSignature)
	}
}

// Every session is signed by its wallet; what breaks is the rule alone.
func TestVerifySessionRules(t *testing.T) {
	session := func(f func(s *swarm.Session)) change {
		return change{session: func(who int, s *swarm.Session) {
			if who == user {
				f(s)
			}
		}}
	}
	times := func(from, to uint64) change {
		return session(func(s *swarm.Session) { s.IssuedAt, s.ExpiresAt = from, to })
	}
	for _, c := range []struct {
		name string
		c    change
		says string // "" where it holds
	}{
		{"as it should be", change{}, ""},
		{"begins with the message", times(start, start+100), ""},
		{"begins 60 s after it", times(start+60, start+100), ""},
		{"begins 61 s after it", times(start+61, start+100), "outside the session"},
		{"ends a second after it", times(start-100, start+1), ""},
		{"ends with it", times(start-100, start), "outside the session"},
		{"ended before it", times(start-100, start-1), "outside the session"},
		{"a day", times(start-10, start-10+86400), ""},
		{"a day and a second", times(start-10, start-10+86401), "86400"},
		{"no end", times(start, 1<<53-1), "86400"},
		{"for another server", session(func(s *swarm.Session) { s.Origin = swarm.SessionOrigin(addressOf(stranger)) }), "session.origin"},
		{"for a web site", session(func(s *swarm.Session) { s.Origin = "https://swarm.example" }), "session.origin"},
		{"to sign in alone", session(func(s *swarm.Session) { s.Scope = []string{swarm.ScopeWorker} }), "sessionKey and the scopes"},
		{"to answer alone", session(func(s *swarm.Session) { s.Scope = []string{swarm.ScopeAnswer} }), `lacks "delegate"`},
		{"to delegate alone", session(func(s *swarm.Session) { s.Scope = []string{swarm.ScopeDelegate} }), ""},
		{"an unknown scope", session(func(s *swarm.Session) { s.Scope = append(s.Scope, "all") }), "session.scope"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := swarm.VerifyJSON(marshal(t, build(t, keyedTree, c.c)), swarm.Expect{})
			if c.says == "" {
				if !report.Verified {
					t.Errorf("not verified: %+v", report.Broken())
				}
				return
			}
			wantBroken(t, report, 0, swarm.RuleDelegationSession)
			if broken := report.Broken(); len(broken) != 1 || !strings.Contains(broken[0].Detail, c.says) {
				t.Errorf("broken: %+v; want one that says %q", broken, c.says)
			}
		})
	}
}

func TestVerifySessionsTampered(t *testing.T) {
	wallets := build(t, []node{{parent: -1, from: user, to: coordinator, input: "Review.", output: "Fine.", status: swarm.StatusCompleted}}, change{})
	for _, c := range []struct {
		name string
		f    func(b *swarm.Bundle)
		hop  int
		rule swarm.Rule
	}{
		{"dropped", func(b *swarm.Bundle) { b.Hops[0].Delegation.Session = nil }, 0, swarm.RuleDelegationSignature},
		{"a result's dropped", func(b *swarm.Bundle) { b.Hops[1].Result.Session = nil }, 1, swarm.RuleResultSignature},
		{"added to what the wallet signed", func(b *swarm.Bundle) { b.Hops[1].Delegation.Session = b.Hops[1].Result.Session }, 1, swarm.RuleDelegationSignature},
		{"another wallet's", func(b *swarm.Bundle) { b.Hops[0].Delegation.Session = b.Hops[1].Result.Session }, 0, swarm.RuleDelegationSession},
		{"with its key's signature", func(b *swarm.Bundle) {
			s := *b.Hops[0].Delegation.Session
			s.KeySignature = s.Signature
			b.Hops[0].Delegation.Session = &s
		}, 0, swarm.RuleDelegationSession},
		{"longer than signed", func(b *swarm.Bundle) {
			s := *b.Hops[0].Delegation.Session
			s.Session.ExpiresAt++
			b.Hops[0].Delegation.Session = &s
		}, 0, swarm.RuleDelegationSession},
		{"wider than signed", func(b *swarm.Bundle) {
			s := *b.Hops[1].Result.Session
			s.Session.Scope = append([]string{}, swarm.ScopeAnswer, swarm.ScopeDelegate)
			b.Hops[1].Result.Session = &s
		}, 1, swarm.RuleResultSession},
		{"another key's", func(b *swarm.Bundle) {
			s := *b.Hops[0].Delegation.Session
			s.Session.SessionKey = addressOf(stranger)
			b.Hops[0].Delegation.Session = &s
		}, 0, swarm.RuleDelegationSignature},
		{"signed by the key itself", func(b *swarm.Bundle) {
			s := *b.Hops[0].Delegation.Session
			sig, err := sessionKey(user).SignDigest(t.Context(), s.Session.Digest(swarm.Domain(testChain)))
			if err != nil {
				t.Fatal(err)
			}
			s.Signature = sig
			b.Hops[0].Delegation.Session = &s
		}, 0, swarm.RuleDelegationSession},
		{"the wallet's own message under a session's name", func(b *swarm.Bundle) {
			s := b.Hops[0].Delegation.Session
			b.Hops = wallets.Hops
			b.Hops[0].Delegation.Session = s
		}, 0, swarm.RuleDelegationSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, keyedTree, change{})
			c.f(b)
			wantBroken(t, swarm.VerifyJSON(marshal(t, b), swarm.Expect{}), c.hop, c.rule)
		})
	}
}
