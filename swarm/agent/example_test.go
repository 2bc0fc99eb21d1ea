package agent_test

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

// An agent is a key, a card and a handler. This one finds another agent by
// what it does, and delegates to it; the other one counts words.
func Example() {
	dir, err := os.MkdirTemp("", "swarm")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := server.New(context.Background(), server.Config{Dir: dir, Key: newKey()})
	if err != nil {
		panic(err)
	}
	front := httptest.NewServer(s.Handler())
	defer front.Close()
	defer s.Close()

	counter := &agent.Worker{
		Server: front.URL, Key: newKey(),
		Card: swarm.Card{Name: "word counter", Summary: "counts the words of a text"},
		Handler: agent.HandlerFunc(func(_ context.Context, t *agent.Task) (string, error) {
			return fmt.Sprint(len(strings.Fields(t.Input))), nil
		}),
	}
	critic := &agent.Worker{
		Server: front.URL, Key: newKey(),
		Card: swarm.Card{Name: "critic", Summary: "judges the length of a speech"},
		Handler: agent.HandlerFunc(func(ctx context.Context, t *agent.Task) (string, error) {
			found, err := t.Find(ctx, swarm.Query{Text: "count words"})
			if err != nil {
				return "", err
			}
			if len(found.Results) == 0 {
				return "", fmt.Errorf("nobody here counts words")
			}
			t.Text("asking " + found.Results[0].Name) // for whoever watches
			outcome, err := t.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: t.Input})
			switch {
			case err != nil: // refused, or not heard of
				return "", err
			case outcome.Error != nil: // accepted, and it came to nothing
				return "", outcome.Error
			}
			return "too short: only " + outcome.Output + " words", nil
		}),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, 2)
	for _, w := range []*agent.Worker{counter, critic} {
		connected := make(chan struct{})
		w.OnConnect = func() { close(connected) }
		go func() {
			_ = w.Run(ctx)
			ended <- struct{}{}
		}()
		<-connected
	}
	user := &client.Client{BaseURL: front.URL, Signer: newKey()}
	outcome, err := user.Delegate(ctx, swarm.Request{To: critic.Key.Address(), Task: "to be or not to be"})
	cancel()
	<-ended
	<-ended
	front.CloseClientConnections()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcome.State, outcome.Output)
	// Output: completed too short: only 6 words
}

func newKey() *wallet.Key {
	key, err := wallet.NewKey()
	if err != nil {
		panic(err)
	}
	return key
}
