package server_test

import (
	"context"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A signed delegation from end to end: requester, server and worker in one
// process, over HTTP on connections in memory.
func BenchmarkDelegate(b *testing.B) {
	s := swarmtest.Start(b, nil)
	w := s.Start(&agent.Worker{
		Key: swarmtest.NewKey(b), Card: swarm.Card{Name: "echo"}, Concurrency: 256,
		Handler: agent.HandlerFunc(func(_ context.Context, t *agent.Task) (string, error) { return t.Input, nil }),
	})
	c := s.Client(swarmtest.NewKey(b))
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			o, err := c.Delegate(b.Context(), swarm.Request{To: w.Address(), Task: "hello"})
			if err != nil || o.Output != "hello" {
				b.Errorf("%+v, %v", o, err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "delegations/s")
}
