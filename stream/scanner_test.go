package stream

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/tmaxmax/go-sse"
)

func TestScannerEnd(t *testing.T) {
	for _, c := range []struct {
		text      string
		truncated bool
		comments  int
	}{
		{"", false, 0},
		{"\xef\xbb\xbf", false, 0},
		{"\xef\xbb", true, 0}, // no BOM but a line, cut
		{"\n\r\n\r", false, 0},
		{"data: x\n\n:", true, 0},
		{"data: x\n\n: a\n: b", true, 1},
		{"data: x\n\n: a\n: b\r", false, 2},
		{"data: x\n: a\n", true, 1},
		{"unknown\n", true, 0},
		{"retry: 5\n", true, 0},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			if got := scan(NewScanner(r)); got.truncated != c.truncated || got.comments != c.comments || got.err != "" {
				t.Errorf("%q: %+v, want truncated %v and %d comments", c.text, got, c.truncated, c.comments)
			}
		}
	}
}

func TestScannerGivesTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	s := NewScanner(io.MultiReader(strings.NewReader("data: x\n\ndata: y\n"), iotest.ErrReader(broken)))
	if f, err := s.Next(); err != nil || string(f.Data) != "x" {
		t.Fatalf("%v, %v", f, err)
	}
	for range 2 {
		if f, err := s.Next(); err != broken || f.Data != nil || !s.Truncated() {
			t.Errorf("%v, %v, truncated %v; want the reader's error each time", f, err, s.Truncated())
		}
	}
	if _, err := NewScanner(reads(func([]byte) (int, error) { return 0, nil })).Next(); err != io.ErrNoProgress {
		t.Errorf("a reader that gives nothing: %v, want io.ErrNoProgress", err)
	}
}

type reads func([]byte) (int, error)

func (f reads) Read(p []byte) (int, error) { return f(p) }

func TestScannerGivesAFrameAtItsLastByte(t *testing.T) {
	// A live stream pauses there: to wait for one byte more is to hang.
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r"} {
		text := "data: x" + end
		s := NewScanner(reads(func(p []byte) (int, error) {
			if text == "" {
				t.Fatalf("%q: it reads on before it gives the frame", end)
			}
			n := copy(p[:1], text)
			text = text[n:]
			return n, nil
		}))
		if f, err := s.Next(); err != nil || string(f.Data) != "x" {
			t.Errorf("%q: %v, %v", end, f, err)
		}
	}
}

func TestScannerLimit(t *testing.T) {
	const limit = 100
	// "data: " and the line's end make 7 bytes.
	fits, long := "data: "+strings.Repeat("x", limit-7), "data: "+strings.Repeat("x", limit-6)
	comments := strings.Repeat(": "+strings.Repeat("c", 3*limit)+"\r\n", 50)
	for _, c := range []struct {
		name, text string
		frames     int
		tooLong    bool
	}{
		{"fits", fits + "\n\n" + fits + "\r\n\r\n", 2, false},
		{"comments do not count", comments + fits + "\n" + comments + "\n" + comments, 1, false},
		{"one byte over", fits + "\n\n" + long + "\n\n", 1, true},
		{"one byte over in two lines", "data: a\n" + strings.Replace(long, "x", "", 8) + "\nid\n\n", 0, true},
		{"unknown fields count", "data\n" + strings.Repeat("x\n", limit) + "\n", 0, true},
		{"without end", "data: " + strings.Repeat("x", 10*limit), 0, true},
	} {
		for name, r := range map[string]io.Reader{
			"whole":    strings.NewReader(c.text),
			"by bytes": iotest.OneByteReader(strings.NewReader(c.text)),
			"random":   cut(rand.New(rand.NewPCG(3, 4)), []byte(c.text)),
		} {
			s := NewScanner(r)
			s.MaxFrameBytes = limit
			frames := 0
			var err error
			for err == nil {
				if _, err = s.Next(); err == nil {
					frames++
				}
			}
			e, tooLong := errors.AsType[*FrameTooLongError](err)
			if frames != c.frames || tooLong != c.tooLong || errors.Is(err, ErrFrameTooLong) != tooLong || tooLong && e.Limit != limit {
				t.Errorf("%s, %s: %d frames, %v", c.name, name, frames, err)
			}
		}
	}
}

func TestScannerHoldsNoComments(t *testing.T) {
	left := 64 << 20
	endless := reads(func(p []byte) (int, error) { // one comment line of 64 MiB, in an open block
		if left == 0 {
			return 0, io.EOF
		}
		n := min(len(p), left)
		for i := range p[:n] {
			p[i] = 'c'
		}
		left -= n
		return n, nil
	})
	s := NewScanner(io.MultiReader(strings.NewReader("data: a\n: "), endless, strings.NewReader("\ndata: b\n\n")))
	f, err := s.Next()
	if err != nil || string(f.Data) != "a\nb" {
		t.Errorf("%q, %v", f.Data, err)
	}
	if len(s.buf) > 4*startBufferBytes {
		t.Errorf("the buffer grew to %d bytes", len(s.buf))
	}
}

