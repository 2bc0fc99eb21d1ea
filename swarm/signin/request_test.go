package signin_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/signin"
	"github.com/swarmseal/swarmseal/wallet"
)

// received gives a request as a server gets it that a client sends.
func received(tb testing.TB, r *http.Request) *http.Request {
	tb.Helper()
	var wire bytes.Buffer
	if err := r.Write(&wire); err != nil {
		tb.Fatal(err)
	}
	got := httptest.NewRequestWithContext(tb.Context(), r.Method, "/", nil)
	parsed, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		tb.Fatal(err)
	}
	*got = *parsed.WithContext(tb.Context())
	return got
}

func request(tb testing.TB, method, url, body string) *http.Request {
	tb.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(tb.Context(), method, url, content)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A request is signed, sent and checked, whatever it looks like.
func TestSignRequest(t *testing.T) {
	for _, c := range []struct{ method, url, body string }{
		{"GET", "http://swarm.example", ""},
		{"GET", "http://swarm.example:80/agents", ""},
		{"GET", "http://SWARM.example/agents?", ""},
		{"GET", "http://swarm.example/agents?q=%20a&q=b+c", ""},
		{"DELETE", "http://swarm.example/%61gents/%2F/a%20b", ""},
		{"POST", "http://swarm.example/delegations", `{"input":"天"}`},
		{"PUT", "http://swarm.example/x?a=1", strings.Repeat("x", 100_000)},
		{"POST", "http://swarm.example/empty", ""},
	} {
		t.Run(c.method+" "+c.url, func(t *testing.T) {
			r := request(t, c.method, c.url, c.body)
			if err := signin.SignRequest(t.Context(), key(t, 1), 84532, r); err != nil {
				t.Fatal(err)
			}
			if !signin.Signed(r) || (r.Header.Get(signin.DigestHeader) != "") != (c.body != "") {
				t.Errorf("header %v", r.Header)
			}
			got := received(t, r)
			v := signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}
			who, err := v.Verify(got)
			if err != nil || who != key(t, 1).Address() {
				t.Fatalf("signed by %v (%v), want %v", who, err, key(t, 1).Address())
			}
			body, err := io.ReadAll(got.Body)
			if err != nil || string(body) != c.body {
				t.Errorf("the body that is left has %d bytes (%v), want %d", len(body), err, len(c.body))
			}
			_, err = v.Verify(got)
			if c.body == "" {
				wantCode(t, err, swarm.CodeNonceConflict, "used before")
			}
		})
	}
}

// signed gives a signed request as a server gets it.
func signed(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	r := request(t, method, url, body)
	if err := signin.SignRequest(t.Context(), key(t, 1), 84532, r); err != nil {
		t.Fatal(err)
	}
	return received(t, r)
}

// signedAs signs a request by hand, with a Signature-Input of the test's own.
func signedAs(tb testing.TB, r *http.Request, input, base string) *http.Request {
	tb.Helper()
	sig, err := key(tb, 1).Sign(tb.Context(), wallet.PersonalMessage(base+`"@signature-params": `+input))
	if err != nil {
		tb.Fatal(err)
	}
	r.Header.Set(signin.SignatureInputHeader, "eth="+input)
	r.Header.Set(signin.SignatureHeader, "eth=:"+base64.StdEncoding.EncodeToString(sig[:])+":")
	return r
}

const (
	deep   = "https://swarm.example/delegations/1?a=1&b=2"
	deepIn = "POST"
)

func TestRequestsRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(r *http.Request)
		wait time.Duration
		code swarm.Code
		says string
	}{
		{name: "as it should be", f: func(*http.Request) {}},
		{name: "the last second", f: func(*http.Request) {}, wait: 59 * time.Second},
		{name: "expired to the second", f: func(*http.Request) {}, wait: 60 * time.Second, code: swarm.CodeExpired, says: "expired at"},
		{name: "a clock 60 s ahead", f: func(*http.Request) {}, wait: -60 * time.Second},
		{name: "a clock 61 s ahead", f: func(*http.Request) {}, wait: -61 * time.Second, code: swarm.CodeExpired, says: "a clock"},
		{name: "another method", f: func(r *http.Request) { r.Method = "PUT" }, code: swarm.CodeSignature, says: "made by"},
		{name: "another path", f: func(r *http.Request) { r.URL.Path = "/delegations/2" }, code: swarm.CodeSignature, says: "made by"},
		{name: "the same path, written otherwise", f: func(r *http.Request) { r.URL.RawPath = "/%64elegations/1" }, code: swarm.CodeSignature, says: "made by"},
		{name: "another query", f: func(r *http.Request) { r.URL.RawQuery = "a=1&b=3" }, code: swarm.CodeSignature, says: "made by"},
		{name: "the query in another order", f: func(r *http.Request) { r.URL.RawQuery = "b=2&a=1" }, code: swarm.CodeSignature, says: "made by"},
		{name: "no query", f: func(r *http.Request) { r.URL.RawQuery = "" }, code: swarm.CodeSignature, says: "made by"},
		{name: "another body", f: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("other")) }, code: swarm.CodeSignature, says: "sha-256"},
		{name: "no body", f: func(r *http.Request) { r.Body = http.NoBody }, code: swarm.CodeSignature, says: "sha-256"},
		{name: "another body with its digest", f: func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader("other"))
			sum := sha256.Sum256([]byte("other"))
			r.Header.Set(signin.DigestHeader, "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		}, code: swarm.CodeSignature, says: "made by"},
		{name: "no digest", f: func(r *http.Request) { r.Header.Del(signin.DigestHeader) }, code: swarm.CodeInvalid, says: "sha-256 or sha-512"},
		{name: "a digest that is none", f: func(r *http.Request) { r.Header.Set(signin.DigestHeader, "sha-256=abc") }, code: swarm.CodeSignature, says: "sha-256"},
		{name: "a digest of another kind", f: func(r *http.Request) { r.Header.Set(signin.DigestHeader, "md5=:AAAA:") }, code: swarm.CodeInvalid, says: "sha-256 or sha-512"},
		{name: "a second digest that is wrong", f: func(r *http.Request) { r.Header.Add(signin.DigestHeader, "sha-512=:AAAA:") }, code: swarm.CodeSignature, says: "sha-512"},
		{name: "a large body", f: func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", 101))) }, code: swarm.CodeTooLarge, says: "100 bytes"},
		{name: "for another server", f: func(r *http.Request) { r.Host = "other.example" }, code: swarm.CodeUnauthenticated, says: "other.example"},
		{name: "for another of the server's hosts", f: func(r *http.Request) { r.Host = "127.0.0.1:8420" }, code: swarm.CodeSignature, says: "made by"},
		{name: "another port", f: func(r *http.Request) { r.Host = "swarm.example:8443" }, code: swarm.CodeUnauthenticated, says: "8443"},
		{name: "no host", f: func(r *http.Request) { r.Host = "" }, code: swarm.CodeUnauthenticated, says: "host"},
		{name: "no signature input", f: func(r *http.Request) { r.Header.Del(signin.SignatureInputHeader) }, code: swarm.CodeUnauthenticated, says: "Signature-Input"},
		{name: "no signature", f: func(r *http.Request) { r.Header.Del(signin.SignatureHeader) }, code: swarm.CodeSignature, says: "65 bytes, not 0"},
		{name: "a signature of another label", f: func(r *http.Request) {
			r.Header.Set(signin.SignatureHeader, changed(r.Header.Get(signin.SignatureHeader), "eth=", "sig=:"))
		}, code: swarm.CodeUnauthenticated, says: "Signature"},
		{name: "a signature of 64 bytes", f: func(r *http.Request) {
			r.Header.Set(signin.SignatureHeader, "eth=:"+base64.StdEncoding.EncodeToString(make([]byte, 64))+":")
		}, code: swarm.CodeSignature, says: "not 64"},
		{name: "a signature of zeros", f: func(r *http.Request) {
			r.Header.Set(signin.SignatureHeader, "eth=:"+base64.StdEncoding.EncodeToString(make([]byte, 65))+":")
		}, code: swarm.CodeSignature, says: "v must be"},
		{name: "another's key", f: func(r *http.Request) {
			r.Header.Set(signin.SignatureInputHeader, changed(r.Header.Get(signin.SignatureInputHeader), "0x7e5f", "0x7e5e"))
		}, code: swarm.CodeSignature, says: "made by"},
		{name: "longer than signed", f: func(r *http.Request) {
			r.Header.Set(signin.SignatureInputHeader, changed(r.Header.Get(signin.SignatureInputHeader), "expires=9", "expires=8"))
		}, code: swarm.CodeInvalid, says: "expires"},
		{name: "no structured field", f: func(r *http.Request) { r.Header.Set(signin.SignatureInputHeader, "eth=(") }, code: swarm.CodeUnauthenticated, says: "Signature-Input"},
		{name: "no list", f: func(r *http.Request) { r.Header.Set(signin.SignatureInputHeader, "eth=1") }, code: swarm.CodeUnauthenticated, says: "keyid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ahead := max(0, -c.wait)
				time.Sleep(ahead)
				r := signed(t, deepIn, deep, "body")
				if c.wait < 0 {
					// The signer's clock is ahead: sign later, and look at it as if now.
					r = signedAt(t, time.Now().Add(ahead))
				}
				c.f(r)
				time.Sleep(max(0, c.wait))
				nonces := new(memory)
				v := signin.Requests{Authorities: []string{"127.0.0.1:8420", "Swarm.example:443"}, Nonces: nonces, MaxBodyBytes: 100}
				who, err := v.Verify(r)
				wantCode(t, err, c.code, c.says)
				if c.code != "" && (!who.IsZero() || len(nonces.used) > 0) {
					t.Errorf("signed by %v; %d nonces were used up", who, len(nonces.used))
				}
				if c.code == "" && who != key(t, 1).Address() {
					t.Errorf("signed by %v", who)
				}
			})
		})
	}
}

