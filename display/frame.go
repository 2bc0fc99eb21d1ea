package display

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// members are those of a frame's object; of several of one name the last
// counts, as it does for package events. It is nil for what is no object.
type members map[string]gjson.Result

func readMembers(data []byte) members {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' || !gjson.ValidBytes(data) {
		return nil
	}
	return membersOf(gjson.ParseBytes(data))
}

func membersOf(v gjson.Result) members {
	if !v.IsObject() {
		return nil
	}
	m := make(members)
	v.ForEach(func(key, value gjson.Result) bool {
		m[key.Str] = value
		return true
	})
	return m
}

// text gives the first of the named members that is a text and not empty.
func (m members) text(names ...string) string {
	for _, name := range names {
		if v := m[name]; v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

// cause gives the first of the named members that says something: a text, or
// an object by its message, error, reason or code, else its JSON.
func (m members) cause(names ...string) string {
	for _, name := range names {
		v := m[name]
		if text := m.text(name); text != "" {
			return text
		}
		if v.IsObject() && v.Raw != "{}" {
			inner := membersOf(v)
			if text := inner.text("message", "error", "reason", "code"); text != "" {
				return text
			}
			return compact(v.Raw)
		}
	}
	return ""
}

// say gives a member as a person reads it: a text as it is, else its JSON.
func (m members) say(names ...string) string {
	for _, name := range names {
		switch v := m[name]; {
		case v.Type == gjson.Null:
		case v.Type == gjson.String:
			if v.Str != "" {
				return v.Str
			}
		case v.Raw != "{}" && v.Raw != "[]":
			return compact(v.Raw)
		}
	}
	return ""
}

func (m members) object(name string) members { return membersOf(m[name]) }

func (m members) is(name string) bool { return m[name].Type == gjson.True }

// number gives a member that is a number, 0 for none and for what fits no
// int64.
func (m members) number(name string) int64 {
	v := m[name]
	if v.Type != gjson.Number || v.Num < -1<<53 || v.Num > 1<<53 {
		return 0
	}
	return int64(v.Num)
}

// maxMillis is the end of year 9999: what is beyond is no time.
const maxMillis = 253402300799999

// time gives a member that is a Unix time in milliseconds.
func (m members) time(name string) time.Time {
	ms := m.number(name)
	if ms <= 0 || ms > maxMillis {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// millis gives a member that is a duration in milliseconds.
func (m members) millis(name string) time.Duration {
	ms := m.number(name)
	if ms <= 0 || ms > maxMillis/1000 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func compact(raw string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return raw // not reached: it was part of valid JSON
	}
	return b.String()
}
