package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
)

func TestStatusOfIsExhaustive(t *testing.T) {
	for _, code := range swarm.Codes {
		if status, ok := statusOf[code]; !ok || status == exitOK || status == exitUsage || status == exitTruncated {
			t.Errorf("code %s has status %d (%t)", code, status, ok)
		}
	}
	if len(statusOf) != len(swarm.Codes) {
		t.Errorf("the table has %d codes, the set %d", len(statusOf), len(swarm.Codes))
	}
}

func TestClassify(t *testing.T) {
	refused := &url.Error{Op: "Get", URL: "http://x", Err: errors.New("connection refused")}
	for _, c := range []struct {
		err    error
		status int
		code   swarm.Code
	}{
		{usagef("no"), exitUsage, swarm.CodeInvalid},
		{failedf("no"), exitFailed, swarm.CodeInvalid},
		{swarm.Errorf(swarm.CodeLoop, "no"), exitRefused, swarm.CodeLoop},
		{fmt.Errorf("inbox: %w", swarm.Errorf(swarm.CodeTimeout, "no")), exitTimeout, swarm.CodeTimeout},
		{swarm.Errorf("of_a_newer_server", "no"), exitRefused, "of_a_newer_server"},
		{&stream.TruncatedError{Err: refused}, exitTruncated, swarm.CodeUnavailable},
		{fmt.Errorf("server not reached: %w", refused), exitUnavailable, swarm.CodeUnavailable},
		{fmt.Errorf("server not reached: %w", io.ErrUnexpectedEOF), exitUnavailable, swarm.CodeUnavailable},
		{&stream.HTTPError{Status: 404, Code: "not_found"}, exitRefused, swarm.CodeNotFound},
		{&stream.HTTPError{Status: 502}, exitUnavailable, swarm.CodeUnavailable},
		{&stream.HTTPError{Status: 418}, exitRefused, swarm.CodeInternal},
		{fmt.Errorf("%w (last: %w)", errInterrupted, refused), exitCancelled, swarm.CodeCancelled},
		{context.DeadlineExceeded, exitTimeout, swarm.CodeTimeout},
		{os.ErrNotExist, exitFailed, swarm.CodeInternal},
	} {
		if status, code := classify(c.err); status != c.status || code != c.code {
			t.Errorf("%v: status %d, code %s; want %d, %s", c.err, status, code, c.status, c.code)
		}
	}
}

func TestComplain(t *testing.T) {
	err := swarm.Errorf(swarm.CodeWorker, "one\ntwo\x1b[31m <red>")
	for asJSON, want := range map[bool]string{
		false: "swarm: worker_error: one two <red>\n",
		true:  `{"error":{"code":"worker_error","message":"one\ntwo\u001b[31m ` + "\\u003cred\\u003e" + `"}}` + "\n",
	} {
		var out bytes.Buffer
		if status := complain(&out, err, asJSON); status != exitFailed || out.String() != want {
			t.Errorf("status %d, %q; want %d, %q", status, out.String(), exitFailed, want)
		}
	}
}

// Every command says what it does and shows how, in its own words.
func TestHelp(t *testing.T) {
	root := newRoot()
	if !strings.Contains(root.Long, exitHelp) {
		t.Error("the root's help lacks the table of statuses")
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(exitHelp) {
		if status := strings.TrimSpace(line); status[0] >= '0' && status[0] <= '9' && !bytes.Contains(doc, []byte("//\t"+status)) {
			t.Errorf("doc.go lacks the status %q", status)
		}
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if name := cmd.Name(); name == "completion" || name == "help" {
			return // cobra's own
		}
		if cmd.Short == "" || !strings.HasPrefix(cmd.Example, "  ") {
			t.Errorf("%s: short %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Example)
		}
		if !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: its example does not run it", cmd.CommandPath())
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(root)
}
