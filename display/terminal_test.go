package display

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestColour(t *testing.T) {
	for _, tt := range []struct {
		name     string
		env      []string
		terminal bool
		want     bool
	}{
		{"a terminal", []string{"TERM=xterm"}, true, true},
		{"a pipe", []string{"TERM=xterm"}, false, false},
		{"NO_COLOR of any value", []string{"NO_COLOR=yes", "TERM=xterm"}, true, false},
		{"NO_COLOR that is empty", []string{"NO_COLOR=", "TERM=xterm"}, true, true},
		{"NO_COLOR over CLICOLOR_FORCE", []string{"NO_COLOR=1", "CLICOLOR_FORCE=1"}, true, false},
		{"a dumb terminal", []string{"TERM=dumb"}, true, false},
		{"CLICOLOR=0", []string{"CLICOLOR=0", "TERM=xterm"}, true, false},
		{"CLICOLOR=1 in a pipe", []string{"CLICOLOR=1", "TERM=xterm"}, false, false},
		{"CLICOLOR_FORCE in a pipe", []string{"CLICOLOR_FORCE=1"}, false, true},
		{"CLICOLOR_FORCE=0", []string{"CLICOLOR_FORCE=0"}, false, false},
		{"the last of two counts", []string{"NO_COLOR=1", "NO_COLOR="}, true, true},
	} {
		if got := environment(tt.env).colour(tt.terminal); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

func TestAPipeIsPlain(t *testing.T) {
	var b bytes.Buffer
	screen := NewTerminal(&b, Options{Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}})
	steps := []struct{ data, want string }{
		{`{"type":"text-delta","delta":"It "}`, "│ It "},
		{`{"type":"text-delta","delta":"works.\nWell"}`, "works.\n│ Well"},
		{`{"type":"timing"}`, ""},
		{`{"type":"reasoning_delta","delta":"hm"}`, "\n┊ hm"},
		{`{"type":"done"}`, "\n✓ done\n"},
	}
	for _, step := range steps {
		screen.Event(event(step.data))
		if got := b.String(); got != step.want {
			t.Errorf("%s wrote %q, want %q", step.data, got, step.want)
		}
		b.Reset()
	}
	if err := screen.Close(); err != nil || b.Len() > 0 {
		t.Errorf("Close gives %v and writes %q", err, b.String())
	}
}

// Two children write at once: their lines stay whole.
func TestChildrenLines(t *testing.T) {
	var b bytes.Buffer
	screen := NewTerminal(&b, Options{Env: []string{}})
	for _, data := range []string{
		`{"type":"swarm_child_delta","subId":"a","display":{"name":"Ann"},"delta":"one "}`,
		`{"type":"swarm_child_delta","subId":"b","display":{"name":"Bob"},"delta":"un "}`,
		`{"type":"swarm_child_delta","subId":"a","display":{"name":"Ann"},"delta":"two\nthr"}`,
		`{"type":"swarm_child_delta","subId":"b","display":{"name":"Bob"},"delta":"deux"}`,
		`{"type":"swarm_child_done","subId":"b","display":{"name":"Bob"}}`,
		`{"type":"swarm_child_delta","subId":"a","display":{"name":"Ann"},"delta":"ee"}`,
	} {
		screen.Event(event(data))
	}
	if err := screen.Close(); err != nil {
		t.Fatal(err)
	}
	want := "  │ Ann: one two\n  │ Bob: un deux\n  ✓ Bob is done\n  │ Ann: three\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestCloseNamesWhatDidNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, width: 80}
		terminal := NewTerminal(s, Options{Color: Always, Live: Always, Env: []string{}})
		terminal.Event(event(start("swarm_delegate", `,"display":{"name":"Auditor","target":"`+auditor+`"}`)))
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if !strings.Contains(s.text(), "for 2.") {
			t.Errorf("no time passes:\n%s", s.text())
		}
		for range 2 {
			if err := terminal.Close(); err != nil {
				t.Error(err)
			}
		}
		terminal.Event(event(`{"type":"done"}`))
		want := "→ asks Auditor 0xeDf8…93e8\n· Auditor 0xeDf8…93e8 did not end in 2.5 s\n[cursor at 2,0]\n"
		if s.text() != want {
			t.Errorf("got\n%s\nwant\n%s", s.text(), want)
		}
	})
}

