package events

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
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

// bytesOf is the reverse of view; the bytes must only be read.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// text gives a string's text; any other kind counts as absent.
func text(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return ""
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// wholeValue reads text that is one JSON object, list or string, white space
// around it aside. Other scalars stay text: "17" is an answer, not a number.
func wholeValue(s string) (gjson.Result, bool) {
	b := trimSpace(bytesOf(s))
	if len(b) < 2 {
		return gjson.Result{}, false
	}
	switch first, last := b[0], b[len(b)-1]; {
	case first == '{' && last == '}', first == '[' && last == ']', first == '"' && last == '"':
	default:
		return gjson.Result{}, false
	}
	if !valid(b) {
		return gjson.Result{}, false
	}
	if b[0] == '"' {
		return gjson.Result{Type: gjson.String, Raw: view(b), Str: unquote(view(b))}, true
	}
	return gjson.Parse(view(b)), true
}

// unquote gives the text of a valid JSON string. It copies the stretches
// between escapes whole, where gjson goes byte by byte: for JSON in a string in
// a string the difference is most of the time.
func unquote(quoted string) string {
	s := quoted[1 : len(quoted)-1]
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		b = append(b, s[:i]...)
		c := s[i+1]
		s = s[i+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hexRune(s)
			s = s[4:]
			if utf16.IsSurrogate(r) {
				pair := rune(utf8.RuneError)
				if len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
					pair = utf16.DecodeRune(r, hexRune(s[2:]))
				}
				if r = pair; r != utf8.RuneError {
					s = s[6:]
				}
			}
			b = utf8.AppendRune(b, r)
			continue
		}
		b = append(b, c)
	}
	return view(append(b, s...))
}

func hexRune(digits string) rune {
	n, _ := strconv.ParseUint(digits[:4], 16, 16)
	return rune(n)
}

// textParts joins the texts of a content list by line feeds. all says that
// every part is a text part and that there is at least one.
func textParts(list gjson.Result) (joined string, all bool) {
	var b strings.Builder
	n := 0
	all = true
	list.ForEach(func(_, part gjson.Result) bool {
		t, ok := textPart(part, false)
		if !ok {
			all = false
			return true
		}
		if n++; n > 1 {
			b.WriteByte('\n')
		}
		b.WriteString(t)
		return true
	})
	return b.String(), all && n > 0
}

// textPart reads {"type":"text","text":…}, or kind in place of type as A2A
// has it. bare allows a part with neither, as A2A 1.0 has it; it is not for
// outputs, where a list of {"text":…} may well be an answer.
func textPart(part gjson.Result, bare bool) (string, bool) {
	if !part.IsObject() {
		return "", false
	}
	var kind, typ, body gjson.Result
	part.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "kind":
			kind = v
		case "type":
			typ = v
		case "text":
			body = v
		}
		return true
	})
	if body.Type != gjson.String {
		return "", false
	}
	named := firstOf(text(kind), text(typ))
	return body.Str, named == "text" || bare && named == ""
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
