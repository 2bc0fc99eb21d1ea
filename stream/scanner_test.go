package stream

import (
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
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
