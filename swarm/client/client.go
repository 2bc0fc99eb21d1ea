package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	crand "crypto/rand"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Client is a wallet at a server. Its methods may be called from many
// goroutines at once; set its fields before.
type Client struct {
	// BaseURL is the server's http or https URL.
	BaseURL string
	// Signer is who asks. nil is nobody: such a client finds, reads and
	// watches, and can neither register nor delegate.
	Signer wallet.Signer
	// HTTP makes the requests; nil is http.DefaultClient. Its Timeout must be
	// zero or longer than any wait.
	HTTP *http.Client

	mu    sync.Mutex
	info  *swarm.Info
	token *swarm.Token
}

// maxAnswerBytes bounds an answer that is read, other than a bundle. The
// largest is an outcome: it has its output twice, at most a request's body each.
const maxAnswerBytes = 64 << 20

// waitStep is how long one request waits for an outcome: below the 60 s after
// which proxies tend to cut a silent connection.
const waitStep = 50 * time.Second

// outcomeGrace is how long after a delegation's deadline the client still
// waits to be told of its outcome.
const outcomeGrace = 30 * time.Second

var errNoSigner = errors.New("client: Signer is nil: a wallet is needed for this")

// Stream gives the reader of the server's streams.
func (c *Client) Stream() *stream.Client {
	return &stream.Client{BaseURL: c.BaseURL, HTTP: c.HTTP}
}

// Info gives what the server says of itself. It is asked once; the lock is not
// held meanwhile, so that nobody waits longer than its own ctx.
func (c *Client) Info(ctx context.Context) (*swarm.Info, error) {
	c.mu.Lock()
	known := c.info
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var info swarm.Info
	if err := c.do(ctx, request{method: http.MethodGet, path: "/.well-known/swarmseal", into: &info}); err != nil {
		return nil, err
	}
	if info.Server.IsZero() {
		return nil, fmt.Errorf("GET %s/.well-known/swarmseal: the answer names no server: is this the URL of a Swarmseal server?", c.BaseURL)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.info = &info
	return &info, nil
}

// request is one exchange of JSON. A body is sent as it is where it is bytes.
type request struct {
	method, path string
	body         any
	header       http.Header
	into         any // decoded from a 2xx answer; nil drops it
	most         int // bytes of the answer; 0 is maxAnswerBytes
}

// do makes one exchange. An answer of another status than 2xx is a *swarm.Error.
func (c *Client) do(ctx context.Context, r request) error {
	var body io.Reader
	switch b := r.body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	default:
		data, err := json2.Marshal(b)
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.path, err)
		}
		body = bytes.NewReader(data)
	}
	base, err := c.baseURL()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, base+r.path, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	httpClient := c.HTTP
	if httpClient == nil {
		httpClient = http.DefaultClient
	}
	resp, err := httpClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &unreachableError{err}
	}
	defer resp.Body.Close()
	most := cmp.Or(r.most, maxAnswerBytes)
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &unreachableError{err}
	case len(data) > most:
		return fmt.Errorf("%s %s: the answer has more than %d bytes", r.method, r.path, most)
	}
	if resp.StatusCode/100 != 2 {
		return answerError(resp.StatusCode, data)
	}
	if r.into == nil {
		return nil
	}
	if err := json2.Unmarshal(data, r.into); err != nil {
		return fmt.Errorf("%s %s: the answer is not what was expected: %w", r.method, r.path, err)
	}
	return nil
}

// baseURL gives BaseURL without a slash at its end. What waiting can't mend is
// told from a server that is not there: a request to it would be retried.
func (c *Client) baseURL() (string, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return "", fmt.Errorf("client: BaseURL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return "", fmt.Errorf("client: BaseURL %q: want http:// or https://, a host and at most a path", base.Redacted())
	}
	return strings.TrimSuffix(c.BaseURL, "/"), nil
}

// unreachableError says that the server was not reached, or cut the answer.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return "server not reached: " + e.err.Error() }
func (e *unreachableError) Unwrap() error { return e.err }

