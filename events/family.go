package events

// Family groups the tools whose events have one shape. It decides by which
// key of its own an event's subject goes.
type Family int

const (
	FamilyAgent     Family = iota // agent: finding agents and delegating to them
	FamilyModel                   // model: models_call
	FamilyConnector               // connector: connectors_find
	FamilySearch                  // mode: search_call
	FamilyCatalog                 // domain: query_catalog
	families                      // how many there are
)

// familyKeys are the members that tell families apart, in a tool's input and
// in the JSON of a parsed event.
var familyKeys = [families]string{"agent", "model", "connector", "mode", "domain"}

// Key gives the JSON member of the family's own value: agent, model,
// connector, mode or domain; "" for a Family that is none.
func (f Family) Key() string {
	if f < 0 || f >= families {
		return ""
	}
	return familyKeys[f]
}

func (f Family) String() string { return f.Key() }

// tool is a tool of some family.
type tool struct {
	name   string
	family Family
	act    act
}

type act uint8

const (
	actOther act = iota
	actFind
	actDelegate
)

// remoteAgent delegates only when the verb in its input is send.
const remoteAgent = "remote_agent"

// tools are the tools that ParseToolEvent reads: Compose's own names, and
// those by which other systems know the same two acts of finding and
// delegating.
var tools = func() map[string]tool {
	m := make(map[string]tool)
	for _, t := range []tool{
		{"agent_find", FamilyAgent, actFind},
		{"swarm_find", FamilyAgent, actFind},
		{"search_agents", FamilyAgent, actFind},
		{"search_for_agents", FamilyAgent, actFind},
		{"swarm_delegate", FamilyAgent, actDelegate},
		{"delegate", FamilyAgent, actDelegate},
		{"send_collaboration_request", FamilyAgent, actDelegate},
		{remoteAgent, FamilyAgent, actDelegate},
		{"models_call", FamilyModel, actOther},
		{"connectors_find", FamilyConnector, actOther},
		{"search_call", FamilySearch, actOther},
		{"query_catalog", FamilyCatalog, actOther},
	} {
		m[t.name] = t
	}
	return m
}()
