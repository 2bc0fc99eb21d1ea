package external_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

const (
	keyHex  = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
	account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
)

func mustKey(t testing.TB, text string) *wallet.Key {
	t.Helper()
	key, err := wallet.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

type note struct {
	Text  string          `json:"text"`
	To    []recipient     `json:"to"`
	Seen  []wallet.Digest `json:"seen"`
	Count uint64          `json:"count"`
	Done  bool            `json:"done"`
}

type recipient struct {
	Wallet wallet.Address `json:"wallet"`
}

// messages are one of each kind, with what readers of JSON get wrong.
func messages() map[string]wallet.Message {
	const (
		recipientType = "Recipient(address wallet)"
		types         = "Note(string text,Recipient[] to,bytes32[] seen,uint64 count,bool done)" + recipientType
	)
	n := note{"<b>é\n\"", []recipient{{wallet.MustParseAddress(account)}}, []wallet.Digest{wallet.Keccak256()}, 1<<64 - 1, true}
	to := wallet.NewEncoder(wallet.Keccak256([]byte(recipientType)), 1).Address(n.To[0].Wallet).Sum()
	hash := wallet.NewEncoder(wallet.Keccak256([]byte(types)), 5).String(n.Text).Array([]wallet.Digest{to}).Array(n.Seen).Uint64(n.Count).Bool(n.Done).Sum()
	return map[string]wallet.Message{
		"typed data":            wallet.TypedMessage(wallet.NewDomain("Notes", "1", 1<<63), types, hash, n),
		"typed data of chain 0": wallet.TypedMessage(wallet.NewDomain("Notes", "1", 0), types, hash, n),
		"text":                  wallet.PersonalMessage("two\nlines, 天气"),
		"no text":               wallet.PersonalMessage(""),
	}
}

// names is typed data with a list of texts.
func names() wallet.Message {
	const types = "Names(string[] names)"
	hash := wallet.NewEncoder(wallet.Keccak256([]byte(types)), 1).Array([]wallet.Digest{wallet.Keccak256([]byte("a"))}).Sum()
	return wallet.TypedMessage(wallet.NewDomain("Notes", "1", 1), types, hash, map[string]any{"names": []string{"a"}})
}

// signsAll has a signer sign all messages, and checks what it gives.
func signsAll(t *testing.T, s wallet.Signer) {
	t.Helper()
	for name, m := range messages() {
		sig, err := s.Sign(t.Context(), m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := wallet.Verify(s.Address(), m.Digest(), sig); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		// RFC 6979: the key in memory gives the same.
		if want, err := mustKey(t, keyHex).Sign(t.Context(), m); err != nil || want != sig {
			t.Errorf("%s: signature %v, a key in memory gives %v, %v", name, sig, want, err)
		}
	}
}

// refuses has a signer sign a message, and wants an *Error that is want, or says it.
func refuses(t *testing.T, name string, s wallet.Signer, want error, says string) {
	t.Helper()
	sig, err := s.Sign(t.Context(), messages()["typed data"])
	e, ok := errors.AsType[*external.Error](err)
	if !ok || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), says) || !sig.IsZero() {
		t.Errorf("%s: Sign = %v, %v; want %v that says %q", name, sig, err, want, says)
		return
	}
	if e.Signer == "" || len(err.Error()) > 500 || strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' }) {
		t.Errorf("%s: the error is %q", name, err)
	}
}

