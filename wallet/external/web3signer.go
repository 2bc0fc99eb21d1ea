package external

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Web3Signer is a wallet.Signer whose key is in a Web3Signer, run with its eth1
// command. URL and Account are needed. Its methods may be called from many
// goroutines at once; set its fields before.
type Web3Signer struct {
	// URL is the server's, http or https.
	URL string
	// Account is the address that signs.
	Account wallet.Address
	// Timeout bounds one signature; 0 is DefaultTimeout (10 s).
	Timeout time.Duration
	// HTTP makes the requests; nil is a client without a proxy.
	HTTP *http.Client
	// AllowHTTP allows plain HTTP to another machine. It is for networks where
	// everybody may sign and read, such as those inside one pod.
	AllowHTTP bool

	mu        sync.Mutex
	publicKey string // by which the server knows Account; "" before it was asked
}

// Address gives Account.
func (s *Web3Signer) Address() wallet.Address { return s.Account }

// Sign has the server sign m. The error is an *Error.
func (s *Web3Signer) Sign(ctx context.Context, m wallet.Message) (wallet.Signature, error) {
	base, err := s.base()
	if err != nil {
		return wallet.Signature{}, err
	}
	if m.IsZero() {
		return wallet.Signature{}, s.failed(ctx, wallet.ErrNoMessage)
	}
	ctx, cancel := within(ctx, s.Timeout, DefaultTimeout)
	defer cancel()
	key, err := s.identify(ctx, base)
	if err != nil {
		return wallet.Signature{}, s.failed(ctx, err)
	}
	body, err := json.Marshal(map[string]string{"data": "0x" + hex.EncodeToString(m.Preimage())})
	if err != nil {
		return wallet.Signature{}, s.failed(ctx, err)
	}
	answer, err := s.call(ctx, http.MethodPost, base.JoinPath("api/v1/eth1/sign", key), body)
	if e, ok := errors.AsType[*StatusError](err); ok && e.Status == http.StatusNotFound {
		s.forget(key)
		err = fmt.Errorf("%w: %w", ErrNoAccount, err)
	}
	if err != nil {
		return wallet.Signature{}, s.failed(ctx, err)
	}
	sig, err := signature(string(answer), s.Account, m)
	if err != nil {
		return wallet.Signature{}, s.failed(context.WithoutCancel(ctx), err)
	}
	return sig, nil
}

// base gives the URL, or what is wrong with a field.
func (s *Web3Signer) base() (*url.URL, error) {
	u, err := parseURL(s.URL, s.AllowHTTP)
	if err == nil && s.Account.IsZero() {
		err = fmt.Errorf("%w: want an Account", ErrConfig)
	}
	if err != nil {
		return nil, &Error{web3signer, shownURL(s.URL), err}
	}
	return u, nil
}

// identify gives the public key by which the server knows Account: it takes no
// address. It is asked once.
func (s *Web3Signer) identify(ctx context.Context, base *url.URL) (string, error) {
	s.mu.Lock()
	known := s.publicKey
	s.mu.Unlock()
	if known != "" {
		return known, nil
	}
	answer, err := s.call(ctx, http.MethodGet, base.JoinPath("api/v1/eth1/publicKeys"), nil)
	if err != nil {
		return "", err
	}
	var keys []string
	if err := json.Unmarshal(answer, &keys); err != nil {
		return "", fmt.Errorf("%w: publicKeys: %w", ErrAnswer, err)
	}
	for _, key := range keys {
		if a, ok := addressOf(key); ok && a == s.Account {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.publicKey = key
			return key, nil
		}
	}
	return "", fmt.Errorf("%w, %v, among its %d", ErrNoAccount, s.Account, len(keys))
}

// forget has the server asked again for the key: it may have been loaded anew.
func (s *Web3Signer) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.publicKey == key {
		s.publicKey = ""
	}
}

// addressOf gives the address of an uncompressed public key in hex, without the
// byte 4 before it: the form in which the server lists them.
func addressOf(key string) (wallet.Address, bool) {
	point, err := hex.DecodeString(strings.TrimPrefix(key, "0x"))
	if err != nil || len(point) != 64 {
		return wallet.Address{}, false
	}
	hash := wallet.Keccak256(point)
	return wallet.Address(hash[12:]), true
}

func (s *Web3Signer) call(ctx context.Context, method string, u *url.URL, body []byte) ([]byte, error) {
	req, err := newRequest(ctx, method, u, body)
	if err != nil {
		return nil, err
	}
	return do(s.HTTP, req)
}

func (s *Web3Signer) failed(ctx context.Context, err error) error {
	return failed(ctx, web3signer, s.URL, err)
}
