// Package signin is how people and programs show a server who they are, beside
// the signed sessions of workers (swarm.Session): the texts, formats and checks,
// without a server. What must be remembered, Nonces remembers.
//
//   - A person in a browser signs a text that the wallet shows and compares with
//     the page: EIP-4361, "Sign-In with Ethereum" ([Message], [Site]).
//   - A program signs each request: ERC-8128, an HTTP message signature of RFC
//     9421 that a wallet made with personal_sign ([SignRequest], [Requests]).
//   - A browser's EventSource opens a stream with a ticket, since it can set no
//     header ([Tickets]).
//
// # The flow
//
//	person                     page                          server
//	   |                        | POST text, signature ------->| Site.Verify: form, page,
//	   |<- signs Message.String |                              | server, chain, times,
//	   |                        |<---------- a bearer token ---| signature, nonce
//	   |                        | POST for a ticket ---------->| Tickets.Issue
//	   |                        | GET stream?ticket=swk_… ---->| Tickets.Redeem
//
//	program                                                  server
//	   | SignRequest: Content-Digest, Signature-Input, Signature
//	   | any request ----------------------------------------->| Requests.Verify
//
// A signature's request has for example, each field on a line:
//
//	Content-Digest: sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:
//	Signature-Input: eth=("@method" "@authority" "@path" "content-digest");
//	  created=1780000000;expires=1780000060;nonce="JHZ5…";
//	  keyid="erc8128:84532:0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"
//	Signature: eth=:BASE64 of the 65 bytes r‖s‖v:
//
// # What is refused
//
// What was signed for another page, server or chain, too early, too late, or
// before, and what a signature does not cover. Nonces are used up last, so that
// nobody can burn another's. Signatures have one form, of 65 bytes with v 27 or
// 28 and a low s; a contract's (ERC-1271) are not taken, since checking them
// needs a chain. The limits are constants.
//
// Recovering a signature takes some 60 µs: bound how often an address may have
// it done before, and how often a wallet may be right after.
package signin
