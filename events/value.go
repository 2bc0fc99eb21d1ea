package events

import (
	"math"
	"strconv"
)

// value is the JSON of one value in a frame that was checked, with no white
// space around it; "" for none, which counts as null. Its methods look for no
// faults; in JSON that is broken after all they find less, and nothing worse
// happens.
//
// It is no gjson.Result because that is five times its size, copied twice for
// each member, and has every text unquoted, needed or not: an end whose output
// is JSON in a string would cost a quarter more, and an allocation.
type value string

func (v value) kind() byte {
	if v == "" {
		return 'n'
	}
	return v[0]
}

func (v value) isNull() bool   { return v.kind() == 'n' }
func (v value) isTrue() bool   { return v.kind() == 't' }
func (v value) isFalse() bool  { return v.kind() == 'f' }
func (v value) isText() bool   { return v.kind() == '"' }
func (v value) isList() bool   { return v.kind() == '[' }
func (v value) isObject() bool { return v.kind() == '{' }
func (v value) isNumber() bool { return v != "" && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') }

// text gives a string's text; any other kind counts as absent.
func (v value) text() string {
	if !v.isText() {
		return ""
	}
	return unquote(string(v))
}

// count gives a number without its fraction, 0 for any other kind and for what
// fits no 32 bits.
func (v value) count() int {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !v.isNumber() || math.Abs(n) > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// quoted gives text as a value.
func quoted(s string) value { return value(view(appendQuoted(make([]byte, 0, len(s)+2), s))) }

// member gives an object's last member of that name.
func (v value) member(name string) value {
	var found value
	for m := v.members(); m.next(); {
		if m.key == name {
			found = m.value
		}
	}
	return found
}

// walk goes once through the members of an object or the elements of a list,
// none for other kinds:
//
//	for m := v.members(); m.next(); {
//		… m.key, m.value
//	}
type walk struct {
	key   string
	value value

	rest  value
	keyed bool
}

func (v value) members() walk {
	if !v.isObject() {
		return walk{}
	}
	return walk{rest: v[1:], keyed: true}
}

func (v value) elements() walk {
	if !v.isList() {
		return walk{}
	}
	return walk{rest: v[1:]}
}

func (w *walk) next() bool {
	s := string(w.rest)
	b := bytesOf(s)
	i := skipBetween(b, 0)
	if w.keyed && i < len(b) && b[i] == '"' {
		end, plain := textEnd(b, i+1)
		if w.key = s[i+1 : max(end-1, i+1)]; !plain {
			w.key = unquote(s[i:end])
		}
		i = skipBetween(b, end)
	}
	if i >= len(b) || b[i] == ']' || b[i] == '}' {
		w.rest = ""
		return false
	}
	end := valueEnd(b, i)
	w.value, w.rest = w.rest[i:end], w.rest[end:]
	return true
}

// skipBetween gives the first index from i on that is neither white space nor
// what stands between members and elements.
func skipBetween(b []byte, i int) int {
	for i < len(b) && (b[i] == ',' || b[i] == ':' || isSpace(b[i])) {
		i++
	}
	return i
}

// valueEnd gives the index behind the value at i.
func valueEnd(b []byte, i int) int {
	switch b[i] {
	case '"':
		end, _ := textEnd(b, i+1)
		return end
	case '{', '[':
	default:
		for i < len(b) && b[i] != ',' && b[i] != ']' && b[i] != '}' && !isSpace(b[i]) {
			i++
		}
		return i
	}
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i, _ = textEnd(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(b)
}

// textEnd gives the index behind the string of which i is the first byte after
// the quote; plain says that it has no escapes.
func textEnd(b []byte, i int) (end int, plain bool) {
	plain = true
	for {
		i = plainEnd(b, i)
		for i < len(b) && b[i] == '\\' { // often one behind another
			i, plain = i+2, false
		}
		if i >= len(b) {
			return len(b), plain
		}
		i++
		if b[i-1] == '"' {
			return i, plain
		}
	}
}
