package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

func open(t testing.TB, dir string) *engine.Engine {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
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
	var want []uint64
	for i := range 1200 { // more than two batches
		run := fmt.Sprintf("r%d", i%7)
		want = append(want, must[uint64](t)(e.Append(ctx, "aa", run, fmt.Appendf(nil, "%d", i))))
		must[uint64](t)(e.Append(ctx, "bb", "other", nil))
	}
	read := func(e *engine.Engine, from uint64) (got []uint64) {
		t.Helper()
		for entry, err := range e.Read(ctx, "aa", from) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Root != "aa" {
				t.Fatalf("read a record of root %s", entry.Root)
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
	if got := read(e, want[1199]+2); len(got) != 0 {
		t.Errorf("read %d records beyond the last", len(got))
	}
	runs := 0
	for entry, err := range e.ReadRun(ctx, "r3") {
		if err != nil || entry.Run != "r3" {
			t.Fatal(entry.Run, err)
		}
		runs++
	}
	if runs != 171 {
		t.Errorf("read %d records of r3, want 171", runs)
	}

	// A new process sees the same, and the one consumer sees all.
	e.Close()
	e = open(t, dir)
	if got := read(e, 0); !slices.Equal(got, want) {
		t.Errorf("after a restart: read %d records, want %d", len(got), len(want))
	}
	seen := make(chan uint64, 3000)
	stop := must[func()](t)(e.Follow(ctx, 5, func(entry engine.Entry) { seen <- entry.Seq }))
	last := must[uint64](t)(e.Append(ctx, "cc", "new", nil))
	for seq := uint64(5); seq <= last; seq++ {
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
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := e.Append(b.Context(), "aa", "r1", data); err != nil {
				b.Error(err)
			}
		}
	})
}
