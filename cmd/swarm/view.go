package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
)

// view is how a run is shown: live on a terminal, else as plain lines; with
// --json as parse prints events, with --raw as the frames that came.
type view struct{ json, raw bool }

func (v *view) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.json, "json", false, "print a JSON line an event, as swarm parse does; with --raw, their data too")
	cmd.Flags().BoolVar(&v.raw, "raw", false, "print the stream's frames as they came")
}

// screen shows the events of one run.
type screen interface {
	Event(events.Event) error
	Close() error
}

func (v *view) screen(out io.Writer) screen {
	switch {
	case v.json:
		return &jsonScreen{out: out, raw: v.raw}
	case v.raw:
		return rawScreen{out}
	}
	return peopleScreen{display.NewTerminal(out, display.Options{})}
}

type jsonScreen struct {
	out io.Writer
	raw bool
	seq int
}

func (s *jsonScreen) Event(e events.Event) error {
	s.seq++
	return printJSON(s.out, lineOf(s.seq, e, s.raw))
}
func (s *jsonScreen) Close() error { return nil }

type rawScreen struct{ out io.Writer }

func (s rawScreen) Event(e events.Event) error {
	frame, err := stream.AppendFrame(nil, stream.Frame{ID: e.ID, Event: e.Name, Data: e.Data})
	if err == nil {
		_, err = s.out.Write(frame)
	}
	return err
}
func (rawScreen) Close() error { return nil }

// peopleScreen is a live view, or plain lines where out is no terminal.
type peopleScreen struct{ terminal *display.Terminal }

func (s peopleScreen) Event(e events.Event) error {
	s.terminal.Event(e)
	return nil
}
func (s peopleScreen) Close() error { return s.terminal.Close() }

// patience is how a follow treats a server that is not there at first.
type patience bool

const (
	impatient patience = false // the first failure ends it
	patient   patience = true  // the run is known to be there: the server is being restarted
)

// follow shows a run's events after from, "" meaning all, and gives what
// became of the run: nil for completed, else an error.
func (v *view) follow(ctx context.Context, cmd *cobra.Command, c *client.Client, id, from string, p patience) (err error) {
	show := v.screen(cmd.OutOrStdout())
	defer func() { err = errors.Join(err, show.Close()) }()
	opened := false
	reader := c.Stream()
	reader.OnOpen = func(stream.Open) { opened = true }
	if !isTerminal(cmd.OutOrStdout()) { // a live view must not be written into
		reader.OnRetry = func(err error, wait time.Duration) {
			cmd.PrintErrf("connection lost (%s); trying again in %v\n", clean(err.Error()), wait.Round(time.Millisecond))
		}
	}
	var outcome error
	told := false
	for {
		again := false
		for e, err := range reader.Watch(ctx, id, from) {
			if err != nil {
				if e, ok := errors.AsType[*stream.RunError](err); ok {
					return failureOf(e)
				}
				if status, _ := classify(err); p == patient && !opened && status == exitUnavailable {
					again = true
					break
				}
				return err
			}
			if err := show.Event(e); err != nil {
				return err
			}
			if e.Terminal() && !told { // the first outcome wins, here too
				outcome, told = outcomeOf(e), true
			}
		}
		switch {
		case !again && told:
			return outcome
		case !again: // there was nothing after from: the record tells
			o, err := c.Get(ctx, id)
			if err != nil {
				return err
			}
			return outcomeError(o)
		}
		select {
		case <-time.After(stepBetweenTries):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

const stepBetweenTries = 250 * time.Millisecond

// outcomeOf reads from a terminal event how a run ended that did not fail: one
// that did ends its stream with an error, whatever the type of the event.
func outcomeOf(e events.Event) error {
	member := func(name string) string { return gjson.GetBytes(e.Data, name).String() }
	if e.Type == events.TypeStopped || e.Type == events.TypeActivityRun && member("status") == "cancelled" {
		return swarm.Errorf(swarm.CodeCancelled, "%s", cmp.Or(member("reason"), member("message"), "the run was cancelled"))
	}
	return nil
}

// failureOf gives the error of a run that failed; its code has its exit status.
func failureOf(e *stream.RunError) error {
	code := swarm.Code(e.Code)
	if _, known := statusOf[code]; !known {
		code = swarm.CodeWorker
	}
	return swarm.Errorf(code, "%s", e.Message)
}

// outcomeError gives what a run's record says became of it: nil for completed.
func outcomeError(o *swarm.Outcome) error {
	switch {
	case o.State == swarm.StateCompleted:
		return nil
	case o.Error != nil:
		return o.Error
	}
	return swarm.Errorf(swarm.CodeTimeout, "the run %s has no outcome yet: it is %s", o.ID, o.State)
}
