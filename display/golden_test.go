package display

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/swarmseal/swarmseal/events"
)

var update = flag.Bool("update", false, "write what the streams of testdata look like now")

// decode reads a recorded stream whose frames have one line of data each.
func decode(stream []byte) []events.Event {
	var all []events.Event
	for block := range strings.SplitSeq(string(stream), "\n\n") {
		var name, data string
		for line := range strings.SplitSeq(block, "\n") {
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				name = v
			}
			if v, ok := strings.CutPrefix(line, "data: "); ok {
				data = v
			}
		}
		if data != "" {
			all = append(all, events.Decode("", name, []byte(data)))
		}
	}
	return all
}

// transcripts gives the streams of testdata by their file's name.
func transcripts(t testing.TB) map[string]*txtar.Archive {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	all := make(map[string]*txtar.Archive)
	for _, file := range files {
		if all[file], err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func streamOf(a *txtar.Archive) []events.Event { return decode(a.Files[0].Data) }

func TestGolden(t *testing.T) {
	for file, archive := range transcripts(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			stream := streamOf(archive)
			views := []struct{ name, text string }{
				{"plain.txt", written(t, stream, Options{Color: Never, Live: Never})},
				{"colour.txt", strings.ReplaceAll(written(t, stream, Options{Color: Always, Live: Never}), "\x1b", "␛")},
				{"live.txt", watched(t, stream, 60)},
				{"narrow.txt", watched(t, stream, 24)},
			}
			want := make(map[string][]byte)
			for _, f := range archive.Files {
				want[f.Name] = f.Data
			}
			archive.Files = archive.Files[:1]
			for _, v := range views {
				if !*update && string(want[v.name]) != v.text {
					t.Errorf("%s is now\n%s\nwant\n%s", v.name, v.text, want[v.name])
				}
				archive.Files = append(archive.Files, txtar.File{Name: v.name, Data: []byte(v.text)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// written gives what a Terminal writes of a stream that comes in an instant.
func written(t *testing.T, stream []events.Event, opts Options) string {
	t.Helper()
	opts.Env = []string{}
	var b bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		screen := NewTerminal(&b, opts)
		for _, e := range stream {
			screen.Event(e)
		}
		if err := screen.Close(); err != nil {
			t.Error(err)
		}
	})
	return b.String()
}

// watched gives what stands on a terminal at some instants while a stream
// comes at its own pace, and in the end.
func watched(t *testing.T, stream []events.Event, width int) string {
	t.Helper()
	var b strings.Builder
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, width: width}
		terminal := NewTerminal(s, Options{Color: Always, Live: Always, Width: width, Env: []string{}})
		begin := time.Now()
		instants := []time.Duration{450, 750, 1250, 20_000} // ms
		until := func(at time.Duration) {
			time.Sleep(time.Until(begin.Add(at)))
			synctest.Wait()
		}
		var first, at time.Duration
		for _, e := range stream {
			if ts := readMembers(e.Data).time("ts"); ts.IsZero() {
				at += 100 * time.Millisecond
			} else {
				sent := time.Duration(ts.UnixNano())
				if first == 0 {
					first = sent
				}
				at = sent - first
			}
			for len(instants) > 0 && instants[0]*time.Millisecond < at {
				until(instants[0] * time.Millisecond)
				fmt.Fprintf(&b, "After %d ms:\n%s\n", instants[0], s.text())
				instants = instants[1:]
			}
			until(at)
			terminal.Event(e)
		}
		if err := terminal.Close(); err != nil {
			t.Error(err)
		}
		fmt.Fprintf(&b, "In the end:\n%s", s.text())
	})
	return b.String()
}
