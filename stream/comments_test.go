package stream

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnComment(t *testing.T) {
	euros := strings.Repeat("\u20ac", maxCommentBytes) // three bytes each, and 4096 = 3*1365 + 1
	for _, c := range []struct {
		text string
		want []string
	}{
		{":Hello\n", []string{"Hello"}},
		{": two  spaces \r\n:\n:x\r", []string{" two  spaces ", "", "x"}},
		{"data: a\n: in a block\n\n:after it\ndata: b\n:cut", []string{" in a block", "1:after it"}},
		{"\xef\xbb\xbf:behind a BOM\n", []string{"behind a BOM"}},
		{"::\n", []string{":"}},
		{":a\xffb\xe2\x82\n", []string{"a\ufffdb\ufffd"}},
		{":" + strings.Repeat("x", maxCommentBytes) + "\n", []string{strings.Repeat("x", maxCommentBytes)}},
		{":" + strings.Repeat("x", maxCommentBytes+1) + "\n:y\n", []string{strings.Repeat("x", maxCommentBytes), "y"}},
		{":" + strings.Repeat("x", 3<<20) + "\n:y\n", []string{strings.Repeat("x", maxCommentBytes), "y"}},
		{":" + euros + "\n", []string{strings.Repeat("\u20ac", maxCommentBytes/3)}},
		{":" + strings.Repeat("\x80", 2*maxCommentBytes) + "\n", []string{strings.Repeat("\ufffd", maxCommentBytes-3)}},
	} {
		for how, r := range map[string]io.Reader{
			"whole":         strings.NewReader(c.text),
			"by bytes":      iotest.OneByteReader(strings.NewReader(c.text)),
			"by 1000 bytes": &steady{c.text, 1000},
		} {
			var got []string
			s, frames := NewScanner(r), 0
			s.OnComment = func(text []byte) {
				if frames > 0 {
					got = append(got, fmt.Sprintf("%d:%s", frames, text))
				} else {
					got = append(got, string(text))
				}
			}
			for {
				if _, err := s.Next(); err != nil {
					break
				}
				frames++
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%.60q, %s: got %.100q, want %.100q", c.text, how, got, c.want)
			}
			if s.Comments() != len(c.want) {
				t.Errorf("%.60q, %s: %d comments counted", c.text, how, s.Comments())
			}
		}
	}
}

func TestOnCommentAtItsLastByte(t *testing.T) {
	// Servers send comments where nothing else comes: to wait for a blank line
	// or for the LF that may follow a CR is to hold them back.
	for _, end := range []string{"\n", "\r"} {
		text, got := "data: open\n:ping"+end, ""
		s := NewScanner(reads(func(p []byte) (int, error) {
			if text == "" {
				if got != "ping" {
					t.Errorf("%q: it reads on before it gives the comment", end)
				}
				return 0, io.EOF
			}
			n := copy(p[:1], text)
			text = text[n:]
			return n, nil
		}))
		s.OnComment = func(text []byte) { got += string(text) }
		if _, err := s.Next(); err != io.EOF {
			t.Error(err)
		}
	}
}

func TestOnCommentHoldsNoMore(t *testing.T) {
	s := NewScanner(&steady{":" + strings.Repeat("c", 8<<20) + "\n", 4096})
	s.OnComment = func([]byte) {}
	if _, err := s.Next(); err != io.EOF {
		t.Error(err)
	}
	if held := cap(s.buf) + cap(s.comment); held > 4*startBufferBytes {
		t.Errorf("%d bytes are held for a comment of 8 MiB", held)
	}
}
