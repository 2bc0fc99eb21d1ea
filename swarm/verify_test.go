package swarm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestVerify(t *testing.T) {
	b := build(t, realTree, change{})
	report := swarm.VerifyJSON(marshal(t, b), swarm.Expect{})
	if !report.Verified || len(report.Broken()) > 0 {
		t.Fatalf("not verified: %+v", report.Broken())
	}
	if report.ChainID != testChain {
		t.Errorf("chain %d, want %d", report.ChainID, testChain)
	}
	domain := swarm.Domain(testChain)
	want := []swarm.HopSummary{
		{Index: 0, Hop: 0, From: addressOf(user), To: addressOf(coordinator), State: "completed"},
		{Index: 1, Hop: 1, From: addressOf(coordinator), To: addressOf(scout), State: "completed"},
		{Index: 2, Hop: 2, From: addressOf(scout), To: addressOf(reader), State: "late completed"},
		{Index: 3, Hop: 1, From: addressOf(coordinator), To: addressOf(critic), State: "failed"},
		{Index: 4, Hop: 1, From: addressOf(coordinator), To: addressOf(silent), State: "none"},
	}
	for i := range want {
		want[i].Delegation = b.Hops[i].Delegation.Delegation.Digest(domain)
		want[i].Custody = swarm.CustodyWallet
		if want[i].State != "none" {
			want[i].ResultCustody = swarm.CustodyWallet
		}
	}
	if !slices.Equal(report.Hops, want) {
		t.Errorf("hops\n%+v, want\n%+v", report.Hops, want)
	}
	// Every rule was looked at, and each of a hop's with the hop's index.
	seen := make(map[swarm.Rule]int)
	for _, c := range report.Checks {
		seen[c.Rule]++
	}
	for rule, n := range map[swarm.Rule]int{
		swarm.RuleForm: 1, swarm.RuleTree: 1, swarm.RuleContents: 1, swarm.RuleResult: 1,
		swarm.RuleDelegationSignature: 5, swarm.RuleDelegationChain: 5, swarm.RuleInput: 5, swarm.RuleDelegationAttachments: 5,
		swarm.RuleResultSignature: 4, swarm.RuleResultParties: 4, swarm.RuleOutput: 4, swarm.RuleResultTime: 4,
		swarm.RuleResultPrice: 4, swarm.RuleResultStatus: 4, swarm.RuleChildren: 4, swarm.RuleResultAttachments: 4,
		swarm.RuleArrivalSignature: 4, swarm.RuleArrivalResult: 4, swarm.RuleArrivalTime: 4,
	} {
		if seen[rule] != n {
			t.Errorf("%s was checked %d times, want %d", rule, seen[rule], n)
		}
	}
}

func TestVerifyByServer(t *testing.T) {
	nodes := slices.Clone(realTree)
	nodes[0].from = server
	report := build(t, nodes, change{}).Verify(swarm.Expect{})
	if !report.Verified || report.Hops[0].Custody != swarm.CustodyServer || report.Hops[1].Custody != swarm.CustodyWallet {
		t.Errorf("verified %v, custody %v and %v; want true, server, wallet", report.Verified, report.Hops[0].Custody, report.Hops[1].Custody)
	}
}

// wantBroken asserts that the report names the rule, at the hop.
func wantBroken(t *testing.T, report *swarm.Report, index int, rule swarm.Rule) {
	t.Helper()
	if report.Verified {
		t.Error("verified")
	}
	for _, c := range report.Broken() {
		if c.Detail == "" {
			t.Errorf("%s of hop %d is broken and no reason is given", c.Rule, c.Index)
		}
		if c.Rule == rule && c.Index == index {
			return
		}
	}
	t.Errorf("want %s of hop %d among what is broken: %+v", rule, index, report.Broken())
}

