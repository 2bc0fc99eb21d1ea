package events

import "encoding/json"

// maxLayers bounds how many wrappers are taken off an output. Honest ones have
// three or four; each layer costs a pass over the rest, and this many over the
// largest frame of a stream still take seconds only.
const maxLayers = 10

// output is a call's output with its wrappers taken off, and what they told.
type output struct {
	value  value
	layer  layer  // what value has of the members that we read
	callID string // kwargs.tool_call_id of a message
	failed bool   // a layer said that the call failed
	cause  string // why, in that layer's words

	// own is the text, unquoted into memory of its own, that value is part
	// of; "" where it is part of the frame. The result takes this memory, so
	// that large outputs are not copied once more: whatever else is kept of
	// an output is cloned.
	own string
}

// unwrap takes off the wrappers around an output: JSON in a string, messages,
// MCP results, lists of text parts and size wrappers, inside one another in
// any order. Each layer is read once, the last for its answer too.
func (o *output) unwrap(v value) {
	o.value = v
	onlyStrings := true
	for n := 0; ; n++ {
		var next value
		ok, cut := false, false
		o.layer = layer{}
		switch v := o.value; {
		case n == maxLayers:
			if v.isObject() {
				o.layer.read(v)
			}
			return
		case v.isText():
			plain := v.text
			next = wholeValue(plain)
			if ok = !next.isNull(); ok && len(plain) < len(v.raw)-len(`""`) { // else it had no escapes
				o.own = plain
			}
		case v.isList():
			if joined, all := textParts(v); all {
				next, ok = quoted(joined), true
				o.own = ""
			}
			onlyStrings = false
		case v.isObject():
			o.layer.read(v)
			if onlyStrings {
				o.callID = o.layer.callID
			}
			onlyStrings = false
			next, ok = o.layer.inner(o)
			cut = o.layer.cut
		}
		if !ok {
			return
		}
		o.value = next
		if cut {
			o.layer = layer{}
			return
		}
	}
}

// layer is what an object has of the members by which wrappers are known, and
// of those by which an answer counts.
type layer struct {
	size                 string // __compose_tool_result
	value, text, preview value
	kwargs, lcKwargs     message
	message              // a bare message or an MCP result
	structured           value
	foreign              bool // has a member that neither a message nor an MCP result has
	callID               string
	cut                  bool // what is inside is text that was cut, so no JSON
	answer               answer
}

type message struct {
	content, err value
	status       string
	isError      bool
}

func (m *message) set(key string, v value) {
	switch key {
	case "content":
		m.content = v
	case "error":
		m.err = v
	case "status":
		m.status = v.text
	case "isError":
		m.isError = v.isTrue()
	}
}

// has reports whether m has a content of a kind that messages have.
func (m *message) has() bool { return m.content.isText() || m.content.isList() }

func (l *layer) read(object value) {
	for key, v := range object.members() {
		switch key {
		case "__compose_tool_result":
			l.size = v.text
		case "value":
			l.value = v
		case "text":
			l.text = v
		case "preview":
			l.preview = v
		case "kwargs":
			l.kwargs, l.callID = readMessage(v)
		case "lc_kwargs":
			l.lcKwargs, _ = readMessage(v)
		case "structuredContent":
			l.structured = v
		default:
			l.set(key, v)
		}
		l.answer.set(key, v)
		l.foreign = l.foreign || !messageMember(key)
	}
}

func readMessage(object value) (msg message, callID string) {
	for key, v := range object.members() {
		if key == "tool_call_id" {
			callID = v.text
		}
		msg.set(key, v)
	}
	return msg, callID
}

// messageMember reports whether a key is one that LangChain's and OpenAI's
// messages, or MCP's results, have. An object with a content and any other
// member is an answer of its own and no wrapper.
func messageMember(key string) bool {
	switch key {
	case "content", "type", "role", "id", "name", "status", "tool_call_id", "tool_calls",
		"invalid_tool_calls", "tool_call_chunks", "function_call", "refusal",
		"additional_kwargs", "response_metadata", "usage_metadata", "artifact", "example",
		"lc", "lc_serializable", "lc_namespace", "lc_kwargs", "kwargs", "metadata",
		"structuredContent", "isError", "_meta":
		return true
	}
	return false
}

// inner gives what the layer wraps; ok is false where it is no wrapper. It
// notes in out what the layer tells of a failure.
func (l *layer) inner(out *output) (next value, ok bool) {
	switch l.size {
	case "compacted_json":
		next, ok = l.value, l.value.raw != ""
	case "truncated_text":
		next, ok = l.text, l.text.isText()
	case "truncated_json":
		next, ok = l.preview, l.preview.isText()
		l.cut = ok
	}
	if ok {
		if l.isError {
			out.fail(l.err, next)
		}
		return next, true
	}
	bare := !l.foreign && (l.has() || !l.structured.isNull())
	switch {
	case l.kwargs.has():
		l.blame(&l.kwargs, out)
		return l.kwargs.content, true
	case l.lcKwargs.has():
		l.blame(&l.lcKwargs, out)
		return l.lcKwargs.content, true
	case bare:
		l.blame(&l.message, out)
		if !l.structured.isNull() {
			return l.structured, true
		}
		return l.content, true
	}
	return value{}, false
}

// blame notes the failure that a message or an MCP result tells of.
func (l *layer) blame(m *message, out *output) {
	if !l.isError && !m.isError && m.status != "error" {
		return
	}
	err := m.err
	if _, ok := readError(err, 0); !ok {
		err = l.err
	}
	out.fail(err, m.content)
}

// fail records a layer's failure: its error, else the text of its content. The
// outermost layer that gives a cause counts.
func (o *output) fail(err, content value) {
	o.failed = true
	if o.cause != "" {
		return
	}
	if cause, ok := readError(err, 0); ok {
		o.cause = cause
		return
	}
	if content.isList() {
		o.cause, _ = textParts(content)
		return
	}
	o.cause = content.text
}

// result gives the output as a result: an object as it is, anything else as
// the member output of one. The memory is the result's own.
func (o *output) result() json.RawMessage {
	v := o.value.raw
	switch {
	case o.value.isObject() && len(v) > len(o.own)/2 && o.own != "": // of less, it would keep too much
		return bytesOf(v)
	case o.value.isObject():
		return json.RawMessage(v)
	}
	b := make([]byte, 0, len(`{"output":}`)+len(v))
	b = append(b, `{"output":`...)
	b = append(b, v...)
	return append(b, '}')
}
