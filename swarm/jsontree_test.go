package swarm_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonNode is a value of a JSON text that can be changed and written again,
// also to what no encoder would write.
type jsonNode struct {
	kind  jsontext.Kind
	raw   string   // of a string, number, bool or null
	names []string // of an object's members, quoted
	kids  []*jsonNode
}

// parseTree reads a text; repeated names and broken strings are fine.
func parseTree(text []byte) (*jsonNode, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	root, err := parseNode(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("something after the value: %v", err)
	}
	return root, nil
}

func parseNode(dec *jsontext.Decoder) (*jsonNode, error) {
	n := &jsonNode{kind: dec.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		raw, err := dec.ReadValue()
		n.raw = string(raw)
		return n, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if n.kind == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, string(name))
		}
		kid, err := parseNode(dec)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	_, err := dec.ReadToken()
	return n, err
}

func (n *jsonNode) write(b *strings.Builder) {
	switch n.kind {
	case '{', '[':
		b.WriteByte(byte(n.kind))
		for i, kid := range n.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.kind == '{' {
				b.WriteString(n.names[i] + ":")
			}
			kid.write(b)
		}
		b.WriteByte(byte(n.kind) + 2) // } and ] are two behind { and [
	default:
		b.WriteString(n.raw)
	}
}

func (n *jsonNode) bytes() []byte {
	var b strings.Builder
	n.write(&b)
	return []byte(b.String())
}

func (n *jsonNode) clone() *jsonNode {
	c := *n
	c.names, c.kids = slices.Clone(n.names), nil
	for _, kid := range n.kids {
		c.kids = append(c.kids, kid.clone())
	}
	return &c
}

// all lists the nodes below n that a test fits.
func (n *jsonNode) all(fits func(n *jsonNode) bool) (list []*jsonNode) {
	if fits(n) {
		list = append(list, n)
	}
	for _, kid := range n.kids {
		list = append(list, kid.all(fits)...)
	}
	return list
}

// spot is a member of an object or an element of an array.
type spot struct {
	of *jsonNode
	i  int
}

// spots lists all members, or all elements.
func (n *jsonNode) spots(kind jsontext.Kind) (list []spot) {
	for _, of := range n.all(func(n *jsonNode) bool { return n.kind == kind }) {
		for i := range of.kids {
			list = append(list, spot{of, i})
		}
	}
	return list
}

func (s spot) value() *jsonNode { return s.of.kids[s.i] }

// twins groups the members of one name, or the elements of one array: any two
// of a group can be swapped.
func (n *jsonNode) twins(kind jsontext.Kind) (groups [][]spot) {
	at := make(map[any]int)
	for _, s := range n.spots(kind) {
		var key any = s.of
		if kind == '{' {
			key = s.of.names[s.i]
		}
		if _, known := at[key]; !known {
			at[key], groups = len(groups), append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], s)
	}
	return groups
}

// pairs counts the pairs that groups have.
func pairs(groups [][]spot) (n int) {
	for _, g := range groups {
		n += len(g) * (len(g) - 1) / 2
	}
	return n
}

// pair gives the pair with a number below that count.
func pair(groups [][]spot, at int) (a, b *jsonNode) {
	for _, g := range groups {
		if n := len(g) * (len(g) - 1) / 2; at >= n {
			at -= n
			continue
		}
		for i := range g {
			if rest := len(g) - 1 - i; at >= rest {
				at -= rest
				continue
			}
			return g[i].value(), g[i+1+at].value()
		}
	}
	panic("no such pair")
}

// mutation changes a tree at the place with the number at, which is below
// places, in one of some ways.
type mutation struct {
	name   string
	ways   int
	places func(root *jsonNode) int
	apply  func(root *jsonNode, at, way int)
}

// bits of texts and numbers that decoders get wrong.
var (
	oddTexts   = []string{`\ud800`, `\udc00`, `\ude00\ud83d`, "\xff", "\xed\xa0\x80", `\u0000`, " ", "x", "0", "\ufffd"}
	oddNumbers = []string{"9007199254740992", "9007199254740993", "18446744073709551616", "-1", "-0", "0.0", "1e0", "256", "01"}
	oddValues  = []string{"null", "[null]", "[]", "{}", `""`, "0", "true", `"0x"`}
)

func isNumber(n *jsonNode) bool { return n.kind == '0' }
func isString(n *jsonNode) bool { return n.kind == '"' }
func isScalar(n *jsonNode) bool { return n.kind != '{' && n.kind != '[' }

func count[T any](list func(root *jsonNode) []T) func(root *jsonNode) int {
	return func(root *jsonNode) int { return len(list(root)) }
}

func members(root *jsonNode) []spot      { return root.spots('{') }
func elements(root *jsonNode) []spot     { return root.spots('[') }
func numbers(root *jsonNode) []*jsonNode { return root.all(isNumber) }
func texts(root *jsonNode) []*jsonNode   { return root.all(isString) }
func scalars(root *jsonNode) []*jsonNode { return root.all(isScalar) }

