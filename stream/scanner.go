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
	startBufferBytes = 8 << 10
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
	// the nearest frame before it that had one, else "".
	ID string
	// Event is the frame's event name, "message" where none was set.
	Event string
	// Data is the frame's data lines, joined by line feeds. The scanner's
	// buffer holds it: it is valid until the next call of Next.
	Data []byte
}

// Scanner splits bytes into frames by the WHATWG rules for event streams,
// however the bytes are cut. It takes time in proportion to the bytes, holds
// one frame at a time, and allocates nothing for a frame but a new id.
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

	// buf[pos:end] has not been looked at as lines. lf and cr are the first
	// LF and CR in it, or end where there is none: each byte is searched
	// once for each, however short the lines and the reads are.
	buf      []byte
	pos, end int
	lf, cr   int
	spare    int // how often room was made since the buffer last grew

	started   bool   // the place of a BOM is behind us
	skipLF    bool   // the last line ended with CR: an LF now belongs to it
	inComment bool   // the bytes so far of an unfinished comment were dropped
	comment   []byte // how that comment starts, its colon too, for OnComment

	// The block being read. Its data is buf[from:to], joined in place: a data
	// line is moved down to stand after the one before it.
	open     bool // some line that is no comment was read
	size     int  // bytes of those lines
	hasData  bool
	from, to int
	event    string
	id       string // the last event id, once the block is given

	lastID   string
	retry    int64
	hasRetry bool
	comments int
	names    map[string]string // event names seen, so that each is allocated once
}

// NewScanner gives a scanner of r's bytes.
func NewScanner(r io.Reader) *Scanner { return &Scanner{r: r} }

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
	return s.err != nil && (s.open || s.inComment || s.pos < s.end)
}

// Next gives the next frame. At the end of the bytes the error is io.EOF,
// also where they were cut (see Truncated); else it is a *FrameTooLongError
// or what the reader gave. Every later call gives the same error.
func (s *Scanner) Next() (Frame, error) {
	for s.err == nil {
		line, ok := s.line()
		if !ok {
			s.err = s.fill()
			continue
		}
		if len(line) == 0 {
			if frame, ok := s.dispatch(); ok {
				return frame, nil
			}
			continue
		}
		if line[0] == ':' {
			s.endComment(line)
			continue
		}
		s.open = true
		if s.size += len(line) + 1; s.size > s.limit() {
			s.err = &FrameTooLongError{s.limit()}
			break
		}
		s.field(line)
	}
	return Frame{}, s.err
}

func (s *Scanner) limit() int {
	if s.MaxFrameBytes > 0 {
		return s.MaxFrameBytes
	}
	return DefaultMaxFrameBytes
}

// line takes the next whole line off the buffer, without its end; ok is false
// where more bytes are needed.
func (s *Scanner) line() (line []byte, ok bool) {
	if !s.started && !s.skipBOM() {
		return nil, false
	}
	for {
		if s.skipLF && s.pos < s.end {
			s.skipLF = false
			if s.buf[s.pos] == '\n' {
				s.advance(s.pos + 1)
			}
		}
		stop := min(s.lf, s.cr)
		if stop == s.end {
			return nil, false
		}
		line = s.buf[s.pos:stop]
		// A CR ends its line at once. Waiting to see whether an LF follows
		// would hold back the last frame of a stream that uses CR alone.
		s.skipLF = stop == s.cr
		s.advance(stop + 1)
		if !s.inComment {
			return line, true
		}
		s.keepComment(line)
		s.inComment = false
		s.endComment(s.comment)
		s.comment = s.comment[:0]
	}
}

// keepComment keeps of an unfinished comment what OnComment may be given: its
// colon, the bytes up to the bound, and one more to tell that there are more.
func (s *Scanner) keepComment(part []byte) {
	if s.OnComment != nil {
		room := 1 + maxCommentBytes + 1 - len(s.comment)
		s.comment = append(s.comment, part[:min(len(part), room)]...)
	}
}

