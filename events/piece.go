package events

// piece is what one event tells of one call.
type piece struct {
	scope    int
	id, name string
	index    int // -1 for none
	args     string
}

// Scopes that are no choice of a chunk.
const (
	scopeDelta = -1
	scopeModel = -2
)

// lastBrace looks in the pieces of arguments for the brace that ends their
// object.
type lastBrace struct {
	depth           int
	inText, escaped bool
	begun, beyond   bool // something stands before the object or behind it
}

// read goes through the next piece and reports whether the object is at its
// end. Each byte is looked at once.
func (l *lastBrace) read(args string) (ended bool) {
	for _, c := range []byte(args) {
		switch {
		case l.escaped:
			l.escaped = false
		case l.inText:
			l.escaped, l.inText = c == '\\', c != '"'
		case l.depth == 0 && isSpace(c):
		case l.depth == 0 && (l.begun || c != '{'):
			l.begun, l.beyond = true, true
		case c == '"':
			l.inText = true
		case c == '{' || c == '[':
			l.depth++
			l.begun = true
		case c == '}' || c == ']':
			l.depth--
		}
	}
	return l.begun && !l.beyond && l.depth == 0
}

// readPiece reads an event that is of one call.
func readPiece(object value, scope int) piece {
	p := readPieceOf(object, scope)
	if scope != scopeModel {
		return p
	}
	in := readPieceOf(object.member("payload"), scope)
	p.id, p.name, p.args = firstOf(p.id, in.id), firstOf(p.name, in.name), firstOf(p.args, in.args)
	if p.index < 0 {
		p.index = in.index
	}
	return p
}

func readPieceOf(object value, scope int) piece {
	var id, callID, toolName, name, argsDelta, delta, arguments string
	index := -1
	for key, v := range object.members() {
		switch key {
		case "id":
			id = v.text
		case "toolCallId":
			callID = v.text
		case "toolName":
			toolName = v.text
		case "name":
			name = v.text
		case "argsDelta":
			argsDelta = argumentText(v)
		case "delta":
			delta = argumentText(v)
		case "arguments":
			arguments = argumentText(v)
		case "index":
			index = indexOf(v)
		}
	}
	if scope == scopeModel { // where id is the event's own
		id = ""
	}
	return piece{
		scope: scope, index: index,
		id: firstOf(callID, id), name: firstOf(toolName, name), args: firstOf(argsDelta, delta, arguments),
	}
}

// argumentText reads arguments: a text, or the object itself, as some systems
// have it.
func argumentText(v value) string {
	if v.isObject() {
		return v.raw
	}
	return v.text
}

// indexOf reads an index, -1 for none.
func indexOf(v value) int {
	if n := v.count(); v.isNumber() && n >= 0 {
		return n
	}
	return -1
}