var mutations = []mutation{
	{"drop a member", 1, count(members), func(root *jsonNode, at, _ int) {
		s := members(root)[at]
		s.of.names, s.of.kids = slices.Delete(s.of.names, s.i, s.i+1), slices.Delete(s.of.kids, s.i, s.i+1)
	}},
	{"repeat a member", 3, count(members), func(root *jsonNode, at, way int) {
		s := members(root)[at]
		name, value := s.of.names[s.i], s.value().clone()
		switch way {
		case 1: // another value first
			value = &jsonNode{kind: 'n', raw: "null"}
		case 2: // the name written otherwise
			name = `"\u00` + strconv.FormatUint(uint64(name[1]), 16) + name[2:]
		}
		s.of.names, s.of.kids = slices.Insert(s.of.names, s.i, name), slices.Insert(s.of.kids, s.i, value)
	}},
	{"rename a member", 2, count(members), func(root *jsonNode, at, way int) {
		s := members(root)[at]
		name := s.of.names[s.i]
		s.of.names[s.i] = []string{strings.ToUpper(name[:2]) + name[2:], name[:len(name)-1] + ` "`}[way]
	}},
	{"add a member", 1, count(members), func(root *jsonNode, at, _ int) {
		s := members(root)[at]
		s.of.names, s.of.kids = append(s.of.names, `"types"`), append(s.of.kids, &jsonNode{kind: '{'})
	}},
	{"put another kind of value", len(oddValues), count(members), func(root *jsonNode, at, way int) {
		*members(root)[at].value() = jsonNode{kind: '0', raw: oddValues[way]}
	}},
	{"put another kind of element", len(oddValues), count(elements), func(root *jsonNode, at, way int) {
		*elements(root)[at].value() = jsonNode{kind: '0', raw: oddValues[way]}
	}},
	{"drop an element", 1, count(elements), func(root *jsonNode, at, _ int) {
		s := elements(root)[at]
		s.of.kids = slices.Delete(s.of.kids, s.i, s.i+1)
	}},
	{"repeat an element", 1, count(elements), func(root *jsonNode, at, _ int) {
		s := elements(root)[at]
		s.of.kids = slices.Insert(s.of.kids, s.i, s.value().clone())
	}},
	{"swap elements", 1, func(root *jsonNode) int { return pairs(root.twins('[')) }, func(root *jsonNode, at, _ int) {
		a, b := pair(root.twins('['), at)
		*a, *b = *b, *a
	}},
	{"swap values of one name", 3, func(root *jsonNode) int { return pairs(root.twins('{')) }, func(root *jsonNode, at, way int) {
		a, b := pair(root.twins('{'), at)
		was, is := a.clone(), b.clone()
		if way != 1 {
			*a = *is
		}
		if way != 2 {
			*b = *was
		}
	}},
	{"count a number up or down", 2, count(numbers), func(root *jsonNode, at, way int) {
		n := numbers(root)[at]
		if v, err := strconv.ParseInt(n.raw, 10, 64); err == nil {
			n.raw = strconv.FormatInt(v+[]int64{1, -1}[way], 10)
		}
	}},
	{"write an odd number", len(oddNumbers), count(numbers), func(root *jsonNode, at, way int) { numbers(root)[at].raw = oddNumbers[way] }},
	{"spoil a text", len(oddTexts), count(texts), func(root *jsonNode, at, way int) {
		n := texts(root)[at]
		n.raw = n.raw[:len(n.raw)-1] + oddTexts[way] + `"`
	}},
	{"shorten a text", 1, count(texts), func(root *jsonNode, at, _ int) {
		if n := texts(root)[at]; len(n.raw) > 2 {
			n.raw = n.raw[:len(n.raw)-2] + `"`
		}
	}},
	{"change a digit or a letter", 4, count(texts), func(root *jsonNode, at, way int) {
		n := texts(root)[at]
		if i := 1 + way*(len(n.raw)-2)/4; i < len(n.raw)-1 {
			n.raw = n.raw[:i] + string(rune(n.raw[i]^1)) + n.raw[i+1:]
		}
	}},
	{"change case", 2, count(texts), func(root *jsonNode, at, way int) {
		n := texts(root)[at]
		n.raw = []string{strings.ToLower(n.raw), strings.Replace(strings.ToUpper(n.raw), "0X", "0x", 1)}[way]
	}},
	{"turn a truth", 1, func(root *jsonNode) int { return len(scalars(root)) }, func(root *jsonNode, at, _ int) {
		n := scalars(root)[at]
		switch n.raw {
		case "true":
			n.raw = "false"
		case "false":
			n.raw = "true"
		}
	}},
	{"sort members", 1, func(*jsonNode) int { return 1 }, func(root *jsonNode, _, _ int) {
		for _, n := range root.all(func(n *jsonNode) bool { return n.kind == '{' }) {
			slices.Reverse(n.names)
			slices.Reverse(n.kids)
		}
	}},
	{"escape a text", 1, count(texts), func(root *jsonNode, at, _ int) {
		if n := texts(root)[at]; len(n.raw) > 2 && n.raw[1] >= ' ' && n.raw[1] < 0x7f && n.raw[1] != '\\' {
			n.raw = `"\u00` + strconv.FormatUint(uint64(n.raw[1]), 16) + n.raw[2:]
		}
	}},
}
