package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Event is one event of a stream. Nothing of the frame is lost in it: an event
// of unknown type, plain text and a broken frame keep their Data.
type Event struct {
	// ID is the last event id when the event was given, "" if none came.
	ID string

	// Name is the SSE event name, "message" where the frame set none.
	Name string

	// Type is what the frame is: the type member of its data, else Name
	// unless that is "message" (then ""); TypeDoneSentinel for [DONE];
	// TypeMalformed for a broken frame.
	Type string

	// Data is the frame's data as it came, byte for byte. It shares the
	// memory given to [Decode]: [Event.Clone] an event that outlives it.
	Data []byte

	// Err is a *MalformedError where Data starts with { or [ and is not one
	// JSON value, else nil.
	Err error

	// object says that Decode found Data to be one JSON object, so that no
	// later function checks it again; hasError, that this object has a member
	// error that is one.
	object, hasError bool
}

// MalformedError tells why a frame is broken.
type MalformedError struct {
	Name   string // the frame's SSE event name
	Offset int64  // the byte of the data, from 0, at which it goes wrong
	Size   int    // length of the data in bytes
	Err    error  // what is wrong there
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("%q frame of %d bytes, at byte %d: %v; want one whole JSON value",
		e.Name, e.Size, e.Offset, e.Err)
}

func (e *MalformedError) Unwrap() error { return e.Err }

var errDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)

// Decode reads one SSE frame: the last event id, the event name ("" means
// message) and the data. It never fails: a broken frame is an Event too, of
// TypeMalformed, because one bad frame does not end a stream.
//
// The Event shares data's memory, which must not change while it is in use.
func Decode(id, name string, data []byte) Event {
	if name == "" {
		name = "message"
	}
	e := Event{ID: id, Name: name, Data: data}
	if name != "message" {
		e.Type = name
	}
	trimmed := trimSpace(data)
	if len(trimmed) == 0 {
		return e
	}
	switch {
	case string(trimmed) == TypeDoneSentinel:
		e.Type = TypeDoneSentinel
	case trimmed[0] == '[':
		if !valid(trimmed) {
			e.malformed()
		}
	case trimmed[0] == '{':
		var t top
		if !t.object(trimmed) {
			e.malformed()
			break
		}
		e.object, e.hasError = true, t.isError
		var typ string
		if t.spelt {
			object := parse(view(trimmed))
			typ, e.hasError = typeText(object.member("type")), isError(object.member("error"))
		} else if t.typ > 0 {
			typ = typeAt(trimmed[t.typ:])
		}
		if typ != "" {
			e.Type = typ
		}
	}
	return e
}

// typeAt reads the type whose value data begins with.
func typeAt(data []byte) string {
	if data[0] != '"' {
		return ""
	}
	end := 1 + bytes.IndexByte(data[1:], '"')
	if known, ok := interned[string(data[1:end])]; ok {
		return known
	}
	return typeText(parse(view(data)))
}

func typeText(v value) string {
	typ := v.text
	if known, ok := interned[typ]; ok {
		return known
	}
	return own(typ)
}

// malformed marks e as broken. The slow decoder is asked only here, for what
// it says of the place.
func (e *Event) malformed() {
	err := &MalformedError{Name: e.Name, Size: len(e.Data)}
	e.Type, e.Err = TypeMalformed, err
	var syntax *json.SyntaxError
	switch cause := json.Unmarshal(e.Data, new(json.RawMessage)); {
	case errors.As(cause, &syntax) && tooDeep(trimSpace(e.Data)):
		err.Offset, err.Err = syntax.Offset, errDepth
	case errors.As(cause, &syntax):
		// encoding/json counts the offending byte in; past the end it
		// has none to count.
		err.Offset, err.Err = max(syntax.Offset-1, 0), cause
		if syntax.Offset >= int64(len(e.Data)) && strings.Contains(cause.Error(), "unexpected end") {
			err.Offset = int64(len(e.Data))
		}
	default:
		err.Err = errDepth
	}
}

// Clone copies e with memory of its own.
func (e Event) Clone() Event {
	e.Data = bytes.Clone(e.Data)
	return e
}
