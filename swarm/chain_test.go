package swarm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestEstimate(t *testing.T) {
	for _, c := range []struct {
		characters int
		want       time.Duration
	}{
		{0, 60 * time.Second}, {1, 60 * time.Second}, {99, 60 * time.Second}, {100, 75 * time.Second}, {199, 75 * time.Second},
		{200, 90 * time.Second}, {399, 105 * time.Second}, {400, 120 * time.Second}, {500, 120 * time.Second}, {1_000_000, 120 * time.Second},
	} {
		// Characters, not bytes: ü has two and 天 three.
		for _, letter := range []string{"a", "ü", "天"} {
			if got := swarm.Estimate(strings.Repeat(letter, c.characters)); got != c.want {
				t.Errorf("Estimate of %d × %s = %v, want %v", c.characters, letter, got, c.want)
			}
		}
	}
}

// root gives a delegation at hop 0 against which nothing can be said.
func root() swarm.Delegation {
	return swarm.Delegation{
		TaskID: wallet.Digest{1}, MaxHops: swarm.MaxHops, From: addressOf(user), To: addressOf(coordinator), Server: addressOf(server),
		Asset: addressOf(stranger), MaxPrice: wallet.Amount{31: 50}, IssuedAt: start, ExpiresAt: start + 300, Nonce: wallet.Digest{2},
	}
}