// More run than there is room for.
func TestManyRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, width: 40}
		terminal := NewTerminal(s, Options{Color: Never, Live: Always, Width: 40, Env: []string{}})
		for range 12 {
			terminal.Event(event(start("delegate", `,"input":{"agent":"a"}`)))
		}
		if !strings.Contains(s.text(), "\n  and 4 more\n[cursor at 20,") {
			t.Errorf("got\n%s", s.text())
		}
		terminal.Event(event(`{"type":"done"}`))
		if !strings.HasSuffix(s.text(), "✓ done\n[cursor at 13,0]\n") {
			t.Errorf("after the run's end:\n%s", s.text())
		}
		if err := terminal.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A live line longer than the terminal is wide, of words, of one word and of
// wide characters, is wrapped and not lost.
func TestLiveTextWraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, width: 12}
		terminal := NewTerminal(s, Options{Color: Never, Live: Always, Width: 12, Env: []string{}})
		for _, delta := range []string{"aa bb", " cc ", "dd ee", "\\n0123456789abcdef", "\\n翻訳翻訳翻訳"} {
			terminal.Event(event(`{"type":"text-delta","delta":"` + delta + `"}`))
		}
		if err := terminal.Close(); err != nil {
			t.Error(err)
		}
		want := "│ aa bb cc\n│ dd ee\n│ 012345678\n│ 9abcdef\n│ 翻訳翻訳\n│ 翻訳\n[cursor at 6,0]\n"
		if s.text() != want {
			t.Errorf("got\n%s\nwant\n%s", s.text(), want)
		}
	})
}

// The answer goes on while a call runs below it.
func TestLiveTextAboveRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, width: 30}
		terminal := NewTerminal(s, Options{Color: Always, Live: Always, Width: 30, Env: []string{}})
		for _, step := range []struct{ data, want string }{
			{start("delegate", `,"input":{"agent":"a"}`), "→ asks a\n⠋ asks a\n[cursor at 1,8]\n"},
			{`{"type":"text-delta","delta":"one "}`, "→ asks a\n│ one\n⠋ asks a\n[cursor at 2,8]\n"},
			{`{"type":"text-delta","delta":"two\nthree"}`, "→ asks a\n│ one two\n│ three\n⠋ asks a\n[cursor at 3,8]\n"},
			{end("delegate", `,"output":"x"`), "→ asks a\n│ one two\n│ three\n✓ a answered: x\n[cursor at 4,0]\n"},
		} {
			terminal.Event(event(step.data))
			if s.text() != step.want {
				t.Errorf("after %s:\n%s\nwant\n%s", step.data, s.text(), step.want)
			}
		}
		if err := terminal.Close(); err != nil {
			t.Error(err)
		}
	})
}

type brokenPipe struct{ writes int }

func (b *brokenPipe) Write([]byte) (int, error) {
	b.writes++
	return 0, io.ErrClosedPipe
}

func TestCloseGivesTheFirstError(t *testing.T) {
	w := new(brokenPipe)
	screen := NewTerminal(w, Options{Env: []string{}})
	for range 3 {
		screen.Event(event(`{"type":"done"}`))
	}
	if err := screen.Close(); !errors.Is(err, io.ErrClosedPipe) || w.writes != 1 {
		t.Errorf("Close gives %v after %d writes, want %v after 1", err, w.writes, io.ErrClosedPipe)
	}
}

func TestConcurrentEvents(t *testing.T) {
	terminal := NewTerminal(io.Discard, Options{Color: Always, Live: Always, Env: []string{}})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				terminal.Event(event(start("delegate", `,"input":{"agent":"a"}`)))
				time.Sleep(time.Millisecond)
				terminal.Event(event(end("delegate", `,"output":"x"`)))
			}
		})
	}
	wg.Wait()
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
}
