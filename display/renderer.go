package display

import (
	"cmp"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/wallet"
)

// Bounds of what a Renderer remembers.
const (
	maxCalls = 256  // calls that are open; of more, the oldest are forgotten
	maxNames = 1000 // agents' names
)

// maxText bounds a line's text, in cells. Long enough for any cause of an
// error that is meant to be read, short enough for a line.
const maxText = 500

// Renderer turns the events of one stream, in their order, into lines. It
// pairs the starts of calls with their ends, so that an end can tell who
// answered and how long it took, and remembers the names of agents by their
// wallets. It is for one goroutine; the zero value is not ready, use
// [NewRenderer].
type Renderer struct {
	seq   int
	calls *events.Tracker
	added int // calls' size at most

	begun map[int]beginning // of the open calls, by their start's sequence number
	names map[string]string // by wallet, EIP-55
	runs  map[string]string // the agent of a child, by run key or sub id

	saidText bool // the run's own text came in pieces

	// clock tells when an event arrives, for frames that have no time of
	// their own. Nil for a recorded stream, of which only its frames tell.
	clock func() time.Time
	last  moment
}

// moment is when an event happened: by the sender's clock, and by ours. Either
// may be zero.
type moment struct{ sent, arrived time.Time }

// beginning is when a call began, and the agent that was told last to be asked.
type beginning struct {
	moment
	agent string
}

// since gives the time from an earlier moment, by one and the same clock; 0
// where no clock has both.
func (m moment) since(earlier moment) time.Duration {
	switch {
	case !m.sent.IsZero() && !earlier.sent.IsZero():
		return max(m.sent.Sub(earlier.sent), 0)
	case !m.arrived.IsZero() && !earlier.arrived.IsZero():
		return max(m.arrived.Sub(earlier.arrived), 0)
	}
	return 0
}

// NewRenderer gives a Renderer that has seen nothing.
func NewRenderer() *Renderer {
	return &Renderer{
		calls: new(events.Tracker),
		begun: make(map[int]beginning),
		names: make(map[string]string),
		runs:  make(map[string]string),
	}
}

// Line gives the line of the stream's next event. It is false for an event in
// which there is nothing for a person: timings, heartbeats, the pieces of a
// tool's arguments, empty texts, a start that was told before. An event of
// unknown type has a line, and an error never lacks one.
func (r *Renderer) Line(e events.Event) (Line, bool) {
	r.seq++
	if e.Err != nil || e.Type == events.TypeMalformed {
		return finish(Line{Kind: KindMalformed, Mark: markFailed, Verb: "broken frame", Text: e.ErrorText(), Failed: true})
	}
	f := readMembers(e.Data)
	r.last = moment{sent: cmp.Or(f.time("ts"), f.object("payload").time("ts"))}
	if r.clock != nil {
		r.last.arrived = r.clock()
	}
	r.learn(f)
	var l Line
	var ok bool
	if te, err := events.ParseToolEvent(e); err == nil {
		l, ok = r.tool(te)
	} else {
		l, ok = r.other(e, f)
	}
	if !ok {
		return Line{}, false
	}
	l.Time = r.last.sent
	return finish(l)
}

// finish leaves no text of a line uncleaned, wherever it came from. It is
// false for a piece of text in which nothing is.
func finish(l Line) (Line, bool) {
	if l.Kind == KindText || l.Kind == KindThinking {
		if l.Text = CleanText(l.Text); l.Text == "" {
			return Line{}, false
		}
		l.Who = brief(l.Who, maxName)
		return l, true
	}
	l.Who, l.Verb, l.Whom = brief(l.Who, 2*maxName), brief(l.Verb, 2*maxName), brief(l.Whom, 2*maxName)
	l.Text = brief(l.Text, maxText)
	return l, true
}

// learn remembers which name belongs to which wallet.
func (r *Renderer) learn(f members) {
	for _, name := range []string{"display", "target"} {
		if d := f.object(name); d.text("kind") == "agent" {
			r.name(d.text("target"), d.text("name"))
		}
	}
	agent := f.object("agent")
	r.name(agent.text("walletAddress"), agent.text("name"))
}

func (r *Renderer) name(address, name string) {
	a, ok := wallet.FoldAddress(address)
	if name = brief(name, maxName); !ok || name == "" || len(r.names) >= maxNames {
		return
	}
	r.names[a.String()] = name
}

// agent gives an agent's name, or what stands for one, and its wallet.
func (r *Renderer) agent(subject string) (name, address string) {
	a, ok := wallet.FoldAddress(subject)
	if !ok {
		return brief(subject, maxName), ""
	}
	return r.names[a.String()], a.Short()
}

// called gives what to call an agent by: its name, else its wallet.
func (r *Renderer) called(subject string) string { return cmp.Or(r.agent(subject)) }

// full gives an agent's name and wallet. A name alone may be anybody's.
func (r *Renderer) full(subject string) string {
	name, address := r.agent(subject)
	if name == "" || address == "" {
		return name + address
	}
	return name + " " + address
}

// pair adds a tool event to the calls and gives the call that it is of. told
// says that it is a start of which a line has told all that it says.
func (r *Renderer) pair(te events.ToolEvent) (call events.Call, told bool) {
	if r.added++; r.added > 2*maxCalls {
		r.forget()
	}
	call = r.calls.Add(r.seq, te)
	switch known := r.begun[call.Start]; {
	case !te.Start:
	case call.Start == r.seq:
		r.begun[r.seq] = beginning{r.last, te.Agent()}
	case te.Agent() == "" || te.Agent() == known.agent:
		told = call.ToolName == te.ToolName
	default:
		r.begun[call.Start] = beginning{known.moment, te.Agent()}
	}
	return call, told
}

// forget drops the calls that ended, and of those that are open the oldest if
// they are too many: a stream may be of any length, and a tracker keeps every
// event.
func (r *Renderer) forget() {
	open := r.calls.Open()
	open = open[max(0, len(open)-maxCalls):]
	begun := make(map[int]beginning, len(open))
	r.calls = new(events.Tracker)
	for _, c := range open {
		r.calls.Add(c.Start, *c.StartEvent)
		begun[c.Start] = r.begun[c.Start]
	}
	r.begun, r.added = begun, len(open)+1
}

// running gives the calls that are open, oldest first and so many at most, and
// how many more there are. They are lines whose Elapsed is the time since their
// start, at an instant of the renderer's clock.
func (r *Renderer) running(now time.Time, limit int) (lines []Line, more int) {
	open := r.calls.Open()
	more = max(len(open)-limit, 0)
	for _, c := range open[:len(open)-more] {
		at := r.last
		if !at.sent.IsZero() && !at.arrived.IsZero() {
			// The sender's clock goes on from its newest frame.
			at.sent = at.sent.Add(max(now.Sub(at.arrived), 0))
		}
		at.arrived = now
		l, _ := finish(r.started(*c.StartEvent))
		l.Elapsed = at.since(r.begun[c.Start].moment)
		lines = append(lines, l)
	}
	return lines, more
}
