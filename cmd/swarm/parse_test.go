package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

// parse runs swarm parse in this process and gives the lines and the status.
func parse(t testing.TB, in io.Reader, flags ...string) (lines []map[string]any, status int) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"parse"}, flags...))
	root.SetIn(in)
	root.SetOut(&out)
	if err := root.Execute(); err != nil {
		status, _ = classify(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var m map[string]any
		if err := d.Decode(&m); err != nil {
			t.Fatalf("line %.200q: %v", line, err)
		}
		lines = append(lines, m)
	}
	if len(lines) == 0 || lines[len(lines)-1]["end"] == nil {
		t.Fatalf("no last line with end: %.500q", out.Bytes())
	}
	return lines, status
}

func readVectors(t *testing.T, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// text reads a string, a repeat of one, or a list of both, as the vectors have them.
func text(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, piece := range v {
			b.WriteString(text(t, piece))
		}
		return b.String()
	case map[string]any:
		repeat := v["repeat"].(map[string]any)
		n, err := repeat["times"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := repeat["base64"].(string); ok {
			return strings.Repeat(decoded(t, s), int(n))
		}
		return strings.Repeat(repeat["text"].(string), int(n))
	}
	t.Fatalf("text %v", v)
	return ""
}

func decoded(t *testing.T, s string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestParseFramesOfAllVectors(t *testing.T) {
	var vectors []struct {
		Name, Why   string
		Chunks      []any `json:"chunks_base64"`
		Frames      []map[string]any
		LastEventID string       `json:"last_event_id"`
		RetryMs     *json.Number `json:"retry_ms"`
		End         string
	}
	readVectors(t, "../../stream/testdata/sse.json", &vectors)
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			var readers []io.Reader
			for _, c := range v.Chunks {
				chunk := ""
				if s, ok := c.(string); ok {
					chunk = decoded(t, s)
				} else {
					chunk = text(t, c)
				}
				readers = append(readers, strings.NewReader(chunk))
			}
			lines, status := parse(t, io.MultiReader(readers...), "--frames")
			last, lines := lines[len(lines)-1], lines[:len(lines)-1]
			if len(lines) != len(v.Frames) {
				t.Fatalf("%d frames, want %d: %s", len(lines), len(v.Frames), v.Why)
			}
			for i, f := range v.Frames {
				for _, key := range []string{"id", "event", "data"} {
					if want := text(t, f[key]); lines[i][key] != want {
						t.Errorf("frame %d: %s is %.100q, want %.100q", i, key, lines[i][key], want)
					}
				}
			}
			var retry any
			if v.RetryMs != nil {
				retry = *v.RetryMs
			}
			if last["end"] != v.End || last["lastEventId"] != v.LastEventID || last["retryMs"] != retry {
				t.Errorf("last line %v; want %s, id %q, retry %v", last, v.End, v.LastEventID, retry)
			}
			if want := map[string]int{"clean": exitOK, "truncated": exitTruncated}[v.End]; status != want {
				t.Errorf("status %d, want %d", status, want)
			}
		})
	}
}

// toolVector is a case of tools.json.
type toolVector struct {
	Name, Why string
	Frames    []struct{ Event, Data string }
	Want      []struct {
		Kind, Type string
		Tool       map[string]any
	}
	Calls []struct {
		ToolName, Agent string
		Start           *int `json:"start_frame"`
		End             *int `json:"end_frame"`
	}
}

// stream gives the bytes of the vector's frames; ok is false for data that no
// stream can carry, such as a bare CR.
func (v toolVector) stream(t *testing.T) (data []byte, ok bool) {
	t.Helper()
	for _, f := range v.Frames {
		if strings.Contains(f.Data, "\r") {
			return nil, false
		}
		var err error
		if data, err = stream.AppendFrame(data, stream.Frame{Event: f.Event, Data: []byte(f.Data)}); err != nil {
			t.Fatal(err)
		}
	}
	return data, true
}

func TestParseToolsOfAllVectors(t *testing.T) {
	var vectors []toolVector
	readVectors(t, "../../events/testdata/tools.json", &vectors)
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	skipped := 0
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			data, ok := v.stream(t)
			if !ok {
				skipped++
				t.Skip("a CR is a line end in a stream")
			}
			lines, status := parse(t, bytes.NewReader(data))
			if status != exitOK || len(lines) != len(v.Want)+1 {
				t.Fatalf("status %d, %d lines for %d frames", status, len(lines), len(v.Want))
			}
			for i, want := range v.Want {
				if diff := checkLine(lines[i], i+1, want.Kind, want.Type, want.Tool); diff != "" {
					t.Errorf("%s\nline %v: %s", v.Why, lines[i], diff)
				}
			}
			if v.Calls != nil {
				checkCalls(t, v, data)
			}
		})
	}
	if skipped > len(vectors)/20 {
		t.Errorf("%d of %d vectors were skipped", skipped, len(vectors))
	}
}

