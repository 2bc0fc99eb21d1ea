package swarm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// maxAdded is what the SDK may add to a program that speaks HTTP and JSON
// already, in bytes. Whoever embeds an agent in a small service notices more.
const maxAdded = 3 << 20

const plainProgram = `package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	resp, err := http.Get(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	defer resp.Body.Close()
	var v any
	err = json.NewDecoder(resp.Body).Decode(&v)
	if err != nil {
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(v)
	sdk()
}
`

// Programs are stripped, as those that are shipped are. They are for this
// machine's platform; with cgo, libsecp256k1 and its tables are counted, too.
func TestSizeOfPrograms(t *testing.T) {
	plain := size(t, "func sdk() {}")
	t.Logf("net/http and encoding/json alone: %d bytes", plain)
	for name, sdk := range map[string]string{
		"a worker, a back end and a verifier: all packages but display": `
import (
	"context"
	"fmt"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/wallet"
)

func sdk() {
	ctx := context.Background()
	key, err := wallet.ReadKeyFile(ctx, "key.json", "")
	if err != nil {
		key, _ = wallet.NewKey()
		err = wallet.WriteKeyFile(ctx, "key.json", key, "", wallet.ScryptLight)
	}
	fmt.Println(err, (&agent.Worker{Key: key}).Run(ctx))
	outcome, err := (&client.Client{Signer: key}).Delegate(ctx, swarm.Request{})
	fmt.Println(outcome, err, swarm.VerifyJSON(nil, swarm.Expect{}).Verified)
	for ev, err := range (&stream.Client{}).Run(ctx, key.Address(), stream.Request{}) {
		tool, _ := events.ParseToolEvent(ev)
		fmt.Println(tool, err)
	}
}`,
		"a terminal: stream and display": `
import (
	"context"
	"os"

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/wallet"
)

func sdk() {
	screen := display.NewTerminal(os.Stdout, display.Options{})
	for ev, err := range (&stream.Client{}).Run(context.Background(), wallet.Address{}, stream.Request{}) {
		if err == nil {
			screen.Event(ev)
		}
	}
	_ = screen.Close()
}`,
	} {
		added := size(t, sdk) - plain
		t.Logf("%s: %d bytes more", name, added)
		if added > maxAdded {
			t.Errorf("%s: adds %d bytes, at most %d are wanted; go tool nm -size -sort size tells what weighs", name, added, maxAdded)
		}
	}
}

// size builds a program and gives its size in bytes.
func size(t *testing.T, sdk string) int64 {
	t.Helper()
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "main.go"), filepath.Join(dir, "sdk.go")}
	for i, text := range []string{plainProgram, "package main\n" + sdk} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(dir, "program")
	build := exec.CommandContext(t.Context(), "go", append([]string{"build", "-ldflags=-s -w", "-o", binary}, files...)...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