func answerError(status int, data []byte) error {
	var answer struct {
		Error *swarm.Error `json:"error"`
	}
	if json2.Unmarshal(data, &answer) == nil && answer.Error != nil && answer.Error.Code != "" {
		return answer.Error
	}
	code := swarm.CodeInternal
	switch status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		code = swarm.CodeUnavailable // a proxy's own page
	case http.StatusTooManyRequests:
		code = swarm.CodeRateLimited
	case http.StatusRequestEntityTooLarge:
		code = swarm.CodeTooLarge
	}
	return swarm.Errorf(code, "the answer is %d %s and no error of a Swarmseal server", status, http.StatusText(status))
}

// temporary reports whether the same request may do better in a moment.
func temporary(err error) bool {
	if _, ok := errors.AsType[*unreachableError](err); ok {
		return true
	}
	switch swarm.CodeOf(err) {
	case swarm.CodeUnavailable, swarm.CodeRegistry, swarm.CodeRateLimited:
		return true
	}
	return false
}

// Retry calls try until it gives no error, or one that waiting does not mend,
// or ctx ends, whose cause it then gives. It waits 100 ms, then twice as long
// each time up to 3 s, a random half of it left out, so that the clients of a
// restarted server come back one by one.
func Retry(ctx context.Context, try func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 3*time.Second) {
		err := try()
		if err == nil || !temporary(err) {
			return err
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w (last: %w)", context.Cause(ctx), err)
		}
	}
}

// Authorization gives the header value of a signed-in request, signing in
// first where that is needed.
func (c *Client) Authorization(ctx context.Context) (string, error) {
	if c.Signer == nil {
		return "", errNoSigner
	}
	info, err := c.Info(ctx)
	if err != nil {
		return "", err
	}
	now := time.Now()
	c.mu.Lock()
	known := c.token
	c.mu.Unlock()
	if known != nil && int64(known.ExpiresAt) >= now.Add(time.Minute).Unix() {
		return bearer + known.Token, nil
	}
	session := swarm.Session{
		Origin: swarm.SessionOrigin(info.Server), Scope: []string{swarm.ScopeWorker},
		IssuedAt: uint64(now.Unix()), ExpiresAt: uint64(now.Add(swarm.MaxSessionAge).Unix()), Nonce: newNonce(),
	}
	signed, err := swarm.SignSession(ctx, c.Signer, swarm.Domain(info.ChainID), session)
	if err != nil {
		return "", err
	}
	var token swarm.Token
	if err := c.do(ctx, request{method: http.MethodPost, path: "/sessions", body: signed, into: &token}); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = &token
	return bearer + token.Token, nil
}

const bearer = "Bearer "

// forget drops a token that the server no longer takes, unless another request
// has signed in again meanwhile.
func (c *Client) forget(auth string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token != nil && bearer+c.token.Token == auth {
		c.token = nil
	}
}

// doSignedIn is do with the wallet's token. A server that was restarted knows
// no old tokens: it is signed in to once more.
func (c *Client) doSignedIn(ctx context.Context, r request) error {
	for again := false; ; again = true {
		auth, err := c.Authorization(ctx)
		if err != nil {
			return err
		}
		if r.header == nil {
			r.header = http.Header{}
		}
		r.header.Set("Authorization", auth)
		err = c.do(ctx, r)
		if again || swarm.CodeOf(err) != swarm.CodeUnauthenticated {
			return err
		}
		c.forget(auth)
	}
}

// Post makes a signed-in POST: a worker's way to report and to search. body is
// sent as it is where it is bytes; into may be nil.
func (c *Client) Post(ctx context.Context, path string, header http.Header, body, into any) error {
	return c.doSignedIn(ctx, request{method: http.MethodPost, path: path, header: header.Clone(), body: body, into: into})
}

// Forget drops the token and what is known of the server, as after a 401 of a
// stream.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token, c.info = nil, nil
}

func newNonce() (d wallet.Digest) {
	_, _ = crand.Read(d[:]) // never fails
	return d
}

func preferWait(d time.Duration) http.Header {
	return http.Header{"Prefer": {"wait=" + strconv.Itoa(int(min(d, waitStep)/time.Second))}}
}