func checkLine(line map[string]any, seq int, kind, typ string, want map[string]any) string {
	if line["seq"] != json.Number(fmt.Sprint(seq)) {
		return fmt.Sprintf("want seq %d", seq)
	}
	tool, isTool := line["tool"].(map[string]any)
	if isTool != (kind == "tool") || (line["type"] == "malformed") != (kind == "malformed") {
		return "want " + kind
	}
	switch kind {
	case "malformed":
		if s, _ := line["error"].(string); s == "" || len(line) != 3 {
			return "want seq, type and error alone"
		}
	case "other":
		if line["type"] != typ {
			return fmt.Sprintf("want type %q", typ)
		}
	case "tool":
		for key, w := range want {
			if !same(tool[key], w) {
				return fmt.Sprintf("%s is %v, want %v", key, tool[key], w)
			}
		}
	}
	return ""
}

func same(got, want any) bool {
	if m, ok := want.(map[string]any); ok && m["$any"] != nil {
		_, isObject := got.(map[string]any)
		_, isString := got.(string)
		return m["$any"] == "object" && isObject || m["$any"] == "string" && isString
	}
	return reflect.DeepEqual(got, want)
}

func checkCalls(t *testing.T, v toolVector, data []byte) {
	t.Helper()
	lines, _ := parse(t, bytes.NewReader(data), "--calls")
	seq := func(frame *int) any {
		if frame == nil {
			return nil
		}
		return json.Number(fmt.Sprint(*frame + 1))
	}
	type key struct{ tool, agent, start, end any }
	got, want := map[key]int{}, map[key]int{}
	for _, c := range lines[:len(lines)-1] {
		got[key{c["toolName"], c["agent"], c["start"], c["end"]}]++
	}
	for _, c := range v.Calls {
		want[key{c.ToolName, c.Agent, seq(c.Start), seq(c.End)}]++
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ncalls %v\nwant  %v", v.Why, got, want)
	}
}

// A live stream's lines come while it is open.
func TestParseStreams(t *testing.T) {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	root := newRoot()
	root.SetArgs([]string{"parse"})
	root.SetIn(in)
	root.SetOut(out)
	done := make(chan error, 1)
	go func() { done <- root.Execute(); out.Close() }()
	lines := bufio.NewScanner(read)
	for i := range 3 {
		if _, err := fmt.Fprintf(feed, "id: %d\ndata: {\"type\":\"timing\"}\n\n", i); err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 1)
		go func() { lines.Scan(); got <- lines.Text() }()
		select {
		case line := <-got:
			if want := fmt.Sprintf(`{"seq":%d,"id":"%d","type":"timing"}`, i+1, i); line != want {
				t.Errorf("line %s, want %s", line, want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no line while the stream is open")
		}
	}
	feed.Close()
	if !lines.Scan() || lines.Text() != `{"end":"clean","lastEventId":"2","retryMs":null,"comments":0}` {
		t.Errorf("last line %q", lines.Text())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestParseEndsWithError(t *testing.T) {
	long := io.MultiReader(strings.NewReader("id: 1\ndata: 1\n\ndata: "), endless{})
	broken := io.MultiReader(strings.NewReader("id: 1\ndata: 1\n\n"), iotest.ErrReader(os.ErrPermission))
	for name, in := range map[string]io.Reader{"frame too long": long, "unreadable": broken} {
		t.Run(name, func(t *testing.T) {
			lines, status := parse(t, in)
			last := lines[len(lines)-1]
			if status != exitFailed || len(lines) != 2 || last["end"] != "error" || last["lastEventId"] != "1" {
				t.Errorf("status %d, lines %v", status, lines)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestParseRaw(t *testing.T) {
	in := "data: plain <text>\n\ndata: {\"type\":\"tool_start\",\"toolName\":\"agent_find\"}\n\ndata: {\n\n"
	lines, _ := parse(t, strings.NewReader(in), "--raw")
	if lines[0]["raw"] != "plain <text>" {
		t.Errorf("line %v, want its data as raw", lines[0])
	}
	for _, line := range lines[1:] {
		if _, has := line["raw"]; has {
			t.Errorf("line %v, want no raw", line)
		}
	}
}
