package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A server that closes ends every stream cleanly, and has its clients come
// back spread over some seconds; started anew it goes on where each was.
func TestShutdownSpreadsReconnects(t *testing.T) {
	s := swarmtest.Start(t, nil)
	p := play(t, s)
	begun := append(p.begun, p.say(t, 1)...)

	const clients = 200
	got := make([][]frame, clients)
	scanners := make([]*stream.Scanner, clients)
	for i := range clients { // each at another place
		after := ""
		if i%4 > 0 {
			after = begun[i%4-1].id
		}
		scanners[i] = stream.NewScanner(watch(t, s, p.id, after).Body)
		got[i] = append(got[i], begun[:i%4]...)
		got[i] = append(got[i], next(t, scanners[i], len(begun)-i%4)...)
	}
	said := p.say(t, 2)
	waits := make(map[int64]int)
	var perSecond [4]int
	var mu sync.Mutex
	readToEnd := func(i int) {
		for {
			f, err := scanners[i].Next()
			if err == io.EOF && !scanners[i].Truncated() {
				break
			}
			if err != nil {
				t.Errorf("client %d: after %v: %v", i, got[i], err)
				return
			}
			got[i] = append(got[i], frameOf(f))
		}
		mu.Lock()
		defer mu.Unlock()
		ms, _ := scanners[i].Retry()
		waits[ms]++
		if ms < 1000 || ms >= 5000 {
			t.Errorf("client %d is to come back after %d ms; want 1000 to 5000", i, ms)
			return
		}
		perSecond[ms/1000-1]++
	}
	var readers sync.WaitGroup
	for i := range clients {
		readers.Go(func() { readToEnd(i) })
	}
	s.Shutdown()
	readers.Wait()
	for i, n := range perSecond {
		if n < clients/4/2 {
			t.Errorf("%d of %d clients come back in second %d: %v", n, clients, i+1, waits)
		}
	}
	s.Up()
	close(p.steps) // its worker comes back, too
	all := rest(t, s, p.id, "")
	for i := range clients {
		readers.Go(func() {
			resp := watch(t, s, p.id, got[i][len(got[i])-1].id)
			defer resp.Body.Close()
			got[i] = append(got[i], framesOf(t, resp.Body)...)
		})
	}
	readers.Wait()
	if len(all) < len(begun)+len(said) {
		t.Fatalf("the whole run is %v", all)
	}
	for i := range clients {
		same(t, fmt.Sprintf("client %d", i), got[i], all)
	}
}

// So are the inboxes of workers ended.
func TestShutdownEndsInboxes(t *testing.T) {
	s := swarmtest.Start(t, nil)
	w := s.Work("idle", func(context.Context, *agent.Task) (string, error) { return "", nil })
	auth, err := s.Client(w.Key).Authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", swarmtest.BaseURL+"/agents/"+w.Address().String()+"/inbox", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", auth)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		scanner := stream.NewScanner(resp.Body)
		if f, err := scanner.Next(); err != io.EOF || scanner.Truncated() {
			t.Errorf("%+v, %v; want a clean end", f, err)
		}
		// The first retry is that of every stream; a random one equals it once in 4,000.
		if ms, _ := scanner.Retry(); ms < 1000 || ms >= 5000 {
			t.Errorf("retry %d", ms)
		}
	}()
	s.Shutdown()
	<-ended
	s.Up()
	if status, _, _ := exchange(t, s, "GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("status %d after the restart", status)
	}
}

// Close waits for a reader that takes nothing no longer than a write may take,
// and a stream that is asked for afterwards is refused.
func TestShutdownWithAReaderThatNeverReads(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		p := play(t, s)
		p.say(t, 1)
		resp := watch(t, s, p.id, "") // nothing of it is read
		time.Sleep(time.Second)
		handler := s.Server.Handler()
		start := time.Now()
		s.Server.Close()
		if d := time.Since(start); d > 6*time.Second {
			t.Errorf("Close took %v", d)
		}
		resp.Body.Close()
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, httptest.NewRequest("GET", "/delegations/"+p.id+"/events", nil))
		if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") == "" {
			t.Errorf("a stream of a closed server: %d %s", rec.Code, rec.Body)
		}
	})
}
