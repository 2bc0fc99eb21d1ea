// Package swarmtest runs a whole swarm inside a test: the real server on the
// real engine, real workers, and HTTP over connections in memory. There is no
// fake bus and no clock interface: in a [testing/synctest] bubble time is the
// bubble's, and a reply that comes 45 s after a deadline is tested in
// milliseconds.
//
//	synctest.Test(t, func(t *testing.T) {
//		s := swarmtest.Start(t, nil)
//		slow := s.Work("slow", func(ctx context.Context, _ *agent.Task) (string, error) {
//			time.Sleep(45 * time.Second)
//			return "at last", nil
//		})
//		outcome, err := s.Client(swarmtest.NewKey(t)).Delegate(ctx, swarm.Request{
//			To: slow.Address(), Task: "take your time", Timeout: 30 * time.Second,
//		})
//		// outcome.State is swarm.StateTimeout
//	})
package swarmtest
