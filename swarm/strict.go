package swarm

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeStrict reads one JSON value into v as every signed document is read:
// unknown and repeated members, invalid UTF-8, lone surrogates and anything
// after the value are errors, and member names match by case. The signed
// messages, and what they travel in, lack no member besides, have null nowhere,
// and no number that is not a whole one from 0 to 2^53-1, written in digits
// alone. Two readers of one text can then never see two documents, whatever
// language they are written in.
//
// The error is an *Error of CodeInvalid that names the place.
func DecodeStrict(data []byte, v any) error {
	if err := decodeStrict(data, v); err != nil {
		return &Error{Code: CodeInvalid, Message: err.Error()}
	}
	return nil
}

// decodeStrict gives an error with the place in the document where it can.
func decodeStrict(data []byte, v any, options ...json.Options) error {
	err := json.Unmarshal(data, v, append(options, json.RejectUnknownMembers(true))...)
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		if e.Err == nil { // a kind that the Go type can't hold
			return &placeError{e.JSONPointer, fmt.Errorf("want a value of another kind, not %s", kindOf(e.JSONKind))}
		}
		return &placeError{e.JSONPointer, e.Err}
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return &placeError{e.JSONPointer, fmt.Errorf("%w, at byte %d", e.Err, e.ByteOffset)}
	}
	return err
}

// placeError says where in a document something is wrong.
type placeError struct {
	place jsontext.Pointer
	err   error
}

func (e *placeError) Error() string {
	if e.place == "" {
		return e.err.Error()
	}
	return e.path() + ": " + e.err.Error()
}

func (e *placeError) Unwrap() error { return e.err }

// path writes the place as Go and JavaScript do: hops[0].result.
func (e *placeError) path() string {
	var path []byte
	for token := range e.place.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 64); {
		case err == nil:
			path = append(append(append(path, '['), token...), ']')
		case len(path) > 0:
			path = append(append(path, '.'), token...)
		default:
			path = append(path, token...)
		}
		if len(path) > maxPath {
			return string(path[:maxPath]) + "…" // a foreign name can be of any length
		}
	}
	return string(path)
}

// hop gives the index of the hop of a bundle that the place lies in, or −1.
func (e *placeError) hop() int {
	index := -1
	depth := 0
	for token := range e.place.Tokens() {
		switch depth++; {
		case depth == 1 && token != "hops":
			return -1
		case depth == 2:
			if n, err := strconv.Atoi(token); err == nil {
				index = n
			}
			return index
		}
	}
	return index
}

// maxPath bounds a path in an error, in bytes.
const maxPath = 200

// member is a member of an object, and where its value goes.
type member struct {
	name     string
	into     any // of one of the types that readValue knows
	optional bool
}

// readObject reads an object that has each of members once, and no others. The
// general decoder takes a missing member and null for zero, where JavaScript
// throws or signs something else.
func readObject(dec *jsontext.Decoder, members ...member) error {
	if kind := dec.PeekKind(); kind != '{' {
		return unwanted(dec, "an object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var seen uint32
	for next := 0; dec.PeekKind() != '}'; next++ {
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		i := find(members, raw, next)
		if i < 0 {
			return broken(dec, fmt.Errorf("unknown member %.100s", raw))
		}
		seen |= 1 << i
		if err := readValue(dec, members[i].into); err != nil {
			return err
		}
		next = i
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for i := range members {
		if seen&(1<<i) == 0 && !members[i].optional {
			return broken(dec, fmt.Errorf("the member %q is missing", members[i].name))
		}
	}
	return nil
}

// find gives the index of the member with the name, quoted as it came. It is
// usually the one after the last.
func find(members []member, raw jsontext.Value, next int) int {
	name := raw[1 : len(raw)-1]
	for range members {
		if next >= len(members) {
			next = 0
		}
		if string(name) == members[next].name {
			return next
		}
		next++
	}
	// A name may be written with escapes.
	if unquoted, err := jsontext.AppendUnquote(nil, raw); err == nil && len(unquoted) != len(name) {
		for i := range members {
			if string(unquoted) == members[i].name {
				return i
			}
		}
	}
	return -1
}

// readArray reads an array; next gives where each element goes.
func readArray(dec *jsontext.Decoder, next func() any) error {
	if kind := dec.PeekKind(); kind != '[' {
		return unwanted(dec, "an array")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := readValue(dec, next()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// unwanted reads the next value and says that it is of the wrong kind.
func unwanted(dec *jsontext.Decoder, want string) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	return broken(dec, fmt.Errorf("want %s, not %s", want, kindOf(raw.Kind())))
}

// broken says that something is wrong with the value that was read last.
func broken(dec *jsontext.Decoder, err error) error {
	return &json.SemanticError{JSONPointer: dec.StackPointer(), Err: err}
}

func kindOf(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "nothing"
}
