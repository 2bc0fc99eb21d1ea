package events

import (
	"bytes"
	"encoding/json"
)

// What an error says that names no cause.
const (
	callFailed    = "tool call failed"
	callCancelled = "tool call cancelled"
)

// maxErrors bounds how deep an error inside an error is looked for; each level
// is another pass over the rest. Deeper ones are given as their JSON.
const maxErrors = 8

// readError reads an error member: a text that is not empty, or an object by
// its message, error (read the same way), reason or code, else its compact
// JSON. ok is false for any other kind, which counts as absent.
func readError(v value, depth int) (cause string, ok bool) {
	if !v.isObject() {
		cause = v.text
		return cause, cause != ""
	}
	var message, reason, code string
	var inner value
	for key, m := range v.members() {
		switch key {
		case "message":
			message = m.text
		case "error":
			inner = m
		case "reason":
			reason = m.text
		case "code":
			code = m.text
		}
	}
	if message != "" {
		return message, true
	}
	if depth < maxErrors {
		if cause, ok := readError(inner, depth+1); ok {
			return cause, true
		}
	}
	if cause := firstOf(reason, code); cause != "" {
		return cause, true
	}
	var b bytes.Buffer
	if json.Compact(&b, bytesOf(v.raw)) != nil {
		return v.raw, true // not reached with checked JSON
	}
	return b.String(), true
}

// answer is what an unwrapped output says itself: whom it is from, and whether
// the call failed.
type answer struct {
	names           names
	results, agents value  // of a find
	action          string // of remote_agent, its verb

	unsuccessful, notOK                       bool
	errorMessage, stopReason, message, reason string
	beside                                    bool // it has more than an error and what goes with one
}

func (a *answer) set(key string, v value) {
	switch key {
	case "error", "status", "code", "details", "retryAfterMs", "request_id":
		return
	case "stopReason":
		a.stopReason = v.text
		return
	case "message":
		a.message = v.text
		return
	case "success":
		a.unsuccessful = v.isFalse()
	case "ok":
		a.notOK = v.isFalse()
	case "error_message":
		a.errorMessage = v.text
	case "reason":
		a.reason = v.text
	case "action":
		a.action = v.text
	case "results":
		a.results = v
	case "agents":
		a.agents = v
	default:
		a.names.set(key, v)
	}
	a.beside = true
}

// failure tells whether an unwrapped output itself says that the call failed,
// and why ("" where it gives no cause).
func (o *output) failure() (cause string, failed bool) {
	if !o.value.isObject() {
		return "", false
	}
	l, a := &o.layer, &o.layer.answer
	cause, given := readError(l.err, 0)
	failed = a.unsuccessful || a.notOK || l.isError || l.status == "error" ||
		given && !a.beside && cause != "{}"
	if !failed {
		return "", false
	}
	return firstOf(cause, a.errorMessage, a.stopReason, a.message, a.reason), true
}
