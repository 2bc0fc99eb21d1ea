//go:build clef

package external_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/swarmseal/swarmseal/wallet"
	"github.com/swarmseal/swarmseal/wallet/external"
)

// clefModule is the last go-ethereum that has clef in it.
const clefModule = "github.com/ethereum/go-ethereum/cmd/clef@v1.17.3"

const clefPassword = "a password of ten"

// TestRealClef has clef itself sign. It builds clef first, which takes minutes
// where Go's cache has not seen it:
//
//	go test -tags clef -timeout 30m ./wallet/external -run RealClef
//
// Clef asks over its stdin and stdout what a person would be asked (its
// --stdio-ui), and the test answers.
func TestRealClef(t *testing.T) {
	dir, err := os.MkdirTemp("", "clef")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	install := exec.CommandContext(t.Context(), "go", "install", clefModule)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install %s: %v\n%s", clefModule, err, out)
	}
	key := mustKey(t, keyHex)
	if err := wallet.WriteKeyFile(t.Context(), filepath.Join(dir, "keystore", "key.json"), key, clefPassword, wallet.ScryptLight); err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "clef"), "--stdio-ui", "--suppress-bootwarn", "--configdir", filepath.Join(dir, "config"),
		"--keystore", filepath.Join(dir, "keystore"), "--ipcpath", dir, "--auditlog", "",
		"--4bytedb-custom", filepath.Join(dir, "4byte.json"), "--http", "--http.addr", "127.0.0.1", "--http.port", port)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &person{started: make(chan struct{}), ended: make(chan struct{})}
	p.agrees.Store(true)
	go p.answer(out, in)
	defer func() {
		_ = cmd.Process.Kill()
		<-p.ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("clef said:\n%s", &log)
		}
	}()
	select {
	case <-p.started:
	case <-p.ended:
		t.Fatal("clef did not start")
	}

	for _, endpoint := range []string{filepath.Join(dir, "clef.ipc"), "http://127.0.0.1:" + port} {
		t.Log(endpoint)
		s := &external.Clef{Endpoint: endpoint, Account: key.Address()}
		p.agrees.Store(true)
		signsAll(t, s)
		refuses(t, "another account", &external.Clef{Endpoint: endpoint, Account: wallet.Address{1}}, external.ErrNoAccount, "error -32000")
		unsupported(t, s)
		p.agrees.Store(false)
		refuses(t, "a person who says no", s, external.ErrDenied, "request denied")
	}
	if n := p.asked.Load(); n < int64(2*len(messages())) {
		t.Errorf("the person was asked %d times", n)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// person is whoever sits before clef.
type person struct {
	agrees         atomic.Bool
	asked          atomic.Int64
	started, ended chan struct{}
}

// answer reads what clef asks until it ends.
func (p *person) answer(from io.Reader, to io.Writer) {
	defer close(p.ended)
	for dec := json.NewDecoder(bufio.NewReader(from)); ; {
		var ask struct {
			ID     json.RawMessage
			Method string
		}
		if err := dec.Decode(&ask); err != nil {
			return
		}
		var reply any
		switch ask.Method {
		case "ui_onSignerStartup":
			close(p.started)
			continue
		case "ui_approveSignData":
			p.asked.Add(1)
			reply = map[string]bool{"approved": p.agrees.Load()}
		case "ui_onInputRequired":
			reply = map[string]string{"text": clefPassword}
		default:
			if ask.ID == nil {
				continue // told, not asked
			}
			reply = map[string]bool{"approved": false}
		}
		data, err := json.Marshal(reply)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", ask.ID, data); err != nil {
			return
		}
	}
}
