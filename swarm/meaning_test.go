package swarm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// original is a bundle that verifies, with the tree that it was built from, so
// that a test can tell by itself whether a changed text means the same.
type original struct {
	name  string
	nodes []node
	text  []byte
	// hops are the hops as canonical texts; bare are they without an answer.
	hops, bare []string
	contents   []string
}

// openTree has what nobody has signed a list of: hops below one that gave no
// answer, and below one whose answer came too late to be named.
var openTree = []node{
	{-1, user, coordinator, "Go \ufffd on.", "Done.", swarm.StatusCompleted, false, false, "", ""},
	{0, coordinator, scout, "Look.", "", 0, false, true, "", ""},
	{1, scout, reader, "Read.", "read", swarm.StatusCompleted, false, false, "", ""},
	{0, coordinator, critic, "Judge.", "good", swarm.StatusCompleted, true, true, "", ""},
	{3, critic, silent, "Sing.", "la", swarm.StatusCompleted, false, false, "", ""},
}

func originals(tb testing.TB) []*original {
	tb.Helper()
	files := filesTree(tb)
	if err := files.Attach([]byte("file a"), []byte("file b"), []byte("file c\x00\xff"), nil); err != nil {
		tb.Fatal(err)
	}
	list := []*original{
		{name: "two hops", nodes: twoHops, text: marshal(tb, build(tb, twoHops, change{}))},
		{name: "a tree", nodes: realTree, text: marshal(tb, build(tb, realTree, change{}))},
		{name: "sessions", nodes: keyedTree, text: marshal(tb, build(tb, keyedTree, change{}))},
		{name: "files", nodes: realTree[:2], text: marshal(tb, files)},
		{name: "open ends", nodes: openTree, text: marshal(tb, build(tb, openTree, change{}))},
	}
	for _, o := range list {
		if report := swarm.VerifyJSON(o.text, swarm.Expect{}); !report.Verified {
			tb.Fatalf("%s: %+v", o.name, report.Broken())
		}
		doc, ok := canonical(o.text)
		if !ok {
			tb.Fatalf("%s is not canonical", o.name)
		}
		for _, hop := range doc.Hops {
			o.hops = append(o.hops, string(hop))
			o.bare = append(o.bare, withoutAnswer(hop))
		}
		for _, c := range doc.Contents {
			o.contents = append(o.contents, string(c))
		}
	}
	return list
}

// document is a bundle as raw as a test needs it.
type document struct {
	Format, ChainID jsontext.Value
	Hops, Contents  []jsontext.Value
	rest            int // other members
}

// canonical gives a text's parts with members in order, strings written in one
// way, addresses with their checksum, and no white space; not ok where it is no
// JSON, has a member twice or is no such document.
func canonical(text []byte) (d document, ok bool) {
	v := jsontext.Value(slices.Clone(text))
	if v.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false)) != nil {
		return d, false
	}
	const length = 2 + 2*wallet.AddressLength
	for i := range v {
		if i+length+1 < len(v) && string(v[i:i+3]) == `"0x` && v[i+length+1] == '"' {
			if a, err := wallet.ParseAddress(string(v[i+1 : i+length+1])); err == nil {
				copy(v[i+1:], a.String())
			}
		}
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(v, &top) != nil {
		return d, false
	}
	for name, into := range map[string]any{"hops": &d.Hops, "contents": &d.Contents} {
		raw, there := top[name]
		if there && (json.Unmarshal(raw, into) != nil || string(raw) == "null" || name == "contents" && string(raw) == "[]") {
			return d, false
		}
	}
	d.Format, d.ChainID = jsontext.Value(top["format"]), jsontext.Value(top["chainId"])
	for name := range top {
		if !slices.Contains([]string{"format", "chainId", "hops", "contents"}, name) {
			d.rest++
		}
	}
	return d, true
}

// withoutAnswer drops the result and the arrival of a hop.
func withoutAnswer(hop jsontext.Value) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(hop, &members) != nil {
		return ""
	}
	delete(members, "result")
	delete(members, "arrival")
	var b strings.Builder
	b.WriteString(`{"delegation":`)
	b.Write(members["delegation"])
	b.WriteByte('}')
	return b.String()
}

