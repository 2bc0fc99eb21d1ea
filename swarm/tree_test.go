package swarm_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// The people of the tests: fixed keys, so that every signature is fixed, too.
const (
	user = iota + 1
	server
	coordinator
	scout
	reader
	critic
	silent
	stranger
)

var names = map[int]string{user: "user", server: "server", coordinator: "coordinator", scout: "scout", reader: "reader",
	critic: "critic", silent: "silent", stranger: "stranger"}

// keyOf gives the key with the number of its owner as its secret.
func keyOf(who int) *wallet.Key {
	key, err := wallet.ParseKey(fmt.Sprintf("%064x", who))
	if err != nil {
		panic(err)
	}
	return key
}

func addressOf(who int) wallet.Address { return keyOf(who).Address() }

// personOf gives who has an address of the tests.
func personOf(a wallet.Address) int {
	for who := range names {
		if addressOf(who) == a {
			return who
		}
	}
	panic(a)
}

const (
	testChain = 84532
	start     = 1_780_000_000
)

// node is a delegation of a tree that a test builds, and what came of it.
type node struct {
	parent   int // index of the delegation above; -1 for hop 0
	from, to int
	input    string
	output   string // "" leaves it without a result
	status   swarm.Status
	late     bool
	// byDelegation says that the parent's result names the delegation, not the
	// result.
	byDelegation bool
	// askedBy and answeredBy say whose keys sign, where not the wallets' own.
	askedBy, answeredBy swarm.Custody
}

// realTree is a run with a bit of everything: hop 0, then a child that made a
// nested delegation which was answered late, a child that failed, and one
// that gave no answer.
var realTree = []node{
	{-1, user, coordinator, "Review the README.\nSay <what> is wrong & why: \"quoted\", 天气, é.", "Two broken links.", swarm.StatusCompleted, false, false, "", ""},
	{0, coordinator, scout, "Find the broken links.", "https://example.org/a\nhttps://example.org/b", swarm.StatusCompleted, false, false, "", ""},
	{1, scout, reader, "Read the page.", "a page", swarm.StatusCompleted, true, true, "", ""},
	{0, coordinator, critic, "Criticise the style.", "no model is loaded", swarm.StatusFailed, false, false, "", ""},
	{0, coordinator, silent, "Sing.", "", 0, false, true, "", ""},
}

// keyedTree is a run in which sessions' keys sign, and the server's.
var keyedTree = []node{
	{-1, user, coordinator, "Review.", "Fine.", swarm.StatusCompleted, false, false, swarm.CustodySession, ""},
	{0, coordinator, scout, "Find links.", "none", swarm.StatusCompleted, false, false, "", swarm.CustodySession},
	{1, scout, reader, "Read.", "read", swarm.StatusCompleted, false, false, swarm.CustodySession, swarm.CustodyServer},
	{0, coordinator, critic, "Criticise.", "no", swarm.StatusFailed, false, false, swarm.CustodyServer, ""},
}

// change holds what a test does to a tree before it is signed, so that all
// signatures hold and a rule alone is broken.
type change struct {
	delegation func(i int, d *swarm.Delegation)
	result     func(i int, r *swarm.Result)
	arrival    func(i int, a *swarm.Arrival)
	session    func(who int, s *swarm.Session)
	chain      uint64 // 0 is testChain
}

// sessionKey gives the key of a person's session.
func sessionKey(who int) *wallet.Key { return keyOf(1000 + who) }

// sessionFor gives a signer with the key of a session of somebody's, which
// they have signed.
func sessionFor(tb testing.TB, who int, c change) *swarm.SessionSigner {
	tb.Helper()
	return keyedBy(tb, who, sessionKey(who), c)
}

func keyedBy(tb testing.TB, who int, key *wallet.Key, c change) *swarm.SessionSigner {
	tb.Helper()
	session := swarm.Session{
		Origin: swarm.SessionOrigin(addressOf(server)), SessionKey: key.Address(),
		Scope:    []string{swarm.ScopeWorker, swarm.ScopeDelegate, swarm.ScopeAnswer},
		IssuedAt: start - 100, ExpiresAt: start + 3600, Nonce: wallet.Digest{1},
	}
	if c.session != nil {
		c.session(who, &session)
	}
	signed, err := swarm.SignSession(tb.Context(), keyOf(who), swarm.Domain(testChain), session)
	if err != nil {
		tb.Fatal(err)
	}
	return &swarm.SessionSigner{Key: key, Session: signed}
}

