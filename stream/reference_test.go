package stream

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// standardLines gives the lines of a stream, less its BOM, and what stands behind
// the last line's end.
func standardLines(text string) (lines []string, rest string) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines = strings.Split(text, "\n")
	return lines[:len(lines)-1], lines[len(lines)-1]
}

// splitField gives a line's field name and value; the name of a comment is "".
func splitField(line string) (name, value string) {
	name, value, _ = strings.Cut(line, ":")
	return name, strings.TrimPrefix(value, " ")
}

func decodeUTF8(text string) string { return string(appendValid(nil, []byte(text))) }

// reference is the standard's text put into code with no thought of speed, and
// our two bounds: on frames, where limit is not 0, and on comments' texts.
func reference(text string, limit int) (o outcome) {
	lines, rest := standardLines(text)
	data, event, id, size := "", "", "", 0
	over := func(line string, end int) bool {
		if strings.HasPrefix(line, ":") || limit == 0 || size+len(line)+end <= limit {
			return false
		}
		o.err, o.truncated = (&FrameTooLongError{limit}).Error(), true
		return true
	}
	for _, line := range lines {
		name, value := splitField(line)
		if line != "" && name == "" {
			o.comments++
			text := line[1:]
			for n := maxCommentBytes; len(text) > maxCommentBytes; n-- {
				if utf8.RuneStart(text[n]) || n == maxCommentBytes-3 {
					text = text[:n]
				}
			}
			o.said = append(o.said, comment{len(o.frames), decodeUTF8(text)})
			continue
		}
		if line != "" && over(line, 1) {
			return o
		}
		size += len(line) + 1
		switch {
		case line == "":
			o.lastID = id
			if data != "" {
				if event == "" {
					event = "message"
				}
				o.frames = append(o.frames, Frame{id, event, []byte(strings.TrimSuffix(data, "\n"))})
			}
			data, event, size = "", "", 0
		case name == "data":
			data += decodeUTF8(value) + "\n"
		case name == "event":
			event = decodeUTF8(value)
		case name == "id" && !strings.Contains(value, "\x00"):
			id = decodeUTF8(value)
		case name == "retry" && value != "" && strings.Trim(value, "0123456789") == "":
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				o.retry, o.hasRetry = n, true
			}
		}
	}
	if !over(rest, 0) {
		o.truncated = rest != "" || size > 0
	}
	return o
}

// block tells what a block that was ended by a blank line has.
type block struct{ data, event, id bool }

func blocks(text string) (all []block) {
	var b block
	lines, _ := standardLines(text)
	for _, line := range lines {
		switch name, value := splitField(line); {
		case line == "":
			all, b = append(all, b), block{}
		case name == "data":
			b.data = true
		case name == "event":
			b.event = true
		case name == "id" && !strings.Contains(value, "\x00"):
			b.id = true
		}
	}
	return all
}

// cutBy gives data in chunks whose sizes cuts says, over and over: 0 is a read
// that gives nothing.
func cutBy(cuts, data []byte) io.Reader {
	if len(cuts) == 0 {
		return bytes.NewReader(data)
	}
	i, empty := 0, 0
	return reads(func(p []byte) (int, error) {
		if len(data) == 0 {
			return 0, io.EOF
		}
		c := int(cuts[i%len(cuts)])
		i++
		if c == 0 && empty < maxEmptyReads-1 {
			empty++
			return 0, nil
		}
		empty = 0
		n := copy(p, data[:min(len(data), 1+c*c/4)]) // to 16 kB: twice the buffer
		data = data[n:]
		return n, nil
	})
}

// FuzzScanner asserts that frames, ids, comments, retry, end and limit are
// those of the standard, and the same for every way of cutting the bytes.
func FuzzScanner(f *testing.F) {
	seeds := 0
	for _, v := range loadVectors(f) {
		if data := v.bytes(); len(data) < 10_000 {
			var cuts []byte
			for _, c := range v.Chunks {
				cuts = append(cuts, byte(min(len(c), 255)))
			}
			f.Add(data, cuts, byte(seeds))
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no vector is short enough for a seed")
	}
	f.Add([]byte("data: a\r\r\n\ndata:b\r\n\r\n: c\nid: 4\nretry: 07\n\n"), []byte{0, 1}, byte(0))
	f.Add([]byte("\xef\xbb\xbfdata: \xf0\x9f\x90\xffx\xed\xa0\x80\n\n"), []byte{3}, byte(0))
	f.Add([]byte(":"+strings.Repeat("\xe2\x82\xac", maxCommentBytes)+"\n:\xff\r"), []byte{200}, byte(9))
	f.Add(bytes.Repeat([]byte("id: 12345678901234567890\ndata: {}\ndata\n\n"), 220), []byte{75}, byte(200))
	f.Fuzz(func(t *testing.T, data, cuts []byte, small byte) {
		limit := 0
		if small > 0 {
			limit = 7 + int(small)
		}
		want := reference(string(data), limit)
		before := slices.Clone(data)
		for name, r := range map[string]io.Reader{
			"whole":              bytes.NewReader(data),
			"by bytes":           iotest.OneByteReader(bytes.NewReader(data)),
			"cut":                cutBy(cuts, data),
			"EOF with the bytes": iotest.DataErrReader(cutBy(cuts, data)),
		} {
			s := NewScanner(r)
			s.MaxFrameBytes = limit
			if diff := scan(s).differ(want); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			if _, err := s.Next(); err == nil || want.err == "" && !errors.Is(err, io.EOF) {
				t.Errorf("%s: then %v", name, err)
			}
		}
		if !bytes.Equal(data, before) {
			t.Error("the reader's bytes were changed")
		}
	})
}