// Everything here is signed by the right keys; what breaks is the rule alone.
func TestVerifyRules(t *testing.T) {
	at := func(hop int, f func(d *swarm.Delegation)) change {
		return change{delegation: func(i int, d *swarm.Delegation) {
			if i == hop {
				f(d)
			}
		}}
	}
	result := func(hop int, f func(r *swarm.Result)) change {
		return change{result: func(i int, r *swarm.Result) {
			if i == hop {
				f(r)
			}
		}}
	}
	arrival := func(hop int, f func(a *swarm.Arrival)) change {
		return change{arrival: func(i int, a *swarm.Arrival) {
			if i == hop {
				f(a)
			}
		}}
	}
	for _, c := range []struct {
		name string
		c    change
		hop  int
		rule swarm.Rule
	}{
		{"child lives longer", at(2, func(d *swarm.Delegation) { d.ExpiresAt = start + 200 }), 2, swarm.RuleDelegationChain},
		{"child may cost more", at(1, func(d *swarm.Delegation) { d.MaxPrice = wallet.Amount{31: 101} }), 1, swarm.RuleDelegationChain},
		{"child may cost much more", at(1, func(d *swarm.Delegation) { d.MaxPrice = wallet.Amount{0: 1} }), 1, swarm.RuleDelegationChain},
		{"child may go deeper", at(1, func(d *swarm.Delegation) { d.MaxHops = 5 }), 1, swarm.RuleDelegationChain},
		{"another token", at(1, func(d *swarm.Delegation) { d.Asset = addressOf(user) }), 1, swarm.RuleDelegationChain},
		{"another task", at(3, func(d *swarm.Delegation) { d.TaskID = wallet.Digest{1} }), 3, swarm.RuleDelegationChain},
		{"another root", at(2, func(d *swarm.Delegation) { d.Root = wallet.Digest{1} }), 2, swarm.RuleDelegationChain},
		{"wrong hop", at(2, func(d *swarm.Delegation) { d.Hop = 1 }), 2, swarm.RuleDelegationChain},
		{"hop at maxHops", at(1, func(d *swarm.Delegation) { d.MaxHops = 1 }), 1, swarm.RuleDelegationChain},
		{"back to the user", at(1, func(d *swarm.Delegation) { d.To = addressOf(user) }), 1, swarm.RuleDelegationChain},
		{"back to the coordinator", at(2, func(d *swarm.Delegation) { d.To = addressOf(coordinator) }), 2, swarm.RuleDelegationChain},
		{"to itself", at(3, func(d *swarm.Delegation) { d.To = addressOf(coordinator) }), 3, swarm.RuleDelegationChain},
		{"too long a time", at(0, func(d *swarm.Delegation) { d.ExpiresAt = start + 301 }), 0, swarm.RuleDelegationChain},
		{"a second hop 0", at(4, func(d *swarm.Delegation) { d.Root, d.Parent, d.Hop = wallet.Digest{}, wallet.Digest{}, 0 }), 4, swarm.RuleDelegationChain},
		{"parent that is not there", at(2, func(d *swarm.Delegation) { d.Parent = wallet.Digest{1} }), -1, swarm.RuleTree},
		{"parent that is elsewhere", at(2, func(d *swarm.Delegation) { d.Parent = d.Root }), 2, swarm.RuleDelegationChain},

		{"result of another delegation", result(1, func(r *swarm.Result) { r.Delegation = wallet.Digest{1} }), 1, swarm.RuleResultParties},
		{"result of another task", result(1, func(r *swarm.Result) { r.TaskID = wallet.Digest{1} }), 1, swarm.RuleResultParties},
		{"result to somebody else", result(1, func(r *swarm.Result) { r.To = addressOf(user) }), 1, swarm.RuleResultParties},
		{"status 0", result(1, func(r *swarm.Result) { r.Status = 0 }), 1, swarm.RuleResultStatus},
		{"status 3", result(1, func(r *swarm.Result) { r.Status = 3 }), 1, swarm.RuleResultStatus},
		{"in parts", result(1, func(r *swarm.Result) { r.Seq = 1 }), 1, swarm.RuleResultStatus},
		{"not the last", result(1, func(r *swarm.Result) { r.Last = false }), 1, swarm.RuleResultStatus},
		{"too dear", result(1, func(r *swarm.Result) { r.Price = wallet.Amount{31: 100} }), 1, swarm.RuleResultPrice},
		{"too early", result(1, func(r *swarm.Result) { r.IssuedAt = start - 60 }), 1, swarm.RuleResultTime},
		{"at the deadline, not marked late", result(1, func(r *swarm.Result) { r.IssuedAt = start + 119 }), 1, swarm.RuleResultTime},
		{"at the end of time", result(1, func(r *swarm.Result) { r.IssuedAt = 1<<53 - 1 }), 1, swarm.RuleResultTime},
		{"a child concealed", result(0, func(r *swarm.Result) { r.Children = r.Children[:2] }), 0, swarm.RuleChildren},
		{"no child admitted", result(1, func(r *swarm.Result) { r.Children = nil }), 1, swarm.RuleChildren},
		{"a child made up", result(3, func(r *swarm.Result) { r.Children = []wallet.Digest{{1}} }), 3, swarm.RuleChildren},
		{"a child named twice", result(0, func(r *swarm.Result) { r.Children = append(r.Children, r.Children[0]) }), 0, swarm.RuleChildren},
		{"a failure at the top", result(0, func(r *swarm.Result) { r.Status = swarm.StatusFailed }), 0, swarm.RuleResult},

		{"arrival of another result", arrival(1, func(a *swarm.Arrival) { a.Result = wallet.Digest{1} }), 1, swarm.RuleArrivalResult},
		{"arrived before it was made", arrival(1, func(a *swarm.Arrival) { a.ReceivedAt = start - 10 }), 1, swarm.RuleArrivalTime},
		{"arrived at the deadline, not marked late", arrival(1, func(a *swarm.Arrival) { a.ReceivedAt = start + 119 }), 1, swarm.RuleArrivalTime},
		{"late, not marked", arrival(2, func(a *swarm.Arrival) { a.Late = false }), 2, swarm.RuleResultTime},
		{"another server", at(1, func(d *swarm.Delegation) { d.Server = addressOf(stranger) }), 1, swarm.RuleArrivalSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, realTree, c.c)
			report := swarm.VerifyJSON(marshal(t, b), swarm.Expect{})
			wantBroken(t, report, c.hop, c.rule)
			for _, broken := range report.Broken() {
				if strings.HasSuffix(string(broken.Rule), ".signature") && broken.Rule != c.rule {
					t.Errorf("a signature broke, too, so this shows nothing of the rule: %+v", broken)
				}
			}
		})
	}
}

