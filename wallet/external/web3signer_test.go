package external_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

// publicKeyOf gives a key's public key as Web3Signer lists it: 64 bytes in hex.
func publicKeyOf(t *testing.T, secret string) string {
	t.Helper()
	key, err := crypto.HexToECDSA(strings.TrimPrefix(secret, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return "0x" + hex.EncodeToString(crypto.FromECDSAPub(&key.PublicKey)[1:])
}

// web3signer answers as the eth1 API of Web3Signer is specified (its repository's
// openapi-specs/eth1/web3signer.yaml) and does: keys are known by their public key
// alone, what is signed is the Keccak-256 of data, and the answer is plain text.
type web3signer struct {
	t      *testing.T
	lists  atomic.Int32
	answer func(w http.ResponseWriter, good string) // nil gives good
	list   http.HandlerFunc                         // nil gives the keys
}

func (s *web3signer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	public := publicKeyOf(s.t, keyHex)
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v1/eth1/publicKeys":
		s.lists.Add(1)
		if s.list != nil {
			s.list(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode([]string{"0x00", publicKeyOf(s.t, strings.Repeat("2", 64)), public})
	case "POST /api/v1/eth1/sign/" + public:
		var body map[string]string
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body) != 1 || r.Header.Get("Content-Type") != "application/json" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		data, err := hex.DecodeString(strings.TrimPrefix(body["data"], "0x"))
		if err != nil || len(data) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		sig, err := mustKey(s.t, keyHex).SignDigest(r.Context(), wallet.Keccak256(data))
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if s.answer != nil {
			s.answer(w, sig.String())
			return
		}
		fmt.Fprint(w, sig)
	default:
		http.NotFound(w, r)
	}
}

func (s *web3signer) start(t *testing.T) *external.Web3Signer {
	t.Helper()
	s.t = t
	return &external.Web3Signer{URL: serve(t, s.ServeHTTP), Account: wallet.MustParseAddress(account)}
}

func TestWeb3Signer(t *testing.T) {
	server := &web3signer{}
	s := server.start(t)
	signsAll(t, s)
	signsAll(t, s)
	if n := server.lists.Load(); n != 1 {
		t.Errorf("the keys were listed %d times", n)
	}
	if sig, err := s.Sign(t.Context(), names()); err != nil || wallet.Verify(s.Account, names().Digest(), sig) != nil {
		t.Errorf("a list of texts: Sign = %v, %v", sig, err)
	}
	if s.Address().String() != account {
		t.Errorf("Address = %v", s.Address())
	}
	below := http.NewServeMux()
	below.Handle("/signer/", http.StripPrefix("/signer", server))
	for _, path := range []string{"/signer", "/signer/"} {
		signsAll(t, &external.Web3Signer{URL: serve(t, below.ServeHTTP) + path, Account: s.Account})
	}
}

// v of 0 and 1, which other services give, is 27 and 28; upper case and white
// space change nothing.
func TestWeb3SignerForms(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"v 0 or 1": func(s string) string {
			return s[:130] + map[string]string{"1b": "00", "1c": "01"}[s[130:]]
		},
		"upper case":  func(s string) string { return "0x" + strings.ToUpper(s[2:]) },
		"a line feed": func(s string) string { return s + "\r\n" },
	} {
		t.Run(name, func(t *testing.T) {
			signsAll(t, (&web3signer{answer: func(w http.ResponseWriter, good string) { fmt.Fprint(w, change(good)) }}).start(t))
		})
	}
}

func TestWeb3SignerFaults(t *testing.T) {
	for name, text := range badAnswers(t) {
		s := (&web3signer{answer: func(w http.ResponseWriter, _ string) { fmt.Fprint(w, text) }}).start(t)
		refuses(t, name, s, external.ErrAnswer, "")
	}
	list := func(text string) *external.Web3Signer {
		return (&web3signer{list: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }}).start(t)
	}
	refuses(t, "no keys", list("[]"), external.ErrNoAccount, account+", among its 0")
	refuses(t, "other keys", list(`["`+publicKeyOf(t, strings.Repeat("2", 64))+`"]`), external.ErrNoAccount, "among its 1")
	refuses(t, "null", list("[null]"), external.ErrNoAccount, "")
	refuses(t, "no list", list(`{"keys":[]}`), external.ErrAnswer, "publicKeys")
	refuses(t, "no JSON", list("<html>"), external.ErrAnswer, "publicKeys")
	refuses(t, "a status", (&web3signer{list: func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "on\x1b[31m\nfire"+strings.Repeat("!", 1000), http.StatusServiceUnavailable)
	}}).start(t), nil, "HTTP status 503: on [31m fire!!")
	refuses(t, "endless keys", (&web3signer{list: endless}).start(t), external.ErrAnswer, "bytes")
	refuses(t, "cut off", (&web3signer{answer: func(w http.ResponseWriter, good string) {
		w.Header().Set("Content-Length", "132")
		fmt.Fprint(w, good[:100])
	}}).start(t), nil, "EOF")

	short := (&web3signer{list: hang}).start(t)
	short.Timeout = 20 * time.Millisecond
	refuses(t, "no answer", short, external.ErrTimeout, "20ms")
	started := make(chan struct{})
	cancelled(t, "web3signer", (&web3signer{list: func(w http.ResponseWriter, r *http.Request) {
		close(started)
		hang(w, r)
	}}).start(t), started)

	// A redirect would have another host sign.
	target := (&web3signer{}).start(t)
	for _, client := range []*http.Client{nil, {}} {
		redirecting := &external.Web3Signer{Account: target.Account, HTTP: client, URL: serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target.URL+r.URL.Path, http.StatusTemporaryRedirect)
		})}
		refuses(t, "a redirect", redirecting, nil, "HTTP status 307")
	}
}

// A key that is gone is said to be; once it is back it is found again.
func TestWeb3SignerReload(t *testing.T) {
	gone := false
	server := &web3signer{answer: func(w http.ResponseWriter, good string) {
		if gone {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, good)
	}}
	s := server.start(t)
	signsAll(t, s)
	gone = true
	refuses(t, "a key that is gone", s, external.ErrNoAccount, "HTTP status 404")
	gone = false
	signsAll(t, s)
	if n := server.lists.Load(); n != 2 {
		t.Errorf("the keys were listed %d times, want twice", n)
	}
}

// No proxy of the environment sees what is signed.
func TestNoProxy(t *testing.T) {
	proxied := false
	t.Setenv("HTTP_PROXY", serve(t, func(http.ResponseWriter, *http.Request) { proxied = true }))
	s := (&web3signer{}).start(t)
	// A name, since the environment's proxies are never used for loopback addresses.
	s.URL, s.AllowHTTP = "http://signer.invalid:1", true
	refuses(t, "a name", s, nil, "signer.invalid")
	if proxied {
		t.Error("the request went through a proxy")
	}
}
