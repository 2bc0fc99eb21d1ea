// Watch sends a message to an agent and shows the run's stream as it comes:
// who is looked for, who is asked, what became of it, and the answer.
//
//	go run ./examples/watch "to be or not to be"
//
// The server is SWARM_SERVER, http://127.0.0.1:8420 by default; "swarm serve"
// and "go run ./examples/agent" give one with agents. The message goes to
// SWARM_AGENT, or else to the agent that fits it best: here, one that
// judges speeches.
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

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	message := cmp.Or(strings.Join(os.Args[1:], " "), "to be or not to be")
	server := cmp.Or(os.Getenv("SWARM_SERVER"), "http://127.0.0.1:8420")
	if err := watch(ctx, server, message); err != nil {
		log.Fatal(display.Clean(err.Error())) // a failed run's error has the agent's words
	}
}

func watch(ctx context.Context, server, message string) error {
	agent, err := choose(ctx, server)
	if err != nil {
		return err
	}
	// Run posts the message once, and takes a broken stream up again where it
	// stopped. The client has no key: the server signs in its own name, which
	// it does on a loopback address alone.
	runs := &stream.Client{BaseURL: server}
	for event, err := range runs.Run(ctx, agent, stream.Request{Message: message}) {
		if err != nil {
			return err // it is the last item: the run failed, or its stream can't be taken up again
		}
		switch event.Type {
		case events.TypeToolStart, events.TypeToolEnd:
			tool, err := events.ParseToolEvent(event)
			if errors.Is(err, events.ErrNotToolEvent) {
				continue // a tool that is no agent's, nor of another known family
			}
			if err != nil {
				return err
			}
			show(tool)
		case events.TypeTextDelta:
			// Agents write what they like. Clean lets nothing through that
			// would move the terminal's cursor or hide text.
			fmt.Println("Answer:", display.CleanText(event.Text()))
		}
		if cause := event.ErrorText(); cause != "" && !event.Failed() { // else it is the loop's error
			fmt.Println("Failed:", display.Clean(cause))
		}
	}
	return nil
}

// show tells of a call of the two tools by which agents work together.
func show(tool events.ToolEvent) {
	switch {
	case tool.Start && tool.Finds():
		fmt.Println("Looking for an agent to:", display.Clean(tool.Action))
	case tool.Start && tool.Delegates():
		// Display has the name to show; the wallet is who it is.
		fmt.Printf("Delegating to agent: %s (%s)\n", tool.Agent(), display.Clean(tool.Display.Name))
	case tool.Delegates() && tool.Error != "":
		fmt.Println("Delegation failed:", display.Clean(tool.Error))
	case tool.Delegates():
		fmt.Println("Delegation complete")
	}
}

// choose gives the agent to ask.
func choose(ctx context.Context, server string) (wallet.Address, error) {
	if text := os.Getenv("SWARM_AGENT"); text != "" {
		return wallet.ParseAddress(text)
	}
	found, err := (&client.Client{BaseURL: server}).Find(ctx, swarm.Query{Text: "judge a speech"})
	if err != nil {
		return wallet.Address{}, err
	}
	if len(found.Results) == 0 {
		return wallet.Address{}, errors.New("no agent judges speeches here: start one with go run ./examples/agent")
	}
	return found.Results[0].AgentID, nil
}
