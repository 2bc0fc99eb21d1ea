package stream

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
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
	const frames = 4000
	for name, c := range map[string]struct {
		text string
		most float64
	}{
		"names": {strings.Repeat("event: tool_start\ndata: {\"type\":\"tool_start\"}\n\nevent: tool_end\ndata: {}\ndata: {}\n\n", frames/2),
			20}, // the scanner, its buffer, its names
		"new ids": {string(agentFrames(frames, true)),
			10 + frames*7/(idBlockBytes-7)}, // and the blocks of ids of seven digits
	} {
		allocs := testing.AllocsPerRun(5, func() {
			s := NewScanner(strings.NewReader(c.text))
			for {
				if _, err := s.Next(); err != nil {
					return
				}
			}
		})
		if allocs > c.most {
			t.Errorf("%s: %v allocations for %d frames, want at most %v", name, allocs, frames, c.most)
		}
	}
}

func TestScannerIDsStayGood(t *testing.T) {
	// Ids of all lengths share blocks, and are kept while others are written.
	var text strings.Builder
	var want []string
	for i := range 3000 {
		id := strings.Repeat(string(rune('a'+i%26)), i%70)
		if i%500 == 0 {
			id = strings.Repeat("long", idBlockBytes)
		}
		want = append(want, id)
		text.WriteString("id:" + strings.Repeat(" ", i%2) + id + "\ndata: x\n\n")
	}
	for name, r := range map[string]io.Reader{
		"whole":          strings.NewReader(text.String()),
		"1400-byte cuts": &steady{text.String(), 1400},
	} {
		var got []string
		for _, f := range scan(NewScanner(r)).frames {
			got = append(got, f.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the ids are not those that came", name)
		}
	}
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
