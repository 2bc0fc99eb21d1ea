package stream

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"
)

// goSSE gives go-sse's frames for text.
func goSSE(t testing.TB, text string) (frames []Frame) {
	for ev, err := range sse.Read(strings.NewReader(text), &sse.ReadConfig{MaxEventSize: len(text) + 1}) {
		if err != nil {
			t.Fatalf("%.200q: go-sse gives an error: %v", text, err)
		}
		frames = append(frames, Frame{ev.LastEventID, ev.Type, []byte(ev.Data)})
	}
	return frames
}

// The known deviations of go-sse, mended on the one side or the other for
// FuzzAgainstGoSSE. It fails too where one is mended that is none.

// dropGhosts leaves out the frames of blocks that have a name or an id but no
// data.
func dropGhosts(frames []Frame, text string) (kept []Frame) {
	for _, b := range blocks(text) {
		if len(frames) == 0 {
			break
		}
		if b.data {
			kept = append(kept, frames[0])
		}
		if b.data || b.event || b.id {
			frames = frames[1:]
		}
	}
	return append(kept, frames...)
}

// dropLateBOMs takes the BOMs off the first line behind leading blank lines.
func dropLateBOMs(text string) string {
	rest := strings.TrimLeft(text, "\r\n")
	if len(rest) == len(text) {
		return text
	}
	blank := text[:len(text)-len(rest)]
	for strings.HasPrefix(rest, "\xef\xbb\xbf") {
		rest = strings.TrimLeft(rest[3:], "\r\n")
	}
	return blank + rest
}

// nameAndDecode calls frames without a name "message" and decodes UTF-8.
func nameAndDecode(frames []Frame) {
	for i, f := range frames {
		if f.Event == "" {
			f.Event = "message"
		}
		frames[i] = Frame{decodeUTF8(f.ID), decodeUTF8(f.Event), appendValid(nil, f.Data)}
	}
}

// TestGoSSEDeviates names the deviations, and fails when the library no longer
// has one: then it need not be mended any more.
func TestGoSSEDeviates(t *testing.T) {
	frame := func(id, event, data string) Frame { return Frame{id, event, []byte(data)} }
	for _, c := range []struct {
		name, text   string
		theirs, ours []Frame
	}{
		{"a block with a name alone gives an event", "event: ghost\n\n",
			[]Frame{frame("", "ghost", "")}, nil},
		{"so does one with an id alone", "id: 1\n\n",
			[]Frame{frame("1", "", "")}, nil},
		{"a BOM behind blank lines is dropped", "\n\xef\xbb\xbfdata: x\n\n",
			[]Frame{frame("", "", "x")}, nil},
		{"events are not named message", "data: x\n\n",
			[]Frame{frame("", "", "x")}, []Frame{frame("", "message", "x")}},
		{"UTF-8 is not decoded", "event: e\ndata: \xff\n\n",
			[]Frame{frame("", "e", "\xff")}, []Frame{frame("", "e", "\ufffd")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := (outcome{frames: goSSE(t, c.text)}).differ(outcome{frames: c.theirs}); diff != "" {
				t.Errorf("go-sse no longer deviates so: %s", diff)
			}
			if diff := (outcome{frames: scan(NewScanner(strings.NewReader(c.text))).frames}).differ(outcome{frames: c.ours}); diff != "" {
				t.Errorf("ours: %s", diff)
			}
		})
	}
	// What go-sse says nothing of can't be compared: comments, retry, and
	// whether the bytes stop inside an event.
	if frames := goSSE(t, ": c\nretry: 5\ndata: cut"); frames != nil {
		t.Errorf("go-sse gives %q for a block that is cut", frames)
	}
}

// FuzzAgainstGoSSE asserts that go-sse gives the same frames, but for its known
// deviations.
func FuzzAgainstGoSSE(f *testing.F) {
	seeds := 0
	for _, v := range loadVectors(f) {
		if data := v.bytes(); len(data) < 10_000 {
			f.Add(string(data))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no vector is short enough for a seed")
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		f.Add(randomStream(rnd))
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = dropLateBOMs(text)
		want := dropGhosts(goSSE(t, text), text)
		nameAndDecode(want)
		got := scan(NewScanner(bytes.NewReader([]byte(text))))
		if diff := (outcome{frames: got.frames}).differ(outcome{frames: want}); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}

// randomStream gives a stream of some blocks with what parsers get wrong.
func randomStream(rnd *rand.Rand) string {
	pick := func(from []string) string { return from[rnd.IntN(len(from))] }
	lines := []string{
		"data", "data:", "data: ", "data:  two", "data: a", "data:b c", "data: é€🐝", "data: \xe2\x82", "data: \x00", "data : no", "Data: no", "data: {\"a\":1}",
		"event: e", "event", "event: ", "event:\xff", "id: 1", "id: 22", "id", "id:", "id: \x00", "id: 1\x002", "id: é",
		"retry: 10", "retry: 007", "retry: x", "retry", "retry: -1", "retry:99999999999999999999",
		": c", ":", "::", ":no space", "x: y", "\ufeffdata: no", "data: \u2028\u2029\u0085", " data: no", "data\t: no",
	}
	ends := []string{"\n", "\r", "\r\n"}
	end := func() string { return pick(ends) }
	if rnd.IntN(2) == 0 { // as most servers: one kind of line end
		one := end()
		end = func() string { return one }
	}
	var text strings.Builder
	if rnd.IntN(4) == 0 {
		text.WriteString("\ufeff")
	}
	for range rnd.IntN(10) {
		for range rnd.IntN(6) {
			text.WriteString(pick(lines) + end())
		}
		text.WriteString(end())
	}
	if rnd.IntN(4) == 0 {
		text.WriteString(pick(lines))
	}
	return text.String()
}
