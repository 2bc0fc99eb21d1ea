package display

import (
	"cmp"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/wallet"
)

// maxName bounds a name, in cells.
const maxName = 40

// Meta is how a tool event is shown: what a front end needs for a heading.
// Its texts are cleaned.
type Meta struct {
	Name string // of the agent, model or tool; never ""
	Mark string // → for a start, ✓ or ✗ for an end
	Verb string // asks, finds, calls, …; of an end answered, found or failed
}

// verbs are the words for a call's start and for its good end.
var verbs = map[events.Family][2]string{
	events.FamilyAgent:     {"asks", "answered"},
	events.FamilyModel:     {"calls", "answered"},
	events.FamilyConnector: {"looks for", "found"},
	events.FamilySearch:    {"searches", "found"},
	events.FamilyCatalog:   {"looks in", "found"},
}

// MetaOf gives the display metadata of a tool event.
func MetaOf(te events.ToolEvent) Meta {
	m := Meta{Mark: markStart}
	words := verbs[te.Family]
	if te.Finds() {
		words = [2]string{"finds", "found"}
	}
	switch {
	case te.Start:
		m.Verb = words[0]
	case te.Error != "":
		m.Mark, m.Verb = markFailed, "failed"
	default:
		m.Mark, m.Verb = markDone, words[1]
	}
	shown := ""
	if te.Display != nil {
		shown = brief(te.Display.Name, maxName)
	}
	subject := shortAgent(te.Subject)
	switch {
	case te.Delegates():
		m.Name = cmp.Or(shown, subject, "an agent")
	case te.Finds():
		m.Name = cmp.Or(shown, "agents")
	case te.Family == events.FamilyModel:
		m.Name = cmp.Or(subject, shown, "a model")
	case te.Family == events.FamilyConnector:
		m.Name = cmp.Or(subject, shown, "connectors")
	case te.Family == events.FamilyCatalog:
		m.Name = cmp.Or(subject, shown, "the catalog")
	default:
		m.Name = cmp.Or(shown, subject, brief(te.ToolName, maxName), "a tool")
	}
	return m
}

// shortAgent gives an address as people recognise it, and any other name of an
// agent as it is.
func shortAgent(subject string) string {
	if a, ok := wallet.FoldAddress(subject); ok {
		return a.Short()
	}
	return brief(subject, maxName)
}
