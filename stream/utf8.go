package stream

import (
	"encoding/binary"
	"unicode/utf8"
)

// appendValid appends text to dst with each ill-formed part replaced by one
// U+FFFD, as the Encoding Standard's decoder does: a part is the longest start
// of a character that is no whole one, else one byte.
//
// Neither bytes.ToValidUTF8 (one replacement for a run of parts) nor a range
// over a string (one for each byte) does this.
func appendValid(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			n = brokenPart(text)
		}
		dst = utf8.AppendRune(dst, r)
		text = text[n:]
	}
	return dst
}

// brokenPart gives the length of the ill-formed part that text starts with.
func brokenPart(text []byte) int {
	// What the second byte may be depends on the first; see the table of
	// well-formed sequences in the Unicode Standard (3-7).
	low, high, size := byte(0x80), byte(0xbf), 0
	switch c := text[0]; {
	case c >= 0xc2 && c <= 0xdf:
		size = 2
	case c >= 0xe0 && c <= 0xef:
		size = 3
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		size = 4
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n < size && n < len(text) && text[n] >= low && text[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}

// isASCII reports whether text is all ASCII, as most is. utf8.Valid knows of
// that too, but takes twice as long for the length of a frame.
func isASCII(text []byte) bool {
	le := binary.LittleEndian
	var all uint64
	if len(text) < 8 {
		for _, c := range text {
			all |= uint64(c)
		}
		return all&highs == 0
	}
	// The last eight bytes first: then only more than eight need a turn below,
	// and the compiler need not see to slices that start past the end.
	all = le.Uint64(text[len(text)-8:])
	for len(text) > 64 {
		p := (*[64]byte)(text)
		if (le.Uint64(p[0:])|le.Uint64(p[8:])|le.Uint64(p[16:])|le.Uint64(p[24:])|
			le.Uint64(p[32:])|le.Uint64(p[40:])|le.Uint64(p[48:])|le.Uint64(p[56:]))&highs != 0 {
			return false
		}
		text = text[64:]
	}
	for len(text) > 8 {
		all |= le.Uint64(text)
		text = text[8:]
	}
	return all&highs == 0
}
