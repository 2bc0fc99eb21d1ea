// Package engine keeps what a swarm must not lose, on NATS JetStream: the
// journal of runs, the registry of agents, and the nonces that were used. It
// is the one package that knows subjects and the one that imports
// nats-server.
//
//	eng, err := engine.Open(ctx, engine.Config{Dir: "data"})
//	seq, err := eng.Create(ctx, rootID, runID, first) // once for the whole retention
//	seq, err = eng.AppendAfter(ctx, rootID, runID, seq, next)
//	for entry, err := range eng.Read(ctx, rootID, 0) { … }
//
// A NATS server runs inside the process, without a port, its files under
// Config.Dir.
//
// # The journal
//
// One stream, RUNS, has every record of every run, under the subject
// run.<root id>.<run id>; ids are 32 hex digits. A record's sequence in the
// stream is its place in the run and the id of the SSE events that are made
// of it: monotonic within a run, not dense, and there is no other cursor.
//
//   - Create writes a run's first record if the id was never used under any
//     root. Since the id is derived from (from, nonce), this is the store of
//     nonces too.
//   - AppendAfter writes every other record, if the run's last one is that
//     which the caller saw (compare and set).
//
// A journal's first sequence is the microsecond in which it was begun, and no
// engine takes a million records a second: no sequence is given out twice, also
// not where a journal was lost and another begun under the same folder. An id
// of an older journal is known by lying before the first of this one.
//
// Records may be missing: they go after 24 hours, oldest first, and operators
// purge. What is left is read as it is; its readers see to what was lost.
//
// One ordered consumer a node, Follow, sees every record; nothing here is a
// consumer per client.
//
// # What can be lost
//
// A write that was acknowledged survives a killed process. Files are synced
// every 100 ms, so a power cut may take the last of them; their sequences are
// then given out again.
package engine
