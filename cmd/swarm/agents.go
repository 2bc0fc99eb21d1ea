package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func newAgents() *cobra.Command {
	return group(&cobra.Command{
		Use:   "agents",
		Short: "List, show, register and revoke agents",
		Example: `  swarm agents list
  swarm agents show words`,
	}, newAgentsList(), newAgentsShow(), newAgentsRegister(), newAgentsRevoke())
}

func newAgentsList() *cobra.Command {
	var (
		server remote
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all agents by wallet",
		Long: `list prints all agents by wallet. An agent is connected while one of its workers
is there, available while tasks are taken for it, which is some seconds longer,
and else away. --json prints an object a line.`,
		Example: "  swarm agents list",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := server.client(cmd.Context(), nil)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			var after wallet.Address
			for {
				page, err := c.Agents(cmd.Context(), after)
				if err != nil {
					return err
				}
				for _, a := range page.Agents {
					if asJSON {
						err = printJSON(cmd.OutOrStdout(), a)
					} else {
						_, err = fmt.Fprintf(table, "%v\t%s\t%s\t%s\n", a.Wallet, presence(a.Available, a.Connected), clean(a.Name), clean(a.Summary))
					}
					if err != nil {
						return err
					}
				}
				// One page at a time: columns are aligned within it, and a long list is not held.
				if err := table.Flush(); err != nil {
					return err
				}
				if page.Next.IsZero() {
					return nil
				}
				after = page.Next
			}
		},
	}
	server.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON line an agent")
	return cmd
}

func presence(available, connected bool) string {
	switch {
	case connected:
		return "connected"
	case available:
		return "available"
	}
	return "away"
}

func newAgentsShow() *cobra.Command {
	var (
		server remote
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "show AGENT",
		Short: "Show an agent's card and check who signed it",
		Example: `  swarm agents show words
  swarm agents show 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf --json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			arg, err := parseAgent(args[0])
			if err != nil {
				return err
			}
			c, err := server.client(cmd.Context(), nil)
			if err != nil {
				return err
			}
			address, err := arg.resolve(cmd.Context(), cmd, c.BaseURL)
			if err != nil {
				return err
			}
			agent, err := c.Agent(cmd.Context(), address)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), agent)
			}
			return printAgent(cmd.OutOrStdout(), agent)
		},
	}
	server.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print card and registration as JSON")
	return cmd
}

func printAgent(w io.Writer, a *swarm.RegisteredAgent) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, clean(text))
		}
	}
	c := &a.Card
	row("wallet", c.Wallet.String())
	row("owner", a.Registration.Registration.Owner.String())
	row("state", presence(a.Available, a.Connected))
	row("name", c.Name)
	row("kind", string(c.Kind))
	row("summary", c.Summary)
	row("description", c.Description)
	row("version", c.Version)
	row("organization", c.Organization)
	row("developer", c.Developer)
	row("url", c.URL)
	row("documentation", c.DocumentationURL)
	for _, tag := range c.Tags {
		row("tag", tag)
	}
	for _, s := range c.Skills {
		row("skill", s.ID+": "+s.Name+" "+s.Description)
	}
	for _, capability := range c.Capabilities {
		row("capability", capability.Name+" "+capability.Description)
	}
	row("registered", a.CreatedAt.String())
	row("updated", a.UpdatedAt.String())
	return table.Flush()
}

func newAgentsRegister() *cobra.Command {
	var (
		server remote
		id     identity
	)
	cmd := &cobra.Command{
		Use:   "register CARD",
		Short: "Register your wallet as an agent",
		Long: `register puts the card in the JSON file CARD (- is stdin) on the server under your
wallet, and takes the place of the card that was there. The wallet may be left
out of the file. An agent takes tasks while a worker with its key is connected;
swarm worker registers by itself.`,
		Example: `  echo '{"name":"words","summary":"counts words"}' >card.json
  swarm agents register card.json --key words.json`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := id.key(cmd)
			if err != nil {
				return err
			}
			card, err := readCard(cmd, args[0])
			if err == nil {
				err = checkCard(card, key.Address())
			}
			if err != nil {
				return err
			}
			c, err := server.client(cmd.Context(), key)
			if err == nil {
				err = c.Register(cmd.Context(), *card)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), card.Wallet, clean(card.Name))
			return err
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	return cmd
}

// readCard reads a card's file, in which the wallet may be missing.
func readCard(cmd *cobra.Command, path string) (*swarm.Card, error) {
	data, err := readFile(cmd, path, swarm.MaxCardBytes)
	if err != nil {
		return nil, err
	}
	var card swarm.Card
	if err := swarm.DecodeStrict(data, &card); err != nil {
		return nil, failedf("card %s: %w", path, err)
	}
	return &card, nil
}

// checkCard gives the card its wallet and reports what the server would refuse.
func checkCard(card *swarm.Card, agent wallet.Address) error {
	if !card.Wallet.IsZero() && card.Wallet != agent {
		return failedf("card.wallet is %v; the key is that of %v: leave wallet out of the card, or name its own key with --key", card.Wallet, agent)
	}
	card.Wallet = agent
	if err := card.Check(); err != nil {
		return failedf("%w", err)
	}
	return nil
}

// readFile reads a file, or stdin for "-", of at most limit bytes.
func readFile(cmd *cobra.Command, path string, limit int64) ([]byte, error) {
	in := cmd.InOrStdin()
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, failedf("%w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return nil, failedf("%w", err)
	case int64(len(data)) > limit:
		return nil, failedf("%s has more than %d bytes, the most that is read", path, limit)
	}
	return data, nil
}

func newAgentsRevoke() *cobra.Command {
	var (
		server remote
		id     identity
	)
	cmd := &cobra.Command{
		Use:     "revoke",
		Short:   "Take your agent off the server",
		Example: "  swarm agents revoke --key words.json",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := id.key(cmd)
			if err != nil {
				return err
			}
			c, err := server.client(cmd.Context(), key)
			if err == nil {
				err = c.Revoke(cmd.Context())
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), key.Address(), "revoked")
			return err
		},
	}
	server.flags(cmd)
	id.flags(cmd)
	return cmd
}