// means reports whether a text is the bundle, written otherwise, or what a
// verifier can't tell from it: signatures show nothing of hops below one that
// gave no answer, nor of an answer that nobody has named.
func (o *original) means(text []byte) bool {
	d, ok := canonical(text)
	if !ok || d.rest > 0 || string(d.Format) != `"`+swarm.BundleFormat+`"` || string(d.ChainID) != "84532" {
		return false
	}
	// Contents may be left out, and stay in order.
	next := 0
	for _, c := range d.Contents {
		i := slices.Index(o.contents[next:], string(c))
		if i < 0 {
			return false
		}
		next += i + 1
	}
	// Each hop is one of ours, once, behind the one above it.
	at := make([]int, len(o.nodes)) // 1 more than the place in the text
	answered := make([]bool, len(o.nodes))
	for place, hop := range d.Hops {
		i := slices.Index(o.hops, string(hop))
		whole := i >= 0
		if !whole {
			i = slices.Index(o.bare, string(hop))
		}
		if i < 0 || at[i] > 0 {
			return false
		}
		if above := o.nodes[i].parent; above >= 0 && at[above] == 0 || above < 0 && place > 0 {
			return false
		}
		at[i], answered[i] = place+1, whole && o.nodes[i].output != ""
	}
	if !answered[0] {
		return false
	}
	// An answer names all that was made for it, each by what it says.
	for i, n := range o.nodes {
		if n.parent >= 0 && answered[n.parent] && (at[i] == 0 || n.output != "" && !n.byDelegation && !answered[i]) {
			return false
		}
	}
	return true
}

// checkMutated asserts that a changed text verifies if and only if it means the
// same, which it reports, and that a report names a rule and a hop for what broke.
func (o *original) checkMutated(t *testing.T, what string, text []byte) (same bool) {
	t.Helper()
	report := swarm.VerifyJSON(text, swarm.Expect{})
	want := o.means(text)
	if report.Verified != want {
		t.Errorf("%s: %s: verified %v, want %v: %+v\n%s", o.name, what, report.Verified, want, report.Broken(), text)
	}
	broken := report.Broken()
	if report.Verified != (len(broken) == 0) {
		t.Errorf("%s: %s: verified %v, and %d rules broke", o.name, what, report.Verified, len(broken))
	}
	for _, c := range broken {
		if c.Rule.Meaning() == "" || c.Detail == "" || c.Index < -1 || c.Index > len(o.nodes)+8 {
			t.Errorf("%s: %s: %+v names no hop or no rule", o.name, what, c)
		}
	}
	return want
}

// Each single change of each kind at each place.
func TestEveryMutation(t *testing.T) {
	list := originals(t)
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			tried, same := 0, 0
			for _, o := range list {
				root, err := parseTree(o.text)
				if err != nil {
					t.Fatal(err)
				}
				// Swaps are as many as the square of the members.
				places := m.places(root)
				step := max(1, places*m.ways/25) // FuzzMutated has the rest
				if testing.Short() {
					step = max(1, places*m.ways/5)
				}
				for n := 0; n < places*m.ways; n += step {
					changed := root.clone()
					m.apply(changed, n%places, n/places)
					tried++
					if o.checkMutated(t, m.name, changed.bytes()) {
						same++
					}
				}
			}
			t.Logf("%d changes, %d of which mean the same", tried, same)
		})
	}
}

// FuzzMutated applies some changes one after the other. A step of the script
// has five bytes: the mutation, the place (two), the way, and whether a byte of
// the text is changed besides.
func FuzzMutated(f *testing.F) {
	list := originals(f)
	for i := range list {
		for m := range mutations {
			f.Add(uint8(i), []byte{byte(m), 0, byte(7 * m), byte(m), 0})
			f.Add(uint8(i), []byte{byte(m), 1, byte(11 * m), 1, 0, byte(m + 3), 0, byte(5 * m), 2, byte(m)})
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, script []byte) {
		o := list[int(which)%len(list)]
		text := slices.Clone(o.text)
		for ; len(script) >= 5 && len(text) < 2*len(o.text); script = script[5:] {
			at := int(script[1])<<8 | int(script[2])
			if root, err := parseTree(text); err == nil {
				m := mutations[int(script[0])%len(mutations)]
				if places := m.places(root); places > 0 {
					m.apply(root, at%places, int(script[3])%m.ways)
				}
				text = root.bytes()
			}
			if c := script[4]; c != 0 && len(text) > 0 {
				i := (at*251 + int(script[3])) % len(text)
				switch script[3] % 4 {
				case 0:
					text[i] = c
				case 1:
					text = slices.Insert(text, i, c)
				case 2:
					text = slices.Delete(text, i, i+1)
				case 3:
					text = text[:i]
				}
			}
		}
		o.checkMutated(t, "script", text)
	})
}
