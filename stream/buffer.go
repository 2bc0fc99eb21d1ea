package stream

import (
	"bytes"
	"io"
)

// state says how the bytes at pos are not those of a line; 0 where they are.
type state uint8

const (
	atStart   state = 1 << iota // a BOM may stand here
	skipLF                      // the last line ended with CR: an LF here belongs to it
	inComment                   // they go on a comment whose bytes so far were dropped
)

// line takes the next whole line off the buffer, without its end; ok is false
// where more bytes are needed.
func (s *Scanner) line() (line []byte, ok bool) {
	if s.state&atStart != 0 && !s.skipBOM() {
		return nil, false
	}
	for {
		if s.state&skipLF != 0 && s.pos < s.end {
			s.state &^= skipLF
			if s.buf[s.pos] == '\n' {
				s.advance(s.pos + 1)
			}
		}
		s.lf = s.find('\n', s.lf)
		stop := min(s.lf, s.cr)
		if stop == s.end {
			return nil, false
		}
		line = s.buf[s.pos:stop]
		// A CR ends its line at once. Waiting to see whether an LF follows
		// would hold back the last frame of a stream that uses CR alone.
		if stop == s.cr {
			s.state |= skipLF
		}
		s.advance(stop + 1)
		if s.state&inComment == 0 {
			return line, true
		}
		s.keepComment(line)
		s.state &^= inComment
		s.endComment(s.comment)
		s.comment = s.comment[:0]
	}
}

// skipBOM drops one BOM at the stream's start; false where its bytes are not
// all here yet.
func (s *Scanner) skipBOM() bool {
	const bom = "\xef\xbb\xbf"
	head := s.buf[s.pos:min(s.end, s.pos+len(bom))]
	if !bytes.HasPrefix([]byte(bom), head) {
		s.state &^= atStart
		return true
	}
	if len(head) < len(bom) {
		return false
	}
	s.state &^= atStart
	s.advance(s.pos + len(bom))
	return true
}

// advance moves pos, and with it what is known of the line ends after it.
func (s *Scanner) advance(pos int) {
	s.pos = pos
	s.lf = max(s.lf, pos)
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
	if s.state&atStart == 0 && s.pos < s.end {
		switch {
		case s.state&inComment != 0 || s.buf[s.pos] == ':':
			// Comments are not bounded, so they must not be held.
			s.keepComment(s.buf[s.pos:s.end])
			s.state |= inComment
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