// Deadlines and clocks, to the second. Hop 1 is from start+1 to start+119.
func TestVerifyTimes(t *testing.T) {
	for _, c := range []struct {
		name            string
		issued, arrived uint64
		late            bool
		rule            swarm.Rule // "" where it holds
	}{
		{"the worker's clock 60 s behind", start + 1 - 60, start + 2, false, ""},
		{"the worker's clock 61 s behind", start + 1 - 61, start + 2, false, swarm.RuleResultTime},
		{"the last second", start + 118, start + 118, false, ""},
		{"issued at the deadline", start + 119, start + 118, false, swarm.RuleResultTime},
		{"issued at the deadline, marked late", start + 119, start + 119, true, ""},
		{"issued in time, arrived at the deadline", start + 118, start + 119, false, swarm.RuleArrivalTime},
		{"issued in time, arrived at the deadline, marked late", start + 118, start + 119, true, ""},
		{"issued in time, arrived a second before the deadline", start + 118, start + 118, false, ""},
		{"arrived 60 s before it was issued", start + 110, start + 50, false, ""},
		{"arrived 61 s before it was issued", start + 110, start + 49, false, swarm.RuleArrivalTime},
		{"marked late although in time: another outcome was first", start + 10, start + 11, true, ""},
		{"issued at the end of time", 1<<53 - 1, 1<<53 - 1, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := build(t, realTree, change{
				result: func(i int, r *swarm.Result) {
					if i == 1 {
						r.IssuedAt = c.issued
					}
				},
				arrival: func(i int, a *swarm.Arrival) {
					if i == 1 {
						a.ReceivedAt, a.Late = c.arrived, c.late
					}
				},
			}).Verify(swarm.Expect{})
			switch {
			case c.rule != "":
				wantBroken(t, report, 1, c.rule)
			case !report.Verified:
				t.Errorf("not verified: %+v", report.Broken())
			}
		})
	}
	// Numbers that JSON would not bring.
	report := build(t, realTree, change{
		result:  func(_ int, r *swarm.Result) { r.IssuedAt = 1<<64 - 1 },
		arrival: func(_ int, a *swarm.Arrival) { a.ReceivedAt, a.Late = 1<<64-1, true },
	}).Verify(swarm.Expect{})
	wantBroken(t, report, 1, swarm.RuleResultTime)
	wantBroken(t, report, 1, swarm.RuleArrivalTime)
}

