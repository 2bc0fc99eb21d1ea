package stream

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Errors to look for with errors.Is.
var (
	// ErrTruncated is what errors.Is finds in a *TruncatedError.
	ErrTruncated = errors.New("stream truncated")
	// ErrIdle says that not one byte came for Client.Idle.
	ErrIdle = errors.New("stream idle: the server sent nothing, not even a comment")
	// ErrRangedTwice says that the sequence of a Run was ranged over again,
	// which would start a second run.
	ErrRangedTwice = errors.New("a run's sequence can be ranged over once: call Run again to start another")

	errEnded   = errors.New("the stream ended without a terminal event")
	errOver    = errors.New("the server says that nothing follows (204), but no terminal event came")
	errNoRunID = errors.New("the server named no run (x-run-id) to take up")
	errNoIDs   = errors.New("the events have no ids, so there is no place to go on from")
)

// Bounds on what is read and shown of an answer that is no stream.
const (
	maxErrorBody   = 64 << 10
	maxBodyExcerpt = 512
)

// TruncatedError says that a stream stopped before its end and could not be
// taken up again. The events before it are good.
type TruncatedError struct {
	RunID       string // "" where it is unknown
	LastEventID string // from where a later Watch can go on; "" where no event had an id
	Err         error  // what stood in the way, such as an *HTTPError; never nil
}

func (e *TruncatedError) Error() string {
	text := ErrTruncated.Error()
	if e.LastEventID != "" {
		text += fmt.Sprintf(" after event %q", e.LastEventID)
	}
	return text + ": " + e.Err.Error()
}

// Is makes errors.Is(err, ErrTruncated) hold.
func (e *TruncatedError) Is(target error) bool { return target == ErrTruncated }

func (e *TruncatedError) Unwrap() error { return e.Err }

// StartError says that the POST of a run broke off before any answer.
type StartError struct {
	// MayRun is false where no connection was made, so that nothing can have
	// started. Where it is true, sending again may start a second run.
	MayRun bool
	Err    error
}

func (e *StartError) Error() string {
	if e.MayRun {
		return "the run may or may not have started: " + e.Err.Error()
	}
	return "the run did not start: " + e.Err.Error()
}

func (e *StartError) Unwrap() error { return e.Err }

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

// ContentTypeError is an answer 200 that is no event stream, such as the HTML
// page of a proxy in between.
type ContentTypeError struct {
	ContentType string // as it came; "" where there was none
	Body        string // the body's first 512 bytes at most, as they came
}

func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("want content type text/event-stream, not %q: %.120q", e.ContentType, e.Body)
}

// answerError makes the error of a response other than 200.
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

// temporary reports whether a later try may mend err. Of failures to talk at
// all, most do pass (refused, reset, cut, silent); those that come again each
// time are a certificate that is not trusted and a server that speaks no TLS.
func temporary(err error) bool {
	switch e := err.(type) {
	case *HTTPError:
		return e.Temporary()
	case *PaymentRequiredError, *ContentTypeError, *FrameTooLongError, *requestError:
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return !ok
}

// unknownHost reports whether err says that the server's name does not exist.
// That is a slip in the URL before the server has answered once; afterwards it
// is a restart, in networks where names come and go with their servers.
func unknownHost(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// requestError says that a request cannot be made at all.
type requestError struct{ text string }

func (e *requestError) Error() string { return e.text }

// mayHaveBeenSent is false where err tells that no connection was made.
func mayHaveBeenSent(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return !ok || e.Op != "dial"
}
