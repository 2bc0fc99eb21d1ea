package swarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestRegistrationVerify(t *testing.T) {
	domain := swarm.Domain(testChain)
	card := `{"wallet":"` + addressOf(scout).String() + `","name":"Scout"}`
	for _, c := range []struct {
		name string
		f    func(r *swarm.Registration, card *string)
		// after changes what was signed already.
		after func(s *swarm.SignedRegistration)
		now   int64
		code  swarm.Code
		says  string
	}{
		{name: "as it should be"},
		{name: "a day", f: func(r *swarm.Registration, _ *string) { r.ExpiresAt = start + 86400 }},
		{name: "inactive", f: func(r *swarm.Registration, _ *string) { r.Active = false }},
		{name: "a clock 60 s ahead", now: -60},
		{name: "a clock 61 s ahead", now: -61, code: swarm.CodeExpired, says: "clock"},
		{name: "expired", now: 600, code: swarm.CodeExpired, says: "expired"},
		{name: "a day and a second", f: func(r *swarm.Registration, _ *string) { r.ExpiresAt = start + 86401 }, code: swarm.CodeInvalid, says: "86400"},
		{name: "expires as it begins", f: func(r *swarm.Registration, _ *string) { r.ExpiresAt = start }, code: swarm.CodeInvalid, says: "expiresAt"},
		{name: "an endpoint", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "https://agent.example:8443/a2a?x=1" }},
		{name: "an endpoint on this machine", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "http://[::1]:8080" }},
		{name: "an endpoint of another scheme", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "file:///etc/passwd" }, code: swarm.CodeInvalid, says: "endpoint"},
		{name: "an endpoint that is no URL", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "agent.example" }, code: swarm.CodeInvalid, says: "endpoint"},
		{name: "an endpoint with a password", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "https://a:b@agent.example" }, code: swarm.CodeInvalid, says: "endpoint"},
		{name: "an endpoint with no host", f: func(r *swarm.Registration, _ *string) { r.Endpoint = "https://:80/" }, code: swarm.CodeInvalid, says: "endpoint"},
		{name: "a long endpoint", f: func(r *swarm.Registration, _ *string) {
			r.Endpoint = "https://agent.example/" + strings.Repeat("x", 2048)
		}, code: swarm.CodeInvalid, says: "2048"},
		{name: "it replaces itself", f: func(r *swarm.Registration, _ *string) { r.Replaces = addressOf(scout) }, code: swarm.CodeInvalid, says: "replaces"},
		{name: "a second signature for nothing", after: func(s *swarm.SignedRegistration) { s.OwnerSignature = s.Signature }, code: swarm.CodeInvalid, says: "ownerSignature"},
		{name: "a third signature for nothing", after: func(s *swarm.SignedRegistration) { s.ReplacedSignature = s.Signature }, code: swarm.CodeInvalid, says: "replacedSignature"},
		{name: "nobody's", after: func(s *swarm.SignedRegistration) { s.Registration.Wallet = wallet.Address{} }, code: swarm.CodeInvalid, says: "zero address"},
		{name: "replaces changed", after: func(s *swarm.SignedRegistration) { s.Registration.Replaces = addressOf(critic) }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "owner changed to the thief", after: func(s *swarm.SignedRegistration) { s.Registration.Owner = addressOf(stranger) }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "times that wrap around", f: func(r *swarm.Registration, _ *string) { r.IssuedAt, r.ExpiresAt = 1<<64-2, 1<<64-1 }, code: swarm.CodeInvalid, says: "2^53-1"},
		{name: "the last second", now: 599},
		{name: "seq 2^53", f: func(r *swarm.Registration, _ *string) { r.Seq = 1 << 53 }, code: swarm.CodeInvalid, says: "2^53-1"},
		{name: "another's card", f: func(_ *swarm.Registration, card *string) {
			*card = strings.Replace(*card, addressOf(scout).String(), addressOf(critic).String(), 1)
		}, code: swarm.CodeInvalid, says: "card.wallet"},
		{name: "a bad card", f: func(_ *swarm.Registration, card *string) { *card = "{}" }, code: swarm.CodeInvalid, says: "card.wallet"},
		{name: "card changed", after: func(s *swarm.SignedRegistration) { s.Card += " " }, code: swarm.CodeSignature, says: "cardHash"},
		{name: "seq changed", after: func(s *swarm.SignedRegistration) { s.Registration.Seq++ }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "revoked by a stranger", after: func(s *swarm.SignedRegistration) { s.Registration.Active = false }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "endpoint changed", after: func(s *swarm.SignedRegistration) { s.Registration.Endpoint = "https://evil.example" }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "another's wallet", after: func(s *swarm.SignedRegistration) { s.Registration.Wallet = addressOf(critic) }, code: swarm.CodeSignature, says: "wallet's"},
		{name: "no signature", after: func(s *swarm.SignedRegistration) { s.Signature = wallet.Signature{} }, code: swarm.CodeSignature, says: "v must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := card
			r := swarm.Registration{Seq: 7, Active: true, IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{1}}
			if c.f != nil {
				c.f(&r, &text)
			}
			signed, err := swarm.SignRegistration(t.Context(), keyOf(scout), domain, r, text)
			if err != nil {
				t.Fatal(err)
			}
			if c.after != nil {
				c.after(signed)
			}
			got, err := signed.Verify(domain, time.Unix(start+c.now, 0))
			wantCode(t, err, c.code)
			if (got == nil) != (c.code != "") {
				t.Errorf("card %v with the error %v", got, err)
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
			if _, err := signed.Verify(swarm.Domain(testChain+1), time.Unix(start+c.now, 0)); err == nil {
				t.Error("it holds on another chain, too")
			}
		})
	}
}

