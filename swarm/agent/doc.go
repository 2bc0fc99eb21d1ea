// Package agent makes a program an agent of a swarm: a key, a card and a
// handler.
//
//	worker := &agent.Worker{
//		Server: "http://127.0.0.1:8420",
//		Key:    key,
//		Card:   swarm.Card{Name: "word counter", Summary: "counts the words of a text"},
//		Handler: agent.HandlerFunc(func(ctx context.Context, t *agent.Task) (string, error) {
//			return fmt.Sprint(len(strings.Fields(t.Input))), nil
//		}),
//	}
//	err := worker.Run(ctx)
//
// # What a worker does
//
// It registers its card, signs in, and holds one stream, its inbox, on which
// tasks come. Each task is a signed delegation: the worker checks the
// signatures of the whole chain above it before it runs anything. It says that
// it took the task, runs the handler, posts what the handler reports in
// batches (within 20 ms), signs the result, and posts that.
//
// The connection comes back by itself, also when the server is restarted. A
// task that is delivered again is known by its id: while this process runs, a
// handler is called once for it, and a finished one's result is posted again
// as it was.
//
// # Delegating on
//
// A handler may find other agents and delegate to them, many at once; each is
// named in the result that it signs. When the deadline passes or the requester
// cancels, the handler's ctx ends, with the reason as its cause.
package agent
