package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// writer appends to runs without looking, each record after the one before it.
type writer struct {
	engine *engine.Engine
	last   map[string]uint64
}

func writerOf(e *engine.Engine) *writer { return &writer{e, make(map[string]uint64)} }

func (w *writer) write(t testing.TB, root, run, data string) uint64 {
	t.Helper()
	seq, err := w.engine.AppendAfter(t.Context(), root, run, w.last[run], []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	w.last[run] = seq
	return seq
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A run's id is its nonce: it is used once, under whatever root.
func TestCreateOnce(t *testing.T) {
	e := open(t, t.TempDir())
	ctx := t.Context()
	seq := must[uint64](t)(e.Create(ctx, "aa", "r1", []byte("first")))
	if _, err := e.Create(ctx, "aa", "r1", []byte("again")); !errors.Is(err, engine.ErrExists) {
		t.Errorf("the same id again: got %v, want ErrExists", err)
	}
	if _, err := e.Create(ctx, "bb", "r1", []byte("again")); !errors.Is(err, engine.ErrExists) {
		t.Errorf("the same id under another root: got %v, want ErrExists", err)
	}
	next := must[uint64](t)(e.AppendAfter(ctx, "aa", "r1", seq, []byte("second")))
	_, err := e.AppendAfter(ctx, "aa", "r1", seq, []byte("lost the race"))
	if conflict, ok := errors.AsType[*engine.ConflictError](err); !ok || conflict.Seen != seq {
		t.Errorf("append after an old record: got %v, want a ConflictError for %d", err, seq)
	}
	if _, err := e.Create(ctx, "aa", "r1", []byte("again")); !errors.Is(err, engine.ErrExists) {
		t.Errorf("the id after more records: got %v, want ErrExists", err)
	}
	must[uint64](t)(e.AppendAfter(ctx, "aa", "r1", next, []byte("third")))
}

// Of many writers that saw the same record, one wins.
func TestAppendAfterRace(t *testing.T) {
	e := open(t, t.TempDir())
	seq := must[uint64](t)(e.Create(t.Context(), "aa", "r1", nil))
	var wg sync.WaitGroup
	wins := make(chan int, 32)
	for i := range cap(wins) {
		wg.Go(func() {
			if _, err := e.AppendAfter(t.Context(), "aa", "r1", seq, nil); err == nil {
				wins <- i
			}
		})
	}
	wg.Wait()
	if len(wins) != 1 {
		t.Errorf("%d writers won, want 1", len(wins))
	}
}

func TestReadAndFollow(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	ctx := t.Context()
	w := writerOf(e)
	var want []uint64
	for i := range 3000 { // more than two batches
		want = append(want, w.write(t, "aa", fmt.Sprintf("r%d", i%7), fmt.Sprint(i)))
		w.write(t, "bb", "other", "")
	}
	read := func(e *engine.Engine, from uint64) (got []uint64) {
		t.Helper()
		for entry, err := range e.Read(ctx, "aa", from) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Root != "aa" || string(entry.Data) != fmt.Sprint(slices.Index(want, entry.Seq)) {
				t.Fatalf("read %q of root %s", entry.Data, entry.Root)
			}
			got = append(got, entry.Seq)
		}
		return got
	}
	if got := read(e, 0); !slices.Equal(got, want) {
		t.Errorf("read %d records, want %d in order", len(got), len(want))
	}
	if got := read(e, want[600]); !slices.Equal(got, want[600:]) {
		t.Errorf("read %d records from the 600th on, want %d", len(got), len(want)-600)
	}
	end := want[len(want)-1]
	if got := read(e, end+2); len(got) != 0 {
		t.Errorf("read %d records beyond the last", len(got))
	}
	for range e.Read(ctx, "aa", 0) {
		break // releases what it held, as TestMain sees
	}
	cancelled, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cause := errors.New("enough")
	n := 0
	for _, err := range e.Read(cancelled, "aa", 0) {
		if n++; n == 1500 {
			cancel(cause)
		}
		if err != nil && !errors.Is(err, cause) {
			t.Errorf("error %v, want the cause", err)
		}
	}
	if n != 1501 {
		t.Errorf("read on to %d after the context's end", n)
	}
	for name, get := range map[string]func() (engine.Entry, bool, error){
		"first": func() (engine.Entry, bool, error) { return e.First(ctx, "r3") },
		"last":  func() (engine.Entry, bool, error) { return e.LastOf(ctx, "aa", "r3") },
	} {
		entry, ok, err := get()
		if at := map[string]uint64{"first": want[3], "last": want[2999]}[name]; err != nil || !ok || entry.Root != "aa" || entry.Run != "r3" || entry.Seq != at {
			t.Errorf("%s: %+v, %v, %v; want %d", name, entry, ok, err, at)
		}
	}
	if _, ok, err := e.First(ctx, "never"); ok || err != nil {
		t.Errorf("the first of no run: %v, %v", ok, err)
	}
	if _, ok, err := e.LastOf(ctx, "bb", "r3"); ok || err != nil {
		t.Errorf("the last under another root: %v, %v", ok, err)
	}

	// A new process sees the same, and the one consumer sees all.
	e.Close()
	e = open(t, dir)
	if got := read(e, 0); !slices.Equal(got, want) {
		t.Errorf("after a restart: read %d records, want %d", len(got), len(want))
	}
	seen := make(chan uint64, 7000)
	from := want[2]
	stop := must[func()](t)(e.Follow(ctx, from, func(entry engine.Entry) { seen <- entry.Seq }))
	last := must[uint64](t)(e.Create(ctx, "cc", "new", nil))
	for seq := from; seq <= last; seq++ {
		select {
		case got := <-seen:
			if got != seq {
				t.Fatalf("followed %d, want %d", got, seq)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("no record %d within 10 s", seq)
		}
	}
	stop()
}

// Large records come in batches of few.
func TestReadLarge(t *testing.T) {
	e := open(t, t.TempDir())
	w := writerOf(e)
	large := strings.Repeat("x", 3<<20)
	for i := range 7 {
		w.write(t, "aa", "r1", fmt.Sprint(i, large))
	}
	n := 0
	for entry, err := range e.Read(t.Context(), "aa", 0) {
		if err != nil || string(entry.Data) != fmt.Sprint(n, large) {
			t.Fatalf("record %d: %.10q, %v", n, entry.Data, err)
		}
		n++
	}
	if n != 7 {
		t.Errorf("read %d records, want 7", n)
	}
}

// A run of which records are gone goes on, and what is left is told from what
// never was.
func TestPurged(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	ctx := t.Context()
	begun := time.Now().UnixMicro()
	w := writerOf(e)
	first := w.write(t, "aa", "r1", "")
	if d := begun - int64(first); d < 0 || d > int64(time.Minute/time.Microsecond) {
		t.Errorf("the first sequence is %d, and the time %d µs", first, begun)
	}
	second, other := w.write(t, "aa", "r1", ""), w.write(t, "bb", "r2", "")
	wantLast := func(want uint64) {
		t.Helper()
		if got := must[uint64](t)(e.Last(ctx)); got != want {
			t.Errorf("the newest record is %d, want %d", got, want)
		}
	}
	wantAt := func(seq uint64, root string, issued bool) {
		t.Helper()
		entry, ok, err := e.At(ctx, seq)
		if err != nil || ok != (root != "") || entry.Root != root || ok && entry.Seq != seq {
			t.Errorf("at %d: %+v, %v, %v; want root %q", seq, entry, ok, err, root)
		}
		if got := must[bool](t)(e.Issued(ctx, seq)); got != issued {
			t.Errorf("%d is issued: %v", seq, got)
		}
	}
	wantLast(other)
	wantAt(second, "aa", true)
	if err := e.Purge(ctx, "aa", "", second); err != nil {
		t.Fatal(err)
	}
	wantAt(first, "", true)
	wantAt(second, "aa", true)
	if err := e.Purge(ctx, "", "", other+1); err != nil {
		t.Fatal(err)
	}
	wantLast(0)
	third := w.write(t, "aa", "r1", "") // after second, which is gone
	if third <= other {
		t.Errorf("sequence %d was given before", third)
	}
	if _, err := e.AppendAfter(ctx, "aa", "r1", second, nil); err == nil {
		t.Error("a writer that had not seen the last record wrote")
	} else if c, ok := errors.AsType[*engine.ConflictError](err); !ok || c.Seen != second {
		t.Errorf("got %v, want a ConflictError for %d", err, second)
	}
	e.Close()
	e = open(t, dir)
	wantLast(third)
	for seq, root := range map[uint64]string{0: "", 1: "", first - 1: "", first: "", second: "", other: "", third: "aa", third + 1: "", math.MaxUint64: ""} {
		wantAt(seq, root, seq >= first && seq <= third)
	}
	// Another journal begins above.
	e.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	if again := writerOf(e).write(t, "aa", "r1", ""); again <= third {
		t.Errorf("a new journal began with %d, when an older one had come to %d", again, third)
	}
	wantAt(third, "", false)
}

func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(t.Context(), engine.Config{Dir: t.TempDir(), MaxAge: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		w := writerOf(e)
		first := w.write(t, "aa", "r1", "")
		time.Sleep(8 * time.Second)
		second := w.write(t, "aa", "r1", "")
		time.Sleep(4 * time.Second)
		for seq, want := range map[uint64]bool{first: false, second: true} {
			if _, ok, err := e.At(t.Context(), seq); ok != want || err != nil {
				t.Errorf("record %d is there: %v, %v", seq, ok, err)
			}
		}
	})
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	_, err := engine.Open(t.Context(), engine.Config{Dir: dir})
	if held, ok := errors.AsType[*engine.InUseError](err); !ok || held.Dir != dir {
		t.Errorf("got %v, want an InUseError for the folder", err)
	}
}

func TestAgentsAndNonces(t *testing.T) {
	e := open(t, t.TempDir())
	ctx := t.Context()
	put := func(wallet, data string) {
		t.Helper()
		if err := e.UpdateAgent(ctx, wallet, func([]byte) ([]byte, error) { return []byte(data), nil }); err != nil {
			t.Fatal(err)
		}
	}
	put("0xA", "1")
	put("0xB", "1")
	put("0xA", "2")
	var mu sync.Mutex
	seen := map[string]string{}
	live := make(chan string, 10)
	stop := must[func()](t)(e.WatchAgents(ctx, func(wallet string, data []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen[wallet] = string(data)
		live <- wallet + string(data)
	}))
	defer stop()
	mu.Lock()
	if len(seen) != 2 || seen["0xA"] != "2" || seen["0xB"] != "1" {
		t.Errorf("watch saw %v when it returned", seen)
	}
	mu.Unlock()
	refused := errors.New("older")
	if err := e.UpdateAgent(ctx, "0xA", func(old []byte) ([]byte, error) {
		if string(old) != "2" {
			t.Errorf("old value %q, want 2", old)
		}
		return nil, refused
	}); !errors.Is(err, refused) {
		t.Errorf("got %v, want the change's own error", err)
	}
	put("0xB", "3")
	for want := "0xB3"; <-live != want; {
	}
	if err := e.Once(ctx, "n1"); err != nil {
		t.Fatal(err)
	}
	if err := e.Once(ctx, "n1"); !errors.Is(err, engine.ErrExists) {
		t.Errorf("a nonce taken twice: got %v, want ErrExists", err)
	}
	if floor := must[uint64](t)(e.Floor(ctx)); floor != 0 {
		t.Errorf("floor %d before any was set", floor)
	}
	if err := e.SetFloor(ctx, 17); err != nil {
		t.Fatal(err)
	}
	if floor := must[uint64](t)(e.Floor(ctx)); floor != 17 {
		t.Errorf("floor %d, want 17", floor)
	}
}

func BenchmarkAppend(b *testing.B) {
	e := open(b, b.TempDir())
	data := make([]byte, 800)
	var runs atomic.Uint64
	b.RunParallel(func(pb *testing.PB) {
		run, seen := fmt.Sprint("r", runs.Add(1)), uint64(0)
		for pb.Next() {
			var err error
			if seen, err = e.AppendAfter(b.Context(), "aa", run, seen, data); err != nil {
				b.Error(err)
			}
		}
	})
}

// Reading 10,000 records of one run that lie among those of another, and the
// last one alone.
func BenchmarkRead(b *testing.B) {
	const records = 10_000
	e := open(b, b.TempDir())
	w := writerOf(e)
	data := strings.Repeat("x", 300)
	var last uint64
	for range records {
		last = w.write(b, "aa", "r1", data)
		w.write(b, "bb", "r2", data)
	}
	for from, want := range map[uint64]int{0: records, last: 1} {
		b.Run(fmt.Sprint(want), func(b *testing.B) {
			for b.Loop() {
				n := 0
				for _, err := range e.Read(b.Context(), "aa", from) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != want {
					b.Fatalf("%d records, want %d", n, want)
				}
			}
		})
	}
}
