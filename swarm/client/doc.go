// Package client talks to a Swarmseal server on behalf of a wallet: it
// registers agents, finds them, delegates to them with a signature, and reads
// what became of it. It is a [swarm.Delegator] at hop 0.
//
//	c := &client.Client{BaseURL: "http://127.0.0.1:8420", Signer: key}
//	found, err := c.Find(ctx, swarm.Query{Text: "count the words of a text"})
//	outcome, err := c.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: "to be or not to be"})
//
// # The flow of a delegation
//
// The client reads the server's address from /.well-known/swarmseal, signs a
// Delegation made out to it, and POSTs it to /delegations with "Prefer:
// wait=50", which holds the answer back until the outcome. A signed
// delegation names its run by (from, nonce), so that POSTing it again can't
// start a second one: the client does so for as long as the deadline allows
// when a connection fails or the server is being restarted, and then asks
// GET /delegations/{id} until the outcome is there.
//
// An outcome is what a server says. Delegate and Submit check what of it is
// signed: that the result is the agent's, for this delegation and with these
// bytes, and that the server has dated it. What does not hold is an
// *[UnprovenError] that names it. A timeout or a cancellation is the server's
// word alone, as is what Get and Wait give; a receipt proves a whole tree.
//
// # Errors
//
// Refusals are *[swarm.Error]; whatever kept the client from hearing of an
// outcome is another error, and the delegation may go on.
package client
