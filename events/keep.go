package events

import "strings"

// sharedTexts bounds the texts, in bytes together, that a tool event has in one
// piece of memory. That is one allocation for all, but any of them keeps the
// others in memory; of more each has its own.
const sharedTexts = 4 << 10

// shown is a display with room for the texts of an ordinary tool event, so that
// one allocation does for both. It fills a size class of the allocator.
type shown struct {
	Display
	texts [256 - (5*2+3)*8]byte
}

// keep gives the event memory of its own for its texts, which until then are
// parts of the frame. Details and Result have theirs already.
func (t *ToolEvent) keep(display Display) {
	var child Child
	if t.Child != nil {
		child = *t.Child
	}
	// An array, since what is appended to a slice counts as kept, and the event
	// would be an allocation.
	texts := [...]*string{
		&t.Subject, &t.Action, &t.Error, &t.RunID, &t.ToolCallID,
		&display.Kind, &display.ID, &display.Name, &display.Target, &display.Summary,
		&child.RootRunID, &child.ParentRunID, &child.SubID, &child.AgentWallet, &child.RunKey,
	}
	size := 0
	for _, s := range texts {
		size += len(*s)
	}
	for _, s := range child.RunKeyChain {
		size += len(s)
	}

	var room []byte
	if !display.empty() {
		s := new(shown)
		t.Display, room = &s.Display, s.texts[:0]
	}
	own := strings.Clone
	if size <= sharedTexts {
		if size > cap(room) {
			room = make([]byte, 0, size)
		}
		own = func(s string) string {
			start := len(room)
			room = append(room, s...)
			return view(room[start:])
		}
	}
	for _, s := range texts {
		*s = own(*s)
	}
	for i, s := range child.RunKeyChain {
		child.RunKeyChain[i] = own(s)
	}
	if t.Display != nil {
		*t.Display = display
	}
	if t.Child != nil {
		*t.Child = child
	}
}
