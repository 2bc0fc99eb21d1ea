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

// TestScannerFaults has faults that other parsers shipped. What to give stands
// in the standard; each case comes whole, cut at random and by single bytes.
func TestScannerFaults(t *testing.T) {
	five := strings.Repeat("0123456789abcdef", 5<<16) // 5 MiB
	frame := func(id, data string) Frame { return Frame{id, "message", []byte(data)} }
	for _, c := range []struct {
		name, text string
		want       outcome
	}{
		{"a data line of five megabytes is one event, whole",
			"data: " + five + "\n\ndata: next\n\n",
			outcome{frames: []Frame{frame("", five), frame("", "next")}}},
		{"so are two of them in one event",
			"id: 1\ndata: " + five + "\r\ndata: " + five + "\r\n\r\n",
			outcome{frames: []Frame{frame("1", five+"\n"+five)}, lastID: "1"}},
		{"a block of retry alone gives no event",
			"retry: 3000\n\ndata: a\n\nretry: 4000\n\n",
			outcome{frames: []Frame{frame("", "a")}, retry: 4000, hasRetry: true}},
		{"a block of comments alone gives no event",
			": ping\n\n:\n\ndata: a\n\n: ping\n\n",
			outcome{frames: []Frame{frame("", "a")}, comments: 3, said: []comment{{0, " ping"}, {0, ""}, {1, " ping"}}}},
		{"a block of a name alone gives no event, and its name goes with it",
			"event: ping\n\ndata: a\n\n",
			outcome{frames: []Frame{frame("", "a")}}},
		{"U+2028, U+2029 and U+0085 are data, and so are VT and FF",
			"data: a\u2028b\u2029c\u0085d\ve\ff\n\n",
			outcome{frames: []Frame{frame("", "a\u2028b\u2029c\u0085d\ve\ff")}}},
		{"characters are whole wherever the reads end",
			"event: message\nid: é\ndata: é€🐝 é€🐝\ndata:🐝\n\n",
			outcome{frames: []Frame{frame("é", "é€🐝 é€🐝\n🐝")}, lastID: "é"}},
		{"the space behind the colon may be missing",
			"data:{}\n\nid:7\ndata:{\"a\":1}\n\ndata:  {}\n\n",
			outcome{frames: []Frame{frame("", "{}"), frame("7", `{"a":1}`), frame("7", " {}")}, lastID: "7"}},
		{"an id without data moves the cursor and gives no event",
			"id: 1\n\n",
			outcome{lastID: "1"}},
		{"later events have it",
			"id: 1\n\ndata: a\n\n",
			outcome{frames: []Frame{frame("1", "a")}, lastID: "1"}},
		{"an id with an empty data line is an event without data",
			"id: 1\ndata:\n\nid: 2\ndata\n\n",
			outcome{frames: []Frame{frame("1", ""), frame("2", "")}, lastID: "2"}},
		{"an id whose block is cut does not move the cursor",
			"id: 1\ndata: a\n\nid: 2\ndata: b\n",
			outcome{frames: []Frame{frame("1", "a")}, lastID: "1", truncated: true}},
		{"an empty id is one, and an id with NUL is none",
			"id: 1\ndata: a\n\nid\ndata: b\n\nid: 3\ndata: c\n\nid: 4\x00\ndata: d\n\n",
			outcome{frames: []Frame{frame("1", "a"), frame("", "b"), frame("3", "c"), frame("3", "d")}, lastID: "3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"whole":           strings.NewReader(c.text),
				"at random":       cut(rand.New(rand.NewPCG(9, 10)), []byte(c.text)),
				"by single bytes": iotest.OneByteReader(strings.NewReader(c.text)),
			} {
				if diff := scan(NewScanner(r)).differ(c.want); diff != "" {
					t.Errorf("%s: %.300s", how, diff)
				}
			}
		})
	}
}

// Hours of keep-alives within a frame are no part of it.
func TestScannerKeepAlivesAreNoFrame(t *testing.T) {
	const limit = len("data: ab\ndata: cd\n")
	pings := strings.Repeat(": ping\n", 100_000)
	for name, text := range map[string]string{
		"before": pings + "data: ab\ndata: cd\n\n",
		"within": "data: ab\n" + pings + "data: cd\n" + pings + "\n",
		"CRLF":   strings.ReplaceAll("data: ab\n"+pings+"data: cd\n\n", "\n", "\r\n"),
		"long":   "data: ab\n:" + strings.Repeat("p", 1<<20) + "\ndata: cd\n\n",
	} {
		s := NewScanner(&steady{text, 1400})
		s.MaxFrameBytes = limit
		if f, err := s.Next(); err != nil || string(f.Data) != "ab\ncd" {
			t.Errorf("%s: %q, %v", name, f.Data, err)
		}
		if len(s.buf) > startBufferBytes {
			t.Errorf("%s: the buffer grew to %d bytes", name, len(s.buf))
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

// The error has the limit, the default one too, and the frames before it came.
func TestFrameTooLongError(t *testing.T) {
	const ping = "data: ping\n\n"
	s := NewScanner(io.MultiReader(strings.NewReader(ping), endless{}))
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, err := s.Next()
		e, ok := errors.AsType[*FrameTooLongError](err)
		if !ok || e.Limit != 32<<20 || e.Error() != "frame too long: more than 33554432 bytes before its blank line" {
			t.Errorf("%v", err)
		}
	}
	if size := len(s.buf); size > 3*DefaultMaxFrameBytes {
		t.Errorf("the buffer grew to %d bytes before that", size)
	}
}

// endless gives one data line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	return copy(p, "data: and so on and on, as a hostile server would have it, and on"), nil
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
	// would take 64 times. A busy machine only adds to a time, so the least of
	// each is what counts.
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
		short, long := read(text), read(large[name])
		for tries := 0; long >= 3*times*short && tries < 20; tries++ {
			short, long = min(short, read(text)), min(long, read(large[name]))
		}
		if long >= 3*times*short {
			t.Errorf("%s: %d kB took %v, %d times as many %v", name, size>>10, short, times, long)
		}
	}
}
