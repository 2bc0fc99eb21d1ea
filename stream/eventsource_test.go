package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// peerSaid is what npm eventsource-parser made of a stream; see
// testdata/peers/parse.mjs.
type peerSaid struct {
	Said []struct {
		ID      *string `json:"id"`
		Event   *string `json:"event"`
		Data    string  `json:"data"`
		Comment *string `json:"comment"`
	} `json:"said"`
	Retry []float64 `json:"retry"`
}

// String gives what was said in a line, for TestEventsourceParserDeviates.
func (p peerSaid) String() string {
	var text []string
	or := func(s *string) string {
		if s == nil {
			return "none"
		}
		return fmt.Sprintf("%q", *s)
	}
	for _, s := range p.Said {
		if s.Comment != nil {
			text = append(text, fmt.Sprintf("comment %q", *s.Comment))
		} else {
			text = append(text, fmt.Sprintf("event: id %s, event %s, data %q", or(s.ID), or(s.Event), s.Data))
		}
	}
	for _, ms := range p.Retry {
		text = append(text, fmt.Sprintf("retry %.0f", ms))
	}
	return strings.Join(text, "; ")
}

// eventsourceParser has eventsource-parser parse streams, each given in chunks.
func eventsourceParser(t *testing.T, streams [][][]byte) []peerSaid {
	t.Helper()
	const install = "npm ci --prefix stream/testdata/peers"
	missing := t.Skipf
	if os.Getenv("SWARMSEAL_PEERS") == "required" {
		missing = t.Fatalf
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("no node to run eventsource-parser with: install Node 18 or newer, then %s", install)
	}
	if _, err := os.Stat("testdata/peers/node_modules/eventsource-parser"); err != nil {
		missing("eventsource-parser is not installed: %s", install)
	}
	var in, out, errs bytes.Buffer
	for _, chunks := range streams {
		line, err := json.Marshal(chunks)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), node, "parse.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = "testdata/peers", &in, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("parse.mjs: %v\n%s", err, &errs)
	}
	said := make([]peerSaid, len(streams))
	for i, results := 0, json.NewDecoder(&out); i < len(said); i++ {
		if err := results.Decode(&said[i]); err != nil {
			t.Fatalf("parse.mjs, result %d of %d: %v\n%s", i+1, len(said), err, &errs)
		}
	}
	return said
}

// lastLine is given to eventsource-parser behind each stream, as a chunk of its
// own: a field that is unknown.
var lastLine = []byte("x\n")

// mend gives what eventsource-parser said of text and lastLine without the
// deviations that TestEventsourceParserDeviates names.
func (p peerSaid) mend(text string) (o outcome) {
	var ids []bool // of the blocks with data
	given := 0
	for _, b := range blocks(text) {
		if b.data {
			ids = append(ids, b.id)
		}
	}
	for _, s := range p.Said {
		if s.Comment != nil {
			o.said = append(o.said, comment{len(o.frames), *s.Comment})
			continue
		}
		f := Frame{Event: "message", Data: []byte(s.Data)}
		if s.Event != nil {
			f.Event = *s.Event
		}
		if s.ID != nil {
			f.ID = *s.ID
		}
		if given < len(ids) && ids[given] != (s.ID != nil) {
			f.ID = fmt.Sprintf("(eventsource-parser: has an id: %t)", s.ID != nil)
		}
		given++
		o.frames = append(o.frames, f)
	}
	// A comment that was cut has been ended by lastLine.
	if _, rest := standardLines(text); strings.HasPrefix(rest, ":") && len(o.said) > 0 {
		o.said = o.said[:len(o.said)-1]
	}
	o.comments = len(o.said)
	for _, ms := range p.Retry {
		if ms < math.MaxInt64 {
			o.retry, o.hasRetry = int64(ms), true
		}
	}
	return o
}

