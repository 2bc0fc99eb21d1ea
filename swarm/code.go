package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Code names why something was refused or ended. The set is closed: each face
// (HTTP, the command line, and others) maps all of it in one table.
type Code string

// The codes. The first twelve are those of the tools' contracts.
const (
	CodeSelfRequest     Code = "self_request_error"           // an agent may not delegate to itself
	CodeAgentNotFound   Code = "target_agent_not_found"       // no agent is registered under the wallet
	CodeNotAvailable    Code = "target_not_available"         // registered, but no worker is connected
	CodeHuman           Code = "target_is_human_error"        // people are not delegated to
	CodeLoop            Code = "collaboration_loop_detected"  // the target stands in the chain already
	CodeChainTooLong    Code = "collaboration_chain_too_long" // more hops than allowed
	CodeRegistry        Code = "registry_not_available"       // the store of agents does not answer
	CodeSignature       Code = "invalid_signature"            // a signature does not hold
	CodeExpired         Code = "expired"                      // outside issuedAt to expiresAt
	CodeNonceConflict   Code = "nonce_conflict"               // the nonce was used for something else
	CodeBudget          Code = "budget_exceeded"              // a child may not widen price or time
	CodeRateLimited     Code = "rate_limited"                 // too much at once; try later
	CodeInvalid         Code = "invalid_request"              // malformed, or an argument out of bounds
	CodeUnauthenticated Code = "unauthenticated"              // no valid session
	CodeForbidden       Code = "forbidden"                    // not this wallet's to do
	CodeNotFound        Code = "not_found"                    // no such run or route
	CodeGone            Code = "gone"                         // it was there, and its records are kept no longer
	CodeMethod          Code = "method_not_allowed"           // the route has other methods
	CodeTooLarge        Code = "payload_too_large"            // over a stated limit
	CodeConflict        Code = "conflict"                     // another outcome, or a newer version, is recorded
	CodeUnavailable     Code = "unavailable"                  // the server is draining or its engine is away
	CodeInternal        Code = "internal"                     // our fault
	CodeTimeout         Code = "timeout"                      // no reply before the deadline
	CodeCancelled       Code = "cancelled"                    // stopped by whoever asked
	CodeWorker          Code = "worker_error"                 // the worker said why it failed
)

// Codes lists all codes, for tables that must be exhaustive.
var Codes = []Code{
	CodeSelfRequest, CodeAgentNotFound, CodeNotAvailable, CodeHuman, CodeLoop, CodeChainTooLong, CodeRegistry,
	CodeSignature, CodeExpired, CodeNonceConflict, CodeBudget, CodeRateLimited, CodeInvalid, CodeUnauthenticated,
	CodeForbidden, CodeNotFound, CodeGone, CodeMethod, CodeTooLarge, CodeConflict, CodeUnavailable, CodeInternal,
	CodeTimeout, CodeCancelled, CodeWorker,
}

// Error is a refusal or a failure with its code. It is the "error" member of
// every error that the server sends.
type Error struct {
	Code    Code            `json:"code"`
	Message string          `json:"message"`
	Details json.RawMessage `json:"details,omitempty"` // a JSON object
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is makes errors.Is(err, &Error{Code: c}) compare codes alone.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf gives the code of the Error in err's tree, CodeInternal where there
// is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
