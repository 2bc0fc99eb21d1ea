//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProgram(t *testing.T) {
	for _, c := range []struct {
		name, line, input string
		want, wantErr     string
	}{
		{"answer", "tr a-z A-Z", "to be", "TO BE", ""},
		{"as it is", "cat", "é\n\n", "é\n\n", ""},
		{"input not read", "echo done", strings.Repeat("x", 1<<20), "done\n", ""},
		{"failure", "echo half; echo why >&2; exit 3", "", "", "exit status 3\nwhy"},
		{"failure without a word", "exit 3", "", "", "the agent's program failed: exit status 3"},
		{"last lines", "seq 1 5000 >&2; exit 1", "", "", "exit status 1\n4991\n"},
		{"not text", `printf 'ab\377'`, "", "", "no UTF-8 text (at byte 2)"},
		{"cut text", `printf 'ab\303'`, "", "", "no UTF-8 text (at byte 2)"},
		{"too much", "yes", "", "", "more than 8388608 bytes"},
		{"not there", "no-such-program", "", "", "exit status 127"},
		{"leaves a process behind", "sleep 60 & echo done", "", "done\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var streamed strings.Builder
			got, err := program{c.line}.run(t.Context(), c.input, func(s string) { streamed.WriteString(s) })
			switch {
			case c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)):
				t.Errorf("error %v, want %q", err, c.wantErr)
			case c.wantErr == "" && (err != nil || got != c.want || streamed.String() != c.want):
				t.Errorf("%q, streamed %q, error %v; want %q", got, streamed.String(), err, c.want)
			}
		})
	}
}

func TestProgramStreamsWholeCharacters(t *testing.T) {
	var pieces []string
	got, err := program{`printf 'a\303'; sleep 0.3; printf '\251b'`}.run(t.Context(), "", func(s string) { pieces = append(pieces, s) })
	if err != nil || got != "aéb" || strings.Join(pieces, "|") != "a|éb" {
		t.Errorf("%q in pieces %q, error %v", got, pieces, err)
	}
}

func TestProgramIsKilledWithItsGroup(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("cancelled by the requester")
	go func() {
		for { // until the grandchild is there
			if data, _ := os.ReadFile(pidFile); strings.HasSuffix(string(data), "\n") {
				cancel(why)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	_, err := program{"sleep 300 & echo $! >" + pidFile + "; wait"}.run(ctx, "", func(string) {})
	if !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); running(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d, which the program started, goes on", pid)
		}
	}
}

// running reports whether a process is there and no zombie, which nobody may
// be left to collect.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

func TestProgramGetsNoPassphrase(t *testing.T) {
	t.Setenv("SWARM_PASSPHRASE", "secret")
	got, err := program{`echo "[$SWARM_PASSPHRASE]"`}.run(t.Context(), "", func(string) {})
	if err != nil || got != "[]\n" {
		t.Errorf("%q, error %v", got, err)
	}
}
