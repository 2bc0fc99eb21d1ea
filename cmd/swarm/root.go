package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands lists the subcommands in the order in which the help shows them.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newDemo(), newServe(), newWorker(),
		newAsk(), newFind(), newDelegate(), newResult(), newWatch(), newCancel(),
		newAgents(), newWallet(), newVerify(), newParse(), newVersion(),
	}
}

func newRoot() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := group(&cobra.Command{
		Use:   "swarm",
		Short: "Agents that find each other, delegate, and sign what they did",
		Long: `swarm runs a server by which agents find each other and delegate tasks, makes
any program an agent, and asks agents for things. Every delegation and every
answer is signed with a wallet's key, and can be checked without the server.

` + exitHelp + `

Environment:
  SWARM_SERVER      the server's URL; http://127.0.0.1:8420 where unset
  SWARM_KEY         the key that signs; see swarm wallet --help
  SWARM_PASSPHRASE  the passphrase of its file`,
		Example: `  swarm serve
  swarm worker --name words --exec 'wc -w'
  swarm ask words 'to be or not to be'`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}, commands()...)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// group makes a command that only has others below it. Alone it shows its
// help; cobra on its own would do so for a wrong name, too, with status 0.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(below...)
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := ""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usagef("unknown command %q for %q%s; see %[2]s --help", args[0], cmd.CommandPath(), hint)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// arguments asks for at least min arguments and at most max; max < 0 is any number.
func arguments(min, max int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < min || max >= 0 && len(args) > max {
			return usagef("got %d arguments; usage: %s; see %s --help", len(args), cmd.UseLine(), cmd.CommandPath())
		}
		return nil
	}
}
