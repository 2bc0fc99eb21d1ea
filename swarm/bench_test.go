package swarm_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/swarmseal/swarmseal/swarm"
)

func BenchmarkDelegationDigest(b *testing.B) {
	d, domain := root(), swarm.Domain(testChain)
	b.ReportAllocs()
	for b.Loop() {
		d.Digest(domain)
	}
}

// What a user would pick instead: go-ethereum's encoder, its types and message
// made ready before.
func BenchmarkDelegationDigestOfGeth(b *testing.B) {
	d := root()
	d.Attachments = []swarm.Attachment{} // null is no array to it
	data := typedData(b, "Delegation", testChain, d)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := apitypes.TypedDataAndHash(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignDelegation(b *testing.B) {
	d, domain, key := root(), swarm.Domain(testChain), keyOf(user)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := swarm.SignDelegation(b.Context(), key, domain, d, "Count the words."); err != nil {
			b.Fatal(err)
		}
	}
}

// Five hops with four results and as many arrivals: thirteen signatures.
func BenchmarkVerify5Hops(b *testing.B) {
	text := marshal(b, build(b, realTree, change{}))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !swarm.VerifyJSON(text, swarm.Expect{}).Verified {
			b.Fatal("not verified")
		}
	}
}

func BenchmarkParseBundle5Hops(b *testing.B) {
	text := marshal(b, build(b, realTree, change{}))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := swarm.ParseBundle(text); err != nil {
			b.Fatal(err)
		}
	}
}
