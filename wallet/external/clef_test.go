package external_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

// clef answers calls as clef's external API is documented (version 6.1.0) and
// does: typed data is read and hashed by the code that clef has it done by.
// clef_real_test.go has the same signed by clef itself.
type clef struct {
	key    *wallet.Key
	answer func(good string) string // gives the result's JSON; nil gives good
}

func (c *clef) reply(request []byte) string {
	var call struct {
		JSONRPC, Method string
		ID              json.RawMessage
		Params          []json.RawMessage
	}
	fail := func(code int, message string) string {
		data, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": map[string]any{"code": code, "message": message}})
		return string(data)
	}
	if err := json.Unmarshal(request, &call); err != nil || call.JSONRPC != "2.0" {
		return fail(-32700, "parse error")
	}
	digest, by, err := c.hash(call.Method, call.Params)
	switch {
	case err != nil:
		return fail(-32000, err.Error())
	case by != c.key.Address():
		return fail(-32000, "unknown account")
	}
	sig, err := c.key.SignDigest(context.Background(), digest)
	if err != nil {
		return fail(-32000, err.Error())
	}
	result := `"` + sig.String() + `"`
	if c.answer != nil {
		result = c.answer(result)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
}

func (c *clef) hash(method string, params []json.RawMessage) (digest wallet.Digest, by wallet.Address, err error) {
	var typed apitypes.TypedData
	var kind, text string
	read := func(into ...any) {
		if len(params) != len(into) {
			err = fmt.Errorf("%d arguments; want %d", len(params), len(into))
			return
		}
		for i := range into {
			if err == nil {
				err = json.Unmarshal(params[i], into[i])
			}
		}
	}
	switch method {
	case "account_signTypedData":
		if read(&by, &typed); err != nil {
			return
		}
		if _, err = typed.Format(); err != nil { // for the person before it
			return
		}
		hash, _, err := apitypes.TypedDataAndHash(typed)
		return wallet.Digest(hash), by, err
	case "account_signData":
		if read(&kind, &by, &text); err != nil {
			return
		}
		data, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if kind != "text/plain" {
			err = fmt.Errorf("content type %q", kind)
		}
		return wallet.Digest(accounts.TextHash(data)), by, err
	}
	return digest, by, fmt.Errorf("the method %s does not exist/is not available", method)
}

func (c *clef) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, c.reply(body))
}

// overSocket runs a server that treats each connection by handle.
func overSocket(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "clef") // a test's own folder may have too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "clef.ipc")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return path
}

// serveConn answers as a JSON-RPC server on a socket does: values one after the other.
func (c *clef) serveConn(conn net.Conn) {
	for dec := json.NewDecoder(conn); ; {
		var request json.RawMessage
		if err := dec.Decode(&request); err != nil {
			return
		}
		if _, err := io.WriteString(conn, c.reply(request)+"\n"); err != nil {
			return
		}
	}
}

func TestClef(t *testing.T) {
	c := &clef{key: mustKey(t, keyHex)}
	socket, url := overSocket(t, c.serveConn), serve(t, c.ServeHTTP)
	for _, endpoint := range []string{socket, url} {
		s := &external.Clef{Endpoint: endpoint, Account: c.key.Address()}
		signsAll(t, s)
		signsAll(t, s)
		refuses(t, "another account", &external.Clef{Endpoint: endpoint, Account: wallet.Address{1}}, external.ErrNoAccount, "unknown account")
		unsupported(t, s)
	}
}

// unsupported has a clef sign what it can't show.
func unsupported(t *testing.T, s *external.Clef) {
	t.Helper()
	if sig, err := s.Sign(t.Context(), names()); !errors.Is(err, external.ErrUnsupported) || !strings.Contains(err.Error(), "string[]") || !sig.IsZero() {
		t.Errorf("a list of texts: Sign = %v, %v; want %v", sig, err, external.ErrUnsupported)
	}
}

func TestClefFaults(t *testing.T) {
	address := wallet.MustParseAddress(account)
	both := func(name string, reply func(request []byte) string, want error, says string) {
		t.Helper()
		socket := overSocket(t, func(conn net.Conn) {
			var request json.RawMessage
			if json.NewDecoder(conn).Decode(&request) == nil {
				_, _ = io.WriteString(conn, reply(request))
			}
		})
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, reply(body))
		})
		refuses(t, name+" over IPC", &external.Clef{Endpoint: socket, Account: address}, want, says)
		refuses(t, name+" over HTTP", &external.Clef{Endpoint: url, Account: address}, want, says)
	}
	for name, text := range badAnswers(t) {
		result, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		c := &clef{mustKey(t, keyHex), func(string) string { return string(result) }}
		both(name, c.reply, external.ErrAnswer, "")
	}
	for name, result := range map[string]string{"a number": "7", "null": "null", "a list": `["0x"]`, "an object": `{"signature":"0x"}`} {
		both(name, (&clef{mustKey(t, keyHex), func(string) string { return result }}).reply, external.ErrAnswer, "")
	}
	constant := func(text string) func([]byte) string { return func([]byte) string { return text } }
	both("denied", constant(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"request denied"}}`), external.ErrDenied, "error -32000: request denied")
	both("another error", constant(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"on\nfire\u001b[31m`+strings.Repeat("!", 1000)+`"}}`), nil, "error -32000: on fire [31m!!!")
	both("another id", (&clef{mustKey(t, keyHex), nil}).another, external.ErrAnswer, "request 999")
	both("no JSON", constant("<html>"), external.ErrAnswer, "")
	both("nothing", constant(""), external.ErrAnswer, "")
	both("half", constant(`{"jsonrpc":"2.0",`), external.ErrAnswer, "")
	both("a list", constant(`[null]`), external.ErrAnswer, "")

	refuses(t, "endless over HTTP", &external.Clef{Endpoint: serve(t, endless), Account: address}, external.ErrAnswer, "bytes")
	page := []byte(strings.Repeat("[", 64<<10))
	socket := overSocket(t, func(conn net.Conn) {
		for {
			if _, err := conn.Write(page); err != nil {
				return
			}
		}
	})
	refuses(t, "endless over IPC", &external.Clef{Endpoint: socket, Account: address}, external.ErrAnswer, "")

	started := make(chan struct{}, 8)
	silent := overSocket(t, func(conn net.Conn) {
		started <- struct{}{}
		_, _ = io.Copy(io.Discard, conn)
	})
	refuses(t, "no answer over IPC", &external.Clef{Endpoint: silent, Account: address, Timeout: 20 * time.Millisecond}, external.ErrTimeout, "20ms")
	refuses(t, "no answer over HTTP", &external.Clef{Endpoint: serve(t, hang), Account: address, Timeout: 20 * time.Millisecond}, external.ErrTimeout, "20ms")
	<-started
	cancelled(t, "clef", &external.Clef{Endpoint: silent, Account: address}, started)
}

// another answers with the id of another request.
func (c *clef) another(request []byte) string {
	return strings.Replace(c.reply(request), `"id":1,`, `"id":999,`, 1)
}