// A whole and true bundle of another run, chain, server or wallet is refused
// by what the verifier expects.
func TestVerifyReplayed(t *testing.T) {
	b := build(t, realTree, change{})
	d := b.Hops[0].Delegation.Delegation
	domain := swarm.Domain(testChain)
	root := d.Digest(domain)
	expect := swarm.Expect{Root: &root, From: &d.From, To: &d.To, Server: &d.Server}
	elsewhere := swarm.Expect{Root: &root}
	for _, c := range []struct {
		name  string
		nodes []node
		c     change
		e     swarm.Expect
		rule  swarm.Rule
	}{
		{"the same request again", realTree, change{delegation: func(_ int, d *swarm.Delegation) { d.Nonce[0]++ }}, expect, swarm.RuleExpectedRoot},
		{"to another server", realTree, change{delegation: func(_ int, d *swarm.Delegation) { d.Server = addressOf(stranger) }}, expect, swarm.RuleExpectedServer},
		{"by another wallet", []node{{-1, stranger, coordinator, realTree[0].input, realTree[0].output, swarm.StatusCompleted, false, false, "", ""}}, change{}, expect, swarm.RuleExpectedFrom},
		{"of another wallet", []node{{-1, user, scout, realTree[0].input, realTree[0].output, swarm.StatusCompleted, false, false, "", ""}}, change{}, expect, swarm.RuleExpectedTo},
		{"of another chain", realTree, change{chain: 1}, elsewhere, swarm.RuleExpectedRoot},
	} {
		t.Run(c.name, func(t *testing.T) { wantBroken(t, build(t, c.nodes, c.c).Verify(c.e), 0, c.rule) })
	}
}

// Allowed, although it looks unlike the rest.
func TestVerifyAllowed(t *testing.T) {
	for name, c := range map[string]change{
		"a clock 60 s behind": {result: func(i int, r *swarm.Result) {
			if i == 1 {
				r.IssuedAt = start + 1 - 60
			}
		}},
		"marked late before the deadline: another outcome was first": {arrival: func(i int, a *swarm.Arrival) { a.Late = true }},
		"a price of exactly what is allowed": {result: func(i int, r *swarm.Result) {
			r.Price = wallet.Amount{31: byte(100 - i)}
		}},
		"children in another order": {result: func(i int, r *swarm.Result) { slices.Reverse(r.Children) }},
		"no attachments": {delegation: func(i int, d *swarm.Delegation) { d.Attachments = nil },
			result: func(i int, r *swarm.Result) { r.Attachments = nil }},
	} {
		if report := swarm.VerifyJSON(marshal(t, build(t, realTree, c)), swarm.Expect{}); !report.Verified {
			t.Errorf("%s: %+v", name, report.Broken())
		}
	}
}

