package stream_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/stream"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv("STREAM_TEST_IDLE"); kind != "" {
		idleClients(kind, os.Getenv("STREAM_TEST_URL"), os.Getenv("STREAM_TEST_COUNT"))
		return
	}
	goleak.VerifyTestMain(m)
}

// footprint is what a process of idle clients takes, in bytes.
type footprint struct {
	Live int // heap in use and stacks
	RSS  int // 0 where the system does not tell
}

// idleClients opens streams in this process, waits until each is idle, and
// prints the process's footprint.
func idleClients(kind, url, count string) {
	n, _ := strconv.Atoi(count)
	idle := make(chan struct{}, n)
	ctx := context.Background()
	httpClient := &http.Client{Transport: &http.Transport{}}
	open := map[string]func(){
		// The connection's own: what whoever reads a body has at least.
		"plain": func() {
			resp, err := httpClient.Get(url)
			if err != nil {
				panic(err)
			}
			buf := make([]byte, 512)
			for {
				n, err := resp.Body.Read(buf)
				if err != nil {
					panic(err)
				}
				if strings.Contains(string(buf[:n]), "data") {
					idle <- struct{}{}
				}
			}
		},
		"ours": func() {
			client := &stream.Client{BaseURL: url, HTTP: httpClient}
			for _, err := range client.Follow(ctx, "/", stream.FollowOptions{}) {
				if err != nil {
					panic(err)
				}
				idle <- struct{}{}
			}
		},
	}[kind]
	for range n {
		go open()
	}
	for range n {
		<-idle
	}
	debug.FreeOSMemory()
	live := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(live)
	f := footprint{Live: int(live[0].Value.Uint64() + live[1].Value.Uint64())}
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		pages, _ := strconv.Atoi(strings.Fields(string(data))[1])
		f.RSS = pages * os.Getpagesize()
	}
	json.NewEncoder(os.Stdout).Encode(f)
}

// idleOver gives what one of n idle clients takes beyond a plain reader of the
// same body. Each kind has a process of its own.
func idleOver(t testing.TB, n int) footprint {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say(": open\nretry: 1000\n\n"+delta(1))(w, r)
		<-r.Context().Done()
	}))
	defer server.Close()
	measure := func(kind string) (f footprint) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "STREAM_TEST_IDLE="+kind, "STREAM_TEST_URL="+server.URL, "STREAM_TEST_COUNT="+strconv.Itoa(n))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &f)
		}
		if err != nil {
			t.Fatalf("%s: %v: %q", kind, err, out)
		}
		return f
	}
	plain, ours := measure("plain"), measure("ours")
	return footprint{Live: (ours.Live - plain.Live) / n, RSS: (ours.RSS - plain.RSS) / n}
}

// An idle client must cost little beyond its connection: a watcher of many runs
// has many.
//
// Ten kilobytes of it are the scanner's buffer and the sequence's state. The
// rest is stack, which differs by kilobytes from run to run with when the
// collector came by; so the best of three counts.
func TestIdleClientIsSmall(t *testing.T) {
	const most = 20_000
	best := idleOver(t, 200).Live
	for range 2 {
		if best > most {
			best = min(best, idleOver(t, 200).Live)
		}
	}
	if best > most {
		t.Errorf("an idle client takes %d bytes beyond its connection's own, want at most %d", best, most)
	}
}

func BenchmarkIdleClient(b *testing.B) {
	var sum footprint
	count := 0
	for b.Loop() {
		over := idleOver(b, 1000)
		sum.Live += over.Live
		sum.RSS += over.RSS
		count++
	}
	b.ReportMetric(float64(sum.Live/count), "live-B/client")
	b.ReportMetric(float64(sum.RSS/count), "RSS-B/client")
}
