package external

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Clef is a wallet.Signer whose key is in a clef. Endpoint and Account are
// needed. Its methods may be called from many goroutines at once; set its fields
// before.
type Clef struct {
	// Endpoint is the path of clef's IPC socket (a Unix socket; Windows' named
	// pipes are not supported), or its http or https URL.
	Endpoint string
	// Account is the address that signs.
	Account wallet.Address
	// Timeout bounds one signature; 0 is DefaultClefTimeout (2 min).
	Timeout time.Duration
	// HTTP makes the requests to a URL; nil is a client without a proxy.
	HTTP *http.Client
	// AllowHTTP allows plain HTTP to another machine. It is for networks where
	// everybody may ask for signatures and read what is signed.
	AllowHTTP bool

	calls atomic.Uint64
}

// RPCError is an error of JSON-RPC. Message is on one line and at most 200 bytes.
type RPCError struct {
	Code    int
	Message string
}

func (e *RPCError) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Address gives Account.
func (c *Clef) Address() wallet.Address { return c.Account }

// Sign has clef sign m, and waits for the person before it. The error is an *Error.
func (c *Clef) Sign(ctx context.Context, m wallet.Message) (wallet.Signature, error) {
	u, err := c.http()
	if err != nil {
		return wallet.Signature{}, err
	}
	method, params, err := c.request(m)
	if err != nil {
		return wallet.Signature{}, c.failed(ctx, err)
	}
	ctx, cancel := within(ctx, c.Timeout, DefaultClefTimeout)
	defer cancel()
	text, err := c.call(ctx, u, method, params)
	if err != nil {
		return wallet.Signature{}, c.failed(ctx, err)
	}
	sig, err := signature(text, c.Account, m)
	if err != nil {
		return wallet.Signature{}, c.failed(context.WithoutCancel(ctx), err)
	}
	return sig, nil
}

// http gives the URL, nil where Endpoint is a path, or what is wrong with a field.
func (c *Clef) http() (u *url.URL, err error) {
	switch {
	case c.Endpoint == "":
		err = fmt.Errorf("%w: want an Endpoint", ErrConfig)
	case c.Account.IsZero():
		err = fmt.Errorf("%w: want an Account", ErrConfig)
	case strings.Contains(c.Endpoint, "://"):
		u, err = parseURL(c.Endpoint, c.AllowHTTP)
	}
	if err != nil {
		return nil, &Error{clef, shownURL(c.Endpoint), err}
	}
	return u, nil
}

// request gives the call that signs m.
func (c *Clef) request(m wallet.Message) (method string, params []any, err error) {
	if m.IsZero() {
		return "", nil, wallet.ErrNoMessage
	}
	if text, ok := m.Text(); ok {
		return "account_signData", []any{"text/plain", c.Account, "0x" + hex.EncodeToString([]byte(text))}, nil
	}
	typed, err := m.TypedData()
	if err != nil {
		return "", nil, err
	}
	return "account_signTypedData", []any{c.Account, json.RawMessage(typed)}, nil
}

// call makes one call and gives its result, which is a string.
func (c *Clef) call(ctx context.Context, u *url.URL, method string, params []any) (string, error) {
	id := c.calls.Add(1)
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return "", err
	}
	var data []byte
	if u != nil {
		data, err = c.post(ctx, u, request)
	} else {
		data, err = exchange(ctx, c.Endpoint, request)
	}
	if err != nil {
		return "", err
	}
	var answer struct {
		ID     json.RawMessage
		Result string
		Error  *RPCError
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	switch e := answer.Error; {
	case e != nil:
		return "", reason(&RPCError{e.Code, line(e.Message)})
	case string(answer.ID) != fmt.Sprint(id):
		return "", fmt.Errorf("%w: it is to request %s, not %d", ErrAnswer, line(string(answer.ID)), id)
	}
	return answer.Result, nil
}

// reason tells from clef's message what happened: it has one code for all.
func reason(e *RPCError) error {
	message := strings.ToLower(e.Message)
	switch {
	case strings.Contains(message, "request denied"):
		return fmt.Errorf("%w: %w", ErrDenied, e)
	case strings.Contains(message, "unknown account"), strings.Contains(message, "no key for given address"):
		return fmt.Errorf("%w: %w", ErrNoAccount, e)
	case strings.Contains(message, "unhandled type"):
		return fmt.Errorf("%w: %w", ErrUnsupported, e)
	}
	return e
}

func (c *Clef) post(ctx context.Context, u *url.URL, request []byte) ([]byte, error) {
	req, err := newRequest(ctx, http.MethodPost, u, request)
	if err != nil {
		return nil, err
	}
	return do(c.HTTP, req)
}

// exchange sends one request over a Unix socket and reads one JSON value back. It
// connects anew each time: signatures are rare, and a connection that a person
// kept waiting for minutes may be gone.
func exchange(ctx context.Context, path string, request []byte) ([]byte, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	limited := &io.LimitedReader{R: conn, N: MaxAnswerBytes + 1}
	var answer json.RawMessage
	switch err := json.NewDecoder(limited).Decode(&answer); {
	case limited.N == 0:
		return nil, errTooLong
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%w: the connection was closed", ErrAnswer)
	case err != nil:
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			err = fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		return nil, err
	}
	return answer, nil
}

func (c *Clef) failed(ctx context.Context, err error) error {
	return failed(ctx, clef, c.Endpoint, err)
}
