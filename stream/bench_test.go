package stream

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/tmaxmax/go-sse"
)

// frameBytes is the length of a frame of agentFrames.
const frameBytes = 217

// agentFrames gives n frames such as agents send: each has a new id, or none
// has any.
func agentFrames(n int, ids bool) []byte {
	var out bytes.Buffer
	for i := range n {
		start := out.Len()
		if ids {
			fmt.Fprintf(&out, "id: %d\n", 1_000_000+i)
		}
		fmt.Fprintf(&out, `data: {"type":"tool_start","toolName":"swarm_delegate","toolCallId":"call-%06d","input":{"agentWallet":"0x52908400098527886E0F7030069857D2E4169EE7","task":"`, i)
		fmt.Fprintf(&out, "%s\"}}\n\n", strings.Repeat("t", frameBytes-5-(out.Len()-start)))
	}
	return out.Bytes()
}

// wheel gives a text over and over, until left bytes were read, at most n a
// read where n is not 0.
type wheel struct {
	text    []byte
	at      int
	left, n int
}

func (w *wheel) Read(p []byte) (int, error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), w.left)]
	if w.n > 0 {
		p = p[:min(len(p), w.n)]
	}
	n := copy(p, w.text[w.at:])
	w.left -= n
	if w.at += n; w.at == len(w.text) {
		w.at = 0
	}
	return n, nil
}

func (w *wheel) Close() error { return nil }

// sink keeps results from being optimised away.
var sink int

// peers read a stream of agentFrames to its end and give their count of it: of
// frames, but the last, which is the floor, of lines. It only looks for line
// ends, and no reader of lines can do with less.
var peers = []struct {
	name string
	read func(io.ReadCloser) int
}{
	{"ours", func(r io.ReadCloser) (n int) {
		s := NewScanner(r)
		for {
			f, err := s.Next()
			if err != nil {
				return n
			}
			sink += len(f.Data)
			n++
		}
	}},
	{"go-sse", func(r io.ReadCloser) (n int) {
		for ev := range sse.Read(r, nil) {
			sink += len(ev.Data)
			n++
		}
		return n
	}},
	{"anthropic-sdk-go", func(r io.ReadCloser) (n int) {
		for d := ssestream.NewDecoder(&http.Response{Body: r}); d.Next(); n++ {
			sink += len(d.Event().Data)
		}
		return n
	}},
	{"bufio.Scanner and a copy", func(r io.ReadCloser) (n int) {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
				sink += len(bytes.Clone(data))
				n++
			}
		}
		return n
	}},
	{"bare IndexByte", func(r io.ReadCloser) (n int) {
		for {
			got, err := r.Read(floorBuffer)
			for rest := floorBuffer[:got]; ; n++ {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					break
				}
				rest = rest[i+1:]
			}
			if err != nil {
				return n
			}
		}
	}},
}

var floorBuffer = make([]byte, 64<<10) // not counted, for the floor's sake

// eachStream gives the streams to compare on, of any number of frames.
func eachStream(do func(name string, stream func(frames int) *wheel)) {
	for _, ids := range []bool{false, true} {
		text, name := agentFrames(1<<20/frameBytes, ids), "no ids"
		if ids {
			name = "new ids"
		}
		do(name+"/in memory", func(frames int) *wheel { return &wheel{text: text, left: frames * frameBytes} })
		do(name+"/1400-byte reads", func(frames int) *wheel { return &wheel{text: text, left: frames * frameBytes, n: 1400} })
	}
}

// BenchmarkFrames reads frames by each of the peers; a frame is an operation.
//
//	go test -run '^$' -bench Frames -count 5 ./stream
func BenchmarkFrames(b *testing.B) {
	eachStream(func(name string, stream func(frames int) *wheel) {
		for _, p := range peers {
			b.Run(name+"/"+p.name, func(b *testing.B) {
				b.SetBytes(frameBytes)
				b.ReportAllocs()
				if n := p.read(stream(b.N)); n < b.N {
					b.Fatalf("%d frames of %d", n, b.N)
				}
			})
		}
	})
}

// BenchmarkFramesRatios has the peers take turns of a millisecond or so and
// gives the medians of how many times as fast as each of them ours is: on a
// shared machine the rates above vary threefold from one second to the next,
// and these ratios by a fifth or so.
func BenchmarkFramesRatios(b *testing.B) {
	eachStream(func(name string, stream func(frames int) *wheel) {
		b.Run(name, func(b *testing.B) {
			ratios := make([][]float64, len(peers))
			for b.Loop() {
				var ours time.Duration
				for i, p := range peers {
					runtime.GC()                 // nobody pays for what others left,
					sink += p.read(stream(2000)) // nor for cold caches
					start := time.Now()
					sink += p.read(stream(2000))
					took := time.Since(start)
					if i == 0 {
						ours = took
					}
					ratios[i] = append(ratios[i], float64(took)/float64(ours))
				}
			}
			b.ReportMetric(0, "ns/op") // of all together: it says nothing
			for i, p := range peers[1:] {
				slices.Sort(ratios[i+1])
				b.ReportMetric(ratios[i+1][len(ratios[i+1])/2], "x_"+strings.ReplaceAll(p.name, " ", "_"))
			}
		})
	})
}

// BenchmarkLargeFrame reads one frame of 16 MiB in reads of 4 kB, beside
// reading the bytes alone.
func BenchmarkLargeFrame(b *testing.B) {
	text := "data: " + strings.Repeat("x", 16<<20) + "\n\n"
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			f, err := NewScanner(&steady{text, 4096}).Next()
			if err != nil {
				b.Fatal(err)
			}
			sink += len(f.Data)
		}
	})
	b.Run("io.ReadAll", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			data, err := io.ReadAll(&steady{text, 4096})
			if err != nil {
				b.Fatal(err)
			}
			sink += len(data)
		}
	})
}

func BenchmarkAppendFrame(b *testing.B) {
	frame := Frame{ID: "123456", Event: "tool_start", Data: bytes.Repeat([]byte("x"), 180)}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = AppendFrame(buf[:0], frame)
		sink += len(buf)
	}
}
