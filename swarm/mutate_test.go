package swarm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// leaf is a string, number or bool of a JSON text, with its place in it.
type leaf struct {
	path       string
	start, end int // of its bytes, quotes left out
}

// leaves lists the leaves of a JSON text.
func leaves(tb testing.TB, text []byte) []leaf {
	tb.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	var list []leaf
	var walk func(path string)
	next := func() json.Token {
		tok, err := dec.Token()
		if err != nil {
			tb.Fatal(err)
		}
		return tok
	}
	walk = func(path string) {
		before := int(dec.InputOffset())
		switch tok := next().(type) {
		case json.Delim:
			for i := 0; dec.More(); i++ {
				if tok == '{' {
					walk(path + "." + next().(string))
				} else {
					walk(fmt.Sprintf("%s[%d]", path, i))
				}
			}
			next()
		default:
			l := leaf{path, before, int(dec.InputOffset())}
			for strings.IndexByte(": ,\n\t", text[l.start]) >= 0 {
				l.start++
			}
			if text[l.start] == '"' {
				l.start, l.end = l.start+1, l.end-1
			}
			list = append(list, l)
		}
	}
	walk("")
	return list
}

// twoHops is small enough to try each of its bytes.
var twoHops = []node{
	{-1, user, coordinator, "Task.", "Done.", swarm.StatusCompleted, false, false, "", ""},
	{0, coordinator, scout, "Part.", "Late.", swarm.StatusCompleted, true, true, "", ""},
}

// Change any byte of any value of a bundle, and it does not verify.
func TestEveryByteIsBound(t *testing.T) {
	text := marshal(t, build(t, twoHops, change{}))
	if report := swarm.VerifyJSON(text, swarm.Expect{}); !report.Verified {
		t.Fatalf("the bundle itself: %+v", report.Broken())
	}
	tried := 0
	for _, l := range leaves(t, text) {
		for i := l.start; i < l.end; i++ {
			changed := bytes.Clone(text)
			switch c := text[i]; {
			case c >= '0' && c <= '8', c >= 'a' && c <= 'e', c >= 'A' && c <= 'E':
				changed[i]++ // another digit, and still one
			case c == '9':
				changed[i] = '0'
			default:
				changed[i]--
			}
			tried++
			if report := swarm.VerifyJSON(changed, swarm.Expect{}); report.Verified || len(report.Broken()) == 0 {
				t.Errorf("%s: verified with %q instead of %q", l.path, changed[l.start:l.end], text[l.start:l.end])
			}
			if testing.Short() {
				break
			}
		}
	}
	t.Logf("%d bytes changed", tried)
}

// Give any value of a bundle another value of its kind, well-formed to the
// checksum, and a rule that says more than "malformed" breaks.
func TestEveryValueIsBound(t *testing.T) {
	text := marshal(t, build(t, realTree, change{}))
	other := addressOf(stranger + 1).String()
	kinds := make(map[string]int)
	for _, l := range leaves(t, text) {
		old := string(text[l.start:l.end])
		var instead, kind string
		switch {
		case old == "true", old == "false":
			instead, kind = map[string]string{"true": "false", "false": "true"}[old], "bool"
		case len(old) == 42 && strings.HasPrefix(old, "0x"):
			instead, kind = other, "address"
		case len(old) == 66 && strings.HasPrefix(old, "0x"):
			instead, kind = wallet.Keccak256([]byte(old)).String(), "digest"
		case len(old) == 132 && strings.HasPrefix(old, "0x"):
			instead, kind = old[:66]+wallet.Keccak256([]byte(old)).String()[2:4]+old[68:], "signature"
		case strings.Trim(old, "0123456789") == "":
			instead, kind = old+"1", "number"
			if len(old) == 1 { // a leading zero is malformed, and some have bounds
				instead = string(old[0] ^ 1)
			}
		case l.path == ".format":
			continue // no other format is well-formed; TestVerifyNoBundle has it
		default:
			instead, kind = old+"x", "text"
		}
		changed := bytes.Join([][]byte{text[:l.start], []byte(instead), text[l.end:]}, nil)
		report := swarm.VerifyJSON(changed, swarm.Expect{})
		broken := report.Broken()
		if report.Verified || len(broken) == 0 {
			t.Errorf("%s: verified with %q instead of %q", l.path, instead, old)
		} else if broken[0].Rule == swarm.RuleForm {
			t.Errorf("%s: %q is called malformed: %s", l.path, instead, broken[0].Detail)
		}
		kinds[kind]++
	}
	for _, kind := range []string{"bool", "address", "digest", "signature", "number", "text"} {
		if kinds[kind] < 5 {
			t.Errorf("%d values of kind %s were tried", kinds[kind], kind)
		}
	}
}

// Whatever is read, there is a report that says why it is not verified, and
// what was read is what is written again.
func FuzzReport(f *testing.F) {
	f.Add(marshal(f, build(f, twoHops, change{})))
	f.Add(marshal(f, build(f, keyedTree, change{})))
	f.Add(marshal(f, filesTree(f)))
	f.Add([]byte(`{"format":"swarmseal-bundle/1","chainId":0,"hops":[{}]}`))
	f.Add([]byte(`{"format":"swarmseal-bundle/1","chainId":0,"hops":[{"delegation":null,"result":{},"arrival":{}},{}]}`))
	f.Add([]byte(`{"format":"swarmseal-bundle/1","chainId":0,"hops":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report := swarm.VerifyJSON(data, swarm.Expect{})
		if report.Verified != (len(report.Broken()) == 0) || len(report.Checks) == 0 {
			t.Errorf("verified %v with the checks %+v", report.Verified, report.Checks)
		}
		for _, c := range report.Checks {
			malformed := c.Rule == swarm.RuleForm && !c.Held // at a hop that was not read
			if c.Rule.Meaning() == "" || c.Held != (c.Detail == "") || c.Index < -1 || c.Index >= max(1, len(report.Hops)) && !malformed {
				t.Errorf("check %+v", c)
			}
		}
		b, err := swarm.ParseBundle(data)
		if err != nil {
			return
		}
		again, err := swarm.ParseBundle(marshal(t, b))
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Errorf("read %+v (%v), want %+v", again, err, b)
		}
	})
}
