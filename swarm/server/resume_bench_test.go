package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// What it costs to take up a run of 10,000 events: the last 20 of them, and
// all, of one that goes on and of one that has ended. The time is until the
// last of the events is here, over HTTP on connections in memory.
func BenchmarkResume(b *testing.B) {
	const events = 10_000
	s := swarmtest.Start(b, nil)
	hold := make(chan struct{})
	w := s.Work("talker", func(_ context.Context, t *agent.Task) (string, error) {
		for i := range events {
			if err := t.Emit(map[string]any{"type": "trace", "message": fmt.Sprintf("event %d of a run that says much, as agents do when they work", i)}); err != nil {
				return "", err
			}
		}
		if t.Input == "go on" {
			<-hold
		}
		return "done", nil
	})
	defer close(hold)
	c := s.Client(swarmtest.NewKey(b))
	for _, task := range []string{"go on", "end"} {
		signed, err := c.Sign(b.Context(), nil, swarm.Request{To: w.Address(), Task: task})
		if err != nil {
			b.Fatal(err)
		}
		go func() { _, _ = c.Submit(b.Context(), signed, swarm.Request{}) }()
		id := signed.Delegation.ID()
		var ids []string
		for len(ids) == 0 {
			for ev, err := range c.Stream().Watch(b.Context(), id, "") {
				if err != nil {
					break // not there yet
				}
				if ids = append(ids, ev.ID); task == "go on" && len(ids) == events+2 {
					break
				}
			}
		}
		for _, n := range []int{20, events} {
			b.Run(fmt.Sprintf("%s/%d", task, n), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					req, err := http.NewRequestWithContext(b.Context(), "GET", swarmtest.BaseURL+"/delegations/"+id+"/events", nil)
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("Last-Event-ID", ids[len(ids)-1-n])
					resp, err := s.HTTP.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					for scanner, i := stream.NewScanner(resp.Body), 0; i < n; i++ {
						if f, err := scanner.Next(); err != nil || bytes.Contains(f.Data, []byte(`"gap"`)) {
							b.Fatalf("event %d: %.80q, %v", i, f.Data, err)
						}
					}
					took = append(took, time.Since(start))
					resp.Body.Close()
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms(p50)")
			})
		}
	}
}
