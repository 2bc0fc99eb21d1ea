package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
)

func newResult() *cobra.Command {
	var (
		server          remote
		id              identity
		asJSON, receipt bool
	)
	cmd := &cobra.Command{
		Use:   "result RUN",
		Short: "Collect the answer of a run of yours, or print its receipt",
		Long: `result gives the answer of a run that you asked for, once: after that the server
says not_found. A run without an answer yet is pending, or after its deadline
pending_after_timeout, with status 5.

--receipt prints the run's bundle instead, as swarm verify reads it. It collects
nothing, and can be had by whoever knows the run's id.`,
		Example: `  swarm result 0f1e2d3c4b5a69788796a5b4c3d2e1f0
  swarm result 0f1e2d3c4b5a69788796a5b4c3d2e1f0 --receipt >bundle.json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := runID(args[0])
			if err != nil {
				return err
			}
			if receipt {
				c, err := server.client(cmd.Context(), nil)
				if err != nil {
					return err
				}
				bundle, err := c.Receipt(cmd.Context(), run)
				if err != nil {
					return err
				}
				text, err := bundle.MarshalIndent()
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				}
				return err
			}
			c, err := server.clientOf(cmd, &id)
			if err != nil {
				return err
			}
			got, err := c.Collect(cmd.Context(), run)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), got)
			} else if got.Status == swarm.CollectedCompleted || got.Status == swarm.CollectedLate {
				err = printText(cmd.OutOrStdout(), got.Response)
			}
			if err != nil {
				return err
			}
			return collectedError(got)
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole answer as JSON")
	cmd.Flags().BoolVar(&receipt, "receipt", false, "print the run's bundle")
	return cmd
}

// collectedError gives what the status of a collected result means.
func collectedError(got *swarm.Collected) error {
	switch got.Status {
	case swarm.CollectedCompleted, swarm.CollectedLate:
		return nil
	case swarm.CollectedPending:
		return swarm.Errorf(swarm.CodeTimeout, "%s: the run %s has no answer yet", got.Status, got.RequestID)
	case swarm.CollectedPendingLate:
		return swarm.Errorf(swarm.CodeTimeout, "%s: the run %s had no answer at its deadline, and has none yet", got.Status, got.RequestID)
	case swarm.CollectedNotFound:
		return swarm.Errorf(swarm.CodeNotFound, "no run %s of yours has an answer to give: it is another's, was collected, or ended over a day ago", got.RequestID)
	}
	if o := got.Delegation; o != nil && o.Error != nil {
		return o.Error
	}
	return swarm.Errorf(swarm.CodeWorker, "%s", got.Response)
}

func newWatch() *cobra.Command {
	var (
		server remote
		show   view
		from   string
	)
	cmd := &cobra.Command{
		Use:   "watch RUN",
		Short: "Stream a run that somebody started",
		Long: `watch shows a run's events from its beginning, or after --from, to its end, as
ask does. Whoever knows a run's id may watch it. An interrupt ends the watching
alone. The exit status tells of the run's outcome.`,
		Example: `  swarm watch 0f1e2d3c4b5a69788796a5b4c3d2e1f0
  swarm watch 0f1e2d3c4b5a69788796a5b4c3d2e1f0 --from 17 --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := runID(args[0])
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			c, err := server.client(ctx, nil)
			if err != nil {
				return err
			}
			return show.follow(ctx, cmd, c, run, from, impatient)
		},
	}
	server.flags(cmd)
	show.flags(cmd)
	cmd.Flags().StringVar(&from, "from", "", "the `ID` of the event to go on after")
	return cmd
}

func newCancel() *cobra.Command {
	var (
		server remote
		id     identity
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:     "cancel RUN",
		Short:   "Stop a run of yours and all below it",
		Example: `  swarm cancel 0f1e2d3c4b5a69788796a5b4c3d2e1f0`,
		Args:    arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := runID(args[0])
			if err != nil {
				return err
			}
			c, err := server.clientOf(cmd, &id)
			if err != nil {
				return err
			}
			outcome, err := c.Cancel(cmd.Context(), run)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), outcome)
			} else {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), outcome.ID, outcome.State)
			}
			if err == nil && outcome.State != swarm.StateCancelled {
				err = swarm.Errorf(swarm.CodeConflict, "the run had ended before: %s", outcome.State)
			}
			return err
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the run's record as JSON")
	return cmd
}