func TestRegistrationByOwner(t *testing.T) {
	domain := swarm.Domain(testChain)
	card := `{"wallet":"` + addressOf(scout).String() + `","name":"Scout"}`
	r := swarm.Registration{
		Wallet: addressOf(scout), Owner: addressOf(user), CardHash: wallet.Keccak256([]byte(card)), Seq: 1, Active: true,
		IssuedAt: start, ExpiresAt: start + 600, Nonce: wallet.Digest{1},
	}
	sign := func(who int) wallet.Signature {
		sig, err := keyOf(who).SignDigest(t.Context(), r.Digest(domain))
		if err != nil {
			t.Fatal(err)
		}
		return sig
	}
	for _, c := range []struct {
		name         string
		agent, owner wallet.Signature
		code         swarm.Code
		says         string
	}{
		{"both", sign(scout), sign(user), "", ""},
		{"the agent alone", sign(scout), wallet.Signature{}, swarm.CodeSignature, "owner's"},
		{"the owner alone", wallet.Signature{}, sign(user), swarm.CodeSignature, "wallet's"},
		{"the agent for both", sign(scout), sign(scout), swarm.CodeSignature, "owner's"},
		{"the wrong way round", sign(user), sign(scout), swarm.CodeSignature, "wallet's"},
	} {
		s := swarm.SignedRegistration{Registration: r, Signature: c.agent, OwnerSignature: c.owner, Card: card}
		_, err := s.Verify(domain, time.Unix(start, 0))
		t.Run(c.name, func(t *testing.T) { wantCode(t, err, c.code) })
		if err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v does not say %q", c.name, err, c.says)
		}
	}
}