func TestVerifyTampered(t *testing.T) {
	other := build(t, []node{{-1, user, coordinator, "Something else.", "done", swarm.StatusCompleted, false, false, "", ""}},
		change{delegation: func(i int, d *swarm.Delegation) { d.Nonce = wallet.Digest{9} }})
	for _, c := range []struct {
		name string
		f    func(b *swarm.Bundle)
		hop  int
		rule swarm.Rule
	}{
		{"leaf dropped", func(b *swarm.Bundle) { b.Hops = b.Hops[:4] }, 0, swarm.RuleChildren},
		{"nested hop dropped", func(b *swarm.Bundle) { b.Hops = slices.Delete(b.Hops, 2, 3) }, 1, swarm.RuleChildren},
		{"failed hop dropped", func(b *swarm.Bundle) { b.Hops = slices.Delete(b.Hops, 3, 4) }, 0, swarm.RuleChildren},
		{"branch dropped", func(b *swarm.Bundle) { b.Hops = slices.Delete(b.Hops, 1, 3) }, 0, swarm.RuleChildren},
		{"middle dropped", func(b *swarm.Bundle) { b.Hops = slices.Delete(b.Hops, 1, 2) }, -1, swarm.RuleTree},
		{"hop 0 dropped", func(b *swarm.Bundle) { b.Hops = b.Hops[1:] }, 0, swarm.RuleDelegationChain},
		{"hop twice", func(b *swarm.Bundle) { b.Hops = append(b.Hops, b.Hops[3]) }, -1, swarm.RuleTree},
		{"hop 0 twice", func(b *swarm.Bundle) { b.Hops = append(b.Hops, b.Hops[0]) }, -1, swarm.RuleTree},
		{"child before its parent", func(b *swarm.Bundle) { b.Hops[1], b.Hops[2] = b.Hops[2], b.Hops[1] }, -1, swarm.RuleTree},
		{"hop 0 not first", func(b *swarm.Bundle) { b.Hops[0], b.Hops[1] = b.Hops[1], b.Hops[0] }, -1, swarm.RuleTree},
		{"another run's hop", func(b *swarm.Bundle) { b.Hops = append(b.Hops, other.Hops[0]) }, -1, swarm.RuleTree},
		{"results swapped", func(b *swarm.Bundle) { b.Hops[1].Result, b.Hops[3].Result = b.Hops[3].Result, b.Hops[1].Result }, 1, swarm.RuleResultParties},
		{"arrivals swapped", func(b *swarm.Bundle) {
			b.Hops[1].Arrival, b.Hops[3].Arrival = b.Hops[3].Arrival, b.Hops[1].Arrival
		}, 1, swarm.RuleArrivalResult},
		{"outputs swapped", func(b *swarm.Bundle) {
			b.Hops[0].Result.Output, b.Hops[1].Result.Output = b.Hops[1].Result.Output, b.Hops[0].Result.Output
		}, 0, swarm.RuleOutput},
		{"inputs swapped", func(b *swarm.Bundle) {
			b.Hops[0].Delegation.Input, b.Hops[1].Delegation.Input = b.Hops[1].Delegation.Input, b.Hops[0].Delegation.Input
		}, 1, swarm.RuleInput},
		{"another run's answer", func(b *swarm.Bundle) {
			b.Hops[0].Result, b.Hops[0].Arrival = other.Hops[0].Result, other.Hops[0].Arrival
		}, 0, swarm.RuleResultParties},
		{"another run's task", func(b *swarm.Bundle) { b.Hops[0].Delegation = other.Hops[0].Delegation }, 0, swarm.RuleResultParties},
		{"result dropped", func(b *swarm.Bundle) { b.Hops[1].Result = nil }, 1, swarm.RuleArrivalResult},
		{"arrival dropped", func(b *swarm.Bundle) { b.Hops[1].Arrival = nil }, 1, swarm.RuleArrivalResult},
		{"result and arrival dropped", func(b *swarm.Bundle) { b.Hops[3].Result, b.Hops[3].Arrival = nil, nil }, 0, swarm.RuleChildren},
		{"no answer at the top", func(b *swarm.Bundle) { b.Hops[0].Result, b.Hops[0].Arrival = nil, nil }, 0, swarm.RuleResult},
		{"replayed on another chain", func(b *swarm.Bundle) { b.ChainID = 8453 }, 0, swarm.RuleDelegationSignature},
		{"replayed on no chain", func(b *swarm.Bundle) { b.ChainID = 0 }, 4, swarm.RuleDelegationSignature},
		{"widened, not signed anew", func(b *swarm.Bundle) { b.Hops[0].Delegation.Delegation.MaxPrice = wallet.Amount{0: 1} }, 0, swarm.RuleDelegationSignature},
		{"signed by the wrong key", func(b *swarm.Bundle) {
			d := b.Hops[4].Delegation.Delegation
			signed, err := swarm.SignDelegation(t.Context(), keyOf(stranger), swarm.Domain(testChain), d, "Sing.")
			if err != nil {
				t.Fatal(err)
			}
			b.Hops[4].Delegation.Signature = signed.Signature
		}, 4, swarm.RuleDelegationSignature},
		{"answered by a stranger", func(b *swarm.Bundle) {
			signed, err := swarm.SignResult(t.Context(), keyOf(stranger), swarm.Domain(testChain), b.Hops[1].Result.Result, "forged")
			if err != nil {
				t.Fatal(err)
			}
			b.Hops[1].Result = signed
		}, 1, swarm.RuleResultSignature},
		{"dated by a stranger", func(b *swarm.Bundle) {
			signed, err := swarm.SignArrival(t.Context(), keyOf(stranger), swarm.Domain(testChain), b.Hops[1].Arrival.Arrival)
			if err != nil {
				t.Fatal(err)
			}
			b.Hops[1].Arrival = signed
		}, 1, swarm.RuleArrivalSignature},
		{"the server's name on a stranger's date", func(b *swarm.Bundle) {
			signed, err := swarm.SignArrival(t.Context(), keyOf(stranger), swarm.Domain(testChain), b.Hops[1].Arrival.Arrival)
			if err != nil {
				t.Fatal(err)
			}
			b.Hops[1].Arrival.Signature = signed.Signature
		}, 1, swarm.RuleArrivalSignature},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := build(t, realTree, change{})
			c.f(b)
			wantBroken(t, swarm.VerifyJSON(marshal(t, b), swarm.Expect{}), c.hop, c.rule)
		})
	}
}