func TestScannerGivesBackALargeBuffer(t *testing.T) {
	live := chunkReader{[]byte("data: " + strings.Repeat("x", 4<<20) + "\n\n")}
	for range 100 {
		live = append(live, []byte("data: y\n\n"))
	}
	s := NewScanner(&live)
	for {
		f, err := s.Next()
		if err != nil {
			break
		}
		if len(f.Data) == 1 && len(s.buf) == startBufferBytes {
			return
		}
	}
	t.Errorf("the buffer still has %d bytes", len(s.buf))
}

func TestScannerKeepsDataOverItsPart(t *testing.T) {
	// Data cannot be appended to beyond the frame, over the next one.
	s := NewScanner(strings.NewReader("data: a\n\ndata: b\n\n"))
	f, _ := s.Next()
	_ = append(f.Data, "xxxxxxxxxxxx"...)
	if f, err := s.Next(); err != nil || string(f.Data) != "b" {
		t.Errorf("%q, %v", f.Data, err)
	}
}

// shapes are streams of some megabytes that are slow to split by a scanner
// whose time grows faster than its bytes.
func shapes(size int) map[string]string {
	return map[string]string{
		"one line":             "data: " + strings.Repeat("x", size) + "\n\n",
		"short lines":          strings.Repeat("data: x\n", size/8) + "\n",
		"short lines by CR":    strings.Repeat("data: x\r", size/8) + "\r",
		"empty lines of data":  strings.Repeat("data\n", size/5) + "\n",
		"comments in a block":  "data: x\n" + strings.Repeat(": ping\n", size/7) + "\n",
		"frames by CR":         strings.Repeat("data: x\r\r", size/9),
		"lines of other names": strings.Repeat("x\n", size/2) + "\n",
		"no UTF-8":             "data: " + strings.Repeat("\xff", size) + "\n\n",
	}
}

func TestScannerTimeIsLinear(t *testing.T) {
	// Eight times the bytes take some eight times as long; in the square they
	// would take 64 times. A busy machine gets more than one chance.
	const size, times = 256 << 10, 8
	large := shapes(times * size)
	for name, text := range shapes(size) {
		read := func(text string) time.Duration {
			start := time.Now()
			s := NewScanner(&steady{text, 4096})
			for {
				if _, err := s.Next(); err != nil {
					if err != io.EOF || s.Truncated() {
						t.Errorf("%s: %v, truncated %v", name, err, s.Truncated())
					}
					return time.Since(start)
				}
			}
		}
		var short, long time.Duration
		for range 5 {
			if short, long = read(text), read(large[name]); long < 3*times*short {
				break
			}
		}
		if long >= 3*times*short {
			t.Errorf("%s: %d kB took %v, %d times as many %v", name, size>>10, short, times, long)
		}
	}
}

// steady gives at most n bytes a read.
type steady struct {
	text string
	n    int
}

func (s *steady) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.text)
	s.text = s.text[n:]
	return n, nil
}

func TestScannerAllocatesNothingPerFrame(t *testing.T) {
	text := strings.Repeat("event: tool_start\ndata: {\"type\":\"tool_start\"}\n\nevent: tool_end\ndata: {}\ndata: {}\n\n", 2000)
	allocs := testing.AllocsPerRun(5, func() {
		s := NewScanner(strings.NewReader(text))
		for {
			if _, err := s.Next(); err != nil {
				return
			}
		}
	})
	if allocs > 20 { // the scanner, its buffer, its names
		t.Errorf("%v allocations for 4000 frames", allocs)
	}
}

// TestAgainstGoSSE compares with the parser of go-sse, whose known deviations
// from the standard are left out of what is compared:
//
//   - it dispatches blocks that have an event or id line but no data;
//   - it drops a BOM that stands after blank lines, and it does not say
//     "message" where no name was set;
//   - it does not decode UTF-8, and does not know of retry or comments.
func TestAgainstGoSSE(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	parts := []string{"data", "data:", "data: ", "data: a", "data:b c", "event: e", "event", "id: 1", "id: 2", "id", "id: \x00",
		": c", ":", "x: y", "data : no", "Data: no", "data: é"}
	ends := []string{"\n", "\r", "\r\n"}
	for range 3000 {
		var text strings.Builder
		for range rnd.IntN(12) {
			// A block starts with data, so that none is without.
			end := ends[rnd.IntN(3)]
			text.WriteString("data: start" + end)
			for range rnd.IntN(5) {
				text.WriteString(parts[rnd.IntN(len(parts))] + ends[rnd.IntN(3)])
			}
			text.WriteString("\n" + end)
		}
		if rnd.IntN(4) == 0 {
			text.WriteString("data: cut")
		}
		var want []Frame
		for ev, err := range sse.Read(strings.NewReader(text.String()), nil) {
			if err != nil {
				break // a line that is cut; we tell that by Truncated
			}
			if ev.Type == "" {
				ev.Type = "message"
			}
			want = append(want, Frame{ev.LastEventID, ev.Type, []byte(ev.Data)})
		}
		got := scan(NewScanner(cut(rnd, []byte(text.String()))))
		if diff := (outcome{frames: got.frames}).differ(outcome{frames: want}); diff != "" {
			t.Fatalf("%q: %s", text.String(), diff)
		}
	}
}

