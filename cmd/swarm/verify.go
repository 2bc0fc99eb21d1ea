package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func newVerify() *cobra.Command {
	var (
		asJSON                 bool
		root, from, to, server string
	)
	cmd := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check a receipt bundle offline, saying which rule held or broke",
		Long: `verify checks the bundle in the file BUNDLE (- is stdin): every signature, hash,
deadline and chain of every hop. It asks nobody. A bundle proves who signed what;
--root, --from, --to and --server say what you know of your own accord, without
which any true bundle of strangers passes.

The exit status is 1 where a rule broke.`,
		Example: `  swarm verify bundle.json
  swarm result "$RUN" --receipt | swarm verify - --from "$(swarm wallet show)"
  swarm verify bundle.json --json | jq '.checks[] | select(.held | not)'`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var expect swarm.Expect
			if root != "" {
				digest, err := wallet.ParseDigest(root)
				if err != nil {
					return usagef("--root: %w", err)
				}
				expect.Root = &digest
			}
			for _, known := range []struct {
				flag, text string
				into       **wallet.Address
			}{{"--from", from, &expect.From}, {"--to", to, &expect.To}, {"--server", server, &expect.Server}} {
				if known.text == "" {
					continue
				}
				address, err := wallet.ParseAddress(known.text)
				if err != nil {
					return usagef("%s: %w", known.flag, err)
				}
				*known.into = &address
			}
			data, err := readFile(cmd, args[0], swarm.MaxBundleBytes)
			if err != nil {
				return err
			}
			report := swarm.VerifyJSON(data, expect)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), report)
			} else {
				err = printReport(cmd.OutOrStdout(), report)
			}
			if err != nil {
				return err
			}
			return reportError(report)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&root, "root", "", "the `DIGEST` of the delegation at hop 0")
	cmd.Flags().StringVar(&from, "from", "", "the `WALLET` that asked at hop 0")
	cmd.Flags().StringVar(&to, "to", "", "the `WALLET` that answered hop 0")
	cmd.Flags().StringVar(&server, "server", "", "the `WALLET` of the server that dated the results")
	return cmd
}

// reportError names the first rule that broke, and how many did.
func reportError(r *swarm.Report) error {
	broken := r.Broken()
	if len(broken) == 0 {
		return nil
	}
	more := ""
	if len(broken) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(broken)-1)
	}
	c := broken[0]
	return &failure{exitFailed, swarm.CodeSignature, fmt.Errorf("not verified: %s broke at %s: %s%s", c.Rule, place(c.Index), c.Detail, more)}
}

// place names a hop of the bundle, or the bundle.
func place(index int) string {
	if index < 0 {
		return "the bundle"
	}
	return fmt.Sprintf("hops[%d]", index)
}

// printReport prints the hops, then the rules for each of them.
func printReport(w io.Writer, r *swarm.Report) error {
	checks := make(map[int][]swarm.Check, len(r.Hops)+1)
	for _, c := range r.Checks {
		checks[c.Index] = append(checks[c.Index], c)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(r.Hops) > 0 {
		fmt.Fprintln(table, "INDEX\tHOP\tFROM\tTO\tSTATE")
	}
	for _, h := range r.Hops {
		by := ""
		if h.ByServer {
			by = ", asked by the server itself for somebody who did not sign"
		}
		fmt.Fprintf(table, "hops[%d]\t%d\t%v\t%v\t%s%s\n", h.Index, h.Hop, h.From, h.To, h.State, by)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for i := -1; i < len(r.Hops); i++ {
		if len(checks[i]) == 0 {
			continue
		}
		fmt.Fprintln(table, place(i))
		for _, c := range checks[i] {
			if c.Held {
				fmt.Fprintf(table, "  held\t%s\n", c.Rule)
			} else {
				fmt.Fprintf(table, "  BROKE\t%s\t%s\n", c.Rule, clean(c.Detail))
			}
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	verdict := "verified"
	if !r.Verified {
		verdict = "not verified"
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}
