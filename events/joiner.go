package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Bounds of what an ArgumentJoiner holds. They are ours, against senders that
// never end a call.
const (
	// DefaultMaxArgumentBytes is ArgumentJoiner's MaxBytes where nothing else
	// is said: 16 MiB.
	DefaultMaxArgumentBytes = 16 << 20

	// MaxJoinedCalls is how many calls may be open at once.
	MaxJoinedCalls = 256
)

// ErrArgumentsTooLong is what errors.Is finds in the errors of
// [ArgumentJoiner.Add].
var ErrArgumentsTooLong = errors.New("too much of unfinished tool calls")

// ToolCall is a tool call as a model writes it.
type ToolCall struct {
	ID    string // "" where not told
	Name  string // of the tool; "" where not told
	Index int    // among the calls of one answer; -1 where not told

	// Arguments is all that has come. It should be a JSON object and is
	// unchecked, since models err.
	Arguments string

	// Done says that nothing more will come: the last brace of the arguments
	// has come, or the sender went on, by finish_reason, by the call's
	// tool_start or model.tool.done, or by another call at its index. A call
	// is given as done once.
	Done bool
}

// ArgumentJoiner joins the pieces in which the arguments of tool calls come,
// as a model writes them. It reads tool_args_delta, every entry of the
// tool_calls in OpenAI's chunks, and generation B's model.tool.delta and
// model.tool.done. What becomes of a call is [ParseToolEvent]'s to tell. The
// zero value is ready to use; it is not safe for concurrent use.
//
//	var joiner events.ArgumentJoiner
//	calls, err := joiner.Add(e) // for each event of the stream
//
// Several calls may come at once, their pieces interleaved. A piece belongs to
// the call of its id; without an id to that of its index; without either to
// that of the piece before it. It begins a call
//
//   - where there is none yet,
//   - where the call at its index has another id or another name: some systems
//     give index 0 to each of several calls,
//   - where its call is done: an index, and with some an id, come again when
//     the model is asked again.
//
// It takes time in proportion to the bytes and to the calls that are open.
type ArgumentJoiner struct {
	// MaxBytes bounds what is held of all calls together: ids, names, and the
	// arguments of those that are not done. Zero means
	// DefaultMaxArgumentBytes. A call that goes beyond it is given up, and so
	// is one beyond MaxJoinedCalls; the others go on.
	MaxBytes int

	calls []*joined // by age
	turn  int
}

// joined is a ToolCall in the making. One that is done stays until the sender
// goes on, so that a last, empty piece begins no other.
type joined struct {
	ToolCall
	scope int // the choice of a chunk, or what pieces of other types have
	turn  int // of its latest piece
	text  strings.Builder
	brace lastBrace
	next  string // the name that came last once it was done
	lost  bool   // given up: what more comes of it is passed by
}

// Add takes the next event of the stream. It gives the calls that the event
// brought forward, as they now are; none for the many events that are of no
// call's arguments.
//
// An error says which calls were given up, for being beyond a bound; the calls
// beside it are good.
func (j *ArgumentJoiner) Add(e Event) ([]ToolCall, error) {
	switch e.Type {
	case "", TypeToolArgsDelta, TypeModelToolDelta, TypeModelToolDone, TypeToolStart:
	default:
		return nil, nil
	}
	object, ok := e.parsed()
	if !ok {
		return nil, nil
	}
	s := step{j: j}
	switch e.Type {
	case "":
		s.chunk(object)
	case TypeToolArgsDelta:
		s.piece(readPiece(object, scopeDelta))
	case TypeModelToolDelta:
		s.piece(readPiece(object, scopeModel))
	case TypeModelToolDone:
		s.whole(readPiece(object, scopeModel))
	case TypeToolStart:
		s.started(object.member("toolCallId").text, firstOf(object.member("toolName").text, object.member("name").text))
	}
	return s.end()
}

// Open gives the calls that are not done, in the order of their beginnings.
// Those that are left when a stream ends were cut.
func (j *ArgumentJoiner) Open() []ToolCall {
	var open []ToolCall
	for _, c := range j.calls {
		if !c.Done && !c.lost {
			open = append(open, c.now())
		}
	}
	return open
}

func (j *ArgumentJoiner) maxBytes() int {
	if j.MaxBytes > 0 {
		return j.MaxBytes
	}
	return DefaultMaxArgumentBytes
}

// held gives how many bytes the calls hold.
func (j *ArgumentJoiner) held() (n int) {
	for _, c := range j.calls {
		n += len(c.ID) + len(c.Name) + len(c.next) + c.text.Len()
	}
	return n
}

// latest gives the newest call of a scope that fits, nil for none.
func (j *ArgumentJoiner) latest(scope int, fits func(*joined) bool) *joined {
	for _, c := range slices.Backward(j.calls) {
		if c.scope == scope && fits(c) {
			return c
		}
	}
	return nil
}

// find gives the call that a piece belongs to, done or not.
func (j *ArgumentJoiner) find(p piece) *joined {
	named := func(c *joined) bool { return p.name == "" || c.Name == "" || p.name == c.Name }
	if p.id != "" {
		if c := j.latest(p.scope, func(c *joined) bool { return c.ID == p.id }); c != nil {
			return c
		}
		// Its id may come late.
		return j.latest(p.scope, func(c *joined) bool {
			return c.ID == "" && !c.Done && p.index >= 0 && c.Index == p.index && named(c)
		})
	}
	if p.index >= 0 {
		c := j.latest(p.scope, func(c *joined) bool { return c.Index == p.index })
		if c != nil && !named(c) {
			return nil
		}
		return c
	}
	var last *joined
	for _, c := range j.calls {
		if c.scope == p.scope && (last == nil || c.turn > last.turn) {
			last = c
		}
	}
	if last != nil && !named(last) {
		return nil
	}
	return last
}

