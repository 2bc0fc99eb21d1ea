package events

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// jsonCases are values and what is nearly one, for the check to be compared
// with encoding/json over.
var jsonCases = []string{
	``, `{`, `}`, `[`, `]`, `"`, `\`, `{}`, `[]`, `""`, `{ }`, "[\t\r\n ]", `null`, `nul`, `nulls`, `true`, `false`, `True`,
	`{"a":1}`, `{"a":1,}`, `{"a" : [ 1 , { } ] , "b" : "" }`, `{"a":}`, `{"a"}`, `{"a",1}`, `{,}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":1}}`,
	`{"a":1}{`, `[1,2,]`, `[,]`, `[1 2]`, `[1`, `[1,`, `{"a":[}`, "[1\v]", "[\u00a01]", "\ufeff{}",
	`0`, `-0`, `-`, `01`, `-01`, `1.`, `.1`, `1.5`, `1.e1`, `1e`, `1e+`, `1E-10`, `1e5.5`, `+1`, `0x1`, `1_0`, `NaN`, `--1`, `0e0`, `00`, `1e-`, `9007199254740993`,
	`"\"`, `"\\"`, `"\u00e9"`, `"\u00e"`, `"\u00eg"`, `"\U00e9"`, `"\x"`, `"\'"`, `"\u"`, `"\`, `"\/\b\f\n\r\t"`, "\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"\xc3\"", "\"\u2028\"", "\"\x00\"",
	`{"a":"b","a":"c"}`, `{"type":"x","error":{"a":1}}`, `{"":""}`, `{"a\"":"\\\""}`,
}

func TestValid(t *testing.T) {
	for _, s := range jsonCases {
		checkValid(t, []byte(s))
	}
	// Every place of an odd byte in texts of every length that a step of eight
	// may cut.
	for length := range 28 {
		for _, odd := range []string{"", `"`, `\`, `\n`, "\n", "\x1f", "\x80", "\xff", "!", " ", "\u00e9", "[", "\x5b\x5d"} {
			for at := range length + 1 {
				text := strings.Repeat("a", at) + odd + strings.Repeat("a", length-at)
				checkValid(t, []byte(`"`+text+`"`))
				checkValid(t, []byte(`"`+text))
				checkValid(t, []byte(`{"`+text+`":["`+text+`"],"b":1}`))
			}
		}
	}
}

func FuzzValid(f *testing.F) {
	for _, s := range jsonCases {
		f.Add([]byte(s))
	}
	f.Add(delegateStart)
	f.Add(delegateEnd)
	f.Add(chunk)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) <= maxDepth { // deeper than we read, which json.Valid does not know
			checkValid(t, b)
		}
	})
}

// checkValid compares with encoding/json, whose Valid takes white space behind
// a value, too.
func checkValid(t *testing.T, b []byte) {
	t.Helper()
	want := json.Valid(b) && !isSpace(b[len(b)-1])
	if got := valid(b); got != want {
		t.Fatalf("%q is valid: %t, want %t", b, got, want)
	}
	if len(b) == 0 || b[0] != '{' {
		return
	}
	var top top
	if got := top.object(b); got != want {
		t.Fatalf("%q is an object: %t, want %t", b, got, want)
	}
	if !want || top.spelt {
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	if raw := members["type"]; (raw != nil) != (top.typ > 0) || top.typ > 0 && !bytes.HasPrefix(b[top.typ:], raw) {
		t.Fatalf("%q: type at %d, want %s", b, top.typ, raw)
	}
}
