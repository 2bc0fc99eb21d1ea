package signin_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/signin"
	"github.com/swarmseal/swarmseal/wallet"
)

// key gives a key that is always the same.
func key(tb testing.TB, n int) *wallet.Key {
	tb.Helper()
	k, err := wallet.ParseKey(fmt.Sprintf("%064x", n))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// memory is a store of nonces, as strict as an engine's.
type memory struct {
	mu   sync.Mutex
	used map[string]time.Time
	err  error
}

func (m *memory) Use(_ context.Context, key string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return false, m.err
	}
	if len(key) > 256 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return false, fmt.Errorf("key %q", key)
	}
	if forget, ok := m.used[key]; ok && time.Now().Before(forget) {
		return false, nil
	}
	if m.used == nil {
		m.used = make(map[string]time.Time)
	}
	m.used[key] = until
	return true, nil
}

// wantCode asserts err's code, and that it says a text.
func wantCode(tb testing.TB, err error, code swarm.Code, says string) {
	tb.Helper()
	if got := swarm.CodeOf(err); got != code {
		tb.Errorf("code %q (%v), want %q", got, err, code)
	}
	if err != nil && !strings.Contains(err.Error(), says) {
		tb.Errorf("%v does not say %q", err, says)
	}
}

// The examples of EIP-4361.
const (
	plainExample = `example.com wants you to sign in with your Ethereum account:
0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2

I accept the ExampleOrg Terms of Service: https://example.com/tos

URI: https://example.com/login
Version: 1
Chain ID: 1
Nonce: 32891756
Issued At: 2021-09-30T16:25:24Z
Resources:
- ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/
- https://example.com/my-web2-claim.json`
	fullExample = `https://example.com:3388 wants you to sign in with your Ethereum account:
0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2


URI: https://example.com/login?a=%20b#c
Version: 1
Chain ID: 84532
Nonce: 32891756abcXYZ
Issued At: 2021-09-30T16:25:24Z
Expiration Time: 2021-10-01T16:25:24Z
Not Before: 2021-09-30T16:25:24.123456789Z
Request ID: a-b_c:@!$&'()*+,;=%2F
Resources:`
)

func TestParseMessage(t *testing.T) {
	account := wallet.MustParseAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	issued := time.Date(2021, 9, 30, 16, 25, 24, 0, time.UTC)
	for _, c := range []struct {
		text string
		want signin.Message
	}{
		{plainExample, signin.Message{Domain: "example.com", Address: account,
			Statement: "I accept the ExampleOrg Terms of Service: https://example.com/tos", URI: "https://example.com/login",
			ChainID: 1, Nonce: "32891756", IssuedAt: issued, Resources: []string{
				"ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/", "https://example.com/my-web2-claim.json",
			}}},
		{strings.Replace(plainExample, "example.com", "example.com:3388", 1), signin.Message{Domain: "example.com:3388", Address: account,
			Statement: "I accept the ExampleOrg Terms of Service: https://example.com/tos", URI: "https://example.com/login",
			ChainID: 1, Nonce: "32891756", IssuedAt: issued, Resources: []string{
				"ipfs://bafybeiemxf5abjwjbikoz4mc3a3dla6ual3jsgpdr4cjr3oz3evfyavhwq/", "https://example.com/my-web2-claim.json",
			}}},
		{fullExample, signin.Message{Scheme: "https", Domain: "example.com:3388", Address: account, URI: "https://example.com/login?a=%20b#c",
			ChainID: 84532, Nonce: "32891756abcXYZ", IssuedAt: issued, ExpirationTime: issued.Add(24 * time.Hour),
			NotBefore: issued.Add(123456789), RequestID: "a-b_c:@!$&'()*+,;=%2F", Resources: []string{}}},
	} {
		got, err := signin.ParseMessage(c.text)
		if err != nil {
			t.Errorf("%v\n%s", err, c.text)
			continue
		}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("got\n%+v, want\n%+v", *got, c.want)
		}
		if got.String() != c.text {
			t.Errorf("written again:\n%s\nwant\n%s", got, c.text)
		}
	}
}

// changed gives a text with one thing changed.
func changed(text, old, new string) string { return strings.Replace(text, old, new, 1) }