// TestGoSSEDeviates fails when the library has mended what TestAgainstGoSSE
// works around.
func TestGoSSEDeviates(t *testing.T) {
	count := func(text string) (n int) {
		for _, err := range sse.Read(strings.NewReader(text), nil) {
			if err == nil {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		text         string
		theirs, ours int
	}{
		{"event: ghost\n\n", 1, 0},
		{"id: 1\n\n", 1, 0},
		{"\n\xef\xbb\xbfdata: x\n\n", 1, 0},
	} {
		if got := count(c.text); got != c.theirs {
			t.Errorf("%q: go-sse gives %d events, no longer %d: compare it too", c.text, got, c.theirs)
		}
		if got := len(scan(NewScanner(strings.NewReader(c.text))).frames); got != c.ours {
			t.Errorf("%q: %d frames, want %d", c.text, got, c.ours)
		}
	}
}

// reference is the standard's text put into code with no thought of speed.
func reference(text string) (o outcome) {
	decode := func(text string) string { return string(appendValid(nil, []byte(text))) }
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	o.truncated = lines[len(lines)-1] != ""
	lines = lines[:len(lines)-1]
	var data, event, id string
	open := false
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		if line != "" && name == "" {
			o.comments++
			// The bound is ours, not the standard's.
			text := line[1:]
			for n := maxCommentBytes; len(text) > maxCommentBytes; n-- {
				if utf8.RuneStart(text[n]) || n == maxCommentBytes-3 {
					text = text[:n]
				}
			}
			o.said = append(o.said, comment{len(o.frames), decode(text)})
			continue
		}
		open = line != ""
		switch {
		case line == "":
			o.lastID = id
			if data != "" {
				if event == "" {
					event = "message"
				}
				o.frames = append(o.frames, Frame{id, event, []byte(strings.TrimSuffix(data, "\n"))})
			}
			data, event = "", ""
		case name == "data":
			data += decode(value) + "\n"
		case name == "event":
			event = decode(value)
		case name == "id" && !strings.Contains(value, "\x00"):
			id = decode(value)
		case name == "retry" && value != "" && strings.Trim(value, "0123456789") == "":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				o.retry, o.hasRetry = n, true
			}
		}
	}
	o.truncated = o.truncated || open
	return o
}

// FuzzScanner asserts that the frames are those of the standard, and the same
// for every way of cutting the bytes.
func FuzzScanner(f *testing.F) {
	for _, v := range loadVectors(f) {
		if data := v.bytes(); len(data) < 10_000 {
			f.Add(data, uint64(1))
		}
	}
	f.Add([]byte("data: a\r\r\n\ndata:b\r\n\r\n: c\nid: 4\nretry: 07\n\n"), uint64(2))
	f.Add([]byte(":"+strings.Repeat("\xe2\x82\xac", maxCommentBytes)+"\n:\xff\r"), uint64(4))
	f.Add([]byte("\xef\xbb\xbfdata: \xf0\x9f\x90\xffx\xed\xa0\x80\n\n"), uint64(3))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		want := reference(string(data))
		before := slices.Clone(data)
		rnd := rand.New(rand.NewPCG(seed, 0))
		for name, r := range map[string]io.Reader{
			"whole":    bytes.NewReader(data),
			"by bytes": iotest.OneByteReader(bytes.NewReader(data)),
			"random":   cut(rnd, data),
		} {
			if diff := scan(NewScanner(r)).differ(want); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		if !bytes.Equal(data, before) {
			t.Error("the reader's bytes were changed")
		}
	})
}

func TestReplacement(t *testing.T) {
	// The examples of the Unicode Standard, tables 3-8 to 3-11, and of the
	// Encoding Standard's decoder.
	for text, want := range map[string]string{
		"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41": "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA",
		"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41": "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA",
		"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42": "\ufffd\ufffd\ufffd\ufffd\ufffdA\ufffd\ufffdB",
		"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41": "\ufffd\ufffd\ufffd\ufffdA",
		"\xf0\x9f\x90":                         "\ufffd",
		"é\xe2\x82x\ufffd":                     "é\ufffdx\ufffd",
	} {
		if got := string(appendValid(nil, []byte(text))); got != want {
			t.Errorf("%x: %+q, want %+q", text, got, want)
		}
	}
}
