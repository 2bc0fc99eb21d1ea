package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
)

func newDelegate() *cobra.Command {
	var (
		server  remote
		id      identity
		ask     swarm.Request
		asJSON  bool
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "delegate AGENT TASK...",
		Short: "Hand an agent a task and print its output",
		Long: `delegate signs a delegation of TASK (- reads it from stdin) to AGENT, a wallet or
a name, waits for the outcome and prints the output. When it is interrupted the
delegation goes on: swarm result gives its answer, swarm cancel stops it.`,
		Example: `  swarm delegate words 'to be or not to be'
  swarm delegate words - --timeout 5m --json <book.txt
  swarm delegate words 'to be' --idempotency-key order-17`,
		Args: arguments(2, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkTimeout(cmd, timeout); err != nil {
				return err
			}
			agent, err := parseAgent(args[0])
			if err != nil {
				return err
			}
			if ask.Task, err = textArg(cmd, "task", args[1:]); err != nil {
				return err
			}
			key, err := id.key(cmd)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			c, err := server.client(ctx, key)
			if err != nil {
				return err
			}
			if ask.To, err = agent.resolve(ctx, cmd, c.BaseURL); err != nil {
				return err
			}
			ask.Timeout = timeout
			signed, err := c.Sign(ctx, nil, ask)
			if err != nil {
				return err
			}
			run := signed.Delegation.ID()
			outcome, err := c.Submit(ctx, signed, ask)
			if errors.Is(err, errInterrupted) {
				cmd.PrintErrf("the delegation goes on: swarm result %s gives its answer, swarm cancel %[1]s stops it\n", run)
			}
			if err != nil {
				return err
			}
			return printOutcome(cmd, outcome, asJSON)
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	timeoutFlag(cmd, &timeout)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole outcome as JSON, whatever became of the task")
	cmd.Flags().StringVar(&ask.Skill, "skill", "", "a skill `ID` of the agent's card")
	cmd.Flags().StringVar(&ask.IdempotencyKey, "idempotency-key", "", "a `TEXT` that makes repeated requests of yours one delegation")
	return cmd
}

// printOutcome prints the output of a run, or with --json its record, and
// gives what became of it as an error.
func printOutcome(cmd *cobra.Command, o *swarm.Outcome, asJSON bool) error {
	var err error
	switch {
	case asJSON:
		err = printJSON(cmd.OutOrStdout(), o)
	case o.State == swarm.StateCompleted:
		err = printText(cmd.OutOrStdout(), o.Output)
	case o.State == swarm.StateTimeout:
		return fmt.Errorf("%w (run %s: swarm result gives an answer that comes late)", outcomeError(o), o.ID)
	}
	if err != nil {
		return err
	}
	return outcomeError(o)
}
