package events

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// Terminal reports whether e tells how its run ended: done, stopped, an error
// (see [Event.Failed]), a workflow's complete, or generation B's activity.run
// with the status completed, failed or cancelled. It proves that the run is
// over, not that the stream is: a receipt, a result and [DONE] may follow, so
// read on until the stream ends or a bounded wait is over. [DONE] itself is not
// terminal, since it does not say how the run ended; nor are model.done and
// model.error, for an agent may ask its model many times in one run.
func (e Event) Terminal() bool {
	switch e.Type {
	case TypeDone, TypeStopped, TypeError, TypeComposeError, TypeComplete:
		return true
	case TypeActivityRun:
		switch e.status() {
		case "completed", "failed", "cancelled":
			return true
		}
	case "":
		return e.untypedError()
	}
	return false
}

// Failed reports whether e says that its run failed: an error or
// compose.error, an activity.run with the status failed, a workflow's complete
// with success false or an error, or an object without a type that has an
// error, as gateways of OpenAI's kind send inside a 200, alone or in a chunk.
// An error is a text that is not empty or an object with a member; null, "",
// {} and other kinds are none. A failed event is terminal, and its
// [Event.ErrorText] is never "".
func (e Event) Failed() bool {
	switch e.Type {
	case TypeError, TypeComposeError:
		return true
	case TypeActivityRun:
		return e.status() == "failed"
	case TypeComplete:
		object, _ := e.parsed()
		return member(object, "success").Type == gjson.False || isError(member(object, "error"))
	case "":
		return e.untypedError()
	}
	return false
}

// untypedError reports whether the data of an event without a type has an
// error. Most such events are chunks of an answer, so those that cannot spell
// the member are told at memory speed.
func (e Event) untypedError() bool {
	if !bytes.Contains(e.Data, []byte(`"error"`)) && !bytes.Contains(e.Data, []byte(`\u00`)) {
		return false
	}
	object, _ := e.parsed()
	return isError(member(object, "error"))
}

// isError reports whether an error member says that there is one.
func isError(v gjson.Result) bool {
	if !v.IsObject() {
		return text(v) != ""
	}
	has := false
	v.ForEach(func(_, _ gjson.Result) bool {
		has = true
		return false
	})
	return has
}

func (e Event) status() string {
	object, _ := e.parsed()
	return text(member(object, "status"))
}

// tellsError reports whether e has a cause to tell: it failed its run, or
// something within it failed.
func (e Event) tellsError() bool {
	switch e.Type {
	case TypeModelError, TypeActivityError, TypeSwarmChildError, TypeTaskFailed:
		return true
	}
	return e.Failed()
}

// ErrorText gives the readable cause of a failed event, and of a model.error,
// activity.error, swarm_child_error and task.failed: its error (a text, or an
// object by its message, error, reason or code), else its message, content or
// code, else data that is plain text. For a malformed event it says what is
// wrong with the frame. It is "" for any other event, and never for an error.
func (e Event) ErrorText() string {
	if e.Type == TypeMalformed && e.Err != nil {
		return e.Err.Error()
	}
	if !e.tellsError() {
		return ""
	}
	var cause string
	if object, ok := e.parsed(); ok {
		var r reasons
		r.read(object)
		cause = r.text()
	} else {
		cause = string(trimSpace(e.Data))
	}
	return firstOf(own(cause), "error without a cause")
}

// ErrorCode gives the machine's name for what [Event.ErrorText] tells: the
// code in the event's error, else the event's own code, numbers by their text.
// It is "" where there is none, and for an event that tells of no error.
func (e Event) ErrorCode() string {
	if !e.tellsError() {
		return ""
	}
	object, ok := e.parsed()
	if !ok {
		return ""
	}
	var r reasons
	r.read(object)
	return own(r.codes())
}

// reasons are the members of an event that tell of an error.
type reasons struct {
	err, payload             gjson.Result
	message, content, output string
	code                     string
}

func (r *reasons) read(object gjson.Result) {
	object.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "error":
			r.err = v
		case "payload":
			r.payload = v
		case "message":
			r.message = text(v)
		case "content":
			r.content = text(v)
		case "output":
			r.output = text(v)
		case "code":
			r.code = codeText(v)
		}
		return true
	})
}

func (r *reasons) text() string {
	if cause, ok := readError(r.err, 0); ok && cause != "{}" {
		return cause
	}
	if cause, ok := readError(member(r.payload, "error"), 0); ok && cause != "{}" {
		return cause
	}
	return firstOf(r.message, r.content, r.code, text(member(r.payload, "message")), r.output)
}

func (r *reasons) codes() string {
	return firstOf(
		codeText(member(r.err, "code")), r.code,
		codeText(member(member(r.payload, "error"), "code")), codeText(member(r.payload, "code")),
	)
}

// codeText reads a code, which some systems have as a number.
func codeText(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return text(v)
}
