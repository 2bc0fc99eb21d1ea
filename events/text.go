package events

import (
	"strings"
)

// Text gives the text of the assistant's answer that e adds: that of a
// text-delta, an OpenAI chunk or generation B's model.text.delta; "" for any
// other event. Joined in order they are the answer. Reasoning and the text of
// child runs are not part of it.
func (e Event) Text() string {
	var read func(value) string
	switch e.Type {
	case TypeTextDelta, TypeModelTextDelta:
		read = deltaText
	case "":
		read = chunkText
	default:
		return ""
	}
	object, ok := e.parsed()
	if !ok {
		return ""
	}
	return own(read(object))
}

// parsed gives e's data where that is one JSON object.
func (e Event) parsed() (value, bool) {
	data := trimSpace(e.Data)
	if len(data) == 0 || data[0] != '{' || !e.object && !valid(data) {
		return value{}, false
	}
	return parse(view(data)), true
}

// own gives text memory that is not an event's data.
func own(s string) string { return strings.Clone(replaceInvalid(s)) }

func deltaText(object value) string {
	if s := anyDelta(object); s != "" {
		return s
	}
	return anyDelta(object.member("payload"))
}

func anyDelta(object value) string {
	var delta, txt, content value
	for key, v := range object.members() {
		switch key {
		case "delta":
			delta = v
		case "text":
			txt = v
		case "content":
			content = v
		}
	}
	return firstOf(delta.text, txt.text, content.text)
}

// chunkText joins the contents of all of a chunk's choices, not of the first
// alone.
func chunkText(chunk value) string {
	var first string // nearly always the only one, which needs no copy
	var all strings.Builder
	for choice := range chunk.member("choices").elements() {
		t := choice.member("delta").member("content").text
		if first == "" && all.Len() == 0 {
			first = t
			continue
		}
		all.WriteString(first)
		all.WriteString(t)
		first = ""
	}
	return first + all.String()
}
