// Agent is two agents in one program. One counts words; the other judges a
// speech, for which it finds whoever counts words and delegates to it.
//
//	go run ./examples/agent
//
// The server is SWARM_SERVER, http://127.0.0.1:8420 by default. The agents
// work until interrupted, also over restarts of the server.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/wallet"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := make(chan error, 2)
	go func() {
		failed <- work(ctx, swarm.Card{Name: "word counter", Summary: "counts the words of a text"}, countWords)
	}()
	go func() {
		failed <- work(ctx, swarm.Card{Name: "speech critic", Summary: "judges a speech by its length"}, judge)
	}()
	for range 2 {
		// Run ends with the cause of ctx when it is told to, and with another
		// error where waiting would not help, such as a card that is refused.
		if err := <-failed; !errors.Is(err, context.Canceled) {
			log.Fatal(err)
		}
	}
}

func work(ctx context.Context, card swarm.Card, handle agent.HandlerFunc) error {
	// The key is who the agent is: keep it (wallet.ReadKeyFile). This one is
	// new each time, so that others must find the agent anew.
	key, err := wallet.NewKey()
	if err != nil {
		return err
	}
	worker := &agent.Worker{
		Server:  cmp.Or(os.Getenv("SWARM_SERVER"), "http://127.0.0.1:8420"),
		Key:     key,
		Card:    card,
		Handler: handle,
		// Several processes may work under one key; they share its tasks.
		OnConnect: func() { log.Printf("%s is at work as %s", card.Name, key.Address()) },
	}
	return worker.Run(ctx)
}

// countWords is all that an agent needs to be: what it returns is signed.
func countWords(_ context.Context, t *agent.Task) (string, error) {
	return fmt.Sprint(len(strings.Fields(t.Input))), nil
}

func judge(ctx context.Context, t *agent.Task) (string, error) {
	// Find leaves out whoever stands in this task's chain already, so that
	// nobody is asked in a circle.
	found, err := t.Find(ctx, swarm.Query{Text: "count the words of a text"})
	if err != nil {
		return "", err
	}
	if len(found.Results) == 0 {
		return "", errors.New("nobody here counts words") // signed, too
	}
	// The child inherits this task's deadline, and its result is named in the
	// one signed here. When the requester cancels, ctx ends.
	outcome, err := t.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: t.Input})
	switch {
	case err != nil:
		return "", err
	case outcome.Error != nil:
		return "", fmt.Errorf("%s did not count the words: %w", found.Results[0].Name, outcome.Error)
	}
	return "a speech of " + outcome.Output + " words", nil
}