// signerOf gives what signs for somebody.
func signerOf(tb testing.TB, who int, custody swarm.Custody, c change) wallet.Signer {
	tb.Helper()
	switch custody {
	case swarm.CustodySession:
		return sessionFor(tb, who, c)
	case swarm.CustodyServer:
		return keyedBy(tb, who, keyOf(server), c)
	}
	return keyOf(who)
}

// build signs a tree, hop by hop down and result by result up.
func build(tb testing.TB, nodes []node, c change) *swarm.Bundle {
	tb.Helper()
	chain := cmp.Or(c.chain, testChain)
	domain := swarm.Domain(chain)
	must := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	b := &swarm.Bundle{Format: swarm.BundleFormat, ChainID: chain, Hops: make([]swarm.BundleHop, len(nodes))}
	digests := make([]wallet.Digest, len(nodes))
	for i, n := range nodes {
		d := swarm.Delegation{
			TaskID: wallet.Keccak256([]byte("task")), MaxHops: 4,
			To: addressOf(n.to), Server: addressOf(server), Skill: "skill-" + names[n.to],
			Attachments: []swarm.Attachment{{Name: "page.html", MediaType: "text/html", Size: 12, Hash: wallet.Keccak256([]byte("page"))}},
			Asset:       addressOf(stranger), MaxPrice: wallet.Amount{31: byte(100 - i)},
			IssuedAt: start + uint64(i), ExpiresAt: start + 120 - uint64(i),
			Nonce: wallet.Keccak256([]byte{byte(i)}),
		}
		if n.parent >= 0 {
			above := b.Hops[n.parent].Delegation.Delegation
			d.Root, d.Parent, d.Hop = digests[0], digests[n.parent], above.Hop+1
		}
		if c.delegation != nil {
			c.delegation(i, &d)
		}
		signed, err := swarm.SignDelegation(tb.Context(), signerOf(tb, n.from, n.askedBy, c), domain, d, n.input)
		must(err)
		b.Hops[i].Delegation = *signed
		digests[i] = signed.Delegation.Digest(domain)
	}
	results := make([]wallet.Digest, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		n := nodes[i]
		if n.output == "" {
			continue
		}
		d := b.Hops[i].Delegation.Delegation
		r := swarm.Result{
			Delegation: digests[i], TaskID: d.TaskID, To: d.From, Status: n.status, Last: true,
			Attachments: []swarm.Attachment{{Name: "out.txt", MediaType: "text/plain", Size: 3, Hash: wallet.Keccak256([]byte("out"))}},
			Price:       wallet.Amount{31: byte(10 - i)}, IssuedAt: start + 60 - uint64(i),
		}
		a := swarm.Arrival{ReceivedAt: r.IssuedAt + 1, Late: n.late}
		if n.late {
			r.IssuedAt = d.ExpiresAt + 5
			a.ReceivedAt = d.ExpiresAt + 6
		}
		for j, child := range nodes {
			switch {
			case child.parent != i:
			case child.output == "" || child.byDelegation:
				r.Children = append(r.Children, digests[j])
			default:
				r.Children = append(r.Children, results[j])
			}
		}
		if c.result != nil {
			c.result(i, &r)
		}
		signed, err := swarm.SignResult(tb.Context(), signerOf(tb, personOf(d.To), n.answeredBy, c), domain, r, n.output)
		must(err)
		b.Hops[i].Result = signed
		results[i] = signed.Result.Digest(domain)
		a.Result = results[i]
		if c.arrival != nil {
			c.arrival(i, &a)
		}
		arrival, err := swarm.SignArrival(tb.Context(), keyOf(server), domain, a)
		must(err)
		b.Hops[i].Arrival = arrival
	}
	return b
}

func marshal(tb testing.TB, b *swarm.Bundle) []byte {
	tb.Helper()
	data, err := b.MarshalIndent()
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// wantCode asserts err's code.
func wantCode(tb testing.TB, err error, code swarm.Code) {
	tb.Helper()
	if got := swarm.CodeOf(err); got != code {
		tb.Errorf("code %q (%v), want %q", got, err, code)
	}
}
