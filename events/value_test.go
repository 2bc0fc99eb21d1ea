package events

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"unicode/utf8"
)

// FuzzValue reads values as encoding/json's decoder does, and goes through what
// is broken without harm.
func FuzzValue(f *testing.F) {
	for _, s := range jsonCases {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		`{"a":"\"`, `{"a\`, `["\u12`, `["\ud83d\`, `{"a":[{"b":"]}"},2,null],"c":-1.5e3,"a":true}`, `[[],{},"",0]`, `{"a":{"b":[`, `{]`, `[}`,
	} {
		f.Add([]byte(s))
	}
	f.Add(delegateEnd)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = trimSpace(b)
		v := parse(replaceInvalid(string(b)))
		if len(b) > maxDepth || !valid(b) {
			explore(v)
			return
		}
		compareValue(t, v)
	})
}

// explore reads all of what may be broken.
func explore(v value) {
	_ = v.count()
	for _, m := range v.members() {
		explore(m)
	}
	for e := range v.elements() {
		explore(e)
	}
}

// compareValue compares a valid value with what the standard decoder reads.
func compareValue(t *testing.T, v value) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(v.raw)))
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	switch token := token.(type) {
	case json.Delim:
		for d.More() {
			if token == '{' {
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, key.(string))
			}
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				t.Fatal(err)
			}
			want = append(want, string(raw))
		}
		for key, m := range v.members() {
			got = append(got, key, m.raw)
			compareValue(t, m)
		}
		for e := range v.elements() {
			got = append(got, e.raw)
			compareValue(t, e)
		}
		if !slices.Equal(got, want) || v.isObject() != (token == '{') || v.isList() != (token == '[') {
			t.Fatalf("%s has %q, want %q", v.raw, got, want)
		}
	case string:
		if v.text != token || !utf8.ValidString(token) {
			t.Fatalf("%s is %q, want %q", v.raw, v.text, token)
		}
	case json.Number:
		if !v.isNumber() || v.raw != token.String() {
			t.Fatalf("%s is %s", v.raw, token)
		}
	case bool:
		if v.isTrue() != token || v.isFalse() == token {
			t.Fatalf("%s is %t", v.raw, token)
		}
	case nil:
		if !v.isNull() {
			t.Fatalf("%s is null", v.raw)
		}
	}
}
