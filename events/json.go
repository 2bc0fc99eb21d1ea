package events

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// maxDepth bounds the nesting of a frame and of JSON inside its text. It is
// encoding/json's own bound of 10,000 less what we and our callers wrap around
// a result, so that a parsed event always marshals. The checker recurses, so
// without a bound a hostile frame of brackets would overflow its stack.
const maxDepth = 10_000 - 8

// trimSpace drops JSON's white space. bytes.TrimSpace is not used: it drops
// more than JSON allows.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// tooDeep tells broken JSON that would be too deep if it were whole from any
// other.
func tooDeep(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// view gives b's bytes as text without a copy. b must not change while the
// text, or any part of it, is in use.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf is the reverse of view; the bytes must only be read, unless nothing
// else has them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// wholeValue reads text that is one JSON object, list or string, white space
// around it aside; none for any other. Other scalars stay text: "17" is an
// answer, not a number.
func wholeValue(s string) value {
	b := trimSpace(bytesOf(s))
	if len(b) < 2 {
		return value{}
	}
	switch first, last := b[0], b[len(b)-1]; {
	case first == '{' && last == '}', first == '[' && last == ']', first == '"' && last == '"':
	default:
		return value{}
	}
	if !valid(b) {
		return value{}
	}
	return parse(view(b))
}

// textParts joins the texts of a content list by line feeds. all says that
// every part is a text part and that there is at least one.
func textParts(list value) (joined string, all bool) {
	var b strings.Builder
	n := 0
	all = true
	for part := range list.elements() {
		t, ok := textPart(part, false)
		if !ok {
			all = false
			continue
		}
		if n++; n > 1 {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String(), all && n > 0
}

// textPart reads {"type":"text","text":…}, or kind in place of type as A2A
// has it. bare allows a part with neither, as A2A 1.0 has it; it is not for
// outputs, where a list of {"text":…} may well be an answer.
func textPart(part value, bare bool) (string, bool) {
	var kind, typ, body value
	for key, v := range part.members() {
		switch key {
		case "kind":
			kind = v
		case "type":
			typ = v
		case "text":
			body = v
		}
	}
	if !body.isText() {
		return "", false
	}
	named := firstOf(kind.text, typ.text)
	return body.text, named == "text" || bare && named == ""
}

// appendQuoted appends s as a JSON string. encoding/json is not used because
// it escapes <, > and & unless an encoder is made for each string.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// replaceInvalid gives s with each byte that is no UTF-8 as U+FFFD, which is
// what decoding a stream does.
func replaceInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}
