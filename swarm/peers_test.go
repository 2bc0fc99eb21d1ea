package swarm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

const (
	peersTimeout = 2 * time.Minute // of one run of node
	peersEach    = 20              // messages of each type and direction
)

// peer runs a script of testdata with ethers and viem. Whoever has none of
// them skips the test, unless SWARMSEAL_PEERS is "required", as in CI.
func peer(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	missing := func(what string, err error) {
		t.Helper()
		text := fmt.Sprintf("%s: install Node.js 20 or later, then run npm ci --prefix swarm/testdata (%v)", what, err)
		if os.Getenv("SWARMSEAL_PEERS") == "required" {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing("no node", err)
	}
	for _, name := range []string{"ethers", "viem"} {
		if _, err := os.Stat("testdata/node_modules/" + name); err != nil {
			missing("no "+name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), peersTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Dir, cmd.Stdin = "testdata", bytes.NewReader(stdin)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node %s: %v\n%.2000s\n%.4000s", strings.Join(args, " "), err, out, &errs)
	}
	return out
}

// checkedByPeers has ethers and viem make all that the vectors have anew.
func checkedByPeers(t *testing.T, vectors []*vector) {
	t.Helper()
	data, err := json.Marshal(vectors)
	if err != nil {
		t.Fatal(err)
	}
	out := peer(t, data, "peers.mjs", "check")
	if n := strings.Count(string(out), "equal\n"); n != len(vectors) {
		t.Errorf("%d of %d vectors are equal:\n%s", n, len(vectors), out)
	}
}

func TestPeersAgreeOnVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []*vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	checkedByPeers(t, vectors)
}

// What we sign, they recover, hash and sign alike.
func TestPeersCheckOurs(t *testing.T) {
	seed := int(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	var vectors []*vector
	made := rapid.Custom(func(t *rapid.T) []*vector {
		chainID, messages := drawn(t, 1<<53-1)
		list := []*vector{}
		for primary, message := range messages {
			list = append(list, &vector{Type: primary, ChainID: chainID, Message: message})
		}
		return list
	})
	for i := range peersEach {
		for _, v := range made.Example(seed + i) {
			v.Key = wallet.Keccak256([]byte(fmt.Sprint(seed, i, v.Type))).String()
			v.fill(t)
			vectors = append(vectors, v)
		}
	}
	checkedByPeers(t, vectors)
}

// What they sign, we read strictly, hash, verify, and sign alike.
func TestWeCheckPeers(t *testing.T) {
	seed := fmt.Sprint(time.Now().UnixNano())
	out := peer(t, nil, "peers.mjs", "make", fmt.Sprint(peersEach), seed)
	type their struct {
		vector
		Message json.RawMessage `json:"message"`
	}
	var list []their
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, v := range list {
		message := map[string]signed{
			"Delegation": &swarm.Delegation{}, "Result": &swarm.Result{}, "Arrival": &swarm.Arrival{},
			"Registration": &swarm.Registration{}, "Session": &swarm.Session{},
		}[v.Type]
		if err := swarm.DecodeStrict(v.Message, message); err != nil {
			t.Errorf("seed %s: %s: %v", seed, v.Message, err)
			continue
		}
		ours := vector{Type: v.Type, ChainID: v.ChainID, Message: message, Key: v.Key}
		ours.fill(t)
		theirs := v.vector
		theirs.Message = message
		if ours != theirs {
			t.Errorf("seed %s: they made\n%+v of %s, we\n%+v", seed, theirs, v.Message, ours)
		}
		if err := wallet.Verify(v.Signer, ours.Digest, v.Signature); err != nil {
			t.Errorf("seed %s: %s: %v", seed, v.Type, err)
		}
		seen[v.Type]++
	}
	for _, primary := range []string{"Delegation", "Result", "Arrival", "Registration", "Session"} {
		if seen[primary] != peersEach {
			t.Errorf("%d messages of type %s, want %d", seen[primary], primary, peersEach)
		}
	}
}

// What a browser would do with a bundle and a few lines of viem.
func TestBrowserChecksBundle(t *testing.T) {
	const script = `
import fs from 'node:fs';
import { check } from './browser.mjs';
const types = JSON.parse(fs.readFileSync('types.json', 'utf8'));
const bundles = JSON.parse(fs.readFileSync(0, 'utf8'));
console.log(JSON.stringify(await Promise.all(bundles.map((b) => check(b, types).catch(() => false)))));`
	good := string(marshal(t, build(t, realTree, change{})))
	texts := []string{good}
	for _, c := range [][2]string{
		{`"Two broken links."`, `"No broken links."`}, // an answer
		{`Find the broken`, `Mind the broken`},        // a task
		{`84532`, `1`},                                // the chain
		{`"hop": 2`, `"hop": 1`},                      // what was signed
		{`"late": true`, `"late": false`},             // when it came
	} {
		texts = append(texts, strings.Replace(good, c[0], c[1], 1))
	}
	out := peer(t, []byte("["+strings.Join(texts, ",")+"]"), "--input-type=module", "-e", script)
	if got, want := strings.TrimSpace(string(out)), "[true,false,false,false,false,false]"; got != want {
		t.Errorf("checked %s, want %s", got, want)
	}
}
