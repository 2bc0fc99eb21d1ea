package swarm_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// showing is a wallet that signs what it is shown and nothing else, as clef and
// browsers' wallets do: the digest is go-ethereum's of the JSON.
type showing struct {
	*wallet.Key
	shown map[string]string
}

func (s *showing) Sign(ctx context.Context, m wallet.Message) (wallet.Signature, error) {
	data, err := m.TypedData()
	if err != nil {
		return wallet.Signature{}, err
	}
	var typed apitypes.TypedData
	if err := json.Unmarshal(data, &typed); err != nil {
		return wallet.Signature{}, err
	}
	digest, _, err := apitypes.TypedDataAndHash(typed)
	if err != nil {
		return wallet.Signature{}, err
	}
	var types strings.Builder
	for _, name := range []string{typed.PrimaryType, "Attachment"} {
		if list, ok := typed.Types[name]; ok {
			types.WriteString(encodedType(name, list))
		}
	}
	s.shown[typed.PrimaryType] = types.String()
	return s.SignDigest(ctx, wallet.Digest(digest))
}

// encodedType gives a type on a line, as EIP-712 encodes it.
func encodedType(name string, members []apitypes.Type) string {
	var list []string
	for _, member := range members {
		list = append(list, member.Type+" "+member.Name)
	}
	return name + "(" + strings.Join(list, ",") + ")\n"
}

// Whatever is signed here can be signed by a wallet that hashes for itself, and
// what it is shown is the whole schema.
func TestOtherWalletsSign(t *testing.T) {
	s := &showing{keyOf(user), make(map[string]string)}
	domain := swarm.Domain(testChain)
	attachments := []swarm.Attachment{{Name: "a <b>.txt", MediaType: "text/plain", Size: 1 << 60, Hash: wallet.Keccak256()}}
	check := func(digest wallet.Digest, sig wallet.Signature, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if err := wallet.Verify(s.Address(), digest, sig); err != nil {
			t.Error(err)
		}
	}
	d, err := swarm.SignDelegation(t.Context(), s, domain, swarm.Delegation{
		Hop: 1, MaxHops: 5, To: addressOf(server), Skill: "<count> & “more”", Attachments: attachments, MaxPrice: wallet.Amount{0: 1}, IssuedAt: 1, ExpiresAt: 1<<53 + 1,
	}, "to be")
	check(d.Delegation.Digest(domain), d.Signature, err)
	r, err := swarm.SignResult(t.Context(), s, domain, swarm.Result{
		To: addressOf(server), Status: swarm.StatusCompleted, Last: true, Attachments: attachments, Children: []wallet.Digest{wallet.Keccak256()},
	}, "6")
	check(r.Result.Digest(domain), r.Signature, err)
	a, err := swarm.SignArrival(t.Context(), s, domain, swarm.Arrival{ReceivedAt: 7, Late: true})
	check(a.Arrival.Digest(domain), a.Signature, err)
	reg, err := swarm.SignRegistration(t.Context(), s, domain, swarm.Registration{Seq: 9, Endpoint: "https://example.org/", Active: true}, "{}")
	check(reg.Registration.Digest(domain), reg.Signature, err)
	session, err := swarm.SignSession(t.Context(), s, domain, swarm.Session{Origin: "x", Scope: []string{swarm.ScopeWorker}})
	check(session.Session.Digest(domain), session.Signature, err)

	if len(s.shown) != 5 {
		t.Errorf("%d types were shown, want 5", len(s.shown))
	}
	var schema []string
	for name, members := range oracleTypes(t) {
		schema = append(schema, encodedType(name, members))
	}
	for name, types := range s.shown {
		for line := range strings.Lines(types) {
			if !slices.Contains(schema, line) {
				t.Errorf("%s: the wallet was shown %s", name, line)
			}
		}
	}
}