func TestOpen(t *testing.T) {
	lower := strings.ToLower(account)
	for text, want := range map[string]error{
		"web3signer:http://127.0.0.1:9000#" + account:             nil,
		"web3signer:http://[::1]:9000/below#" + lower:             nil,
		"web3signer:http://localhost:9000#" + account:             nil,
		"web3signer:https://signer.example.org#" + account:        nil,
		"clef:/run/clef.ipc#" + account:                           nil,
		"clef:clef#1.ipc#" + account:                              nil,
		"clef:http://127.0.0.1:8550#" + account:                   nil,
		"clef:https://clef.example.org/#" + account:               nil,
		"web3signer:http://signer.example.org#" + account:         external.ErrPlain,
		"web3signer:http://10.0.0.1:9000#" + account:              external.ErrPlain,
		"web3signer:http://localhost.example.org#" + account:      external.ErrPlain,
		"web3signer:http://127.0.0.1.example.org#" + account:      external.ErrPlain,
		"clef:http://192.168.0.1:8550#" + account:                 external.ErrPlain,
		"web3signer:https://me:swordfish@example.org#" + account:  external.ErrConfig,
		"web3signer:ftp://127.0.0.1#" + account:                   external.ErrConfig,
		"web3signer:/run/signer#" + account:                       external.ErrConfig,
		"web3signer:http://127.0.0.1:9000?a=swordfish#" + account: external.ErrConfig,
		"web3signer:http://127.0.0.1:9000":                        external.ErrConfig,
		"web3signer:http://127.0.0.1:9000#":                       external.ErrConfig,
		"web3signer:#" + account:                                  external.ErrConfig,
		"clef:#" + account:                                        external.ErrConfig,
		"clef:/run/clef.ipc":                                      external.ErrConfig,
		"clef:ws://127.0.0.1:8550#" + account:                     external.ErrConfig,
		"clef:/run/clef.ipc#0x" + strings.ToUpper(account[2:]):    wallet.ErrAddressChecksum,
		"clef:/run/clef.ipc#" + account[2:]:                       wallet.ErrAddressForm,
		"clef:/run/clef.ipc#0x" + strings.Repeat("0", 40):         external.ErrConfig,
		"ledger:/dev/hidraw0#" + account:                          external.ErrConfig,
		"":                                                        external.ErrConfig,
		"key.json":                                                external.ErrConfig,
	} {
		s, err := external.Open(text)
		if !errors.Is(err, want) {
			t.Errorf("Open(%q) = %v; want %v", text, err, want)
		}
		if err == nil && s.Address().String() != account {
			t.Errorf("Open(%q) signs for %v", text, s.Address())
		}
		if err != nil && strings.Contains(err.Error(), "swordfish@") {
			t.Errorf("Open(%q): the error tells the password: %v", text, err)
		}
		if want := strings.HasPrefix(text, "web3signer:") || strings.HasPrefix(text, "clef:"); external.IsReference(text) != want {
			t.Errorf("IsReference(%q) = %t", text, !want)
		}
	}
}

// What is wrong with a signer's fields is said before anything is sent.
func TestFields(t *testing.T) {
	address := wallet.MustParseAddress(account)
	refuses(t, "no URL", &external.Web3Signer{Account: address}, external.ErrConfig, "want http://")
	refuses(t, "no account", &external.Web3Signer{URL: "http://127.0.0.1:1"}, external.ErrConfig, "Account")
	refuses(t, "plain", &external.Web3Signer{URL: "http://192.0.2.1:1", Account: address}, external.ErrPlain, "https")
	refuses(t, "clef without an account", &external.Clef{Endpoint: "/nowhere"}, external.ErrConfig, "Account")
	refuses(t, "clef nowhere", &external.Clef{Endpoint: "/nowhere", Account: address}, nil, "no such file")
	for name, s := range map[string]wallet.Signer{
		"web3signer": &external.Web3Signer{URL: "http://127.0.0.1:1", Account: address},
		"clef":       &external.Clef{Endpoint: "http://127.0.0.1:1", Account: address},
	} {
		refuses(t, name, s, nil, "connection refused")
		if _, err := s.Sign(t.Context(), wallet.Message{}); !errors.Is(err, wallet.ErrNoMessage) {
			t.Errorf("%s: signing nothing: %v", name, err)
		}
	}
}

// badAnswers are what a server may give for a signature, and must not pass for
// one. The texts are of the message "typed data".
func badAnswers(t *testing.T) map[string]string {
	m := messages()["typed data"]
	good, err := mustKey(t, keyHex).Sign(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	text := good.String()
	other, err := mustKey(t, "0x"+strings.Repeat("1", 64)).Sign(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	// What a server gives that hashes nothing, and one that takes all for text.
	unprefixed, err := mustKey(t, keyHex).Sign(t.Context(), wallet.PersonalMessage(string(m.Preimage())))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := mustKey(t, keyHex).SignDigest(t.Context(), wallet.Keccak256([]byte(m.Digest().String())))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"another key's": other.String(), "of a personal message": unprefixed.String(), "of a hash of the hash": twice.String(),
		"EIP-2098": text[:130], "2 bytes": "0x1b1c", "empty": "", "null": "null", "no hex": "0x" + strings.Repeat("zz", 65), "v 4": text[:130] + "04",
		"v 54": text[:130] + "36", "high s": "0x" + text[2:66] + "ff" + text[68:], "two signatures": text + text, "HTML": "<html>\x1b[31m",
	}
}

// serve runs a handler and gives its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// hang answers nothing until the request is given up, which a server notices only
// once it has read all of it.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// endless answers more than anyone should read.
func endless(w http.ResponseWriter, r *http.Request) {
	page := []byte(strings.Repeat("[", 64<<10))
	for r.Context().Err() == nil {
		if _, err := w.Write(page); err != nil {
			return
		}
	}
}

// cancelled signs with a context that ends, and wants its cause.
func cancelled(t *testing.T, name string, s wallet.Signer, started <-chan struct{}) {
	t.Helper()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-started
		cancel(gone)
	}()
	if sig, err := s.Sign(ctx, messages()["text"]); !errors.Is(err, gone) || !sig.IsZero() {
		t.Errorf("%s: Sign of a context that ended = %v, %v", name, sig, err)
	}
}
