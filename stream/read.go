package stream

import (
	"errors"
	"io"
	"iter"

	"github.com/swarmseal/swarmseal/events"
)

// Read gives the events of a recorded stream, to the end of r. Terminal events
// do not end it. Where the bytes stop inside an event, or r says so with
// io.ErrUnexpectedEOF, the last item is a *TruncatedError; another error of r
// and a *FrameTooLongError come as they are.
//
// An event's Data is valid until the next event. Read takes r's bytes once:
// ranging again goes on where the first range stopped reading, which may be
// beyond the last event given.
func Read(r io.Reader) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		scanner := NewScanner(r)
		for {
			frame, err := scanner.Next()
			switch {
			case err == nil:
				if !yield(events.Decode(frame.ID, frame.Event, frame.Data), nil) {
					return
				}
				continue
			case err == io.EOF && !scanner.Truncated():
				return
			case err == io.EOF:
				err = io.ErrUnexpectedEOF
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = &TruncatedError{LastEventID: scanner.LastEventID(), Err: err}
			}
			yield(events.Event{}, err)
			return
		}
	}
}
