package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/swarmseal/swarmseal/wallet"
)

// Defaults and bounds.
const (
	DefaultTimeout     = 10 * time.Second // of a Web3Signer
	DefaultClefTimeout = 2 * time.Minute  // of a clef: a person may have to be asked
	MaxAnswerBytes     = 4 << 20          // of one answer: some 30,000 public keys
)

// Errors, each in an *Error.
var (
	// ErrConfig: a field has no value that can be used.
	ErrConfig = errors.New("not configured")
	// ErrPlain: plain HTTP to another machine.
	ErrPlain = errors.New("plain HTTP to another machine: want https, or an address of this machine, such as a tunnel's")
	// ErrNoAccount: the signer has no key of the account.
	ErrNoAccount = errors.New("it has no key of this account")
	// ErrDenied: the person or the rules there said no.
	ErrDenied = errors.New("denied")
	// ErrUnsupported: clef can't show, and so not sign, typed data with a list of
	// address, bool, string or integers in it that is not empty.
	ErrUnsupported = errors.New("it can't show a list of this type")
	// ErrTimeout: no answer within the signer's Timeout.
	ErrTimeout = errors.New("no answer in time")
	// ErrAnswer: what came back is no signature of the account's for the message.
	ErrAnswer = errors.New("its answer can't be used")
)

// Error tells which signer did not sign, and why. Err is, or wraps, one of the
// errors above, what the transport said, a *StatusError, an *RPCError, or the
// cause of the context's end.
type Error struct {
	Signer   string // "web3signer" or "clef"
	Endpoint string // its URL or path
	Err      error
}

func (e *Error) Error() string {
	if e.Endpoint == "" {
		return fmt.Sprintf("%s: %v", e.Signer, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Signer, e.Endpoint, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// StatusError is an HTTP status other than 200. Text is the answer's first 200
// bytes on one line, for people.
type StatusError struct {
	Status int
	Text   string
}

func (e *StatusError) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("HTTP status %d", e.Status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.Status, e.Text)
}

// prefixes of references, as the command line takes them.
const (
	web3signer = "web3signer"
	clef       = "clef"
)

// IsReference reports whether a text names an external signer rather than a file:
// whether it starts with "web3signer:" or "clef:".
func IsReference(text string) bool {
	kind, _, ok := strings.Cut(text, ":")
	return ok && (kind == web3signer || kind == clef)
}

// Open gives the signer that a text names:
//
//	web3signer:URL#ADDRESS        such as web3signer:http://127.0.0.1:9000#0x5aAe…
//	clef:PATH-OR-URL#ADDRESS      such as clef:/home/me/.clef/clef.ipc#0x5aAe…
//
// It is not asked for anything yet. The error wraps ErrConfig or ErrPlain.
func Open(text string) (wallet.Signer, error) {
	kind, rest, _ := strings.Cut(text, ":")
	endpoint, account, ok := cutLast(rest, "#")
	if !ok || endpoint == "" {
		return nil, &Error{kind, shownURL(rest), fmt.Errorf("%w: want %s:ENDPOINT#ADDRESS", ErrConfig, kind)}
	}
	address, err := wallet.ParseAddress(account)
	if err != nil {
		return nil, &Error{kind, shownURL(endpoint), fmt.Errorf("%w: %w", ErrConfig, err)}
	}
	switch kind {
	case web3signer:
		s := &Web3Signer{URL: endpoint, Account: address}
		_, err := s.base()
		return s, err
	case clef:
		c := &Clef{Endpoint: endpoint, Account: address}
		_, err := c.http()
		return c, err
	}
	return nil, &Error{kind, shownURL(endpoint), fmt.Errorf("%w: want %s: or %s: and an endpoint", ErrConfig, web3signer, clef)}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// parseURL checks the URL of a signer. A user and password in it are refused:
// they would stand in command lines, configurations and errors.
func parseURL(text string, plain bool) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%w: want http:// or https://, a host and at most a path", ErrConfig)
	case u.User != nil:
		return nil, fmt.Errorf("%w: a URL with a user in it shows the password: put it into HTTP's transport", ErrConfig)
	case u.Scheme == "http" && !plain && !isLoopback(u.Hostname()):
		return nil, ErrPlain
	}
	return u, nil
}

// isLoopback reports whether a host is this machine's by its own name.
func isLoopback(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}

// shownURL is a URL as errors have it, without what may be secret in it.
func shownURL(text string) string {
	if u, err := url.Parse(text); err == nil {
		return u.Redacted()
	}
	if strings.Contains(text, "@") {
		return "(a URL with @ in it)"
	}
	return text
}

// direct connects without a proxy.
var direct = &http.Transport{
	DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	ForceAttemptHTTP2:   true,
	TLSHandshakeTimeout: 5 * time.Second, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 8,
}

// do makes a request and gives the answer's body where the status is 200.
// Redirects are answers of another status.
func do(client *http.Client, req *http.Request) ([]byte, error) {
	own := http.Client{Transport: direct}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // whose URL an *Error has already
		}
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, &StatusError{resp.StatusCode, line(string(body))}
	case len(body) > MaxAnswerBytes:
		return nil, errTooLong
	}
	return body, nil
}

var errTooLong = fmt.Errorf("%w: it has over %d bytes", ErrAnswer, MaxAnswerBytes)

// maxLine bounds what a signer says to people.
const maxLine = 200

// line gives a foreign text on one line, cut short and without control characters.
func line(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxLine)], "")
	s = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// within bounds a call by a signer's timeout. Its second function says which of
// the two ended it: the caller's context, or the timeout.
func within(ctx context.Context, timeout, standard time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		timeout = standard
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: %v", ErrTimeout, timeout))
}

// failed gives the *Error of a call that failed; what ended its context is the
// reason, whatever the transport says of it.
func failed(ctx context.Context, signer, endpoint string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Error{signer, shownURL(endpoint), err}
}

// signature reads what a signer gave, and checks that it is the account's for m.
func signature(text string, account wallet.Address, m wallet.Message) (wallet.Signature, error) {
	sig, err := wallet.ParseSignature(strings.ToLower(strings.TrimSpace(text)))
	if err != nil {
		return wallet.Signature{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if v := &sig[wallet.SignatureLength-1]; *v < 2 {
		*v += 27
	}
	if err := wallet.Verify(account, m.Digest(), sig); err != nil {
		return wallet.Signature{}, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return sig, nil
}

// newRequest makes a request with a JSON body, or none.
func newRequest(ctx context.Context, method string, u *url.URL, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}
