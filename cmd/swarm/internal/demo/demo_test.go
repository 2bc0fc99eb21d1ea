package demo_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/cmd/swarm/internal/demo"
	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
)

func run(t *testing.T, dir string) (*demo.Result, []byte) {
	t.Helper()
	var raw bytes.Buffer
	result, err := demo.Run(t.Context(), demo.Options{Dir: dir, Data: t.TempDir(), Event: func(events.Event) {}, Stream: &raw})
	if err != nil {
		t.Fatal(err)
	}
	return result, raw.Bytes()
}

// The report is true of the folder: what is there is told, what is not fails
// and is said, and the proof holds.
func TestReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with blank")
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n\nrequire (\n\texample.com/a v1.2.3\n\texample.com/b v0.1.0 // indirect\n)\n",
		"main.go":   "package main\n\n// TODO: everything\nfunc main() {}\n",
		"README.md": "# M\n\nThis is a short text. It has two sentences.\n",
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, raw := run(t, dir)
	if result.Outcome.State != swarm.StateCompleted || !result.Report.Verified {
		t.Fatalf("state %s, broken %+v", result.Outcome.State, result.Report.Broken())
	}
	for _, want := range []string{
		"Report on " + dir, "example.com/a", "v1.2.3", "example.com/b", "TODO", "main.go:3",
		"counted by another agent:", "This part failed: no CSV file in " + dir, "5 of 6 parts done, 1 failed.",
	} {
		if !strings.Contains(result.Outcome.Output, want) {
			t.Errorf("no %q in the report:\n%s", want, result.Outcome.Output)
		}
	}
	wantHops(t, result, 9)

	// The bytes read again are the same run, whole, with its calls in pairs.
	var tracker events.Tracker
	var text strings.Builder
	seq := 0
	for ev, err := range stream.Read(bytes.NewReader(raw)) {
		if err != nil {
			t.Fatal(err)
		}
		seq++
		text.WriteString(ev.Text())
		if te, err := events.ParseToolEvent(ev); err == nil {
			tracker.Add(seq, te)
		}
	}
	if text.String() != result.Outcome.Output {
		t.Errorf("the streamed text is not the report:\n%s", text.String())
	}
	if calls := tracker.Calls(); len(calls) != 16 || len(tracker.Open()) != 0 {
		t.Errorf("%d calls, %d of them open; want 8 finds and 8 delegations", len(calls), len(tracker.Open()))
	}
}

func wantHops(t *testing.T, result *demo.Result, delegations int) {
	t.Helper()
	deepest := 0
	for _, hop := range result.Report.Hops {
		deepest = max(deepest, hop.Hop)
	}
	if len(result.Report.Hops) != delegations || deepest != 2 {
		t.Errorf("%d delegations with hop %d the deepest; want %d and 2", len(result.Report.Hops), deepest, delegations)
	}
}

func TestEmptyFolder(t *testing.T) {
	result, _ := run(t, t.TempDir())
	if result.Outcome.State != swarm.StateCompleted || !result.Report.Verified {
		t.Fatalf("state %s, broken %+v", result.Outcome.State, result.Report.Broken())
	}
	wantHops(t, result, 8) // there is no prose whose words could be counted
	if want := "3 of 6 parts done, 3 failed."; !strings.Contains(result.Outcome.Output, want) {
		t.Errorf("no %q in the report:\n%s", want, result.Outcome.Output)
	}
}

func TestNoFolder(t *testing.T) {
	_, err := demo.Run(context.Background(), demo.Options{Dir: filepath.Join(t.TempDir(), "none"), Data: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("got %v", err)
	}
}
