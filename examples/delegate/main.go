// Delegate is the part of a back end that hands work to an agent: it finds one,
// delegates with a signature of its own, and checks what was signed before it
// uses the answer.
//
//	go run ./examples/delegate "to be or not to be" > receipt.json
//
// The server is SWARM_SERVER, http://127.0.0.1:8420 by default; "swarm serve"
// and "go run ./examples/agent" give one with agents. The receipt goes to
// standard output: examples/marketplace reads it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	task := cmp.Or(strings.Join(os.Args[1:], " "), "to be or not to be")
	if err := delegate(ctx, task); err != nil {
		log.Fatal(err)
	}
}

func delegate(ctx context.Context, task string) error {
	// A back end keeps its key: wallet.ReadKeyFile reads any Ethereum wallet's
	// file. This one is new each time, and gone after.
	key, err := wallet.NewKey()
	if err != nil {
		return err
	}
	c := &client.Client{BaseURL: cmp.Or(os.Getenv("SWARM_SERVER"), "http://127.0.0.1:8420"), Signer: key}

	// Only agents that are there now are found, best first.
	found, err := c.Find(ctx, swarm.Query{Text: "judge a speech"})
	if err != nil {
		return err
	}
	if len(found.Results) == 0 {
		return errors.New("no agent judges speeches here: start one with go run ./examples/agent")
	}
	agent := found.Results[0].AgentID
	log.Printf("asking %s (%s)", agent, display.Clean(found.Results[0].Name))

	// Delegate waits, also over lost connections and a restart of the server.
	// An error is a refusal, with a code; or nothing was heard of the outcome.
	outcome, err := c.Delegate(ctx, swarm.Request{
		To: agent, Task: task, Timeout: time.Minute,
		// In a real back end, the order's own number: whoever asks again after
		// a crash gets the same delegation, and pays once.
		IdempotencyKey: fmt.Sprint("order ", time.Now().UnixNano()),
	})
	switch {
	case swarm.CodeOf(err) == swarm.CodeNotAvailable:
		return fmt.Errorf("%s has gone; find another one: %w", agent, err)
	case err != nil:
		return err
	case outcome.Error != nil: // it was accepted, and came to nothing
		return fmt.Errorf("delegation %s is %s: %s", outcome.ID, outcome.State, display.Clean(outcome.Error.Message))
	}
	log.Printf("answer: %s", display.CleanText(outcome.Output))

	// The receipt proves the whole tree, what the agent delegated on included.
	bundle, err := c.Receipt(ctx, outcome.ID)
	if err != nil {
		return err
	}
	self := key.Address()
	report := bundle.Verify(swarm.Expect{From: &self, To: &agent})
	for _, check := range report.Broken() {
		log.Printf("hops[%d] %s: %s", check.Index, check.Rule, check.Detail)
	}
	if !report.Verified {
		return errors.New("the receipt does not hold: the answer is not to be used")
	}
	log.Printf("the receipt holds: %d delegations, %d checks", len(report.Hops), len(report.Checks))
	return json.NewEncoder(os.Stdout).Encode(bundle)
}
