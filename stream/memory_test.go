package stream

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

// everNew gives frames whose ids, names and texts never come twice, with
// comments between, until it has given size bytes.
type everNew struct {
	size, n int
	text    []byte // what of the latest frame was not read
}

func (e *everNew) Read(p []byte) (int, error) {
	if e.size <= 0 && len(e.text) == 0 {
		return 0, io.EOF
	}
	if len(e.text) == 0 {
		e.n++
		e.text = fmt.Appendf(e.text[:0], ": ping %d\nid: %d\nevent: name-%d\ndata: {\"n\":%d,\"text\":\"%s\"}\n\n",
			e.n, e.n, e.n, e.n, everNewText[:e.n%len(everNewText)])
		e.size -= len(e.text)
	}
	n := copy(p, e.text)
	e.text = e.text[n:]
	return n, nil
}

var everNewText = strings.Repeat("t", 4000)

// heapAlloc gives the bytes of the heap in use, garbage included.
func heapAlloc() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// heapGrowth reads r to its end and gives by how much the heap was larger at
// its largest than before, garbage included and without it.
func heapGrowth(t testing.TB, r io.Reader) (all, live int64) {
	const each = 2 << 20
	s := NewScanner(r)
	runtime.GC()
	runtime.GC() // the first leaves what pools hold
	before := heapAlloc()
	for read, next := 0, each; ; {
		f, err := s.Next()
		if err != nil {
			if err != io.EOF || s.Truncated() {
				t.Fatal(err, s.Truncated())
			}
			return all, live
		}
		if read += len(f.Data); read >= next {
			next += each
			all = max(all, heapAlloc()-before)
			if next%(16*each) == 0 {
				runtime.GC()
				live = max(live, heapAlloc()-before)
			}
		}
	}
}

// TestScannerMemoryIsFlat reads 128 MiB of frames that have nothing in common.
// 64 KiB bound what lives of them, at every 32 MiB; with garbage the bound is
// 16 MiB, of which Go's collector lets 4 MiB gather before it starts.
func TestScannerMemoryIsFlat(t *testing.T) {
	const mostLive, most = 64 << 10, 16 << 20
	all, live := heapGrowth(t, &everNew{size: 128 << 20})
	if live > mostLive || all > most {
		t.Errorf("the heap grew by %d bytes, %d of them live; want at most %d and %d", all, live, most, mostLive)
	}
	t.Logf("the heap grew by %d bytes, %d of them live", all, live)
}

// BenchmarkFlatMemory reads 2 GB of frames with new ids, once an operation, and
// reports by how much the heap was larger than before at its largest, garbage
// included, and what of it was live.
func BenchmarkFlatMemory(b *testing.B) {
	const size = 2_000_000_000 / frameBytes * frameBytes
	text := agentFrames(1<<20/frameBytes, true)
	var all, live int64
	b.SetBytes(size)
	for b.Loop() {
		a, l := heapGrowth(b, &wheel{text: text, left: size})
		all, live = max(all, a), max(live, l)
	}
	b.ReportMetric(float64(all), "peak-heap-B")
	b.ReportMetric(float64(live), "peak-live-B")
}
