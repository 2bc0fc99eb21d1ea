// Package examples has a program for each way to use the SDK. The tests build
// and run them against a server, so that what they show is true.
package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/wallet"
)

// programs is where the examples were built, and the server they talk to.
type programs struct {
	dir, server string
}

// start builds the examples and starts a server on a loopback address.
func start(t *testing.T) *programs {
	t.Helper()
	p := &programs{dir: t.TempDir()}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", p.dir+string(filepath.Separator), "./...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	key, err := wallet.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(t.Context(), server.Config{Dir: t.TempDir(), Key: key, Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	front := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = front.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = front.Close()
		s.Close()
		<-served
	})
	p.server = "http://" + listener.Addr().String()
	return p
}

func (p *programs) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, name), args...)
	cmd.Env = append(os.Environ(), "SWARM_SERVER="+p.server, "SWARM_AGENT=")
	return cmd
}

// run runs an example to its end and gives what it wrote.
func (p *programs) run(t *testing.T, status int, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := p.command(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || (ok && exit.ExitCode() != status) || (err == nil && status != 0) {
		t.Fatalf("%s ended with %v, want status %d\n%s%s", name, err, status, &out, &errs)
	}
	return out.String(), errs.String()
}

// work starts examples/agent and waits until both of its agents are there.
func (p *programs) work(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := p.command(ctx, "agent")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &client.Client{BaseURL: p.server}
	for connected := 0; connected < 2; time.Sleep(10 * time.Millisecond) {
		page, err := c.Agents(ctx, wallet.Address{})
		if err != nil {
			t.Fatal(err)
		}
		connected = 0
		for _, agent := range page.Agents {
			if agent.Connected {
				connected++
			}
		}
	}
	return func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("agent, interrupted, ended with %v\n%s", err, &log)
		}
		if text := log.String(); !strings.Contains(text, "word counter is at work as 0x") || !strings.Contains(text, "speech critic is at work as 0x") {
			t.Errorf("agent wrote %q", text)
		}
	}
}

// match compares an output with a pattern, line by line. ‹W› stands for a
// wallet, ‹D› for a digest, ‹N› for a number.
func match(t *testing.T, got, want string) {
	t.Helper()
	pattern := regexp.QuoteMeta(strings.TrimSpace(want))
	pattern = strings.ReplaceAll(pattern, "‹W›", "0x[0-9a-fA-F]{40}")
	pattern = strings.ReplaceAll(pattern, "‹D›", "0x[0-9a-f]{64}")
	pattern = strings.ReplaceAll(pattern, "‹N›", "[0-9]+")
	if !regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimSpace(got)) {
		t.Errorf("wrote\n%s\nwant\n%s", got, want)
	}
}

func TestExamples(t *testing.T) {
	p := start(t)
	t.Run("nobody there", func(t *testing.T) {
		for _, name := range []string{"watch", "delegate", "compose"} {
			if _, stderr := p.run(t, 1, name); !strings.Contains(stderr, "start one with go run ./examples/agent") {
				t.Errorf("%s wrote %q", name, stderr)
			}
		}
	})
	stop := p.work(t)
	t.Run("watch", func(t *testing.T) {
		out, _ := p.run(t, 0, "watch", "to be or not to be")
		match(t, out, `
Looking for an agent to: count the words of a text
Delegating to agent: ‹W› (word counter)
Delegation complete
Answer: a speech of 6 words`)
	})
	t.Run("compose", func(t *testing.T) {
		out, _ := p.run(t, 0, "compose", "to be or not to be")
		match(t, out, `
looking for an agent to "count the words of a text"
asking "word counter" (‹W›): "to be or not to be"
"word counter" answered "6"
answer: "a speech of 6 words"
done`)
	})
	t.Run("delegate and marketplace", func(t *testing.T) {
		receipt, log := p.run(t, 0, "delegate", "friends", "Romans", "countrymen")
		match(t, log, `
asking ‹W› (speech critic)
answer: a speech of 3 words
the receipt holds: 2 delegations, ‹N› checks`)
		bundle, err := swarm.ParseBundle([]byte(receipt))
		if err != nil {
			t.Fatal(err)
		}
		order := bundle.Hops[0].Delegation.Delegation
		file := filepath.Join(t.TempDir(), "receipt.json")
		write := func(data []byte) {
			t.Helper()
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write([]byte(receipt))
		from, to := order.From.String(), order.To.String()
		paid := `
pay ‹W›
  hop 0: ‹W› asked ‹W›: completed
  hop 1: ‹W› asked ‹W›: completed
  for ‹D›`
		out, _ := p.run(t, 0, "marketplace", "-from", from, "-to", to, file)
		match(t, out, paid)
		out, _ = p.run(t, 0, "marketplace", "-from", from, "-to", to, order.ID())
		match(t, out, paid)
		out, _ = p.run(t, 1, "marketplace", "-from", to, "-to", to, file)
		if !strings.Contains(out, "don't pay\n") || !strings.Contains(out, "hops[0] expected.from:") {
			t.Errorf("for another buyer's receipt it wrote %q", out)
		}
		bundle.Hops[0].Result.Output = "a speech of 4 words"
		forged, err := json.Marshal(bundle)
		if err != nil {
			t.Fatal(err)
		}
		write(forged)
		out, _ = p.run(t, 1, "marketplace", "-from", from, "-to", to, file)
		if !strings.Contains(out, "don't pay\n") || !strings.Contains(out, "hops[0] result.output:") {
			t.Errorf("for a forged answer it wrote %q", out)
		}
		write([]byte("{"))
		out, _ = p.run(t, 1, "marketplace", "-from", from, "-to", to, file)
		if !strings.Contains(out, "bundle.form") {
			t.Errorf("for no receipt it wrote %q", out)
		}
		if _, stderr := p.run(t, 2, "marketplace", "-from", from, "-to", to, strings.Repeat("0", 32)); !strings.Contains(stderr, "404") {
			t.Errorf("for an unknown id it wrote %q", stderr)
		}
		if _, stderr := p.run(t, 2, "marketplace", file); !strings.Contains(stderr, "usage:") {
			t.Errorf("without the order it wrote %q", stderr)
		}
	})
	stop()
}
