package swarm_test

import (
	"fmt"
	"testing"

	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
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

// A chain of n hops, each answered: three signatures a hop. With -cpu 1 it shows
// the work, without it the time that passes.
func BenchmarkVerify(b *testing.B) {
	people := []int{user, coordinator, scout, reader, critic, silent}
	for _, hops := range []int{1, 2, 5} {
		var nodes []node
		for i := range hops {
			nodes = append(nodes, node{parent: i - 1, from: people[i], to: people[i+1], input: "Go on.", output: "Done.", status: swarm.StatusCompleted})
		}
		text := marshal(b, build(b, nodes, change{delegation: func(_ int, d *swarm.Delegation) { d.MaxHops = swarm.MaxHops }}))
		b.Run(fmt.Sprintf("verify/hops=%d", hops), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !swarm.VerifyJSON(text, swarm.Expect{}).Verified {
					b.Fatal("not verified")
				}
			}
		})
		b.Run(fmt.Sprintf("parse/hops=%d", hops), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := swarm.ParseBundle(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		// The least that there is to do.
		b.Run(fmt.Sprintf("recover/hops=%d", hops), func(b *testing.B) {
			digest, who := wallet.Keccak256(text), addressOf(user)
			sig, err := keyOf(user).SignDigest(b.Context(), digest)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for range 3 * hops {
					if wallet.Verify(who, digest, sig) != nil {
						b.Fatal("not verified")
					}
				}
			}
		})
	}
}

// The largest bundle that is looked at, every signature and hash in it wrong:
// what a stranger can make a verifier do.
func BenchmarkVerifyLargest(b *testing.B) {
	hop := build(b, realTree[:1], change{}).Hops[0]
	bundle := &swarm.Bundle{Format: swarm.BundleFormat, Hops: make([]swarm.BundleHop, swarm.MaxBundleHops)}
	for i := range bundle.Hops {
		d, r, a := hop.Delegation, *hop.Result, *hop.Arrival
		d.Delegation.Nonce[0], d.Delegation.Nonce[1] = byte(i), byte(i>>8)
		r.Result.IssuedAt, a.Arrival.ReceivedAt = uint64(i), uint64(i)
		bundle.Hops[i] = swarm.BundleHop{Delegation: d, Result: &r, Arrival: &a}
	}
	text := marshal(b, bundle)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if swarm.VerifyJSON(text, swarm.Expect{}).Verified {
			b.Fatal("verified")
		}
	}
}
