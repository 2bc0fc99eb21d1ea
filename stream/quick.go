package stream

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// quickIDBytes bounds the ids that quick takes, their line end included.
const quickIDBytes = 24

// quick takes the lines that most streams consist of: data, short ids and
// blank lines behind data, ended by LF and whole in the buffer. At a block's
// end it gives the data; ok is false where something else stands at pos, which
// is then step's to take. Line by line a frame takes twice the time.
func (s *Scanner) quick() (data []byte, ok bool) {
	for {
		text := s.buf[s.pos:s.cr] // has no CR
		if len(text) < len("data:\n") {
			return nil, false
		}
		if string(text[:len("data:")]) == "data:" {
			from := len("data:")
			if text[from] == ' ' {
				from++
			}
			end := max(from, s.lf-s.pos)
			i := bytes.IndexByte(text[end:], '\n')
			if i < 0 {
				s.lf = s.cr
				return nil, false
			}
			end += i
			s.lf = s.pos + end
			if s.size+end+1 > s.limit() {
				return nil, false
			}
			s.pos = s.lf + 1
			s.lf = s.pos
			if s.hasData || end+1 == len(text) || text[end+1] != '\n' {
				s.size += end + 1
				s.data(text[from:end])
				continue
			}
			s.pos++
			s.lf, s.size, s.lastID = s.pos, 0, s.id
			return text[from:end:end], true
		}
		if string(text[:len("id:")]) != "id:" || len(text) < len("id: ")+quickIDBytes || !s.quickID(text) {
			return nil, false
		}
	}
}

// quickID takes the id line at the start of text, eight bytes at a time; false
// where it is too long, has a NUL, or is no ASCII.
func (s *Scanner) quickID(text []byte) bool {
	const lfs = '\n' * ones
	from := len("id:")
	if text[from] == ' ' {
		from++
	}
	for n := 0; n < quickIDBytes; n += 8 {
		word := binary.LittleEndian.Uint64(text[from+n:])
		if (word|zeros(word))&highs != 0 {
			return false
		}
		if ends := zeros(word ^ lfs); ends != 0 {
			n += bits.TrailingZeros64(ends) / 8
			end := from + n + 1
			if s.size+end > s.limit() {
				return false
			}
			s.size += end
			s.pos += end
			s.lf = max(s.lf, s.pos)
			s.id = s.ids.text(text[from : end-1])
			return true
		}
	}
	return false
}

// For work on eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// zeros marks with its high bit the first byte of word that is 0, and maybe
// some after it; there is no mark where no byte is 0.
func zeros(word uint64) uint64 { return (word - ones) &^ word & highs }