func TestDelegationCheck(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(start+seconds, 0) }
	for _, c := range []struct {
		name string
		f    func(d *swarm.Delegation)
		now  time.Time
		code swarm.Code
		says string
	}{
		{"as it should be", func(d *swarm.Delegation) {}, at(0), "", ""},
		{"a clock 60 s ahead", func(d *swarm.Delegation) {}, at(-60), "", ""},
		{"last second", func(d *swarm.Delegation) {}, at(299), "", ""},
		{"one hop", func(d *swarm.Delegation) { d.MaxHops = 1 }, at(0), "", ""},
		{"last hop", func(d *swarm.Delegation) { d.Hop, d.Root, d.Parent = 4, wallet.Digest{3}, wallet.Digest{4} }, at(0), "", ""},
		{"no asset, no price, no skill", func(d *swarm.Delegation) { d.Asset, d.MaxPrice = wallet.Address{}, wallet.Amount{} }, at(0), "", ""},
		{"a clock 61 s ahead", func(d *swarm.Delegation) {}, at(-61), swarm.CodeExpired, "clock"},
		{"expired to the second", func(d *swarm.Delegation) {}, at(300), swarm.CodeExpired, "expired at"},
		{"no sender", func(d *swarm.Delegation) { d.From = wallet.Address{} }, at(0), swarm.CodeInvalid, "zero address"},
		{"nobody", func(d *swarm.Delegation) { d.To = wallet.Address{} }, at(0), swarm.CodeInvalid, "zero address"},
		{"to itself", func(d *swarm.Delegation) { d.To = d.From }, at(0), swarm.CodeSelfRequest, addressOf(user).String()},
		{"no hops", func(d *swarm.Delegation) { d.MaxHops = 0 }, at(0), swarm.CodeChainTooLong, "1 to 5"},
		{"six hops", func(d *swarm.Delegation) { d.MaxHops = 6 }, at(0), swarm.CodeChainTooLong, "1 to 5"},
		{"hop at maxHops", func(d *swarm.Delegation) {
			d.Hop, d.MaxHops, d.Root, d.Parent = 2, 2, wallet.Digest{3}, wallet.Digest{4}
		}, at(0), swarm.CodeChainTooLong, "hop 2"},
		{"hop 0 with a root", func(d *swarm.Delegation) { d.Root = wallet.Digest{3} }, at(0), swarm.CodeInvalid, "root"},
		{"hop 0 with a parent", func(d *swarm.Delegation) { d.Parent = wallet.Digest{3} }, at(0), swarm.CodeInvalid, "parent"},
		{"hop 1 with no root", func(d *swarm.Delegation) { d.Hop, d.Parent = 1, wallet.Digest{3} }, at(0), swarm.CodeInvalid, "root"},
		{"hop 1 with no parent", func(d *swarm.Delegation) { d.Hop, d.Root = 1, wallet.Digest{3} }, at(0), swarm.CodeInvalid, "parent"},
		{"no task id", func(d *swarm.Delegation) { d.TaskID = wallet.Digest{} }, at(0), swarm.CodeInvalid, "taskId"},
		{"no nonce", func(d *swarm.Delegation) { d.Nonce = wallet.Digest{} }, at(0), swarm.CodeInvalid, "nonce"},
		{"expires as it begins", func(d *swarm.Delegation) { d.ExpiresAt = d.IssuedAt }, at(0), swarm.CodeInvalid, "after issuedAt"},
		{"expires before it begins", func(d *swarm.Delegation) { d.ExpiresAt = d.IssuedAt - 1 }, at(0), swarm.CodeInvalid, "after issuedAt"},
		{"301 seconds", func(d *swarm.Delegation) { d.ExpiresAt = d.IssuedAt + 301 }, at(0), swarm.CodeInvalid, "at most 300"},
		{"expires at 2^53", func(d *swarm.Delegation) { d.ExpiresAt = 1 << 53 }, at(0), swarm.CodeInvalid, "2^53-1"},
		{"times that wrap around", func(d *swarm.Delegation) { d.IssuedAt, d.ExpiresAt = 1<<64-2, 1<<64-1 }, at(0), swarm.CodeInvalid, "2^53-1"},
		{"a large attachment", func(d *swarm.Delegation) { d.Attachments = []swarm.Attachment{{}, {Size: 1 << 53}} }, at(0), swarm.CodeInvalid, "attachments[1].size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := root()
			c.f(&d)
			err := d.Check(c.now)
			wantCode(t, err, c.code)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func TestCheckChain(t *testing.T) {
	domain := swarm.Domain(testChain)
	top := root()
	links := []swarm.Link{{Delegation: &top, Digest: top.Digest(domain)}}
	below := func(above swarm.Link, to int) swarm.Delegation {
		d := *above.Delegation
		d.Hop++
		d.From, d.To = d.To, addressOf(to)
		d.Root, d.Parent, d.Nonce = links[0].Digest, above.Digest, wallet.Digest{31: d.Hop}
		return d
	}
	for _, to := range []int{scout, reader, critic, silent} {
		d := below(links[len(links)-1], to)
		if err := swarm.CheckChain(links, &d); err != nil {
			t.Fatalf("hop %d: %v", d.Hop, err)
		}
		links = append(links, swarm.Link{Delegation: &d, Digest: d.Digest(domain)})
	}
	if err := swarm.CheckChain(nil, &top); err != nil {
		t.Errorf("hop 0: %v", err)
	}

	for _, c := range []struct {
		name  string
		above int // how many links
		f     func(d *swarm.Delegation)
		code  swarm.Code
		says  string
	}{
		{"as it should be", 3, func(d *swarm.Delegation) {}, "", ""},
		{"narrower", 3, func(d *swarm.Delegation) { d.ExpiresAt--; d.MaxPrice = wallet.Amount{}; d.MaxHops-- }, "", ""},
		{"to a stranger's server", 3, func(d *swarm.Delegation) { d.Server = addressOf(stranger) }, "", ""},
		{"hop 1 with nothing above", 0, func(d *swarm.Delegation) { d.Hop = 1 }, swarm.CodeInvalid, "0 delegations"},
		{"hop too low", 3, func(d *swarm.Delegation) { d.Hop = 2 }, swarm.CodeInvalid, "hop is 2"},
		{"hop too high", 3, func(d *swarm.Delegation) { d.Hop = 4 }, swarm.CodeInvalid, "hop is 4"},
		{"another parent", 3, func(d *swarm.Delegation) { d.Parent = wallet.Digest{9} }, swarm.CodeInvalid, "parent"},
		{"its grandparent", 3, func(d *swarm.Delegation) { d.Parent = links[1].Digest }, swarm.CodeInvalid, "parent"},
		{"another root", 3, func(d *swarm.Delegation) { d.Root = links[1].Digest }, swarm.CodeInvalid, "root"},
		{"from one who has not the task", 3, func(d *swarm.Delegation) { d.From = addressOf(stranger) }, swarm.CodeForbidden, addressOf(reader).String()},
		{"another task", 3, func(d *swarm.Delegation) { d.TaskID = wallet.Digest{9} }, swarm.CodeInvalid, "taskId"},
		{"another token", 3, func(d *swarm.Delegation) { d.Asset = wallet.Address{} }, swarm.CodeBudget, "asset"},
		{"more hops", 3, func(d *swarm.Delegation) { d.MaxHops++ }, swarm.CodeChainTooLong, "allows 5"},
		{"more time", 3, func(d *swarm.Delegation) { d.ExpiresAt++ }, swarm.CodeBudget, "expiresAt"},
		{"more money", 3, func(d *swarm.Delegation) { d.MaxPrice = wallet.Amount{31: 51} }, swarm.CodeBudget, "allows 50"},
		{"a digit more", 3, func(d *swarm.Delegation) { d.MaxPrice = wallet.Amount{30: 1} }, swarm.CodeBudget, "256"},
		{"A to B to A", 1, func(d *swarm.Delegation) { d.To = addressOf(user) }, swarm.CodeLoop, "hop 0"},
		{"back to hop 0's sender", 3, func(d *swarm.Delegation) { d.To = addressOf(user) }, swarm.CodeLoop, addressOf(user).String()},
		{"back to the middle", 3, func(d *swarm.Delegation) { d.To = addressOf(scout) }, swarm.CodeLoop, "hop 1"},
		{"to itself", 3, func(d *swarm.Delegation) { d.To = addressOf(reader) }, swarm.CodeLoop, "hop 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := top
			if c.above > 0 {
				d = below(links[c.above-1], silent)
			}
			c.f(&d)
			err := swarm.CheckChain(links[:c.above], &d)
			wantCode(t, err, c.code)
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func TestDelegationID(t *testing.T) {
	a := root()
	b := root()
	b.MaxPrice, b.To = wallet.Amount{}, addressOf(scout)
	if a.ID() != b.ID() || len(a.ID()) != 32 || strings.Trim(a.ID(), "0123456789abcdef") != "" {
		t.Errorf("ids %q and %q; want the same 32 hex digits for one sender and nonce", a.ID(), b.ID())
	}
	b.Nonce = wallet.Digest{9}
	c := root()
	c.From = addressOf(scout)
	if a.ID() == b.ID() || a.ID() == c.ID() {
		t.Error("another nonce or another sender has the same id")
	}
	first, again, other := swarm.NonceOf("a"), swarm.NonceOf("a"), swarm.NonceOf("b")
	if first != again || first == other || swarm.NonceOf("").IsZero() {
		t.Errorf("NonceOf gives %v and %v for one key, %v for another", first, again, other)
	}
}

func TestResultChecks(t *testing.T) {
	d := root()
	digest := d.Digest(swarm.Domain(testChain))
	good := swarm.Result{Delegation: digest, TaskID: d.TaskID, From: d.To, To: d.From, Status: swarm.StatusCompleted, Last: true, Price: d.MaxPrice}
	for _, c := range []struct {
		name string
		f    func(r *swarm.Result)
		code swarm.Code
	}{
		{"as it should be", func(r *swarm.Result) {}, ""},
		{"failed", func(r *swarm.Result) { r.Status = swarm.StatusFailed }, ""},
		{"another delegation", func(r *swarm.Result) { r.Delegation = wallet.Digest{9} }, swarm.CodeInvalid},
		{"another task", func(r *swarm.Result) { r.TaskID = wallet.Digest{9} }, swarm.CodeInvalid},
		{"from another", func(r *swarm.Result) { r.From = addressOf(stranger) }, swarm.CodeForbidden},
		{"to another", func(r *swarm.Result) { r.To = addressOf(stranger) }, swarm.CodeForbidden},
		{"the wrong way round", func(r *swarm.Result) { r.From, r.To = r.To, r.From }, swarm.CodeForbidden},
		{"no status", func(r *swarm.Result) { r.Status = 0 }, swarm.CodeInvalid},
		{"unknown status", func(r *swarm.Result) { r.Status = 3 }, swarm.CodeInvalid},
		{"in parts", func(r *swarm.Result) { r.Seq = 1 }, swarm.CodeInvalid},
		{"not the last", func(r *swarm.Result) { r.Last = false }, swarm.CodeInvalid},
		{"too dear", func(r *swarm.Result) { r.Price = wallet.Amount{31: 51} }, swarm.CodeBudget},
	} {
		r := good
		c.f(&r)
		var first error
		for _, err := range []error{r.CheckParties(&d, digest), r.CheckStatus(), r.CheckPrice(&d)} {
			if first == nil {
				first = err
			}
		}
		t.Run(c.name, func(t *testing.T) { wantCode(t, first, c.code) })
	}
}
