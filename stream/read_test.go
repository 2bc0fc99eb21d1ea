package stream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/swarmseal/swarmseal/stream"
)

func TestRead(t *testing.T) {
	broken := errors.New("disk on fire")
	whole := delta(1) + done(2) + "event: receipt\ndata: {}\n\ndata: {\"cut\n\n"
	events := []string{"1 text-delta", "2 done", "2 receipt", "2 malformed"}
	for _, c := range []struct {
		name string
		r    io.Reader
		is   func(error) bool
	}{
		{"clean", strings.NewReader(whole + ": bye\n"), func(err error) bool { return err == nil }},
		{"cut", strings.NewReader(whole + "id: 3\ndata: {"), func(err error) bool {
			e, ok := err.(*stream.TruncatedError)
			return ok && e.LastEventID == "2" && errors.Is(err, stream.ErrTruncated)
		}},
		{"the reader says that it was cut", io.MultiReader(strings.NewReader(whole), iotest.ErrReader(io.ErrUnexpectedEOF)),
			func(err error) bool { return errors.Is(err, stream.ErrTruncated) }},
		{"broken", io.MultiReader(strings.NewReader(whole), iotest.ErrReader(broken)), func(err error) bool { return err == broken }},
	} {
		got, err := collect(t, stream.Read(c.r))
		want(t, c.name, got, events)
		if !c.is(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	seq := stream.Read(strings.NewReader(whole))
	for range seq {
		break
	}
}
