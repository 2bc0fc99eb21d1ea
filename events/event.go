package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
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
	// later function checks it again.
	object bool
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
		if !valid(trimmed) {
			e.malformed()
			break
		}
		e.object = true
		if t := typeMember(trimmed); t != "" {
			e.Type = t
		}
	}
	return e
}

// typeMember gives the type of a valid object: its last member of that name,
// "" where that is no text.
func typeMember(object []byte) string {
	if t, ok := soleType(object); ok {
		return t
	}
	var found string
	gjson.Parse(view(object)).ForEach(func(key, v gjson.Result) bool {
		if key.Str == "type" {
			found = text(v)
		}
		return true
	})
	if known, ok := interned[found]; ok {
		return known
	}
	return strings.Clone(replaceInvalid(found))
}

// soleType is typeMember for the frames that nearly all are: those that spell
// type once, outside anything nested, with a known value, or not at all. It
// saves a pass over every member; ok is false for any other frame.
func soleType(object []byte) (t string, ok bool) {
	name := []byte(`"type"`)
	if bytes.Contains(object, []byte(`\u`)) { // which may spell it too
		return "", false
	}
	i := bytes.Index(object, name)
	if i < 0 {
		return "", true
	}
	before, after := object[1:i], object[i+len(name):]
	if bytes.ContainsAny(before, "{[") || bytes.HasSuffix(before, []byte(`\`)) || bytes.Contains(after, name) {
		return "", false
	}
	after, isMember := bytes.CutPrefix(trimSpace(after), []byte(":"))
	value, isText := bytes.CutPrefix(trimSpace(after), []byte(`"`))
	end := bytes.IndexByte(value, '"')
	if !isMember || !isText || end < 0 {
		return "", false
	}
	t, ok = interned[string(value[:end])]
	return t, ok
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
