// Command swarm is all of Swarmseal in one program: the server, an agent that
// wraps any other program, and a client for people and scripts. Each
// subcommand has its own help with an example.
//
//	swarm serve                                        # the server
//	swarm worker --name words --exec 'wc -w'           # an agent
//	swarm ask words 'to be or not to be'               # a message, its run as it comes
//	swarm result RUN --receipt | swarm verify -        # the proof of it, checked offline
//	curl -sN URL | swarm parse                         # any recorded stream, a JSON line an event
//
// # Who you are
//
// Requests are signed with the key that --key names, else SWARM_KEY, else that in
// the file swarm/key.json in the user's configuration folder, which is made at
// first use. A key is named by
//
//	FILE                        a V3 keystore file, as Ethereum wallets have it, or a seed file's first key
//	SEEDFILE#INDEX              the key with an INDEX, from 0, of a seed file: m/44'/60'/0'/0/INDEX of BIP-39's words
//	web3signer:URL#ADDRESS      a key in Consensys' Web3Signer
//	clef:PATH-OR-URL#ADDRESS    a key in clef, on its socket or over HTTP
//
// A file's passphrase is that of --passphrase-file (mode 0600 or stricter), else
// SWARM_PASSPHRASE, else "", else what a prompt is answered with. A worker has
// a key of its own, in a file by its name.
//
// # Exit status
//
//	0  ok
//	1  failed, not verified, or the agent's own error
//	2  usage: the command line is wrong
//	3  truncated: a stream stopped before its end
//	4  refused by the server
//	5  timeout: no answer, or none yet
//	6  cancelled or interrupted
//	7  the server was not reached, or is not available
//
// An error is one line, the last on stderr; with --json it is
// {"error":{"code","message"}}, its code one of package swarm's.
//
// # Environment
//
//	SWARM_SERVER      the server's URL; http://127.0.0.1:8420 where unset
//	SWARM_KEY         the key that signs
//	SWARM_PASSPHRASE  the passphrase of its file
package main
