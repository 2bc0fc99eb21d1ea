package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/wallet"
)

// startSwarm starts a server with one agent, which the examples talk to.
func startSwarm() (url string, stop func()) {
	dir, err := os.MkdirTemp("", "swarm")
	if err != nil {
		panic(err)
	}
	serverKey, agentKey := newKey(), newKey()
	s, err := server.New(context.Background(), server.Config{Dir: dir, Key: serverKey})
	if err != nil {
		panic(err)
	}
	front := httptest.NewServer(s.Handler())
	connected := make(chan struct{})
	worker := &agent.Worker{
		Server: front.URL, HTTP: front.Client(), Key: agentKey,
		Card: swarm.Card{Name: "word counter", Summary: "counts the words of a text"},
		Handler: agent.HandlerFunc(func(_ context.Context, t *agent.Task) (string, error) {
			return fmt.Sprint(len(strings.Fields(t.Input))), nil
		}),
		OnConnect: func() { close(connected) },
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = worker.Run(ctx)
	}()
	<-connected
	return front.URL, func() {
		cancel()
		<-ended
		front.CloseClientConnections()
		s.Close()
		front.Close()
		os.RemoveAll(dir)
	}
}

func newKey() *wallet.Key {
	key, err := wallet.NewKey()
	if err != nil {
		panic(err)
	}
	return key
}

// Find an agent, hand it a task, and check what everybody signed.
func Example() {
	url, stop := startSwarm()
	defer stop()
	ctx := context.Background()
	c := &client.Client{BaseURL: url, Signer: newKey()}

	found, err := c.Find(ctx, swarm.Query{Text: "count the words of a text"})
	if err != nil || len(found.Results) == 0 {
		fmt.Println("nobody found:", err)
		return
	}
	outcome, err := c.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: "to be or not to be"})
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	bundle, err := c.Receipt(ctx, outcome.ID)
	if err != nil {
		fmt.Println("no receipt:", err)
		return
	}
	agent := found.Results[0].AgentID
	report := bundle.Verify(swarm.Expect{To: &agent})
	fmt.Println(found.Results[0].Name, "says", outcome.Output)
	fmt.Println("proved:", report.Verified)
	// Output:
	// word counter says 6
	// proved: true
}

// A refusal has a code, to act upon.
func ExampleClient_Delegate() {
	url, stop := startSwarm()
	defer stop()
	c := &client.Client{BaseURL: url, Signer: newKey()}

	_, err := c.Delegate(context.Background(), swarm.Request{
		To:   wallet.MustParseAddress("0x52908400098527886E0F7030069857D2E4169EE7"),
		Task: "anybody there?",
	})
	fmt.Println(err)
	fmt.Println(swarm.CodeOf(err) == swarm.CodeAgentNotFound)
	// Output:
	// target_agent_not_found: no agent is registered under 0x52908400098527886E0F7030069857D2E4169EE7
	// true
}

// With a key of the caller's own, a request that is made again, also by
// another process after a crash, is the same delegation.
func ExampleClient_Delegate_idempotencyKey() {
	url, stop := startSwarm()
	defer stop()
	ctx := context.Background()
	key := newKey()
	worker, err := (&client.Client{BaseURL: url}).Find(ctx, swarm.Query{Text: "word counter"})
	if err != nil || len(worker.Results) == 0 {
		fmt.Println("nobody found:", err)
		return
	}
	request := swarm.Request{To: worker.Results[0].AgentID, Task: "to be or not to be", IdempotencyKey: "order 17"}
	var ids []string
	for range 2 {
		c := &client.Client{BaseURL: url, Signer: key}
		outcome, err := c.Delegate(ctx, request)
		if err != nil {
			fmt.Println(err)
			return
		}
		ids = append(ids, outcome.ID)
	}
	fmt.Println(ids[0] == ids[1])
	// Output: true
}
