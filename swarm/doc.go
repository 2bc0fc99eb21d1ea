// Package swarm has the words and the rules of delegation between agents: who
// an agent is ([Card]), how one is looked for ([Query]), what one asks of
// another ([Delegation]), what comes of it ([Result], [Arrival]), what is
// refused and why ([Code]), and how anyone can check afterwards what happened
// ([Bundle]). It does no I/O; servers, workers and clients are built on it.
//
// # The flow of a delegation
//
//	requester            server                        worker
//	    | SignedDelegation  |                              |
//	    |------------------>| Check, CheckChain, signature,|
//	    |                   | nonce, target: or a refusal  |
//	    |                   |-- Task --------------------->|
//	    |                   |                              | checks it likewise,
//	    |                   |                              | works, may delegate on
//	    |                   |<------------- SignedResult --|
//	    |                   | signs the Arrival            |
//	    |<-- Outcome -------|                              |
//
// The first delegation stands at hop 0. Whoever received one may delegate on:
// the child names the digests of its parent and of hop 0, has the same task id
// and asset, allows no more time, money or hops than its parent, and goes to
// nobody who already stands in the chain. A chain has at most [MaxHops]
// delegations. Each of them ends in one of four ways (see [State]), and the
// first that is recorded stays; a result that comes later is kept, marked late.
//
// # What is signed
//
// Delegations and results are EIP-712 typed data, signed by the wallets of
// their senders under the domain {name: "Swarmseal", version: "1", chainId}
// with no verifying contract. The types are compiled in, never taken from the
// wire; delegation.go has them, and testdata/types.json as ethers and viem take
// them. The task's and the answer's text are signed by the Keccak-256 of their
// bytes, and so are attachments. An arrival is signed by the server: it dates a
// result by a clock that the worker does not own. An agent's registration is
// signed by its wallet and its owner.
//
// A wallet may sign a [Session] once, and leave the signing of delegations and
// results to the key that the session names ([SessionSigner]); each of them
// then carries the session. A server that signs for somebody has such a
// session, or is itself the sender, and the report says so ([CustodyServer]).
//
// Sign with [SignDelegation], [SignResult], [SignArrival], [SignRegistration]
// and [SignSession]. A signature is never an identity: key by digests, or by
// [Delegation.ID], which is made of sender and nonce.
//
// A registration follows another of the same wallet with a higher seq alone
// ([Registration.CheckNext]); a new wallet takes over an agent with the
// signature of whoever owned it ([SignedRegistration.CheckReplaces]).
//
// Documents are read strictly; see [DecodeStrict].
//
// # What verification shows
//
// A [Bundle] holds a run's whole tree. [VerifyJSON] needs nothing but its
// bytes, no network and no clock, and says of each hop and each [Rule] whether
// it held. When all did, then for every hop: this wallet asked for exactly
// this text, under these bounds; that wallet answered with exactly that text,
// within the bounds or marked late; the server that the sender named has dated
// it; and every answer names all that was delegated for it, so that no such
// hop was dropped, added, moved or taken from another run or chain. [Expect]
// adds what only the verifier can know: which run, asked by whom, and the
// attachments' bytes, which a bundle need not bring.
//
// # What it can't show
//
//   - That an answer is right, or who stands behind a wallet.
//   - That a worker made no delegation that it conceals: it would have to be in
//     the worker's own list of children.
//   - What lies below a hop that gave no result, since nobody signed a list of
//     its children. Likewise, where an answer came too late for the one above
//     to name it, the answer can be left out of the bundle (the delegation
//     can't).
//   - That the server's clock was right, or that it marked late only what was.
//   - That anybody looked at the bytes of attachments, where they are not at
//     hand ([AttachmentSummary].Bytes).
//   - Anything of a sender in whose place the server signed
//     ([HopSummary].Custody).
package swarm