var badMessages = []struct{ name, text, says string }{
	{"empty", "", "line 1"},
	{"no origin", changed(plainExample, "example.com", ""), "line 1"},
	{"another sentence", changed(plainExample, "wants", "wanted"), "line 1"},
	{"an origin with a path", changed(plainExample, "example.com", "example.com/x"), "line 1"},
	{"an origin with a user", changed(plainExample, "example.com", "example.com@evil.example"), "line 1"},
	{"an origin with a space", changed(plainExample, "example.com", "example.com evil.example"), "line 1"},
	{"an origin with no port behind the colon", changed(plainExample, "example.com", "example.com:"), "line 1"},
	{"an origin with half a percent sign", changed(plainExample, "example.com", "example%2"), "line 1"},
	{"a scheme that is none", changed(plainExample, "example.com", "1http://example.com"), "line 1"},
	{"an address in lower case", changed(plainExample, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"), "line 2"},
	{"an address in upper case", changed(plainExample, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0xC02AAA39B223FE8D0A0E5C4F27EAD9083C756CC2"), "line 2"},
	{"a wrong checksum", changed(plainExample, "0xC02aaA", "0xC02AaA"), "line 2"},
	{"an address without 0x", changed(plainExample, "0xC02", "C02"), "line 2"},
	{"a long address", changed(plainExample, "6Cc2", "6Cc200"), "line 2"},
	{"no empty line", changed(plainExample, "\n\n", "\n"), "line 3"},
	{"an empty statement", changed(fullExample, "\n\n\n", "\n\n\n\n"), `line 5 of the sign-in message: want "URI: "`},
	{"a statement of two lines", changed(plainExample, "Terms", "Terms\nof"), "line 5"},
	{"a statement that is not ASCII", changed(plainExample, "Terms", "Térms"), "statement"},
	{"a statement with a percent sign", changed(plainExample, "Terms", "Ter%20ms"), "statement"},
	{"a statement with quotes", changed(plainExample, "Terms", `"Terms"`), "statement"},
	{"line ends of another kind", strings.ReplaceAll(plainExample, "\n", "\r\n"), "line 1"},
	{"no URI", changed(plainExample, "URI: https://example.com/login\n", ""), `want "URI: "`},
	{"a URI with no scheme", changed(plainExample, "URI: https://example.com/login", "URI: /login"), "a URI"},
	{"a URI with a space", changed(plainExample, "URI: https://example.com/login", "URI: https://example.com/a b"), "a URI"},
	{"a URI with half a percent sign", changed(plainExample, "URI: https://example.com/login", "URI: https://example.com/?%4"), "a URI"},
	{"URI in lower case", changed(plainExample, "URI:", "uri:"), `want "URI: "`},
	{"no space behind the name", changed(plainExample, "URI: ", "URI:"), `want "URI: "`},
	{"two spaces behind the name", changed(plainExample, "Nonce: ", "Nonce:  "), `want "Nonce: "`},
	{"version 2", changed(plainExample, "Version: 1", "Version: 2"), `want "Version: "`},
	{"no version", changed(plainExample, "Version: 1\n", ""), `want "Version: "`},
	{"chain in hex", changed(plainExample, "Chain ID: 1", "Chain ID: 0x1"), `want "Chain ID: "`},
	{"chain with a zero", changed(plainExample, "Chain ID: 1", "Chain ID: 01"), `want "Chain ID: "`},
	{"chain with a sign", changed(plainExample, "Chain ID: 1", "Chain ID: +1"), `want "Chain ID: "`},
	{"chain over 2^64", changed(plainExample, "Chain ID: 1", "Chain ID: 18446744073709551617"), `want "Chain ID: "`},
	{"short nonce", changed(plainExample, "Nonce: 32891756", "Nonce: 3289175"), `want "Nonce: "`},
	{"nonce with a dash", changed(plainExample, "Nonce: 32891756", "Nonce: 3289-1756"), `want "Nonce: "`},
	{"long nonce", changed(plainExample, "Nonce: 32891756", "Nonce: "+strings.Repeat("a", 129)), `want "Nonce: "`},
	{"nonce twice", changed(plainExample, "Nonce: 32891756", "Nonce: 32891756\nNonce: 32891756"), `want "Issued At: "`},
	{"no time", changed(plainExample, "\nIssued At: 2021-09-30T16:25:24Z", ""), `want "Issued At: "`},
	{"time with no zone", changed(plainExample, "24Z", "24"), `want "Issued At: "`},
	{"time with a space", changed(plainExample, "30T16", "30 16"), `want "Issued At: "`},
	{"time in lower case", changed(plainExample, "30T16:25:24Z", "30t16:25:24z"), `want "Issued At: "`},
	{"time with a comma", changed(plainExample, "24Z", "24,5Z"), `want "Issued At: "`},
	{"time in February", changed(plainExample, "2021-09-30", "2021-02-30"), `want "Issued At: "`},
	{"time in Unix seconds", changed(plainExample, "2021-09-30T16:25:24Z", "1633019124"), `want "Issued At: "`},
	{"members in another order", changed(plainExample, "Version: 1\nChain ID: 1", "Chain ID: 1\nVersion: 1"), `want "Version: "`},
	{"not before, then expiration", changed(changed(fullExample, "Expiration Time", "X"), "Not Before", "Expiration Time"), "line 10"},
	{"an empty request id", changed(fullExample, "Request ID: a-b_c:@!$&'()*+,;=%2F", "Request ID: "), "Request ID"},
	{"a request id with a slash", changed(fullExample, "%2F", "/"), "Request ID"},
	{"a request id with half a percent sign", changed(fullExample, "%2F", "%2"), "Request ID"},
	{"a resource that is no URI", changed(plainExample, "- ipfs://", "- ipfs "), `"- " and a URI`},
	{"a resource with no dash", changed(plainExample, "- ipfs://", "ipfs://"), `"- " and a URI`},
	{"too many resources", plainExample + strings.Repeat("\n- a:b", 99), "at most 100 resources"},
	{"a line feed at the end", plainExample + "\n", `"- " and a URI`},
	{"a line more", changed(fullExample, "\nResources:", "\nX: 1"), "nothing more"},
	{"nothing but the first line", "example.com wants you to sign in with your Ethereum account:", "line 2"},
}

func TestParseMessageRefuses(t *testing.T) {
	for _, c := range badMessages {
		t.Run(c.name, func(t *testing.T) {
			m, err := signin.ParseMessage(c.text)
			wantCode(t, err, swarm.CodeInvalid, c.says)
			if m != nil {
				t.Errorf("message %+v with the error %v", m, err)
			}
		})
	}
	_, err := signin.ParseMessage(plainExample + strings.Repeat("x", 8<<10))
	wantCode(t, err, swarm.CodeTooLarge, "8192")
}

func FuzzParseMessage(f *testing.F) {
	f.Add(plainExample)
	f.Add(fullExample)
	for _, c := range badMessages {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := signin.ParseMessage(text)
		if (m == nil) == (err == nil) {
			t.Fatalf("message %+v with the error %v", m, err)
		}
		if err != nil {
			return
		}
		again, err := signin.ParseMessage(m.String())
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%q is read as %+v, written %q, and read as %+v (%v)", text, m, m, again, err)
		}
		// Times alone can be written in more than one way.
		times := func(s string) string {
			lines := strings.Split(s, "\n")
			return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "Issued At: ") || strings.HasPrefix(l, "Expiration Time: ") || strings.HasPrefix(l, "Not Before: ")
			}), "\n")
		}
		if times(m.String()) != times(text) {
			t.Errorf("%q is written %q", text, m)
		}
	})
}

