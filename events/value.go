package events

import (
	"iter"
	"math"

	"github.com/tidwall/gjson"
)

// value is one value in a frame that was checked, the zero value for none,
// which counts as null. Its methods look for no faults; in JSON that is broken
// after all they find less, and nothing worse happens.
//
// It has what we use of a gjson.Result, which is more than twice its size: an
// output's layers hold many.
type value struct {
	raw  string // its JSON, with no white space around it
	text string // a string's text, "" for any other kind
}

// parse reads one value; behind a string, anything may stand.
func parse(raw string) value { return valueOf(gjson.Parse(raw)) }

func valueOf(r gjson.Result) value { return value{r.Raw, r.Str} }

// quoted gives text as a value.
func quoted(s string) value { return value{view(appendQuoted(make([]byte, 0, len(s)+2), s)), s} }

func (v value) kind() byte {
	if v.raw == "" {
		return 'n'
	}
	return v.raw[0]
}

func (v value) isNull() bool   { return v.kind() == 'n' }
func (v value) isTrue() bool   { return v.kind() == 't' }
func (v value) isFalse() bool  { return v.kind() == 'f' }
func (v value) isText() bool   { return v.kind() == '"' }
func (v value) isList() bool   { return v.kind() == '[' }
func (v value) isObject() bool { return v.kind() == '{' }
func (v value) isNumber() bool { return v.kind() == '-' || v.kind() >= '0' && v.kind() <= '9' }

// count gives a number without its fraction, 0 for any other kind and for what
// fits no 32 bits.
func (v value) count() int {
	if !v.isNumber() {
		return 0
	}
	n := gjson.Parse(v.raw).Num
	if math.Abs(n) > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// member gives an object's last member of that name; a gjson path would give
// the first.
func (v value) member(name string) value {
	var found value
	for key, m := range v.members() {
		if key == name {
			found = m
		}
	}
	return found
}

// members goes once through the members of an object, none for other kinds.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.isObject() {
			gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(key, m gjson.Result) bool {
				return yield(key.Str, valueOf(m))
			})
		}
	}
}

// elements is members for a list.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		if v.isList() {
			gjson.Result{Type: gjson.JSON, Raw: v.raw}.ForEach(func(_, e gjson.Result) bool {
				return yield(valueOf(e))
			})
		}
	}
}
