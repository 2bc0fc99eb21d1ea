package signin_test

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/signin"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestTickets(t *testing.T) {
	const path = "/delegations/1/events"
	who := key(t, 1).Address()
	for _, c := range []struct {
		name string
		f    func(ticket *string, path *string, t *signin.Tickets)
		wait time.Duration
		says string // "" where it holds
	}{
		{name: "as it should be"},
		{name: "the last second", wait: 29 * time.Second},
		{name: "expired to the second", wait: 30 * time.Second, says: "expired"},
		{name: "another stream", f: func(_, path *string, _ *signin.Tickets) { *path = "/delegations/2/events" }, says: "for this stream"},
		{name: "the stream, written otherwise", f: func(_, path *string, _ *signin.Tickets) { *path = "/%64elegations/1/events" }, says: "for this stream"},
		{name: "another server's", f: func(_, _ *string, t *signin.Tickets) { t.Secret[0]++ }, says: "none of this server's"},
		{name: "no prefix", f: func(ticket, _ *string, _ *signin.Tickets) { *ticket = strings.TrimPrefix(*ticket, "swk_") }, says: "none of this server's"},
		{name: "none", f: func(ticket, _ *string, _ *signin.Tickets) { *ticket = "" }, says: "none of this server's"},
		{name: "longer", f: func(ticket, _ *string, _ *signin.Tickets) { *ticket += "AAAA" }, says: "none of this server's"},
		{name: "with a line break", f: func(ticket, _ *string, _ *signin.Tickets) { *ticket += "\n" }, says: "none of this server's"},
		{name: "with padding", f: func(ticket, _ *string, _ *signin.Tickets) { *ticket += "=" }, says: "none of this server's"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tickets := &signin.Tickets{Secret: [32]byte{1}, Nonces: new(memory)}
				ticket, expires := tickets.Issue(who, path)
				if !expires.Equal(time.Now().Add(30 * time.Second)) {
					t.Errorf("expires at %v; it is %v", expires, time.Now())
				}
				at := path
				if c.f != nil {
					c.f(&ticket, &at, tickets)
				}
				time.Sleep(c.wait)
				got, err := tickets.Redeem(t.Context(), ticket, at)
				if c.says != "" {
					wantCode(t, err, swarm.CodeUnauthenticated, c.says)
					if ticket != "" && strings.Contains(err.Error(), ticket) {
						t.Errorf("%v shows the ticket", err)
					}
					return
				}
				if err != nil || got != who {
					t.Fatalf("the ticket is %v's (%v), want %v", got, err, who)
				}
				_, err = tickets.Redeem(t.Context(), ticket, at)
				wantCode(t, err, swarm.CodeUnauthenticated, "used before")
			})
		})
	}
	away := errors.New("away")
	tickets := &signin.Tickets{Nonces: &memory{err: away}}
	ticket, _ := tickets.Issue(who, path)
	if _, err := tickets.Redeem(t.Context(), ticket, path); !errors.Is(err, away) {
		t.Errorf("%v, want %v", err, away)
	}
}

// Change any byte of a ticket, and it is none.
func TestTicketsAreBound(t *testing.T) {
	tickets := &signin.Tickets{Nonces: new(memory)}
	ticket, _ := tickets.Issue(wallet.Address{1}, "/")
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(ticket, "swk_"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		raw[i]++
		_, err := tickets.Redeem(t.Context(), "swk_"+base64.RawURLEncoding.EncodeToString(raw), "/")
		wantCode(t, err, swarm.CodeUnauthenticated, "none of this server's")
		raw[i]--
	}
	if _, err := tickets.Redeem(t.Context(), ticket, "/"); err != nil {
		t.Error(err)
	}
}

func TestLogURL(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://swarm.example/a?b=c&d=%20", "/a?b=c&d=%20"},
		{"http://swarm.example", "/"},
		{"http://swarm.example/%61?ticket=swk_abc", "/%61?ticket=REDACTED"},
		{"http://swarm.example/a?x=1&ticket=swk_abc&ticket=swk_def", "/a?ticket=REDACTED&x=1"},
		{"http://swarm.example/a?%74icket=swk_abc", "/a?ticket=REDACTED"},
		{"http://swarm.example/a?ticket=swk_abc;x", "/a?REDACTED"},
		{"http://swarm.example/a?ticket=swk_abc&%zz", "/a?REDACTED"},
	} {
		u, err := url.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if got := signin.LogURL(u); got != c.want || strings.Contains(got, "swk_") {
			t.Errorf("%s is logged as %q, want %q", c.url, got, c.want)
		}
	}
}
