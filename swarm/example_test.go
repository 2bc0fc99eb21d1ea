package swarm_test

import (
	"context"
	"fmt"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// exampleKey gives a key that is always the same; a program uses
// wallet.NewKey or wallet.ReadKeyFile.
func exampleKey(digit string) *wallet.Key {
	key, err := wallet.ParseKey("000000000000000000000000000000000000000000000000000000000000000" + digit)
	if err != nil {
		panic(err)
	}
	return key
}

// A requester signs a task, a worker its answer, a server the date; whoever
// holds the three can check them with nothing else at hand.
func Example() {
	ctx := context.Background()
	requester, worker, server := exampleKey("1"), exampleKey("2"), exampleKey("3")
	domain := swarm.Domain(0)

	delegation, err := swarm.SignDelegation(ctx, requester, domain, swarm.Delegation{
		TaskID: wallet.Keccak256([]byte("a random id")), Nonce: wallet.Keccak256([]byte("another")),
		MaxHops: swarm.MaxHops, To: worker.Address(), Server: server.Address(),
		IssuedAt: 1_780_000_000, ExpiresAt: 1_780_000_120,
	}, "Count the words of: to be or not to be")
	if err != nil {
		fmt.Println(err)
		return
	}
	d := delegation.Delegation
	result, err := swarm.SignResult(ctx, worker, domain, swarm.Result{
		Delegation: d.Digest(domain), TaskID: d.TaskID, To: d.From,
		Status: swarm.StatusCompleted, Last: true, IssuedAt: 1_780_000_003,
	}, "6")
	if err != nil {
		fmt.Println(err)
		return
	}
	arrival, err := swarm.SignArrival(ctx, server, domain, swarm.Arrival{
		Result: result.Result.Digest(domain), ReceivedAt: 1_780_000_004,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle := &swarm.Bundle{Format: swarm.BundleFormat, Hops: []swarm.BundleHop{
		{Delegation: *delegation, Result: result, Arrival: arrival},
	}}

	fmt.Println("verified:", bundle.Verify(swarm.Expect{}).Verified)
	bundle.Hops[0].Result.Output = "7"
	for _, c := range bundle.Verify(swarm.Expect{}).Broken() {
		fmt.Println("broken:", c.Rule)
	}
	// Output:
	// verified: true
	// broken: result.output
}

func ExampleQuery_Normalize() {
	q, err := swarm.Query{Text: " count words "}.Normalize()
	fmt.Println(q.Text, q.TopK, *q.Strictness, q.Detail, err)
	_, err = swarm.Query{Text: "count words", TopK: 50}.Normalize()
	fmt.Println(err)
	// Output:
	// count words 5 0.2 summary <nil>
	// invalid_request: top_k is 50; allowed are 1 to 20
}

func ExampleCodeOf() {
	a := exampleKey("1").Address()
	err := fmt.Errorf("delegate: %w", swarm.Errorf(swarm.CodeSelfRequest, "from and to are both %v", a))
	switch swarm.CodeOf(err) {
	case swarm.CodeSelfRequest:
		fmt.Println("ask somebody else")
	case swarm.CodeNotAvailable, swarm.CodeRateLimited:
		fmt.Println("try later")
	}
	// Output: ask somebody else
}
