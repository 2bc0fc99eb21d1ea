package stream

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/swarmseal/swarmseal/events"
)

// Errors to look for with errors.Is.
var (
	// ErrTruncated is what errors.Is finds in a *TruncatedError.
	ErrTruncated = errors.New("stream truncated")
	// ErrIdle says that not one byte came for Client.Idle.
	ErrIdle = errors.New("stream idle: the server sent nothing, not even a comment")
	// ErrQuiet says that no event came for Client.Quiet.
	ErrQuiet = errors.New("stream quiet: the server sent no event, at most comments")
	// ErrRangedTwice says that the sequence of a Run was ranged over again,
	// which would start a second run.
	ErrRangedTwice = errors.New("a run's sequence can be ranged over once: call Run again to start another")

	errEnded   = errors.New("the stream ended without a terminal event")
	errOver    = errors.New("the server says that nothing follows (204), but no terminal event came")
	errNoRunID = errors.New("the server named no run (x-run-id) to take up")
	errNoIDs   = errors.New("the events have no ids, or the server has reset them, so there is no place to go on from")
)

// TruncatedError says that a stream stopped before its end and could not be
// taken up again. The events before it are good.
type TruncatedError struct {
	RunID       string // "" where it is unknown
	LastEventID string // from where a later Watch can go on; "" where no event had an id
	Err         error  // what stood in the way, such as an *HTTPError; never nil
}

func (e *TruncatedError) Error() string {
	text := ErrTruncated.Error()
	if e.LastEventID != "" {
		text += fmt.Sprintf(" after event %q", e.LastEventID)
	}
	return text + ": " + e.Err.Error()
}

// Is makes errors.Is(err, ErrTruncated) hold.
func (e *TruncatedError) Is(target error) bool { return target == ErrTruncated }

func (e *TruncatedError) Unwrap() error { return e.Err }

// RunError says that a run failed: its stream is whole, and tells so. The event
// that told it was given like any other, and so was what followed it.
type RunError struct {
	RunID   string       // "" where it is unknown
	Event   events.Event // the event that told it, with memory of its own
	Message string       // its ErrorText, for people
	Code    string       // its ErrorCode; "" where it gave none
}

func (e *RunError) Error() string {
	text := "the run failed: "
	if e.Code != "" && e.Code != e.Message {
		text += e.Code + ": "
	}
	return text + e.Message
}

// StartError says that the POST of a run broke off before any answer.
type StartError struct {
	// MayRun is false where the message was never sent (the dial was refused,
	// the certificate is not trusted), so that nothing can have started. Where
	// it is true, sending again may start a second run.
	MayRun bool
	Err    error
}

func (e *StartError) Error() string {
	if e.MayRun {
		return "the run may or may not have started: " + e.Err.Error()
	}
	return "the run did not start: " + e.Err.Error()
}

func (e *StartError) Unwrap() error { return e.Err }

// temporary reports whether a later try may mend err. Of failures to talk at
// all, most do pass (refused, reset, cut, silent); those that come again each
// time are a certificate that is not trusted and a server that speaks no TLS.
func temporary(err error) bool {
	switch e := err.(type) {
	case *HTTPError:
		return e.Temporary()
	case *PaymentRequiredError, *ContentTypeError, *RedirectError, *FrameTooLongError, *requestError:
		return false
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return false
	}
	_, ok := errors.AsType[tls.RecordHeaderError](err)
	return !ok
}

// isGone reports whether err says that what was asked for was there once.
func isGone(err error) bool {
	e, ok := errors.AsType[*HTTPError](err)
	return ok && e.Status == http.StatusGone
}

// unknownHost reports whether err says that the server's name does not exist.
// That is a slip in the URL before the server has answered once; afterwards it
// is a restart, in networks where names come and go with their servers.
func unknownHost(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// requestError says that a request cannot be made at all.
type requestError struct{ text string }

func (e *requestError) Error() string { return e.text }
