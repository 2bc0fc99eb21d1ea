package stream_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

func TestErrorsBeforeTheStream(t *testing.T) { overVersions(t, testErrorsBeforeTheStream) }

func testErrorsBeforeTheStream(t *testing.T, serve serveFunc) {
	challenge := `{"accepts":[{"scheme":"exact","note":"?>~"}]}`
	b64 := base64.URLEncoding.EncodeToString([]byte(challenge))
	for _, c := range []struct {
		name  string
		step  http.HandlerFunc
		check func(error) bool
	}{
		{"ours", answer(429, `{"error":{"code":"busy","message":"later","details":{"n":1}}}`, "Retry-After", "3", "X-Request-Id", "r9"), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && e.Status == 429 && e.Code == "busy" && e.Message == "later" && string(e.Details) == `{"n":1}` &&
				e.RetryAfter == 3*time.Second && e.RequestID == "r9" && e.Temporary() && e.Error() == "429 Too Many Requests: busy: later"
		}},
		{"older", answer(503, `{"error":"full","code":"CAPACITY","retryAfterMs":1500}`), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && e.Code == "CAPACITY" && e.Message == "full" && e.RetryAfter == 1500*time.Millisecond
		}},
		{"a date", answer(503, ``, "Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && e.RetryAfter > 50*time.Second && e.RetryAfter <= time.Minute
		}},
		{"members of other kinds", answer(500, `{"error":{"code":7,"message":["x"]},"retryAfterMs":"5"}`, "Retry-After", "-3"), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && e.Code == "" && e.Message == "" && e.RetryAfter == 0 && !e.Temporary()
		}},
		{"no JSON", answer(500, strings.Repeat("boom\x1b[2J", 500)), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && len(e.Body) == 512 && len(e.Error()) < 700 && !strings.Contains(e.Error(), "\x1b")
		}},
		{"204", answer(204, "", "X-Request-Id", "r9"), func(err error) bool {
			e, ok := err.(*stream.HTTPError)
			return ok && e.Status == 204 && e.RequestID == "r9"
		}},
		{"402 with a header", answer(402, `{"error":"pay"}`, "PAYMENT-REQUIRED", b64), func(err error) bool {
			e, ok := err.(*stream.PaymentRequiredError)
			return ok && string(e.Challenge) == challenge && e.Header == b64 && string(e.Body) == `{"error":"pay"}` && isHTTP(err, 402)
		}},
		{"402 without padding, other alphabet", answer(402, ``, "PAYMENT-REQUIRED", base64.RawStdEncoding.EncodeToString([]byte(challenge))), func(err error) bool {
			e, ok := err.(*stream.PaymentRequiredError)
			return ok && string(e.Challenge) == challenge
		}},
		{"402 with a body alone", answer(402, `{"error":{"code":"payment_required","message":"pay"}}`, "PAYMENT-REQUIRED", "%%"), func(err error) bool {
			e, ok := err.(*stream.PaymentRequiredError)
			return ok && string(e.Challenge) == string(e.Body) && e.HTTP.Code == "payment_required"
		}},
		{"402 with nothing", answer(402, `pay`), func(err error) bool {
			e, ok := err.(*stream.PaymentRequiredError)
			return ok && e.Challenge == nil && string(e.Body) == "pay"
		}},
		{"HTML", answer(200, "<!DOCTYPE html>", "Content-Type", "text/html; charset=utf-8"), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.ContentType == "text/html; charset=utf-8" && e.Body == "<!DOCTYPE html>"
		}},
		{"JSON", answer(200, `{"message":"hi","code":"c"}`, "Content-Type", "application/json"), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.Code == "" && e.Message == ""
		}},
		{"an error object inside a 200", answer(200, `{"error":{"code":"quota","message":"no credit"}}`, "Content-Type", "application/json"), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.Code == "quota" && e.Message == "no credit" && strings.HasSuffix(err.Error(), `not "application/json": quota: no credit`)
		}},
		{"an older error object inside a 200", answer(200, `{"error":"full"}`), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.Code == "" && e.Message == "full"
		}},
		{"a stream that a proxy compressed", answer(200, "\x1f\x8b\b", "Content-Type", "text/event-stream", "Content-Encoding", "gzip"), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.ContentEncoding == "gzip" && strings.Contains(err.Error(), `no content encoding, not "gzip"`)
		}},
		{"no content type", answer(200, "", "Content-Type", ""), func(err error) bool {
			e, ok := err.(*stream.ContentTypeError)
			return ok && e.ContentType == ""
		}},
		{"broken off before an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(err error) bool {
			e, ok := err.(*stream.StartError)
			return ok && e.MayRun
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, c.step)
			got, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			if !c.check(err) || got != nil {
				t.Errorf("got %q, %#v: %v", got, err, err)
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests, want the one POST", n)
			}
		})
	}
}

// refusedURL is of a port where nobody listens.
func refusedURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Whether a run may have started decides whether it may be asked for again.
func TestStartError(t *testing.T) {
	untrusted := httptest.NewUnstartedServer(nil)
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	opErr := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for _, c := range []struct {
		name      string
		url       string
		transport http.RoundTripper
		mayRun    bool
		is        func(error) bool
	}{
		{"refused", refusedURL(t), &http.Transport{}, false, func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		{"no such host", "http://swarm.invalid", &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", IsNotFound: true}}
			},
		}, false, func(err error) bool {
			_, ok := errors.AsType[*net.DNSError](err)
			return ok
		}},
		{"a certificate that is not trusted", untrusted.URL, &http.Transport{}, false, func(err error) bool {
			_, ok := errors.AsType[*tls.CertificateVerificationError](err)
			return ok
		}},
		{"another's transport, which fails at once", "http://x", roundTripper(func(*http.Request) (*http.Response, error) { return nil, opErr }), false,
			func(err error) bool { return errors.Is(err, opErr) }},
		{"another's transport, which fails in the middle", "http://x", roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				r.Body.Read(make([]byte, 3))
			}
			return nil, opErr
		}), true, func(err error) bool { return errors.Is(err, opErr) }},
		{"another's transport, which is still at it", "http://x", roundTripper(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				t.Cleanup(func() {
					if data, err := io.ReadAll(r.Body); len(data) > 0 || err == nil {
						t.Errorf("what was not sent can still be: %q, %v", data, err)
					}
				})
			}
			return nil, opErr
		}), false, func(err error) bool { return errors.Is(err, opErr) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := &stream.Client{BaseURL: c.url, HTTP: &http.Client{Transport: c.transport}}
			_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
			if e, ok := err.(*stream.StartError); !ok || e.MayRun != c.mayRun || !c.is(err) {
				t.Errorf("run: %#v: %v; want a *StartError, MayRun %t", err, err, c.mayRun)
			}
			_, err = collect(t, client.Watch(t.Context(), "r", ""))
			if _, ok := errors.AsType[*url.Error](err); !ok || !c.is(err) || errors.Is(err, stream.ErrTruncated) {
				t.Errorf("watch: %v, want net/http's error", err)
			}
		})
	}
}

func TestBadBaseURL(t *testing.T) {
	for _, base := range []string{"", "localhost:8420", "ftp://x", "http://", "http://x?a=b", "http://x\n", "://"} {
		client := &stream.Client{BaseURL: base}
		if _, err := collect(t, client.Run(t.Context(), agent, stream.Request{})); err == nil || !strings.Contains(err.Error(), "BaseURL") {
			t.Errorf("%q: %v, want an error that names BaseURL", base, err)
		}
	}
}
