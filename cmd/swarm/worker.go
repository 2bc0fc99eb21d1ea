package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

func newWorker() *cobra.Command {
	w := &working{}
	cmd := &cobra.Command{
		Use:   "worker --exec CMD",
		Short: "Be an agent: make one of any program",
		Long: `worker registers an agent and does its tasks with a program: CMD is run by the
shell for each task, with the task on stdin, and what it prints on stdout is the
answer, streamed as it comes. The answer is UTF-8 text of at most 8 MiB. Where
CMD fails, the task does, and the last lines of stderr say why. CMD and all that
it started is killed when the task is cancelled or its deadline passes.

Others find the agent by what --name, --summary and --description say, or --card.
Without them it is named after CMD's program, and says that it runs CMD.

The agent's key is that of --key, else swarm/agents/NAME.json in your
configuration folder, made at first use: a worker that is started again is the
same agent. SWARM_KEY is yours, and not used here. The worker comes back by
itself when the server is restarted, and stops at SIGTERM.`,
		Example: `  swarm worker --exec 'wc -w'
  swarm worker --name words --summary 'counts the words of a text' --exec 'wc -w'
  swarm worker --card french.json --key french-key.json --exec ./translate --concurrency 2`,
		Args: arguments(0, 0),
		RunE: w.run,
	}
	w.remote.flags(cmd)
	cmd.Flags().StringVar(&w.exec, "exec", "", "the `CMD` that does a task")
	cmd.Flags().StringVar(&w.cardFile, "card", "", "a JSON `FILE` with the agent's card; the flags below change it")
	cmd.Flags().StringVar(&w.card.Name, "name", "", "the agent's `NAME`")
	cmd.Flags().StringVar(&w.card.Summary, "summary", "", "what the agent does, in a line")
	cmd.Flags().StringVar(&w.card.Description, "description", "", "what the agent does, at length")
	cmd.Flags().StringSliceVar(&w.card.Tags, "tag", nil, "the agent's `TAGS`")
	cmd.Flags().StringVar(&w.keyFile, "key", "", "the agent's `KEY`, as swarm wallet --help says (default: a file by its name)")
	w.pass.flags(cmd)
	cmd.Flags().IntVar(&w.concurrency, "concurrency", agent.DefaultConcurrency, "how many tasks are done at once, 1 to 1000")
	logFlag(cmd, &w.level)
	return cmd
}

type working struct {
	remote      remote
	exec        string
	cardFile    string
	card        swarm.Card
	keyFile     string
	pass        passphrase
	concurrency int
	level       slog.Level
}

func (w *working) run(cmd *cobra.Command, _ []string) error {
	switch {
	case strings.TrimSpace(w.exec) == "":
		return usagef("--exec is missing: want the command that does a task, such as --exec 'wc -w'")
	case w.concurrency < 1 || w.concurrency > 1000:
		return usagef("--concurrency is %d; allowed are 1 to 1000", w.concurrency)
	}
	base, err := w.remote.url()
	if err != nil {
		return err
	}
	card, err := w.wholeCard(cmd)
	if err != nil {
		return err
	}
	key, err := w.key(cmd, card.Name)
	if err != nil {
		return err
	}
	if err := checkCard(card, key.Address()); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	w.waitFor(ctx, cmd, base)
	var once sync.Once
	worker := &agent.Worker{
		Server: base, Key: key, Card: *card, Handler: program{w.exec}, Concurrency: w.concurrency,
		Log: logger(cmd, w.level),
		OnConnect: func() {
			once.Do(func() { cmd.PrintErrf("%s %v takes tasks from %s\n", clean(card.Name), key.Address(), base) })
		},
	}
	if err := worker.Run(ctx); !errors.Is(err, errInterrupted) {
		return err
	}
	return nil // it was told to stop
}

// wholeCard gives the card of --card with what the flags say.
func (w *working) wholeCard(cmd *cobra.Command) (*swarm.Card, error) {
	if w.cardFile == "" {
		if w.card.Name == "" {
			w.card.Name = filepath.Base(strings.Fields(w.exec)[0])
		}
		if w.card.Summary == "" {
			w.card.Summary = "runs " + w.exec + " on the text of a task"
		}
		return &w.card, nil
	}
	card, err := readCard(cmd, w.cardFile)
	if err != nil {
		return nil, err
	}
	for flag, set := range map[string]func(){
		"name":        func() { card.Name = w.card.Name },
		"summary":     func() { card.Summary = w.card.Summary },
		"description": func() { card.Description = w.card.Description },
		"tag":         func() { card.Tags = w.card.Tags },
	} {
		if cmd.Flags().Changed(flag) {
			set()
		}
	}
	return card, nil
}

func (w *working) key(cmd *cobra.Command, name string) (wallet.Signer, error) {
	if w.keyFile != "" {
		id := identity{file: w.keyFile, pass: w.pass}
		return id.key(cmd)
	}
	path, err := agentKeyFile(name)
	if err != nil {
		return nil, err
	}
	return keyAt(cmd, &w.pass, path, "the agent's key")
}

// waitFor says so where the server is not there yet: the worker itself waits
// without a word.
func (w *working) waitFor(ctx context.Context, cmd *cobra.Command, base string) {
	if _, err := (&client.Client{BaseURL: base}).Info(ctx); err != nil && ctx.Err() == nil {
		cmd.PrintErrf("waiting for %s: %s\n", base, clean(err.Error()))
	}
}
