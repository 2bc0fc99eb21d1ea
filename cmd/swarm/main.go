package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

// run runs one command line and gives its exit status.
func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	if err == nil {
		return exitOK
	}
	asJSON, _ := cmd.Flags().GetBool("json") // false where the command has no such flag
	return complain(os.Stderr, err, asJSON)
}

// errInterrupted is why the context of a command ends at SIGINT or SIGTERM.
var errInterrupted = errors.New("interrupted")

// interruptible gives a context that ends with errInterrupted at the first
// SIGINT or SIGTERM. The second one ends the program at once. It is for
// commands that have something to put in order; all others end at the first.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
		signal.Stop(signals)
	}()
	return ctx, func() { cancel(nil) }
}
