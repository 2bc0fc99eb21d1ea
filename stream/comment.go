package stream

import "unicode/utf8"

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
