package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func newVerify() *cobra.Command {
	var (
		asJSON                 bool
		root, from, to, server string
		attachments            string
	)
	cmd := &cobra.Command{
		Use:   "verify BUNDLE",
		Short: "Check a receipt bundle offline, saying which rule held or broke",
		Long: `verify checks the bundle in the file BUNDLE (- is stdin): every signature, hash,
deadline and chain of every hop. It asks nobody. It prints a line for each rule
and hop, held or BROKE, and the verdict last.

A bundle proves who signed what; --root, --from, --to and --server say what you
know of your own accord, without which any true bundle of strangers passes.
--attachments takes a folder with the attachments' files, in any number and under
any names, and wants the bytes of every attachment to be there or in the bundle.
Without it, the report says which of them nobody has looked at.

The exit status is 0 where every rule held, 1 where one broke or BUNDLE can't be
read, and 2 where the command line is wrong.`,
		Example: `  swarm verify bundle.json
  swarm verify bundle.json --attachments ./downloads
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
			if attachments != "" {
				if expect.Attachments, err = hashFiles(cmd, attachments); err != nil {
					return err
				}
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
	cmd.Flags().StringVar(&attachments, "attachments", "", "a `FOLDER` with the attachments' files")
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

// printReport prints the rules hop by hop, for somebody who sees a bundle for
// the first time, and the verdict.
func printReport(w io.Writer, r *swarm.Report) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	place, broken, expected := -2, 0, false
	for _, c := range r.Checks {
		if first := !expected && strings.HasPrefix(string(c.Rule), "expected."); first {
			expected = true
			if err := table.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, "what you expect")
		} else if !expected && c.Index != place {
			place = c.Index
			if err := table.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(w, headline(r, place))
			for _, a := range r.Attachments {
				if a.Index == place {
					fmt.Fprintln(w, "  "+attachmentLine(a))
				}
			}
		}
		switch {
		case c.Held:
			fmt.Fprintf(table, "  held\t%s\t%s\n", c.Rule, c.Rule.Meaning())
		default:
			broken++
			fmt.Fprintf(table, "  BROKE\t%s\t%s\n", c.Rule, clean(c.Detail))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, verdict(r, broken))
	return err
}

// headline names a hop of the report, or the bundle, with who did what.
func headline(r *swarm.Report, index int) string {
	if index < 0 {
		return place(index)
	}
	if index >= len(r.Hops) { // it is malformed, and was not looked at further
		return place(index)
	}
	h := r.Hops[index]
	line := fmt.Sprintf("%s: at hop %d %v asked %v: %s", place(index), h.Hop, h.From, h.To, h.State)
	if h.State == "none" {
		line = strings.TrimSuffix(line, "none") + "no answer"
	}
	for _, k := range []struct {
		custody swarm.Custody
		did     string
	}{{h.Custody, "asked"}, {h.ResultCustody, "answered"}} {
		switch k.custody {
		case swarm.CustodyServer:
			line += fmt.Sprintf("; the server's own key %s, for somebody who did not sign this", k.did)
		case swarm.CustodySession:
			line += fmt.Sprintf("; a session's key %s, which its wallet had signed", k.did)
		}
	}
	return line
}

// attachmentLine tells of an attachment whether anybody has looked at it.
func attachmentLine(a swarm.AttachmentSummary) string {
	looked := "its bytes are not here, and only their hash was signed: " + a.Hash.String()
	if a.Bytes {
		looked = "its bytes are here"
	}
	return fmt.Sprintf("file of the %s: %q (%s, %d bytes): %s", a.Of, clean(a.Name), clean(a.MediaType), a.Size, looked)
}

func verdict(r *swarm.Report, broken int) string {
	if broken > 0 {
		return fmt.Sprintf("not verified: %d of %d rules broke", broken, len(r.Checks))
	}
	hops := "hops"
	if len(r.Hops) == 1 {
		hops = "hop"
	}
	return fmt.Sprintf("verified: %d rules held over %d %s", len(r.Checks), len(r.Hops), hops)
}

// hashFiles gives the hashes and sizes of a folder's files, whatever they are
// called: a name in a bundle is a stranger's, and is never opened.
func hashFiles(cmd *cobra.Command, folder string) (map[wallet.Digest]uint64, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, failedf("--attachments: %w", err)
	}
	if len(entries) > maxFiles {
		return nil, failedf("--attachments: %s has %d entries; at most %d are looked at", folder, len(entries), maxFiles)
	}
	sizes := make(map[wallet.Digest]uint64)
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		data, err := readFile(cmd, filepath.Join(folder, entry.Name()), swarm.MaxBundleBytes)
		if err != nil {
			return nil, err
		}
		sizes[wallet.Keccak256(data)] = uint64(len(data))
	}
	return sizes, nil
}

// maxFiles bounds the entries of a folder of attachments.
const maxFiles = 10_000
