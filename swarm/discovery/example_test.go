package discovery_test

import (
	"fmt"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/discovery"
	"github.com/swarmseal/swarmseal/wallet"
)

func ExampleIndex_Search() {
	x := discovery.NewIndex()
	x.Put(&swarm.Card{
		Wallet:  wallet.MustParseAddress("0x1111111111111111111111111111111111111111"),
		Name:    "Word Counter",
		Summary: "Counts the words, lines and sentences of a text.",
	})
	x.Put(&swarm.Card{
		Wallet:  wallet.MustParseAddress("0x2222222222222222222222222222222222222222"),
		Name:    "Link Checker",
		Summary: "Finds dead links on a website.",
	})
	for _, text := range []string{"how many words does this text have?", "link checker", "rent a bicycle"} {
		found := x.Search(swarm.Query{Text: text}, nil)
		fmt.Println(found.Message)
		for _, match := range found.Results {
			fmt.Printf("  %s %.2f\n", match.Name, match.Score)
		}
	}
	// Output:
	// Found 1 agent.
	//   Word Counter 0.62
	// Found 1 agent.
	//   Link Checker 1.00
	// No available agent matches this query at strictness 0.2. Say in other words what the agent should do, or lower the strictness.
}
