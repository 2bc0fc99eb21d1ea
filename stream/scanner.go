package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// DefaultMaxFrameBytes bounds a frame where nothing else is said: 32 MiB.
const DefaultMaxFrameBytes = 32 << 20

// Sizes of the scanner's buffer: how it starts, and above what it is given
// back some time after a large frame, so that one large frame an hour does not
// hold megabytes for the hour.
const (
	startBufferBytes = 6 << 10
	keepBufferBytes  = 1 << 20
)

// maxCommentBytes bounds the text that OnComment is given.
const maxCommentBytes = 4 << 10

// maxEmptyReads is how many reads in a row may give neither bytes nor an error.
const maxEmptyReads = 100

// ErrFrameTooLong is what errors.Is finds in a *FrameTooLongError.
var ErrFrameTooLong = errors.New("frame too long")

// FrameTooLongError says that a frame has more bytes than MaxFrameBytes.
type FrameTooLongError struct{ Limit int }

func (e *FrameTooLongError) Error() string {
	return fmt.Sprintf("frame too long: more than %d bytes before its blank line", e.Limit)
}

// Is makes errors.Is(err, ErrFrameTooLong) hold.
func (e *FrameTooLongError) Is(target error) bool { return target == ErrFrameTooLong }

// Frame is one event of a stream as it travels, before anybody looks into its
// data.
type Frame struct {
	// ID is the last event id when the frame was given: its own, else that of
	// the nearest frame before it that had one, else "". Ids share memory in
	// blocks of 1 KiB, and one that is kept keeps its block.
	ID string
	// Event is the frame's event name, "message" where none was set.
	Event string
	// Data is the frame's data lines, joined by line feeds. The scanner's
	// buffer holds it: it is valid until the next call of Next.
	Data []byte
}

// Scanner splits bytes into frames by the WHATWG rules for event streams,
// however the bytes are cut. It takes time in proportion to the bytes and
// holds one frame at a time. A frame costs no allocation, and a new id, whose
// memory is had in blocks of 1 KiB, next to none.
//
// Bytes that are no UTF-8 become U+FFFD as the Encoding Standard says.
type Scanner struct {
	// MaxFrameBytes bounds one frame: its lines with their field names, and
	// one byte for each line's end. Comments and the blank line do not count.
	// Zero means DefaultMaxFrameBytes; a longer frame gives a
	// *FrameTooLongError. The standard sets no limit; this one is ours,
	// against hostile peers. Set it before the first Next.
	MaxFrameBytes int
	// OnComment is given each comment line's text, what stands after its
	// colon, as soon as the line has ended: by Next, in order with the frames.
	// The text is valid during the call. Comments have no bound and are not
	// held, so of a text over 4 KiB it gets the first 4 KiB, less what is left
	// of a character cut there. Nil means that comments are only counted. Set
	// it before the first Next.
	OnComment func(text []byte)

	r   io.Reader
	err error // what Next gives from now on

	// buf[pos:end] has not been looked at as lines. No LF stands in it before
	// lf, and cr is its first CR, or end where there is none: each byte is
	// searched once for each, however short the lines and the reads are.
	buf      []byte
	pos, end int
	lf, cr   int
	spare    int // how often room was made since the buffer last grew

	state   state
	comment []byte // how a comment starts whose bytes were dropped, for OnComment

	// The block being read. Its data is buf[from:to], joined in place: a data
	// line is moved down to stand after the one before it.
	size     int // bytes of its lines that are no comments; 0 where there is none
	hasData  bool
	from, to int
	event    string
	id       string // the last event id, once the block is given

	lastID   string
	retry    int64
	hasRetry bool
	comments int
	ids      idTexts
	names    map[string]string // event names seen, so that each is allocated once
}

// NewScanner gives a scanner of r's bytes.
func NewScanner(r io.Reader) *Scanner { return &Scanner{r: r, state: atStart} }

// LastEventID gives the stream's last event id: that of the last whole block,
// also of one that had no data and so gave no frame.
func (s *Scanner) LastEventID() string { return s.lastID }