// endComment takes a whole comment line, or all that was kept of it.
func (s *Scanner) endComment(line []byte) {
	s.comments++
	if s.OnComment == nil {
		return
	}
	text := line[1:]
	if len(text) > maxCommentBytes {
		n := maxCommentBytes
		for n > maxCommentBytes-utf8.UTFMax+1 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	if !utf8.Valid(text) {
		text = appendValid(nil, text)
	}
	s.OnComment(text)
}

// skipBOM drops one BOM at the stream's start; false where its bytes are not
// all here yet.
func (s *Scanner) skipBOM() bool {
	const bom = "\xef\xbb\xbf"
	head := s.buf[s.pos:min(s.end, s.pos+len(bom))]
	if !bytes.HasPrefix([]byte(bom), head) {
		s.started = true
		return true
	}
	if len(head) < len(bom) {
		return false
	}
	s.started = true
	s.advance(s.pos + len(bom))
	return true
}

// advance moves pos and finds the line ends after it.
func (s *Scanner) advance(pos int) {
	s.pos = pos
	if s.lf < pos {
		if s.lf = pos; pos == s.end || s.buf[pos] != '\n' { // blank lines are many
			s.lf = s.find('\n', pos)
		}
	}
	if s.cr < pos {
		s.cr = s.find('\r', pos)
	}
}

// find gives the first c at or after from, or end.
func (s *Scanner) find(c byte, from int) int {
	if i := bytes.IndexByte(s.buf[from:s.end], c); i >= 0 {
		return from + i
	}
	return s.end
}

// fill reads more bytes after those that are kept.
func (s *Scanner) fill() error {
	if s.started && s.pos < s.end {
		switch {
		case s.inComment || s.buf[s.pos] == ':':
			// Comments are not bounded, so they must not be held.
			s.keepComment(s.buf[s.pos:s.end])
			s.inComment = true
			s.pos, s.lf, s.cr = s.end, s.end, s.end
		case s.size+s.end-s.pos > s.limit():
			return &FrameTooLongError{s.limit()}
		}
	}
	// With nothing to move there is no cost, and reads are as long as can be.
	if s.end == len(s.buf) || s.pos == s.end && !s.hasData {
		s.makeRoom()
	}
	for range maxEmptyReads {
		n, err := s.r.Read(s.buf[s.end:])
		if n > 0 {
			old := s.end
			s.end += n
			if s.lf == old {
				s.lf = s.find('\n', old)
			}
			if s.cr == old {
				s.cr = s.find('\r', old)
			}
		}
		if err != nil {
			// The bytes that came with the error are looked at first.
			s.r = failed{err}
			if n == 0 {
				return err
			}
		}
		if n > 0 {
			return nil
		}
	}
	return io.ErrNoProgress
}

// failed is a reader that has ended.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// makeRoom moves what is kept, the block's data and the unread bytes, to the
// front of the buffer and sees to it that half of it is free, so that moving
// costs no more than reading did.
func (s *Scanner) makeRoom() {
	var data []byte
	if s.hasData {
		data = s.buf[s.from:s.to]
	}
	unread := s.buf[s.pos:s.end]
	// One byte between the two is for the line feed that joins the next line.
	at := len(data)
	if s.hasData {
		at++
	}
	buf := s.buf
	kept := at + len(unread)
	s.spare++
	switch {
	case kept >= len(buf)/2:
		// By four, for fewer copies and less to clear; near the limit by no
		// more than a frame can need.
		most := max(2*len(buf), s.limit()+startBufferBytes)
		buf = make([]byte, max(startBufferBytes, min(4*len(buf), most)))
		s.spare = 0
	case len(buf) > keepBufferBytes && s.spare > 64 && kept < startBufferBytes/2:
		buf = make([]byte, startBufferBytes)
	}
	copy(buf, data)
	copy(buf[at:], unread)
	shift := at - s.pos
	s.buf, s.from, s.to = buf, 0, len(data)
	s.pos, s.end, s.lf, s.cr = at, s.end+shift, s.lf+shift, s.cr+shift
}

// field takes one line that is neither blank nor a comment.
func (s *Scanner) field(line []byte) {
	name, value := line, []byte(nil)
	i := 4 // where the colon of most lines stands, those of data
	if len(line) <= i || string(line[:i+1]) != "data:" {
		i = bytes.IndexByte(line, ':')
	}
	if i >= 0 {
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
		if bytes.IndexByte(value, 0) < 0 && string(value) != s.id {
			s.id = string(appendValid(nil, value))
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

// dispatch ends the block; ok is false where it had no data and so is no frame.
func (s *Scanner) dispatch() (frame Frame, ok bool) {
	s.lastID = s.id
	if ok = s.hasData; ok {
		data := s.buf[s.from:s.to:s.to]
		if !utf8.Valid(data) {
			data = appendValid(nil, data)
		}
		frame = Frame{ID: s.lastID, Event: s.event, Data: data}
		if frame.Event == "" {
			frame.Event = "message"
		}
	}
	s.open, s.hasData, s.size, s.event = false, false, 0, ""
	return frame, ok
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