// TestAgainstEventsourceParser compares with eventsource-parser on the vectors
// and on random streams, cut at random, but for its known deviations.
func TestAgainstEventsourceParser(t *testing.T) {
	type input struct {
		name   string
		chunks [][]byte
	}
	var inputs []input
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, v := range loadVectors(t) {
		var given [][]byte
		for _, c := range v.Chunks {
			given = append(given, c)
		}
		inputs = append(inputs, input{v.Name, given}, input{v.Name + ", cut anew", *cut(rnd, v.bytes())})
	}
	for i := range 4000 {
		inputs = append(inputs, input{fmt.Sprintf("random stream %d", i), *cut(rnd, []byte(randomStream(rnd)))})
	}
	streams := make([][][]byte, len(inputs))
	for i, in := range inputs {
		streams[i] = append(append([][]byte{}, in.chunks...), lastLine)
	}
	frames := 0
	for i, said := range eventsourceParser(t, streams) {
		text := bytes.Join(inputs[i].chunks, nil) // before reading takes the chunks apart
		given := chunkReader(inputs[i].chunks)
		ours := scan(NewScanner(&given))
		ownIDs(ours.frames, string(text))
		for j := range ours.said {
			ours.said[j].text = strings.TrimPrefix(ours.said[j].text, " ")
		}
		ours.lastID, ours.truncated = "", false // of these it says nothing
		if diff := ours.differ(said.mend(string(text))); diff != "" {
			t.Errorf("%s, %.300q: %s", inputs[i].name, text, diff)
		}
		frames += len(ours.frames)
	}
	if frames < 4000 {
		t.Errorf("%d frames in all: too few to compare by", frames)
	}
}

// ownIDs takes the ids off the frames whose blocks have none of their own.
func ownIDs(frames []Frame, text string) {
	i := 0
	for _, b := range blocks(text) {
		if !b.data || i == len(frames) {
			continue
		}
		if !b.id {
			frames[i].ID = ""
		}
		i++
	}
}

// TestEventsourceParserDeviates names the deviations, and fails when the
// library no longer has one: then it need not be mended any more.
func TestEventsourceParserDeviates(t *testing.T) {
	cases := []struct{ name, text, theirs, standard string }{
		{"an event has its own id alone: the last one is the caller's to keep",
			"id: 1\ndata: a\n\ndata: b\n\n",
			`event: id "1", event none, data "a"; event: id none, event none, data "b"`,
			`1 message "a"; 1 message "b"`},
		{"so the id of a block without data is lost",
			"id: 1\n\ndata: a\n\n",
			`event: id none, event none, data "a"`,
			`1 message "a"`},
		{"a CR as the last byte waits for another",
			"data: a\r\r",
			``,
			` message "a"`},
		{"a comment loses one leading space",
			":  a\n",
			`comment " a"`,
			`comment "  a"`},
		{"a retry has the precision of a float",
			"retry: 9007199254740993\n",
			`retry 9007199254740992`,
			`retry 9007199254740993`},
		{"a retry over 64 bits counts",
			"retry: 5\nretry: 99999999999999999999\n",
			`retry 5; retry 100000000000000000000`,
			`retry 5`},
		{"the characters of a BOM's bytes are taken for a BOM",
			"\u00ef\u00bb\u00bfdata: a\n\n",
			`event: id none, event none, data "a"`,
			``},
	}
	var streams [][][]byte
	for _, c := range cases {
		streams = append(streams, [][]byte{[]byte(c.text)})
	}
	for i, c := range cases {
		// Ours first, so that they are looked at without node too.
		var got []string
		o := scan(NewScanner(strings.NewReader(c.text)))
		for _, f := range o.frames {
			got = append(got, fmt.Sprintf("%s %s %q", f.ID, f.Event, f.Data))
		}
		for _, s := range o.said {
			got = append(got, fmt.Sprintf("comment %q", s.text))
		}
		if o.hasRetry {
			got = append(got, fmt.Sprintf("retry %d", o.retry))
		}
		if text := strings.Join(got, "; "); text != c.standard {
			t.Errorf("%s: case %d, ours: %s; want %s", c.name, i, text, c.standard)
		}
	}
	for i, said := range eventsourceParser(t, streams) {
		if said.String() != cases[i].theirs {
			t.Errorf("eventsource-parser no longer deviates so (%s): %s; it was %s", cases[i].name, said, cases[i].theirs)
		}
	}
}