// now gives the call as it is. A Builder's text is not copied.
func (c *joined) now() ToolCall {
	call := c.ToolCall
	call.Arguments = c.text.String()
	return call
}

// step is what one event does to the calls.
type step struct {
	j       *ArgumentJoiner
	forward []*joined
	errs    []error
}

func (s *step) end() ([]ToolCall, error) {
	var calls []ToolCall
	for _, c := range s.forward {
		if c.lost {
			continue
		}
		calls = append(calls, c.now())
		if c.Done {
			c.text = strings.Builder{} // it is the caller's now
		}
	}
	return calls, errors.Join(s.errs...)
}

func (s *step) tell(c *joined) {
	if !slices.Contains(s.forward, c) {
		s.forward = append(s.forward, c)
	}
}

// chunk reads the calls in all of a chunk's choices.
func (s *step) chunk(object value) {
	for choice := range object.member("choices").elements() {
		scope := max(indexOf(choice.member("index")), 0)
		for call := range choice.member("delta").member("tool_calls").elements() {
			function := call.member("function")
			s.piece(piece{
				scope: scope, id: call.member("id").text, name: function.member("name").text,
				index: indexOf(call.member("index")), args: argumentText(function.member("arguments")),
			})
		}
		if choice.member("finish_reason").text != "" {
			for c := s.j.latest(scope, all); c != nil; c = s.j.latest(scope, all) {
				s.close(c)
			}
		}
	}
}

func all(*joined) bool { return true }

// piece adds a piece to its call.
func (s *step) piece(p piece) {
	c := s.j.find(p)
	blank := strings.Trim(p.args, " \t\r\n") == ""
	if c != nil && c.Done {
		if blank { // nothing more of it, or the name alone of another
			if p.name != "" && len(p.name) <= maxKept {
				c.next = own(p.name)
			}
			return
		}
		p.name = firstOf(p.name, c.next)
		s.close(c)
		c = nil
	}
	if c == nil {
		if blank && p.id == "" && p.name == "" {
			return // of nothing
		}
		if c = s.begin(p); c == nil {
			return
		}
	}
	s.j.turn++
	c.turn = s.j.turn
	if !c.lost {
		s.write(c, p)
	}
}

// whole reads a call that comes at once or that its pieces were of.
func (s *step) whole(p piece) {
	c := s.j.find(p)
	if c == nil {
		c = s.begin(p)
	}
	if c == nil {
		return
	}
	if !c.lost && !c.Done {
		if p.args != "" {
			c.text, c.brace = strings.Builder{}, lastBrace{}
		}
		s.write(c, p)
	}
	s.close(c)
}

// started closes the call that a tool's start is of.
func (s *step) started(id, name string) {
	for _, c := range s.j.calls {
		if id != "" && c.ID == id {
			s.close(c)
			return
		}
	}
	for _, c := range s.j.calls {
		if name != "" && c.Name == name && (id == "" || c.ID == "") {
			s.close(c)
			return
		}
	}
}

// begin begins a call, without its text; nil where there are too many.
func (s *step) begin(p piece) *joined {
	if p.index >= 0 {
		if c := s.j.latest(p.scope, func(c *joined) bool { return c.Index == p.index }); c != nil {
			s.close(c)
		}
	}
	if len(s.j.calls) >= MaxJoinedCalls {
		i := slices.IndexFunc(s.j.calls, func(c *joined) bool { return c.Done || c.lost })
		if i < 0 {
			s.errs = append(s.errs, fmt.Errorf("%w: %d calls are open, the most there may be: call %.40q of %.40q is given up",
				ErrArgumentsTooLong, MaxJoinedCalls, p.id, p.name))
			return nil
		}
		s.j.calls = slices.Delete(s.j.calls, i, i+1)
	}
	c := &joined{ToolCall: ToolCall{Index: -1}, scope: p.scope}
	s.j.calls = append(s.j.calls, c)
	return c
}

// maxKept bounds what is kept to know more of a call by, in bytes: the id of
// one that was given up, and the name that comes once it is done. With a longer
// one, what comes is refused anew, and has no name.
const maxKept = 1 << 10

// write adds what a piece says to a call that is open.
func (s *step) write(c *joined, p piece) {
	cost := len(p.args)
	if c.ID == "" {
		cost += len(p.id)
	}
	if c.Name == "" {
		cost += len(p.name)
	}
	if p.index >= 0 {
		c.Index = p.index
	}
	if limit := s.j.maxBytes(); s.j.held()+cost > limit {
		s.errs = append(s.errs, fmt.Errorf("%w: they have more than %d bytes: call %.40q of %.40q is given up",
			ErrArgumentsTooLong, limit, firstOf(c.ID, p.id), firstOf(c.Name, p.name)))
		c.lost, c.text = true, strings.Builder{}
		if c.ID == "" && len(p.id) <= maxKept {
			c.ID = own(p.id)
		}
		return
	}
	if c.ID == "" {
		c.ID = own(p.id)
	}
	if c.Name == "" {
		c.Name = own(p.name)
	}
	c.text.WriteString(replaceInvalid(p.args))
	c.Done = c.brace.read(p.args)
	s.tell(c)
}

// close takes a call out, and tells of it where it was open.
func (s *step) close(c *joined) {
	s.j.calls = slices.DeleteFunc(s.j.calls, func(other *joined) bool { return other == c })
	if !c.Done && !c.lost {
		c.Done = true
		s.tell(c)
	}
}
