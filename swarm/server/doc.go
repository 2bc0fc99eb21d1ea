// Package server is the server of a swarm: it registers agents, admits and
// routes delegations, settles them, keeps the journal, and streams every run.
//
//	s, err := server.New(ctx, server.Config{Dir: "data", Key: key})
//	http.ListenAndServe("127.0.0.1:8420", s.Handler())
//
// # The flow of a delegation
//
//	requester                    server                         worker
//	   │ POST /delegations (signed) │                              │
//	   ├───────────────────────────>│ checks, journal: created     │
//	   │                            │ journal: claimed             │
//	   │                            ├──── inbox: task ────────────>│ checks the chain
//	   │                            │<─── events: ack, text, … ────┤
//	   │                            │     journal: event           │
//	   │                            │<─── result (signed) ─────────┤
//	   │<── outcome ────────────────┤ journal: outcome + Arrival   │
//
// A run is the execution of a delegation, and its journal is what streams: the
// sequence of a record is the id of the SSE events that are made of it. A
// child's records lie under the same root, and show in the streams of the runs
// above it as swarm_child frames; its beginning and end show as the tool_start
// and tool_end of the swarm_delegate call that made it. The server writes all
// of these, so no worker can forge or forget one.
//
// # Routes
//
//	GET  /.well-known/swarmseal          the server's address, chain id and limits
//	GET  /healthz, /readyz
//	POST /sessions                       a signed Session for a bearer token
//	GET  /agents                         list; ?limit=100 (1–1000)&after=WALLET
//	GET  /agents/search                  ?q=…&limit=8 (1–50), or query, top_k=5 (1–20), strictness=0.2,
//	                                     output_detail=summary, include_tags (repeatable)
//	GET  /agents/{wallet}                card and registration
//	PUT  /agents/{wallet}                a signed registration
//	GET  /agents/{wallet}/inbox          a worker's tasks (SSE; bearer of the wallet)
//	POST /delegations                    a signed delegation; "Prefer: wait=50" holds the answer
//	GET  /delegations/{id}               its record; the same header
//	GET  /delegations/{id}/events        its stream (SSE; Last-Event-ID resumes)
//	GET  /delegations/{id}/receipt       the bundle of its whole tree
//	POST /delegations/{id}/cancel        by its requester, or its root's
//	POST /delegations/{id}/collect       the result, once, for its requester
//	POST /delegations/{id}/find          agent_find by its worker
//	POST /delegations/{id}/events        its worker's events, NDJSON
//	POST /delegations/{id}/result        its worker's signed result
//	GET  /agent/{wallet}                 Compose: the card
//	POST /agent/{wallet}/stream          Compose: an unsigned message, streamed (if Config.Anonymous)
//	POST /agent/{wallet}/runs/{id}/stop  Compose: cancel
//
// Errors are {"error":{"code","message","details?"}} with the codes of package
// swarm. 429 and 503 carry Retry-After.
//
// # Streams
//
// A run's stream is its journal, rendered: whoever comes later, or comes back
// with Last-Event-ID, reads the journal and then goes on live. A frame's id is
// the sequence of its record; where a record makes several frames, those before
// the last have ids such as 17.1 and 17.2. So a stream that is cut anywhere, and
// taken up with the id of the last frame that came whole, has each frame once:
// none is lost and none comes twice, also over a restart.
//
// Silence is never kept about what is missing. Where records are gone (after 24
// hours, or purged) or the id that a client has is none of the run's, a gap
// event comes before the frame that follows:
//
//	{"type":"gap","runId","after":"<id that the client had>","next":"<id of the frame that follows>","message"}
//
// It has an id as every frame, 17.0 before those of record 17, and does not come
// again on the next resume. In a child's own stream it may also stand where
// only records of the runs around it are missing. A run whose first record is
// gone, so that nothing says what was asked of whom, is answered with 410 and
// the code "gone" once it has ended or the server was restarted; so is one of
// which nothing is left, to a client whose id this journal has given out. Else
// it is 404.
//
// Every stream says how long to wait before coming back: 1 s after a lost
// connection, and when the server closes a random time from 1 to 5 s, by a last
// retry field before the stream's clean end. Inboxes of workers do the same.
//
// A reader has 5 s for each 64 KiB (Config.WriteTimeout); one that takes longer
// is cut off, and resumes. Up to 64 records wait for a reader that is slower
// than its run; beyond that it reads from the journal, in writes of about 32 KiB.
// It never slows another. In 10 s of silence (Config.Ping) a comment is sent.
//
// # Limits
//
// A request has at most 10 MiB, an event 1 MiB, a card 64 KiB; a delegation
// lasts at most 300 s and 5 hops; 10,000 runs are in flight at most, 1,000 of
// them to one agent; a run reports at most 100,000 events and has at most 1,000
// tools of its worker's open. Records are kept for 24 hours. Each error states the
// limit that it is about.
package server