// Retry gives the last reconnection time that the stream set, in
// milliseconds; ok is false where it set none.
func (s *Scanner) Retry() (ms int64, ok bool) { return s.retry, s.hasRetry }

// Comments counts the whole comment lines so far. Servers send them to keep a
// silent connection alive.
func (s *Scanner) Comments() int { return s.comments }

// Truncated reports, once Next has given an error, whether the bytes stop
// inside a block or a line. Whole comment lines at the end are no block. A
// stream cut between two blocks cannot be told from a whole one.
func (s *Scanner) Truncated() bool {
	return s.err != nil && (s.size > 0 || s.state&inComment != 0 || s.pos < s.end)
}

// Next gives the next frame. At the end of the bytes the error is io.EOF,
// also where they were cut (see Truncated); else it is a *FrameTooLongError
// or what the reader gave. Every later call gives the same error.
func (s *Scanner) Next() (Frame, error) {
	for s.err == nil {
		var data []byte
		var ok bool
		if s.state == 0 {
			data, ok = s.quick()
		}
		if !ok {
			if data, ok = s.step(); !ok {
				continue
			}
		}
		if !isASCII(data) && !utf8.Valid(data) {
			data = appendValid(nil, data)
		}
		name := "message"
		if s.event != "" {
			name = s.event
			s.event = ""
		}
		return Frame{ID: s.lastID, Event: name, Data: data}, nil
	}
	return Frame{}, s.err
}

// step takes the next line, or reads more where none is whole. Where the line
// ends a block that has data, it gives that and ok is true.
func (s *Scanner) step() (data []byte, ok bool) {
	line, ok := s.line()
	switch {
	case !ok:
		s.err = s.fill()
	case len(line) == 0:
		s.lastID, s.size = s.id, 0
		if s.hasData {
			s.hasData = false
			return s.buf[s.from:s.to:s.to], true
		}
		s.event = ""
	case line[0] == ':':
		s.endComment(line)
	default:
		if s.size += len(line) + 1; s.size > s.limit() {
			s.err = &FrameTooLongError{s.limit()}
			break
		}
		s.field(line)
	}
	return nil, false
}

func (s *Scanner) limit() int {
	if s.MaxFrameBytes > 0 {
		return s.MaxFrameBytes
	}
	return DefaultMaxFrameBytes
}

// field takes one line that is neither blank nor a comment.
func (s *Scanner) field(line []byte) {
	name, value := line, []byte(nil)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], line[i+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		s.data(value)
	case "event":
		s.event = s.name(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			if !utf8.Valid(value) {
				value = appendValid(nil, value)
			}
			s.id = s.ids.text(value)
		}
	case "retry":
		if ms, ok := parseDigits(value); ok {
			s.retry, s.hasRetry = ms, true
		}
	}
}

// data joins a data line's value to the block's data.
func (s *Scanner) data(value []byte) {
	if !s.hasData {
		s.hasData = true
		// The value ends where its line ended, just before pos: but for the
		// empty value of a line without a colon, which is no part of buf.
		s.from = s.pos - 1 - len(value)
		s.to = s.from + len(value)
		return
	}
	s.buf[s.to] = '\n'
	s.to += 1 + copy(s.buf[s.to+1:], value)
}

// name gives an event name's text, the same string for the same bytes.
func (s *Scanner) name(value []byte) string {
	const maxNames, maxNameBytes = 64, 64
	if known, ok := s.names[string(value)]; ok {
		return known
	}
	text := string(appendValid(nil, value))
	if len(s.names) < maxNames && len(value) <= maxNameBytes {
		if s.names == nil {
			s.names = make(map[string]string)
		}
		s.names[string(value)] = text
	}
	return text
}

// parseDigits reads ASCII digits as a number of 64 bits, sign bit clear; any
// other text, the empty one too, is none.
func parseDigits(text []byte) (n int64, ok bool) {
	for _, c := range text {
		if c < '0' || c > '9' || n > (math.MaxInt64-int64(c-'0'))/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, len(text) > 0
}
