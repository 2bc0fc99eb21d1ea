package swarmtest_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// A swarm works in and outside of a bubble, goes down and comes up with its
// data, and leaves a worker's own settings alone.
func TestSwarm(t *testing.T) {
	test := func(t *testing.T) {
		var connected, asked atomic.Int32
		s := swarmtest.Start(t, func(c *server.Config) { c.Version = "mine" })
		w := s.Start(&agent.Worker{
			Key: swarmtest.NewKey(t), Card: swarm.Card{Name: "echo"},
			HTTP:      &http.Client{Transport: counted{s.HTTP.Transport, &asked}},
			OnConnect: func() { connected.Add(1) },
			Handler:   agent.HandlerFunc(func(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil }),
		})
		c := s.Client(swarmtest.NewKey(t))
		if info, err := c.Info(t.Context()); err != nil || info.Version != "mine" || info.Server != s.Key.Address() {
			t.Errorf("the server says %+v, %v", info, err)
		}
		o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "hello"})
		if err != nil || o.Output != "hello" {
			t.Fatalf("gave %+v, %v", o, err)
		}
		s.Down()
		if _, err := c.Get(t.Context(), o.ID); err == nil {
			t.Error("a server that is down has answered")
		}
		s.Up()
		if again, err := c.Get(t.Context(), o.ID); err != nil || again.Output != "hello" {
			t.Errorf("after a restart: %+v, %v", again, err)
		}
		if connected.Load() == 0 || asked.Load() == 0 {
			t.Errorf("the worker's OnConnect was called %d times, its HTTP %d times", connected.Load(), asked.Load())
		}
		w.Stop()
		w.Stop()
	}
	t.Run("real time", test)
	t.Run("bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			test(t)
			time.Sleep(time.Minute)
			if time.Since(start) < time.Minute {
				t.Error("time is not the bubble's")
			}
		})
	})
}

type counted struct {
	next http.RoundTripper
	n    *atomic.Int32
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.next.RoundTrip(r)
}