// registration signs for a wallet and its owner.
func registration(t *testing.T, wallet, owner int, f func(r *swarm.Registration)) *swarm.SignedRegistration {
	t.Helper()
	domain := swarm.Domain(testChain)
	r := swarm.Registration{Owner: addressOf(owner), Seq: 7, Active: true, IssuedAt: start, ExpiresAt: start + 600}
	if f != nil {
		f(&r)
	}
	s, err := swarm.SignRegistration(t.Context(), keyOf(wallet), domain, r, `{"wallet":"`+addressOf(wallet).String()+`","name":"Agent"}`)
	if err == nil && wallet != owner {
		err = s.SignOwner(t.Context(), keyOf(owner), domain)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(domain, time.Unix(start, 0)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRegistrationCheckNext(t *testing.T) {
	domain := swarm.Domain(testChain)
	kept := registration(t, scout, user, nil)
	for _, c := range []struct {
		name  string
		next  *swarm.SignedRegistration
		again bool
		code  swarm.Code
	}{
		{"the same, sent again", registration(t, scout, user, nil), true, ""},
		{"a later one", registration(t, scout, user, func(r *swarm.Registration) { r.Seq = 8 }), false, ""},
		{"it revokes", registration(t, scout, user, func(r *swarm.Registration) { r.Seq, r.Active = 8, false }), false, ""},
		{"the same seq, another content", registration(t, scout, user, func(r *swarm.Registration) { r.Endpoint = "https://other.example" }), false, swarm.CodeConflict},
		{"a stolen old one", registration(t, scout, user, func(r *swarm.Registration) { r.Seq = 6 }), false, swarm.CodeConflict},
		{"by the agent without its owner", registration(t, scout, scout, func(r *swarm.Registration) { r.Seq = 8 }), false, swarm.CodeForbidden},
		{"by another owner", registration(t, scout, stranger, func(r *swarm.Registration) { r.Seq = 8 }), false, swarm.CodeForbidden},
		{"it replaces another, too late", registration(t, scout, user, func(r *swarm.Registration) { r.Seq, r.Replaces = 8, addressOf(critic) }), false, swarm.CodeConflict},
		{"another wallet's", registration(t, critic, user, func(r *swarm.Registration) { r.Seq = 8 }), false, swarm.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			again, err := c.next.Registration.CheckNext(domain, &kept.Registration)
			wantCode(t, err, c.code)
			if again != c.again {
				t.Errorf("again %v, want %v", again, c.again)
			}
		})
	}
}

func TestRegistrationCheckReplaces(t *testing.T) {
	domain := swarm.Domain(testChain)
	replaces := func(r *swarm.Registration) { r.Seq, r.Replaces = 8, addressOf(scout) }
	consent := func(s *swarm.SignedRegistration, who int) *swarm.SignedRegistration {
		t.Helper()
		if err := s.SignReplaced(t.Context(), keyOf(who), domain); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Verify(domain, time.Unix(start, 0)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	owned, own := registration(t, scout, user, nil), registration(t, scout, scout, nil)
	for _, c := range []struct {
		name string
		next *swarm.SignedRegistration
		old  *swarm.SignedRegistration
		code swarm.Code
	}{
		{"of one owner", registration(t, reader, user, replaces), owned, ""},
		{"the owner takes over himself", registration(t, user, user, replaces), owned, ""},
		{"to another owner, with the old one's consent", consent(registration(t, reader, critic, replaces), user), owned, ""},
		{"its own owner, with its old key's consent", consent(registration(t, reader, reader, replaces), scout), own, ""},
		{"its own owner, owned by its old key from now on", registration(t, reader, scout, replaces), own, ""},
		{"by a stranger", registration(t, stranger, stranger, replaces), owned, swarm.CodeSignature},
		{"by a stranger, of an agent that owns itself", registration(t, stranger, stranger, replaces), own, swarm.CodeSignature},
		{"by a thief of the agent's key", consent(registration(t, stranger, stranger, replaces), scout), owned, swarm.CodeSignature},
		{"by a thief of the agent's key as the owner", registration(t, stranger, scout, replaces), owned, swarm.CodeSignature},
		{"with a consent of somebody else's", consent(registration(t, stranger, stranger, replaces), critic), own, swarm.CodeSignature},
		{"with a consent too many", consent(registration(t, reader, user, replaces), scout), owned, swarm.CodeInvalid},
		{"seq as it was", registration(t, reader, user, func(r *swarm.Registration) { r.Replaces = addressOf(scout) }), owned, swarm.CodeConflict},
		{"another agent", registration(t, reader, user, func(r *swarm.Registration) { r.Seq, r.Replaces = 8, addressOf(critic) }), owned, swarm.CodeInvalid},
		{"nobody", registration(t, reader, user, func(r *swarm.Registration) { r.Seq = 8 }), owned, swarm.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantCode(t, c.next.CheckReplaces(domain, &c.old.Registration), c.code)
			if err := c.next.CheckReplaces(swarm.Domain(1), &c.old.Registration); !c.next.ReplacedSignature.IsZero() && err == nil {
				t.Error("the consent holds on another chain, too")
			}
		})
	}
}

func TestRegistrationSigners(t *testing.T) {
	domain := swarm.Domain(testChain)
	s := registration(t, reader, user, nil)
	wantCode(t, s.SignOwner(t.Context(), keyOf(stranger), domain), swarm.CodeForbidden)
	wantCode(t, s.SignOwner(t.Context(), keyOf(reader), domain), swarm.CodeInvalid)
	wantCode(t, s.SignReplaced(t.Context(), keyOf(scout), domain), swarm.CodeInvalid)
	s = registration(t, reader, user, func(r *swarm.Registration) { r.Replaces = addressOf(scout) })
	wantCode(t, s.SignReplaced(t.Context(), keyOf(user), domain), swarm.CodeInvalid)
	wantCode(t, s.SignReplaced(t.Context(), sessionFor(t, scout, change{}), domain), swarm.CodeForbidden)
}