func TestVerifyExpected(t *testing.T) {
	b := build(t, realTree, change{})
	root := b.Hops[0].Delegation.Delegation.Digest(swarm.Domain(testChain))
	from, to, dated := addressOf(user), addressOf(coordinator), addressOf(server)
	if report := b.Verify(swarm.Expect{Root: &root, From: &from, To: &to, Server: &dated}); !report.Verified {
		t.Errorf("as expected: %+v", report.Broken())
	}
	other, elsewhere := addressOf(stranger), wallet.Digest{1}
	for rule, e := range map[swarm.Rule]swarm.Expect{
		swarm.RuleExpectedRoot: {Root: &elsewhere}, swarm.RuleExpectedFrom: {From: &other},
		swarm.RuleExpectedTo: {To: &other}, swarm.RuleExpectedServer: {Server: &other},
	} {
		t.Run(string(rule), func(t *testing.T) {
			report := b.Verify(e)
			wantBroken(t, report, 0, rule)
			if len(report.Broken()) != 1 {
				t.Errorf("broken: %+v", report.Broken())
			}
		})
	}
}

func TestVerifyUnparsed(t *testing.T) {
	wantBroken(t, (&swarm.Bundle{Format: swarm.BundleFormat}).Verify(swarm.Expect{}), -1, swarm.RuleForm)
	b := build(t, realTree, change{})
	b.Format = ""
	wantBroken(t, b.Verify(swarm.Expect{}), -1, swarm.RuleForm)
}

// Text that is no UTF-8 would travel as other text, and so never verify.
func TestSignRefusesWhatCannotTravel(t *testing.T) {
	domain := swarm.Domain(0)
	for name, d := range map[string]swarm.Delegation{
		"input": {}, "skill": {Skill: "\xff"}, "name": {Attachments: []swarm.Attachment{{Name: "\xff"}}}, "type": {Attachments: []swarm.Attachment{{MediaType: "\xff"}}},
	} {
		input := "fine"
		if name == "input" {
			input = "caf\xe9"
		}
		_, err := swarm.SignDelegation(t.Context(), keyOf(user), domain, d, input)
		t.Run(name, func(t *testing.T) { wantCode(t, err, swarm.CodeInvalid) })
	}
	_, err := swarm.SignResult(t.Context(), keyOf(scout), domain, swarm.Result{}, "caf\xe9")
	wantCode(t, err, swarm.CodeInvalid)
}
