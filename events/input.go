package events

import (
	"strings"
)

// The members of an input that name the agent, and those that say what it is
// asked to do; the first that is there counts, wherever it stands.
const (
	nameKeys   = 10
	actionKeys = 6

	actionVerb = 4 // index of "action", which for remote_agent is a verb
)

func nameKey(key string) int {
	switch key {
	case "agentWallet":
		return 0
	case "agent":
		return 1
	case "wallet":
		return 2
	case "walletAddress":
		return 3
	case "target_agent_id":
		return 4
	case "agent_id":
		return 5
	case "target":
		return 6
	case "payment_address":
		return 7
	case "target_alias":
		return 8
	case "target_url":
		return 9
	}
	return -1
}

func actionKey(key string) int {
	switch key {
	case "task":
		return 0
	case "prompt":
		return 1
	case "query":
		return 2
	case "message":
		return 3
	case "action":
		return actionVerb
	case "searchString":
		return 5
	}
	return -1
}

// names are an object's texts under the keys that name an agent.
type names [nameKeys]string

func (n *names) set(key string, v value) {
	if i := nameKey(key); i >= 0 {
		n[i] = v.text
	}
}

// input is what a tool was given, as far as we read it.
type input struct {
	names   names
	actions [actionKeys]string
	parts   string // the text parts, joined
	own     string // the member that is the family's own key
	plain   string // an input that is plain text, or what an invoke has without members
	nested  value
}

// maxInputs bounds how many inputs may stand inside one another.
const maxInputs = 8

// read fills in from an input: an object, a JSON string of one, or plain text.
func (in *input) read(v value, t tool) {
	for range maxInputs {
		if v.isText() {
			plain := v.text
			if v = wholeValue(plain); !v.isObject() {
				in.plain = plain
				return
			}
		}
		for key, m := range v.members() {
			in.set(key, m, t)
		}
		if in.nested.isNull() || in.known(t) {
			return
		}
		v, in.nested = in.nested, value{}
	}
}

func (in *input) set(key string, v value, t tool) {
	if i := nameKey(key); i >= 0 {
		in.names[i] = v.text
	}
	if i := actionKey(key); i >= 0 {
		in.actions[i] = v.text
		return
	}
	switch key {
	case "parts":
		in.parts = inputParts(v)
	case "input":
		in.nested = value{}
		if v.isObject() || v.text != "" {
			in.nested = v
		}
	case "model", "connector", "mode", "domain":
		if key == familyKeys[t.family] {
			in.own = v.text
		}
	}
}

// known reports whether in has any member that counts for t; only without one
// is an input read through its own member input.
func (in *input) known(t tool) bool {
	return in.actions != [actionKeys]string{} || in.parts != "" || in.own != "" ||
		t.family == FamilyAgent && in.names != names{}
}

func (in *input) action(t tool) string {
	for i, a := range in.actions {
		if a != "" && (i != actionVerb || t.name != remoteAgent) {
			return a
		}
	}
	return firstOf(in.parts, in.plain)
}

// verb is what remote_agent is to do.
func (in *input) verb() string { return in.actions[actionVerb] }

func inputParts(list value) string {
	var b strings.Builder
	n := 0
	for part := range list.elements() {
		if t, ok := textPart(part, true); ok {
			if n++; n > 1 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
		}
	}
	return b.String()
}

// maxUnclosed bounds how many tags without an end an invoke may have. Each
// costs a search to the end of the text, so that a text of nothing else would
// take time by its square.
const maxUnclosed = 32

// maxTag bounds a start tag, in bytes from its < on. A longer one is text.
const maxTag = 128

// readInvoke fills in from a start's content in the form
// <invoke>…</invoke>, whose members are <key>v</key> or
// <parameter name="key">v</parameter>. ok is false for any other content.
//
// The form is pseudo-XML that models write, without entities and often without
// an end, so no XML decoder would read it.
func (in *input) readInvoke(content string, t tool) (ok bool) {
	body, ok := strings.CutPrefix(strings.TrimSpace(content), "<invoke")
	if !ok || body == "" || !strings.ContainsRune("> \t\r\n", rune(body[0])) {
		return false
	}
	_, body, ok = strings.Cut(body, ">")
	if !ok {
		return false
	}
	if i := strings.LastIndex(body, "</invoke>"); i >= 0 {
		body = body[:i]
	}
	members, unclosed := 0, 0
	for rest := body; unclosed < maxUnclosed; {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		tag, _, ok := strings.Cut(rest[:min(len(rest), maxTag)], ">")
		if !ok {
			continue
		}
		after := rest[len(tag)+1:]
		key, end := tagKey(tag)
		if key == "" {
			continue
		}
		j := strings.Index(after, end)
		if j < 0 {
			unclosed++
			continue
		}
		in.set(key, quoted(strings.TrimSpace(after[:j])), t)
		members++
		rest = after[j+len(end):]
	}
	if members == 0 {
		in.plain = withoutName(body, t.name)
		return true
	}
	if in.nested.isText() && !in.known(t) {
		in.read(in.nested, t)
	}
	return true
}

// tagKey reads the inside of a start tag: the member that it begins and the
// tag that ends it, "" for no member.
func tagKey(tag string) (key, end string) {
	if attrs, ok := strings.CutPrefix(tag, "parameter"); ok && attrs != "" && strings.ContainsRune(" \t\r\n", rune(attrs[0])) {
		_, value, ok := strings.Cut(attrs, "name=")
		if !ok || value == "" || value[0] != '"' && value[0] != '\'' {
			return "", ""
		}
		key, _, ok = strings.Cut(value[1:], value[:1])
		if !ok {
			return "", ""
		}
		return key, "</parameter>"
	}
	for i, c := range []byte(tag) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return "", ""
		}
	}
	return tag, "</" + tag + ">"
}

// withoutName gives the text of an invoke less its first line where that is
// the tool's name.
func withoutName(body, name string) string {
	body = strings.TrimSpace(body)
	line, rest, _ := strings.Cut(body, "\n")
	if strings.TrimSpace(line) == name {
		return strings.TrimSpace(rest)
	}
	return body
}