func TestSite(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(m *signin.Message)
		// after changes the text that was signed already.
		after func(text *string, sig *wallet.Signature)
		wait  time.Duration
		code  swarm.Code
		says  string
	}{
		{name: "as it should be"},
		{name: "with a scheme", f: func(m *signin.Message) { m.Scheme = "https" }},
		{name: "with its scheme's port", f: func(m *signin.Message) { m.Domain = "app.example:443" }},
		{name: "in upper case", f: func(m *signin.Message) { m.Domain = "APP.example" }},
		{name: "on this machine", f: func(m *signin.Message) { m.Scheme, m.Domain = "http", "127.0.0.1:8420" }},
		{name: "to a path of the server's", f: func(m *signin.Message) { m.URI = "https://swarm.example/agents?x=1" }},
		{name: "expires later", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(time.Hour) }},
		{name: "a day", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(24 * time.Hour) }},
		{name: "a clock 60 s ahead", f: func(m *signin.Message) { m.IssuedAt = m.IssuedAt.Add(time.Minute) }},
		{name: "not before 60 s from now", f: func(m *signin.Message) { m.NotBefore = m.IssuedAt.Add(time.Minute) }},
		{name: "the last second", wait: signin.MessageAge - time.Second},
		{name: "login for another origin", f: func(m *signin.Message) { m.Domain = "evil.example" }, code: swarm.CodeUnauthenticated, says: "evil.example"},
		{name: "another port", f: func(m *signin.Message) { m.Domain = "app.example:8443" }, code: swarm.CodeUnauthenticated, says: "8443"},
		{name: "another scheme", f: func(m *signin.Message) { m.Scheme = "http" }, code: swarm.CodeUnauthenticated, says: "http://app.example"},
		{name: "a domain above", f: func(m *signin.Message) { m.Domain = "example" }, code: swarm.CodeUnauthenticated, says: "signed on"},
		{name: "a domain below", f: func(m *signin.Message) { m.Domain = "a.app.example" }, code: swarm.CodeUnauthenticated, says: "signed on"},
		{name: "to another server", f: func(m *signin.Message) { m.URI = "https://other.example/" }, code: swarm.CodeUnauthenticated, says: "other.example"},
		{name: "to another scheme", f: func(m *signin.Message) { m.URI = "http://swarm.example/" }, code: swarm.CodeUnauthenticated, says: "signs in to"},
		{name: "to a server as a user's name", f: func(m *signin.Message) { m.URI = "https://swarm.example@other.example/" }, code: swarm.CodeUnauthenticated, says: "signs in to"},
		{name: "to a server with a user's name", f: func(m *signin.Message) { m.URI = "https://a@swarm.example/" }, code: swarm.CodeUnauthenticated, says: "signs in to"},
		{name: "another chain", f: func(m *signin.Message) { m.ChainID = 1 }, code: swarm.CodeUnauthenticated, says: "chain 1"},
		{name: "a clock 61 s ahead", f: func(m *signin.Message) { m.IssuedAt = m.IssuedAt.Add(61 * time.Second) }, code: swarm.CodeExpired, says: "a clock"},
		{name: "not before 61 s from now", f: func(m *signin.Message) { m.NotBefore = m.IssuedAt.Add(61 * time.Second) }, code: swarm.CodeExpired, says: "not valid before"},
		{name: "presented too late, to the second", wait: signin.MessageAge, code: swarm.CodeExpired, says: "presented"},
		{name: "expired to the second", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(10 * time.Second) }, wait: 10 * time.Second, code: swarm.CodeExpired, says: "expired at"},
		{name: "a second before that", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(10 * time.Second) }, wait: 9 * time.Second},
		{name: "expires before it was issued", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(-time.Second) }, code: swarm.CodeExpired, says: "expired at"},
		{name: "a day and a second", f: func(m *signin.Message) { m.ExpirationTime = m.IssuedAt.Add(24*time.Hour + time.Second) }, code: swarm.CodeInvalid, says: "24h0m0s"},
		{name: "another's address", f: func(m *signin.Message) { m.Address = wallet.Address{1} }, code: swarm.CodeSignature, says: "made by"},
		{name: "changed", after: func(text *string, _ *wallet.Signature) { *text = changed(*text, "Hello", "Hallo") }, code: swarm.CodeSignature, says: "made by"},
		{name: "no message at all", after: func(text *string, _ *wallet.Signature) { *text = "sign this" }, code: swarm.CodeInvalid, says: "line 1"},
		{name: "no signature", after: func(_ *string, sig *wallet.Signature) { *sig = wallet.Signature{} }, code: swarm.CodeSignature, says: "v must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nonces := new(memory)
				site := signin.Site{Origins: []string{"https://app.example", "http://127.0.0.1:8420"}, URIs: []string{"https://swarm.example"}, ChainID: 84532, Nonces: nonces}
				k := key(t, 1)
				m := signin.Message{Domain: "app.example", Address: k.Address(), Statement: "Hello", URI: "https://swarm.example/",
					ChainID: 84532, Nonce: "abcdefgh1", IssuedAt: time.Now().UTC().Truncate(time.Second)}
				if c.f != nil {
					c.f(&m)
				}
				text := m.String()
				sig, err := k.Sign(t.Context(), wallet.PersonalMessage(text))
				if err != nil {
					t.Fatal(err)
				}
				if c.after != nil {
					c.after(&text, &sig)
				}
				time.Sleep(c.wait)
				in, err := site.Verify(t.Context(), text, sig)
				wantCode(t, err, c.code, c.says)
				if c.code != "" {
					if in != nil || len(nonces.used) > 0 {
						t.Errorf("signed in as %+v; %d nonces were used up", in, len(nonces.used))
					}
					return
				}
				expires := m.ExpirationTime
				if expires.IsZero() {
					expires = m.IssuedAt.Add(swarm.MaxSessionAge)
				}
				if want := (signin.SignedIn{Wallet: k.Address(), ExpiresAt: expires}); in == nil || *in != want {
					t.Errorf("signed in as %+v, want %+v", in, want)
				}
				_, err = site.Verify(t.Context(), text, sig)
				wantCode(t, err, swarm.CodeNonceConflict, "used before")
			})
		})
	}
}
