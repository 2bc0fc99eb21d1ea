package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"

	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
)

// The exit statuses. doc.go and the help of swarm list them, too.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTruncated   = 3
	exitRefused     = 4
	exitTimeout     = 5
	exitCancelled   = 6
	exitUnavailable = 7
)

// exitHelp is the table of statuses as the help shows it.
const exitHelp = `Exit status:
  0  ok
  1  failed, not verified, or the agent's own error
  2  usage: the command line is wrong
  3  truncated: a stream stopped before its end
  4  refused by the server
  5  timeout: no answer, or none yet
  6  cancelled or interrupted
  7  the server was not reached, or is not available`

// statusOf is the one table from codes to exit statuses.
var statusOf = map[swarm.Code]int{
	swarm.CodeSelfRequest:     exitRefused,
	swarm.CodeAgentNotFound:   exitRefused,
	swarm.CodeNotAvailable:    exitRefused,
	swarm.CodeHuman:           exitRefused,
	swarm.CodeLoop:            exitRefused,
	swarm.CodeChainTooLong:    exitRefused,
	swarm.CodeRegistry:        exitUnavailable,
	swarm.CodeSignature:       exitRefused,
	swarm.CodeExpired:         exitRefused,
	swarm.CodeNonceConflict:   exitRefused,
	swarm.CodeBudget:          exitRefused,
	swarm.CodeRateLimited:     exitRefused,
	swarm.CodeInvalid:         exitRefused,
	swarm.CodeUnauthenticated: exitRefused,
	swarm.CodeForbidden:       exitRefused,
	swarm.CodeNotFound:        exitRefused,
	swarm.CodeGone:            exitRefused,
	swarm.CodeMethod:          exitRefused,
	swarm.CodeTooLarge:        exitRefused,
	swarm.CodeConflict:        exitRefused,
	swarm.CodeUnavailable:     exitUnavailable,
	swarm.CodeInternal:        exitFailed,
	swarm.CodeTimeout:         exitTimeout,
	swarm.CodeCancelled:       exitCancelled,
	swarm.CodeWorker:          exitFailed,
}

// failure is an error of our own making that knows its exit status. Errors of
// the packages below do not: see classify.
type failure struct {
	status int
	code   swarm.Code
	err    error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usagef says that the command line is wrong.
func usagef(format string, args ...any) error {
	return &failure{exitUsage, swarm.CodeInvalid, fmt.Errorf(format, args...)}
}

// failedf says that something on this machine is not as it has to be.
func failedf(format string, args ...any) error {
	return &failure{exitFailed, swarm.CodeInvalid, fmt.Errorf(format, args...)}
}

// classify gives the exit status of an error and the code that --json shows.
func classify(err error) (int, swarm.Code) {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.status, f.code
	}
	switch {
	case errors.Is(err, errInterrupted):
		return exitCancelled, swarm.CodeCancelled
	case errors.Is(err, stream.ErrTruncated): // it wraps what stood in the way
		return exitTruncated, swarm.CodeUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout, swarm.CodeTimeout
	}
	if e, ok := errors.AsType[*swarm.Error](err); ok {
		if status, known := statusOf[e.Code]; known {
			return status, e.Code
		}
		return exitRefused, e.Code // a newer server's
	}
	if e, ok := errors.AsType[*stream.HTTPError](err); ok {
		code := swarm.Code(e.Code)
		status, known := statusOf[code]
		switch {
		case known:
			return status, code
		case e.Temporary():
			return exitUnavailable, swarm.CodeUnavailable
		}
		return exitRefused, swarm.CodeInternal
	}
	if notReached(err) {
		return exitUnavailable, swarm.CodeUnavailable
	}
	return exitFailed, swarm.CodeInternal
}

// notReached reports whether err says that there was no answer from the server.
func notReached(err error) bool {
	_, isURL := errors.AsType[*url.Error](err)
	_, isNet := errors.AsType[net.Error](err)
	return isURL || isNet || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, stream.ErrIdle)
}

// complain tells of an error on one line and gives its exit status.
func complain(w io.Writer, err error, asJSON bool) int {
	status, code := classify(err)
	message := err.Error()
	if status == exitUnavailable && notReached(err) {
		message += ": is one running there? swarm serve starts one, --server or SWARM_SERVER names another"
	}
	if !asJSON {
		fmt.Fprintln(w, "swarm:", clean(message))
		return status
	}
	if e, ok := errors.AsType[*swarm.Error](err); ok && e.Error() == message {
		message = e.Message // the code has a member of its own
	}
	line, _ := json.Marshal(map[string]any{"error": swarm.Error{Code: code, Message: message}}) // strings always marshal
	fmt.Fprintf(w, "%s\n", line)
	return status
}
