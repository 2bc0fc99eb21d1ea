package stream

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Bounds on what is read and shown of an answer that is no stream.
const (
	maxErrorBody   = 64 << 10
	maxBodyExcerpt = 512
)

// HTTPError is an answer other than a stream, with what its body says. Two
// forms of body are read, {"error":{"code","message","details"}} and the older
// {"error":"…","code":"…","retryAfterMs":…}.
type HTTPError struct {
	Status     int             // such as 404
	Code       string          // the server's word for the error; "" where it gave none
	Message    string          // for people; "" where it gave none
	Details    json.RawMessage // nil where it gave none
	RetryAfter time.Duration   // from Retry-After, else retryAfterMs; 0 where it gave none
	RequestID  string          // X-Request-Id, to find the request in the server's log
	Body       string          // the body's first 512 bytes at most, as they came
}

func (e *HTTPError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	if e.Code != "" {
		text += ": " + e.Code
	}
	switch {
	case e.Message != "":
		text += ": " + e.Message
	case e.Code == "" && e.Body != "":
		text += fmt.Sprintf(": %.120q", e.Body)
	}
	return text
}

// Temporary reports whether the same request may do better later: statuses
// 429, 502, 503 and 504.
func (e *HTTPError) Temporary() bool {
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// PaymentRequiredError is an answer 402. It unwraps to its *HTTPError.
type PaymentRequiredError struct {
	HTTP *HTTPError
	// Challenge is the JSON of the PAYMENT-REQUIRED header, which is base64url
	// on the wire, else the body where that is JSON, else nil.
	Challenge json.RawMessage
	// Header is PAYMENT-REQUIRED as it came; "" where there was none.
	Header string
	// Body is the whole body, up to 64 KiB.
	Body []byte
}

func (e *PaymentRequiredError) Error() string { return e.HTTP.Error() }

func (e *PaymentRequiredError) Unwrap() error { return e.HTTP }

// ContentTypeError is an answer 200 that is no event stream: the HTML page of a
// proxy in between, an error object, a stream that a proxy has compressed.
type ContentTypeError struct {
	ContentType     string // as it came; "" where there was none
	ContentEncoding string // as it came, such as "gzip"; "" where there was none
	Code            string // of an error object, as in HTTPError; "" where there is none
	Message         string // of an error object, as in HTTPError; "" where there is none
	Body            string // the body's first 512 bytes at most, as they came
}

func (e *ContentTypeError) Error() string {
	text := fmt.Sprintf("want content type text/event-stream, not %q", e.ContentType)
	if e.ContentEncoding != "" {
		text += fmt.Sprintf(", and no content encoding, not %q", e.ContentEncoding)
	}
	if e.Code == "" && e.Message == "" {
		return text + fmt.Sprintf(": %.120q", e.Body)
	}
	for _, told := range []string{e.Code, e.Message} {
		if told != "" {
			text += ": " + told
		}
	}
	return text
}

// contentTypeError makes the error of an answer 200 from its head and the
// start of its body.
func contentTypeError(header http.Header, body []byte) error {
	e := &ContentTypeError{
		ContentType: header.Get("Content-Type"), ContentEncoding: header.Get("Content-Encoding"),
		Body: excerpt(body),
	}
	// Another object's message and code are those of an answer, not of an error.
	if gjson.ValidBytes(body) {
		parsed := gjson.ParseBytes(body)
		if cause := parsed.Get("error"); cause.IsObject() || cause.Str != "" {
			var told HTTPError
			told.read(parsed)
			e.Code, e.Message = told.Code, told.Message
		}
	}
	return e
}

// answerError makes the error of a response other than 200, 204 and redirects.
func answerError(resp *http.Response) error {
	// A body that breaks off still tells its status, so its error is dropped.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	e := &HTTPError{
		Status:     resp.StatusCode,
		RetryAfter: parseRetryAfter(resp.Header.Get("Retry-After"), time.Now()),
		RequestID:  resp.Header.Get("X-Request-Id"),
		Body:       excerpt(body),
	}
	isJSON := gjson.ValidBytes(body)
	if isJSON {
		e.read(gjson.ParseBytes(body))
	}
	if e.Status != http.StatusPaymentRequired {
		return e
	}
	p := &PaymentRequiredError{HTTP: e, Header: resp.Header.Get("Payment-Required"), Body: body}
	switch challenge := decodeChallenge(p.Header); {
	case challenge != nil:
		p.Challenge = challenge
	case isJSON:
		p.Challenge = body
	}
	return p
}

// read takes what the body says; a member of an unexpected kind is absent.
func (e *HTTPError) read(body gjson.Result) {
	text := func(paths ...string) string {
		for _, path := range paths {
			if v := body.Get(path); v.Type == gjson.String && v.Str != "" {
				return v.Str
			}
		}
		return ""
	}
	e.Code = text("error.code", "code")
	e.Message = text("error.message", "error", "message")
	for _, path := range []string{"error.details", "details"} {
		if v := body.Get(path); e.Details == nil && v.Exists() && v.Type != gjson.Null {
			e.Details = json.RawMessage(v.Raw)
		}
	}
	for _, path := range []string{"retryAfterMs", "error.retryAfterMs"} {
		if v := body.Get(path); e.RetryAfter == 0 && v.Type == gjson.Number && v.Num > 0 {
			e.RetryAfter = time.Duration(min(v.Num, float64(maxRetryAfter/time.Millisecond))) * time.Millisecond
		}
	}
}

// maxRetryAfter bounds what a server may ask for, so that a slip (seconds in
// nanoseconds, a date in another century) is no sleep without end.
const maxRetryAfter = time.Hour

// parseRetryAfter reads seconds or an HTTP date; 0 where text is neither.
func parseRetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// decodeChallenge reads base64 of JSON, with either alphabet and with or
// without padding, since servers differ; nil where text is none.
func decodeChallenge(text string) json.RawMessage {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || !json.Valid(data) {
		return nil
	}
	return data
}

func excerpt(body []byte) string { return string(body[:min(len(body), maxBodyExcerpt)]) }
