package main

import (
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func newFind() *cobra.Command {
	var (
		server     remote
		id         identity
		query      swarm.Query
		strictness float64
		detail     string
		asJSON     bool
	)
	cmd := &cobra.Command{
		Use:   "find QUERY...",
		Short: "Find agents by what they can do",
		Long: `find searches the agents that take tasks now. With --key or SWARM_KEY the search
is signed, and leaves out your own agent, those with whom you have something
open, and those that timed out on you lately.`,
		Example: `  swarm find count the words of a text
  swarm find translate --tag french --top-k 3 --json`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query.Text, query.Detail = strings.Join(args, " "), swarm.Detail(detail)
			if cmd.Flags().Changed("strictness") {
				query.Strictness = &strictness
			}
			q, err := query.Normalize()
			if err != nil {
				return usagef("%w", err)
			}
			var signer wallet.Signer
			if id.file != "" || os.Getenv("SWARM_KEY") != "" {
				if signer, err = id.key(cmd); err != nil {
					return err
				}
			}
			c, err := server.client(cmd.Context(), signer)
			if err != nil {
				return err
			}
			found, err := c.Find(cmd.Context(), q)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), found)
			}
			if len(found.Results) == 0 {
				cmd.PrintErrln(clean(found.Message))
				return nil
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, m := range found.Results {
				fmt.Fprintf(table, "%v\t%.4f\t%s\t%s\n", m.AgentID, m.Score, clean(m.Name), clean(m.Summary))
			}
			return table.Flush()
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	cmd.Flags().IntVar(&query.TopK, "top-k", swarm.DefaultTopK, fmt.Sprintf("how many agents at most, 1 to %d", swarm.MaxTopK))
	cmd.Flags().Float64Var(&strictness, "strictness", swarm.DefaultStrictness, "the score below which nothing is given, 0 to 1")
	cmd.Flags().StringVar(&detail, "detail", string(swarm.DetailSummary), "how much of the cards --json has: minimal, summary, capabilities or full")
	cmd.Flags().StringSliceVar(&query.Tags, "tag", nil, "only agents with any of these `TAGS`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the answer as JSON")
	return cmd
}
