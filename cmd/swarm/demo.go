package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/cmd/swarm/internal/demo"
	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
)

// What demo --keep leaves in its folder.
const (
	keptStream = "stream.sse"
	keptBundle = "bundle.json"
	keptData   = "data"
)

func newDemo() *cobra.Command {
	d := &demonstration{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole swarm here on real work, and verify what it did",
		Long: `demo starts a server in a temporary folder and nine agents, each with a new
wallet, and asks the coordinator to report on a folder. It finds an agent for
each part (lines, modules, licences, marks, prose, tables), delegates the parts
side by side, and puts the answers together; two of them delegate on. Nothing is
made up: the report is true of the folder, and a part that can't be done, such
as tables where there are none, fails and is reported so. There is no language
model: the coordinator plans by search.

The run is shown as it comes, then its bundle is verified. The exit status is 0
where the run completed and the bundle verified.

--keep leaves stream.sse (the bytes as a client got them), bundle.json and the
data folder; --json prints what swarm parse makes of the stream.`,
		Example: `  swarm demo
  swarm demo --dir ~/project
  swarm demo --keep kept && swarm parse --calls kept/stream.sse && swarm verify kept/bundle.json`,
		Args: arguments(0, 0),
		RunE: d.run,
	}
	cmd.Flags().StringVar(&d.dir, "dir", ".", "the `FOLDER` to report on")
	cmd.Flags().BoolVar(&d.json, "json", false, "print the stream's events as swarm parse does")
	cmd.Flags().StringVar(&d.keep, "keep", "", "leave the stream, the bundle and the data in this `FOLDER`")
	return cmd
}

type demonstration struct {
	dir, keep string
	json      bool
}

func (d *demonstration) run(cmd *cobra.Command, _ []string) (err error) {
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	folder, err := d.folder()
	if err != nil {
		return err
	}
	if d.keep == "" {
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	file, err := os.OpenFile(filepath.Join(folder, keptStream), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return failedf("%w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	options := demo.Options{Dir: d.dir, Data: filepath.Join(folder, keptData), Stream: file}
	result, err := d.show(ctx, cmd, options)
	if errors.Is(err, errInterrupted) {
		return errInterrupted
	}
	if err != nil {
		return failedf("%w", err)
	}
	return d.tell(cmd, folder, result)
}

// folder makes the folder that the demo works in.
func (d *demonstration) folder() (string, error) {
	if d.keep == "" {
		return os.MkdirTemp("", "swarm-demo-")
	}
	if err := os.MkdirAll(d.keep, 0o700); err != nil {
		return "", failedf("--keep: %w", err)
	}
	for _, name := range []string{keptStream, keptBundle, keptData} {
		if _, err := os.Lstat(filepath.Join(d.keep, name)); err == nil {
			return "", usagef("--keep: %s has a %s already: give another folder", clean(d.keep), name)
		}
	}
	return d.keep, nil
}

// show runs the demo with its events on the screen, or, as JSON, its bytes
// through the very parser that reads a recorded stream.
func (d *demonstration) show(ctx context.Context, cmd *cobra.Command, options demo.Options) (*demo.Result, error) {
	if !d.json {
		screen := new(view).screen(cmd.OutOrStdout())
		var shown error
		options.Event = func(e events.Event) {
			if shown == nil {
				shown = screen.Event(e)
			}
		}
		result, err := demo.Run(ctx, options)
		return result, errors.Join(err, shown, screen.Close())
	}
	read, write := io.Pipe()
	parsed := make(chan error, 1)
	go func() {
		p := parser{out: bufio.NewWriter(cmd.OutOrStdout())}
		p.lines = json.NewEncoder(p.out)
		p.lines.SetEscapeHTML(false)
		err := p.run(read)
		read.CloseWithError(err) // where stdout is gone, the demo must not wait for it
		parsed <- err
	}()
	options.Event = func(events.Event) {}
	options.Stream = io.MultiWriter(options.Stream, write)
	result, err := demo.Run(ctx, options)
	write.Close()
	return result, errors.Join(err, <-parsed)
}

// tell says what the run and its proof came to. With --json that goes to
// stderr: stdout has the stream alone.
func (d *demonstration) tell(cmd *cobra.Command, folder string, result *demo.Result) error {
	out := cmd.OutOrStdout()
	if d.json {
		out = cmd.ErrOrStderr()
	}
	data, err := result.Bundle.MarshalIndent()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, keptBundle), append(data, '\n'), 0o600); err != nil {
		return failedf("%w", err)
	}
	report := result.Report
	deepest := 0
	for _, hop := range report.Hops {
		deepest = max(deepest, hop.Hop)
	}
	if report.Verified {
		fmt.Fprintf(out, "\nverified: %d signed delegations, down to hop %d, with their results; %d checks held\n",
			len(report.Hops), deepest, len(report.Checks))
	}
	if d.keep != "" {
		fmt.Fprintf(out, "kept in %s: %s, %s, %s\n", clean(d.keep), keptStream, keptBundle, keptData)
	}
	if result.Outcome.State != swarm.StateCompleted {
		return outcomeError(result.Outcome)
	}
	return reportError(report)
}