// signedAt signs a request as at a time.
func signedAt(t *testing.T, at time.Time) *http.Request {
	t.Helper()
	return signedAs(t, httptest.NewRequest("GET", "http://swarm.example/a", nil),
		fmt.Sprintf(`("@method" "@authority" "@path");created=%d;expires=%d;nonce="12345678";keyid="%s"`, at.Unix(), at.Unix()+60, keyID),
		"\"@method\": GET\n\"@authority\": swarm.example\n\"@path\": /a\n")
}

const keyID = "erc8128:1:0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf" // key 1, in its checksum's case

// What a signature may say of itself.
func TestRequestsParameters(t *testing.T) {
	const (
		least = `("@method" "@authority" "@path")`
		base  = "\"@method\": POST\n\"@authority\": swarm.example\n\"@path\": /a\n"
	)
	for _, c := range []struct {
		name, input, base string
		code              swarm.Code
		says              string
	}{
		{"the least", least + `;created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, "", ""},
		{"a nonce of one letter", least + `;created=NOW;expires=END;nonce="1";keyid="KEY"`, base, "", ""},
		{"parameters in another order", least + `;keyid="KEY";nonce="12345678";expires=END;created=NOW`, base, "", ""},
		{"a tag besides", least + `;created=NOW;expires=END;nonce="12345678";keyid="KEY";tag="x"`, base, "", ""},
		{"components in another order", `("@path" "@method" "@authority");created=NOW;expires=END;nonce="12345678";keyid="KEY"`,
			"\"@path\": /a\n\"@method\": POST\n\"@authority\": swarm.example\n", "", ""},
		{"fields besides", `("@method" "@authority" "@path" "x-a" "accept");created=NOW;expires=END;nonce="12345678";keyid="KEY"`,
			base + "\"x-a\": 1, 2\n\"accept\": */*\n", "", ""},
		{"a query that is not there", `("@method" "@authority" "@path" "@query");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base + "\"@query\": ?\n", "", ""},
		{"another chain", least + `;created=NOW;expires=END;nonce="12345678";keyid="erc8128:10:0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"`, base, "", ""},
		{"an address in upper case", least + `;created=NOW;expires=END;nonce="12345678";keyid="erc8128:1:0x7E5F4552091A69125D5DFCB7B8C2659029395BDF"`, base, "", ""},

		{"no created", least + `;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "created and expires"},
		{"no expires", least + `;created=NOW;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "created and expires"},
		{"no nonce: it could be replayed", least + `;created=NOW;expires=END;keyid="KEY"`, base, swarm.CodeInvalid, "nonce"},
		{"an empty nonce", least + `;created=NOW;expires=END;nonce="";keyid="KEY"`, base, swarm.CodeInvalid, "nonce has 0"},
		{"a long nonce", least + `;created=NOW;expires=END;nonce="` + strings.Repeat("x", 129) + `";keyid="KEY"`, base, swarm.CodeInvalid, "129"},
		{"a nonce that is a number", least + `;created=NOW;expires=END;nonce=12345678;keyid="KEY"`, base, swarm.CodeInvalid, "strings"},
		{"times that are text", least + `;created="NOW";expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "Unix seconds"},
		{"times that are decimal", least + `;created=NOW.0;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "Unix seconds"},
		{"an hour", least + `;created=NOW;expires=HOUR;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "60 s"},
		{"expires as it begins", least + `;created=NOW;expires=NOW;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "60 s"},
		{"an alg", least + `;created=NOW;expires=END;nonce="12345678";keyid="KEY";alg="hmac-sha256"`, base, swarm.CodeInvalid, "alg"},
		{"no keyid", least + `;created=NOW;expires=END;nonce="12345678"`, base, swarm.CodeUnauthenticated, "keyid"},
		{"another kind of key", least + `;created=NOW;expires=END;nonce="12345678";keyid="test-key"`, base, swarm.CodeUnauthenticated, "keyid"},
		{"a chain in hex", least + `;created=NOW;expires=END;nonce="12345678";keyid="erc8128:0x1:0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"`, base, swarm.CodeInvalid, "keyid"},
		{"no address", least + `;created=NOW;expires=END;nonce="12345678";keyid="erc8128:1:bob"`, base, swarm.CodeInvalid, "keyid"},
		{"an address without 0x", least + `;created=NOW;expires=END;nonce="12345678";keyid="erc8128:1:7e5f4552091a69125d5dfcb7b8c2659029395bdf00"`, base, swarm.CodeInvalid, "keyid"},

		{"no method", `("@authority" "@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, "\"@authority\": swarm.example\n\"@path\": /a\n", swarm.CodeUnauthenticated, `cover "@method"`},
		{"no authority", `("@method" "@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, "\"@method\": POST\n\"@path\": /a\n", swarm.CodeUnauthenticated, `cover "@authority"`},
		{"no path", `("@method" "@authority");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, "\"@method\": POST\n\"@authority\": swarm.example\n", swarm.CodeUnauthenticated, `cover "@path"`},
		{"nothing", `();created=NOW;expires=END;nonce="12345678";keyid="KEY"`, "", swarm.CodeUnauthenticated, "cover"},
		{"a component twice", `("@method" "@method" "@authority" "@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, "\"@method\": POST\n" + base, swarm.CodeInvalid, "twice"},
		{"a component with parameters", `("@method";req "@authority" "@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "parameters"},
		{"a component that is a token", `(method "@authority" "@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "string"},
		{"a derived component that is not known", `("@method" "@authority" "@path" "@status");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "@status"},
		{"a field in upper case", `("@method" "@authority" "@path" "X-A");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base + "\"X-A\": 1, 2\n", swarm.CodeInvalid, "lower case"},
		{"a field that is not there", `("@method" "@authority" "@path" "x-b");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeUnauthenticated, "x-b"},
		{"too many components", `(` + strings.Repeat(`"x-a" `, 32) + `"@path");created=NOW;expires=END;nonce="12345678";keyid="KEY"`, base, swarm.CodeInvalid, "at most 32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Now().Unix()
			input := strings.NewReplacer("NOW", fmt.Sprint(now), "END", fmt.Sprint(now+60), "HOUR", fmt.Sprint(now+3600), "KEY", keyID).Replace(c.input)
			r := httptest.NewRequest("POST", "http://swarm.example/a", nil)
			r.Header["X-A"] = []string{" 1 ", "2"}
			r.Header.Set("Accept", "*/*")
			who, err := (&signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}).Verify(signedAs(t, r, input, c.base))
			wantCode(t, err, c.code, c.says)
			if c.code == "" && who != key(t, 1).Address() {
				t.Errorf("signed by %v", who)
			}
		})
	}
}

// Of several signatures the one labelled eth counts, or the only one of ours.
func TestRequestsChoose(t *testing.T) {
	now := time.Now().Unix()
	input := fmt.Sprintf(`("@method" "@authority" "@path");created=%d;expires=%d;nonce="12345678";keyid="%s"`, now, now+60, keyID)
	other := `("@method");created=1;keyid="proxy"`
	base := "\"@method\": GET\n\"@authority\": swarm.example\n\"@path\": /\n"
	sig := func(t *testing.T) string {
		r := signedAs(t, httptest.NewRequest("GET", "http://swarm.example/", nil), input, base)
		return strings.TrimPrefix(r.Header.Get(signin.SignatureHeader), "eth=")
	}
	for _, c := range []struct {
		name               string
		inputs, signatures []string
		code               swarm.Code
	}{
		{"one of another label", []string{"sig1=" + input}, []string{"sig1=SIG"}, ""},
		{"beside a proxy's", []string{"proxy=" + other + ", me=" + input}, []string{"proxy=:AAAA:, me=SIG"}, ""},
		{"beside a proxy's, on a line of its own", []string{"proxy=" + other, "me=" + input}, []string{"proxy=:AAAA:", "me=SIG"}, ""},
		{"eth of two", []string{"a=" + input + ", eth=" + input}, []string{"a=:AAAA:, eth=SIG"}, ""},
		{"two, none labelled eth", []string{"a=" + input + ", b=" + input}, []string{"a=SIG, b=SIG"}, swarm.CodeInvalid},
		{"the signature of another", []string{"a=" + input}, []string{"b=SIG"}, swarm.CodeSignature},
		{"a proxy's alone", []string{"proxy=" + other}, []string{"proxy=SIG"}, swarm.CodeUnauthenticated},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "http://swarm.example/", nil)
			r.Header[signin.SignatureInputHeader] = c.inputs
			for _, s := range c.signatures {
				r.Header.Add(signin.SignatureHeader, strings.ReplaceAll(s, "SIG", sig(t)))
			}
			_, err := (&signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}).Verify(r)
			wantCode(t, err, c.code, "")
		})
	}
}

// A nonce counts once for a wallet, however its address is written, and for
// each wallet and chain by itself.
func TestRequestsNonces(t *testing.T) {
	v := signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}
	now := time.Now().Unix()
	send := func(id, nonce string) error {
		_, err := v.Verify(signedAs(t, httptest.NewRequest("GET", "http://swarm.example/", nil),
			fmt.Sprintf(`("@method" "@authority" "@path");created=%d;expires=%d;nonce="%s";keyid="%s"`, now, now+60, nonce, id),
			"\"@method\": GET\n\"@authority\": swarm.example\n\"@path\": /\n"))
		return err
	}
	wantCode(t, send(keyID, "nonce one"), "", "")
	wantCode(t, send(keyID, "nonce one"), swarm.CodeNonceConflict, "")
	wantCode(t, send(strings.ToLower(keyID), "nonce one"), swarm.CodeNonceConflict, "")
	wantCode(t, send(strings.Replace(keyID, ":1:", ":2:", 1), "nonce one"), "", "")
	wantCode(t, send(keyID, "nonce two"), "", "")
	// Of many at once, one.
	var wg sync.WaitGroup
	fresh := make(chan error, 50)
	for range cap(fresh) {
		wg.Go(func() { fresh <- send(keyID, "nonce three") })
	}
	wg.Wait()
	close(fresh)
	ok := 0
	for err := range fresh {
		if err == nil {
			ok++
		}
	}
	if ok != 1 {
		t.Errorf("%d of 50 were taken, want 1", ok)
	}
	away := errors.New("away")
	v.Nonces = &memory{err: away}
	if err := send(keyID, "nonce four"); !errors.Is(err, away) {
		t.Errorf("%v, want %v", err, away)
	}
}

func TestSignRequestFails(t *testing.T) {
	broken := errors.New("broken")
	r := request(t, "POST", "http://swarm.example/", "x")
	r.Body = io.NopCloser(failing{broken})
	if err := signin.SignRequest(t.Context(), key(t, 1), 1, r); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	r = request(t, "GET", "http://swarm.example/", "")
	if err := signin.SignRequest(t.Context(), &refusing{*key(t, 1), broken}, 1, r); !errors.Is(err, broken) || signin.Signed(r) {
		t.Errorf("%v, want %v; header %v", err, broken, r.Header)
	}
	got := httptest.NewRequest("POST", "http://swarm.example/", failing{broken})
	if _, err := (&signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}).Verify(signedAs(t, got,
		fmt.Sprintf(`("@method" "@authority" "@path");created=%d;expires=%d;nonce="12345678";keyid="%s"`, time.Now().Unix(), time.Now().Unix()+60, keyID), "")); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type refusing struct {
	wallet.Key
	err error
}

func (r *refusing) Sign(context.Context, wallet.Message) (wallet.Signature, error) {
	return wallet.Signature{}, r.err
}

// Both digests count where both are there.
func TestRequestsDigests(t *testing.T) {
	short, long := sha256.Sum256([]byte("body")), sha512.Sum512([]byte("body"))
	digest := "sha-512=:" + base64.StdEncoding.EncodeToString(long[:]) + ":, unknown=:AAAA:, sha-256=:" + base64.StdEncoding.EncodeToString(short[:]) + ":"
	now := time.Now().Unix()
	r := httptest.NewRequest("POST", "http://swarm.example/", strings.NewReader("body"))
	r.Header.Set(signin.DigestHeader, digest)
	r = signedAs(t, r, fmt.Sprintf(`("@method" "@authority" "@path" "content-digest");created=%d;expires=%d;nonce="12345678";keyid="%s"`, now, now+60, keyID),
		"\"@method\": POST\n\"@authority\": swarm.example\n\"@path\": /\n\"content-digest\": "+digest+"\n")
	if _, err := (&signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}).Verify(r); err != nil {
		t.Error(err)
	}
}

// Whatever the header fields say, there is a wallet or an error, and a wallet
// only where the list of what is covered is the one that was signed.
func FuzzRequests(f *testing.F) {
	// A bubble's clock starts with the year 2000.
	const list = `("@method" "@authority" "@path" "@query" "content-digest");created=946684800;expires=946684860;nonce="12345678";keyid="` + keyID + `"`
	sum := sha256.Sum256([]byte("body"))
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	r := signedAs(f, httptest.NewRequest(deepIn, deep, nil), list, "\"@method\": POST\n\"@authority\": swarm.example\n"+
		"\"@path\": /delegations/1\n\"@query\": ?a=1&b=2\n\"content-digest\": "+digest+"\n")
	input, sig := r.Header.Get(signin.SignatureInputHeader), r.Header.Get(signin.SignatureHeader)
	f.Add(input, sig, digest)
	f.Add(input+";x", sig, digest)
	f.Add("a=1, "+input, sig+", b", digest+", md5=:AAAA:")
	f.Add(`eth=("@method";req "x");created=1;expires=2;nonce="a";keyid="erc8128:1:0x"`, "eth=:AAAA:", "sha-256=1")
	f.Add(`a=1, eth=(), b=();keyid="erc8128:"`, "eth", "sha-256=(1 2)")
	want := digest
	signature := sig
	f.Fuzz(func(t *testing.T, input, sig, digest string) {
		synctest.Test(t, func(t *testing.T) {
			r := httptest.NewRequest(deepIn, deep, strings.NewReader("body"))
			r.Header[signin.SignatureInputHeader], r.Header[signin.SignatureHeader], r.Header[signin.DigestHeader] = []string{input}, []string{sig}, []string{digest}
			who, err := (&signin.Requests{Authorities: []string{"swarm.example"}, Nonces: new(memory)}).Verify(r)
			if who.IsZero() == (err == nil) {
				t.Fatalf("wallet %v with the error %v", who, err)
			}
			if err != nil {
				if input == "eth="+list && sig == signature && digest == want {
					t.Error(err)
				}
				return
			}
			inputs, parseErr := httpsfv.UnmarshalDictionary([]string{input})
			if parseErr != nil || who != key(t, 1).Address() {
				t.Fatalf("%v is taken for the signer (%v)", who, parseErr)
			}
			if !slices.ContainsFunc(inputs.Names(), func(name string) bool {
				member, _ := inputs.Get(name)
				inner, ok := member.(httpsfv.InnerList)
				text, err := httpsfv.Marshal(inner)
				return ok && err == nil && text == list
			}) {
				t.Errorf("%q is taken, and what was signed is %q", input, list)
			}
		})
	})
}
