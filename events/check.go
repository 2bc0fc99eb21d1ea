package events

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The check of a frame's JSON: that it is whole and strict, as encoding/json's
// Valid has it, and no deeper than maxDepth. It is our own because checking is
// much of what a frame costs, and the checkers at hand go through texts byte by
// byte; this one takes eight at a time, and finds on its way the members that
// Decode wants, which would else be another pass.
//
// Its functions take the index at which to read and give the one behind what
// they read, -1 where it is broken.

// valid reports whether b is one strict JSON value, not nested too deeply,
// with no white space behind it.
func valid(b []byte) bool { return checkValue(b, 0, 0) == len(b) }

// top is what the check learns of the members of the outermost object.
type top struct {
	typ     int  // where the value of the last type begins, 0 for none
	isError bool // the last error is one (see Event.Failed)

	// spelt says that a name has escapes: it may be one of these two, so both
	// must be read again.
	spelt bool
}

// object is valid for what begins with a brace.
func (t *top) object(b []byte) bool { return checkObject(b, 1, 1, t) == len(b) }

// member notes a member by its name and where its value begins.
func (t *top) member(b, name []byte, value int) {
	switch string(name) {
	case "type":
		t.typ = value
	case "error":
		switch b[value] {
		case '"':
			t.isError = b[value+1] != '"'
		case '{':
			t.isError = b[skipSpace(b, value+1)] != '}'
		default:
			t.isError = false
		}
	default:
		t.spelt = t.spelt || len(name) >= len(`t\u0079pe`) && bytes.IndexByte(name, '\\') >= 0
	}
}

// checkValue reads any value, after white space, at a depth.
func checkValue(b []byte, i, depth int) int {
	if i = skipSpace(b, i); i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return checkText(b, i+1)
	case '{':
		return checkObject(b, i+1, depth+1, nil)
	case '[':
		return checkList(b, i+1, depth+1)
	case 't':
		return checkWord(b, i, "true")
	case 'f':
		return checkWord(b, i, "false")
	case 'n':
		return checkWord(b, i, "null")
	}
	return checkNumber(b, i)
}

// checkObject reads the rest of an object, after its brace, at its own depth.
// It tells t of the members, if there is one.
func checkObject(b []byte, i, depth int, t *top) int {
	if depth > maxDepth {
		return -1
	}
	if i = skipSpace(b, i); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) && b[i] == '"' {
		name := i + 1
		end := checkText(b, name)
		if end < 0 {
			return -1
		}
		if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
			return -1
		}
		value := skipSpace(b, i+1)
		if i = checkValue(b, value, depth); i < 0 {
			return -1
		}
		if t != nil {
			t.member(b, b[name:end-1], value)
		}
		if i = skipSpace(b, i); i >= len(b) {
			return -1
		}
		if b[i] == '}' {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i = skipSpace(b, i+1)
	}
	return -1
}

// checkList is checkObject for a list, after its bracket.
func checkList(b []byte, i, depth int) int {
	if depth > maxDepth {
		return -1
	}
	if i = skipSpace(b, i); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = checkValue(b, i, depth); i < 0 {
			return -1
		}
		if i = skipSpace(b, i); i >= len(b) {
			return -1
		}
		if b[i] == ']' {
			return i + 1
		}
		if b[i] != ',' {
			return -1
		}
		i++
	}
}

// skipSpace gives the first index from i on that is no white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && isSpace(b[i]) {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// checkText reads the rest of a string, after its quote.
func checkText(b []byte, i int) int {
	for {
		i = plainEnd(b, i)
		for i < len(b) && b[i] == '\\' { // often one behind another
			if i = checkEscape(b, i+1); i < 0 {
				return -1
			}
		}
		switch {
		case i >= len(b) || b[i] < ' ':
			return -1
		case b[i] == '"':
			return i + 1
		}
	}
}

// plainEnd gives the first index from i on that is a quote, a backslash or a
// control character.
func plainEnd(b []byte, i int) int {
	for i >= 0 && i <= len(b)-8 { // i is never below 0, but so needs no check at the load
		// The high bit of each of eight such bytes. One of them may borrow
		// from the byte behind it and make that seem another, never from one
		// before it: the first is right, and all we want.
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^'"'*ones, x^'\\'*ones
		hits := ((quote - ones) | (slash - ones) | (x - ' '*ones)) &^ x & highs
		if hits != 0 {
			return i + bits.TrailingZeros64(hits)/8
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// checkEscape reads the rest of an escape, after its backslash.
func checkEscape(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		if i+4 >= len(b) {
			return -1
		}
		for _, d := range b[i+1 : i+5] {
			if (d < '0' || d > '9') && (d|0x20 < 'a' || d|0x20 > 'f') {
				return -1
			}
		}
		return i + 5
	}
	return -1
}

func checkNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = digits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i = digits(b, i)
	}
	return i
}

// digits reads one digit or more.
func digits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func checkWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}
