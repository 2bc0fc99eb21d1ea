// Package outgoing is the one HTTP client for addresses that others choose: an
// agent's card, a webhook, a peer. It keeps such a URL from being aimed at what
// only this machine or its network can reach.
//
//	client := outgoing.Policy{}.Client()
//	resp, err := client.Get(cardURL)
//
// # What is let through
//
//	https to a public address                 yes
//	http                                      to Policy.Allow alone
//	loopback, private, link-local, shared,
//	multicast, reserved, v4-mapped, NAT64     to Policy.Allow alone
//	a proxy from the environment              never used: it would do the dialling
//	a redirect                                at most 5, each held to all of this
//	name and password in the URL              no
//
// The address is checked as it is dialled, once the name is resolved: a name
// that is public when it is checked and private when it is dialled gains
// nothing. What counts as public is the registries' list of special purposes
// (IANA), as code.dny.dev/ssrf keeps it.
//
// An answer has 30 s and 10 MiB; its head 64 KiB; a connection 10 s.
package outgoing
