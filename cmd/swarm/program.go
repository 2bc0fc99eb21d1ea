package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/swarmseal/swarmseal/swarm/agent"
)

// Bounds on what a wrapped program may say.
const (
	maxOutputBytes = 8 << 20 // a request has at most 10 MiB, and quoting makes a text longer
	maxErrorBytes  = 4 << 10 // the end of stderr, for the error
	maxErrorLines  = 10
)

// pipeWait is how long a program's output is still read once the program has
// ended: processes that it left behind may hold it open for ever.
const pipeWait = 2 * time.Second

// program is a command line that does an agent's work: the task comes on its
// stdin, and what it prints is the answer.
type program struct{ line string }

// Handle does a task with the program.
func (p program) Handle(ctx context.Context, t *agent.Task) (string, error) {
	return p.run(ctx, t.Input, t.Text)
}

// run runs the program on an input, gives its output, and hands it to text as
// it comes. The program ends with ctx, and all that it has started with it.
func (p program) run(ctx context.Context, input string, text func(string)) (string, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := shell(ctx, p.line)
	// The passphrase is for this program's key, not for whatever it wraps.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SWARM_PASSPHRASE=") })
	cmd.WaitDelay = pipeWait
	cmd.Stdin = strings.NewReader(input)
	out := &answer{text: text, stop: stop}
	tail := &tailBuffer{max: maxErrorBytes}
	cmd.Stdout, cmd.Stderr = out, tail
	err := cmd.Run()
	output, outErr := out.whole()
	switch {
	case outErr != nil:
		return "", outErr
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		endGroup(cmd) // it ended well, and left processes that hold its output
		return output, nil
	case err != nil:
		return "", programError(err, tail)
	}
	return output, nil
}

// programError says how a program failed, with the end of its stderr.
func programError(err error, tail *tailBuffer) error {
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return fmt.Errorf("the agent's program did not run: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(tail.String()), "\n")
	said := strings.Join(lines[max(0, len(lines)-maxErrorLines):], "\n")
	if said == "" {
		return fmt.Errorf("the agent's program failed: %w", err)
	}
	return fmt.Errorf("the agent's program failed: %w\n%s", err, said)
}

// answer takes a program's output and streams it as it comes.
type answer struct {
	text func(string)
	stop context.CancelCauseFunc // ends the program

	mu       sync.Mutex
	data     []byte
	streamed int // bytes of data that went to text
	err      error
}

func (a *answer) Write(p []byte) (int, error) {
	piece, err := a.take(p)
	if piece != "" {
		a.text(piece) // waits where the server takes no more, and the program with it
	}
	if err != nil {
		a.stop(err)
	}
	return len(p), err
}

// take keeps p and gives the text that can be streamed: characters that are
// whole. Output that is no text is an error, for a signed answer is text.
func (a *answer) take(p []byte) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err != nil {
		return "", a.err
	}
	if len(a.data)+len(p) > maxOutputBytes {
		a.err = fmt.Errorf("the agent's program printed more than %d bytes, the most that an answer may have", maxOutputBytes)
		return "", a.err
	}
	a.data = append(a.data, p...)
	rest := a.data[a.streamed:]
	end := 0
	for end < len(rest) && (rest[end] < utf8.RuneSelf || utf8.FullRune(rest[end:])) {
		r, size := utf8.DecodeRune(rest[end:])
		if r == utf8.RuneError && size == 1 {
			a.err = fmt.Errorf("the agent's program printed what is no UTF-8 text (at byte %d)", a.streamed+end)
			return "", a.err
		}
		end += size
	}
	a.streamed += end
	return string(rest[:end]), nil
}

// whole gives all that was printed.
func (a *answer) whole() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil && a.streamed < len(a.data) {
		a.err = fmt.Errorf("the agent's program printed what is no UTF-8 text (at byte %d)", a.streamed)
	}
	return string(a.data), a.err
}

// tailBuffer keeps the last bytes that were written.
type tailBuffer struct {
	max int

	mu   sync.Mutex
	data []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-t.max):]...)
	if over := len(t.data) - t.max; over > 0 {
		t.data = t.data[:copy(t.data, t.data[over:])]
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.data, []byte("\uFFFD")))
}
