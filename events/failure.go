package events

import (
	"bytes"
	"encoding/json"

	"github.com/tidwall/gjson"
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
func readError(v gjson.Result, depth int) (cause string, ok bool) {
	if v.Type == gjson.String {
		return v.Str, v.Str != ""
	}
	if !v.IsObject() {
		return "", false
	}
	var message, reason, code string
	var inner gjson.Result
	v.ForEach(func(key, m gjson.Result) bool {
		switch key.Str {
		case "message":
			message = text(m)
		case "error":
			inner = m
		case "reason":
			reason = text(m)
		case "code":
			code = text(m)
		}
		return true
	})
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
	if json.Compact(&b, bytesOf(v.Raw)) != nil {
		return v.Raw, true // not reached with checked JSON
	}
	return b.String(), true
}

// ownFailure reads whether an unwrapped output itself says that the call
// failed, and why ("" where it gives no cause).
func ownFailure(v gjson.Result) (cause string, failed bool) {
	if !v.IsObject() {
		return "", false
	}
	var err gjson.Result
	var errorMessage, stopReason, message, reason, status string
	var unsuccessful, notOK, isError, beside bool
	v.ForEach(func(key, m gjson.Result) bool {
		switch key.Str {
		case "error":
			err = m
			return true
		case "success":
			unsuccessful = m.Type == gjson.False
		case "ok":
			notOK = m.Type == gjson.False
		case "isError":
			isError = m.Type == gjson.True
		case "status":
			status = text(m)
			return true
		case "error_message":
			errorMessage = text(m)
		case "reason":
			reason = text(m)
		case "stopReason":
			stopReason = text(m)
			return true
		case "message":
			message = text(m)
			return true
		case "code", "details", "retryAfterMs", "request_id":
			return true
		}
		beside = true
		return true
	})
	cause, given := readError(err, 0)
	failed = unsuccessful || notOK || isError || status == "error" ||
		given && !beside && cause != "{}"
	if !failed {
		return "", false
	}
	return firstOf(cause, errorMessage, stopReason, message, reason), true
}
