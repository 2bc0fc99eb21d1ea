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
