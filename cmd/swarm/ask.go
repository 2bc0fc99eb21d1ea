package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
)

// outcomeGrace is how long after a run's deadline its outcome is still waited for.
const outcomeGrace = 30 * time.Second

// checkWithin bounds the checking of an answer that has been shown.
const checkWithin = 5 * time.Second

// cancelTimeout bounds the cancelling of a run after an interrupt.
const cancelTimeout = 10 * time.Second

func newAsk() *cobra.Command {
	a := &asking{}
	cmd := &cobra.Command{
		Use:   "ask AGENT MESSAGE...",
		Short: "Send an agent a message and stream its run",
		Long: `ask signs a delegation of MESSAGE (- reads it from stdin) to AGENT, a wallet or
a name, and shows the run as it comes: live on a terminal, plain lines in a
pipe. It survives a restart of the server. The exit status tells of the
outcome. Ctrl-C cancels the run, unless --detach is given.`,
		Example: `  swarm ask words 'to be or not to be'
  swarm ask 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf - <report.txt
  swarm ask words 'to be' --json | jq .type`,
		Args: arguments(2, -1),
		RunE: a.run,
	}
	a.remote.flags(cmd)
	a.identity.flags(cmd)
	a.view.flags(cmd)
	timeoutFlag(cmd, &a.timeout)
	cmd.Flags().BoolVar(&a.detach, "detach", false, "let the run go on when ask is interrupted")
	return cmd
}

type asking struct {
	remote   remote
	identity identity
	view     view
	timeout  time.Duration
	detach   bool
}

func (a *asking) run(cmd *cobra.Command, args []string) error {
	if err := checkTimeout(cmd, a.timeout); err != nil {
		return err
	}
	agent, err := parseAgent(args[0])
	if err != nil {
		return err
	}
	message, err := textArg(cmd, "message", args[1:])
	if err != nil {
		return err
	}
	key, err := a.identity.key(cmd)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	c, err := a.remote.client(ctx, key)
	if err != nil {
		return err
	}
	to, err := agent.resolve(ctx, cmd, c.BaseURL)
	if err != nil {
		return err
	}
	signed, err := c.Sign(ctx, nil, swarm.Request{To: to, Task: message, Timeout: a.timeout})
	if err != nil {
		return err
	}
	id := signed.Delegation.ID()
	err = a.stream(ctx, cmd, c, signed)
	if errors.Is(err, errInterrupted) {
		return a.leave(cmd, c, id)
	}
	return err
}

// stream hands the delegation in and shows its run. A signed delegation names
// its run, so it is sent again where an answer was lost and can't run twice.
func (a *asking) stream(ctx context.Context, cmd *cobra.Command, c *client.Client, signed *swarm.SignedDelegation) error {
	d := &signed.Delegation
	ctx, cancel := context.WithDeadlineCause(ctx, time.Unix(int64(d.ExpiresAt), 0).Add(outcomeGrace),
		swarm.Errorf(swarm.CodeTimeout, "the server told of no outcome of %s within %v after its deadline", d.ID(), outcomeGrace))
	defer cancel()
	// Before it is sent: whoever has the id can cancel, whatever happens next.
	cmd.PrintErrf("run %s to %v\n", d.ID(), d.To)
	err := client.Retry(ctx, func() error { return c.Post(ctx, "/delegations", nil, signed, nil) })
	if err != nil {
		return err
	}
	if err := a.view.follow(ctx, cmd, c, d.ID(), "", patient); err != nil {
		return err
	}
	return check(ctx, cmd, c, signed)
}

// check asks for the outcome once more: a stream is the server's word alone,
// while an outcome is believed as far as the agent signed it. A server that is
// gone by now can't be asked; then it is said that nothing was checked.
func check(ctx context.Context, cmd *cobra.Command, c *client.Client, signed *swarm.SignedDelegation) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	_, err := c.Submit(ctx, signed, swarm.Request{})
	if _, lied := errors.AsType[*client.UnprovenError](err); lied {
		return err
	}
	if err != nil {
		cmd.PrintErrf("the answer was not checked against its signature: %s\n", clean(err.Error()))
	}
	return nil
}

// leave is what happens to the run when its watcher goes.
func (a *asking) leave(cmd *cobra.Command, c *client.Client, id string) error {
	if a.detach {
		cmd.PrintErrf("the run goes on: swarm watch %s\n", id)
		return errInterrupted
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), cancelTimeout)
	defer cancel()
	outcome, err := c.Cancel(ctx, id)
	switch {
	case swarm.CodeOf(err) == swarm.CodeNotFound:
		return errInterrupted // it never got there
	case err != nil:
		return &failure{exitCancelled, swarm.CodeCancelled, fmt.Errorf("interrupted, and the run %s may go on: %w", id, err)}
	case outcome.State == swarm.StateCancelled:
		return swarm.Errorf(swarm.CodeCancelled, "the run %s was cancelled", id)
	}
	cmd.PrintErrf("the run %s had ended before: %s\n", id, outcome.State)
	return outcomeError(outcome)
}
