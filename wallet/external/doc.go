// Package external signs with keys that never come into this process: those of
// Consensys' Web3Signer and of clef, Ethereum's signing tool.
//
//	signer := &external.Web3Signer{URL: "https://signer.example.org:9000", Account: address}
//	worker := agent.Worker{Key: signer, …}
//
// [Open] reads either from one text, as the command line takes it.
//
// # What goes over the wire
//
// Nothing here asks for the signature of a bare hash: what is signed goes there
// whole, is hashed there, and may be judged or shown there before.
//
// Web3Signer's eth1 API signs the Keccak-256 of the bytes it is given:
//
//	GET  /api/v1/eth1/publicKeys         once, for the key that Account is of
//	POST /api/v1/eth1/sign/{public key}  {"data":"0x1901…"}: the preimage of the digest
//
// Clef (github.com/ethereum/go-ethereum/cmd/clef up to v1.17.3, its own project
// since) is asked over JSON-RPC 2.0, on its IPC socket or over HTTP, and shows the
// person before it what is to be signed, member by member:
//
//	account_signTypedData [Account, typed data]                   EIP-712
//	account_signData      ["text/plain", Account, text in hex]    EIP-191
//
// Clef v1.17.3 can't show a list of address, bool, string or integers, and refuses
// typed data with one that is not empty ([ErrUnsupported]): of Swarmseal's messages,
// a Session with a scope. Lists of bytes32 and of structs are fine.
//
// # What comes back
//
// A signature is used only once it is found here to be Account's, of the very
// digest that was asked for. It has 65 bytes; v may be 0 or 1 there and is 27 or
// 28 here. The form of EIP-2098 (64 bytes) and a high s are refused, as everywhere
// in Swarmseal. All errors are an *Error.
//
// # Who is asked
//
// Neither of the two asks for a password by itself: whoever reaches it can have
// things signed. So plain HTTP is for this machine alone (localhost, 127.0.0.0/8,
// ::1), unless a signer's field says otherwise; elsewhere it is https, whose
// client certificate goes into the HTTP field's transport. Redirects are not
// followed, and no proxy of the environment is used.
package external
