// Package stream is how events travel: as frames of a server-sent event
// stream, over a connection that may break at any byte.
//
// Three parts, each of use alone:
//
//   - [Scanner] splits bytes into frames by the WHATWG rules, and [Read] a
//     recorded stream into events;
//   - [Client] starts and watches a server's runs and takes a broken stream up
//     again where it stopped;
//   - [Writer] sends frames from an HTTP handler.
//
// Start a run and show what the agent says:
//
//	client := &stream.Client{BaseURL: "http://127.0.0.1:8420"}
//	for ev, err := range client.Run(ctx, agent, stream.Request{Message: "Audit this contract"}) {
//		if err != nil {
//			return err
//		}
//		fmt.Printf("%s %s\n", ev.Type, ev.Data)
//	}
//
// # The protocol
//
//	POST /agent/{wallet}/stream      {"message", "threadId"?, "runId"?, "userAddress"?}
//	  200 text/event-stream          x-run-id: R, X-Request-Id
//	  id: 17                         on each frame; opaque to the client
//	  retry: 1000                    once: the wait before taking up again, in ms
//	  : ping                         a comment in each 10 s of silence
//	  event done, error or stopped   the terminal event
//	  event receipt, data [DONE]     may follow; the stream's end ends reading
//	GET /delegations/{R}/events      Last-Event-ID: 17
//	  200 text/event-stream          what came after 17
//	  event gap                      first, where the server has lost some of it
//	  204                            nothing came after it, and nothing will
//	  410                            all that came after it is lost
//
// The POST is sent once: whoever is charged for a run must not be charged
// twice, so a POST that breaks off before its answer is a [StartError] and is
// the caller's to judge. From the answer on, a lost connection is taken up by
// GET with the last event id; see [Client] for how long to wait on one, and
// [Backoff] for how often and how fast.
//
// # The end
//
// Only a terminal event proves that a run's stream is whole: a body that is
// closed early looks like one that has ended. So a sequence ends in one of
// three ways:
//
//   - with no error: the run told how it ended, and did not fail;
//   - with a [RunError]: it told that it failed. A status 200 says only that
//     it had begun;
//   - with a [TruncatedError], which holds the last event id: it did not tell,
//     or not all of it can be had any more.
//
// Where there was no stream, the error says what there was in its place: see
// [Client.Run]. All are found by errors.As.
package stream
