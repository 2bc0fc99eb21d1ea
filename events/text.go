package events

import (
	"strings"

	"github.com/tidwall/gjson"
)

// Text gives the text of the assistant's answer that e adds: that of a
// text-delta, an OpenAI chunk or generation B's model.text.delta; "" for any
// other event. Joined in order they are the answer. Reasoning and the text of
// child runs are not part of it.
func (e Event) Text() string {
	var read func(gjson.Result) string
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
func (e Event) parsed() (gjson.Result, bool) {
	data := trimSpace(e.Data)
	if len(data) == 0 || data[0] != '{' || !e.object && !valid(data) {
		return gjson.Result{}, false
	}
	return gjson.Parse(view(data)), true
}

// own gives text memory that is not an event's data.
func own(s string) string { return strings.Clone(replaceInvalid(s)) }

func deltaText(object gjson.Result) string {
	if s := anyDelta(object); s != "" {
		return s
	}
	return anyDelta(member(object, "payload"))
}

func anyDelta(object gjson.Result) string {
	if !object.IsObject() {
		return ""
	}
	var delta, txt, content string
	object.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "delta":
			delta = text(v)
		case "text":
			txt = text(v)
		case "content":
			content = text(v)
		}
		return true
	})
	return firstOf(delta, txt, content)
}

// chunkText joins the contents of all of a chunk's choices, not of the first
// alone.
func chunkText(chunk gjson.Result) string {
	choices := member(chunk, "choices")
	if !choices.IsArray() {
		return ""
	}
	var b strings.Builder
	choices.ForEach(func(_, choice gjson.Result) bool {
		b.WriteString(text(member(member(choice, "delta"), "content")))
		return true
	})
	return b.String()
}
