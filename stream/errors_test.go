package stream_test

import (
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

func TestErrorsBeforeTheStream(t *testing.T) {
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
		{"204", answer(204, ""), func(err error) bool { return isHTTP(err, 204) }},
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
		{"JSON", answer(200, "{}", "Content-Type", "application/json"), func(err error) bool {
			_, ok := err.(*stream.ContentTypeError)
			return ok
		}},
		{"broken off before an answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(err error) bool {
			e, ok := err.(*stream.StartError)
			return ok && e.MayRun && errors.Is(err, io.EOF)
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

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	client := &stream.Client{BaseURL: "http://" + l.Addr().String(), HTTP: &http.Client{Transport: &http.Transport{}}}
	_, err = collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	if e, ok := err.(*stream.StartError); !ok || e.MayRun {
		t.Errorf("run: %v, want a *StartError that nothing runs", err)
	}
	if _, err := collect(t, client.Watch(t.Context(), "r", "")); err == nil || errors.Is(err, stream.ErrTruncated) {
		t.Errorf("watch: %v, want the dial's error", err)
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
