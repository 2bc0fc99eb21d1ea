// Package display is how people see a stream of agent events: one line for one
// event, and a terminal that shows a run while it goes on.
//
//	screen := display.NewTerminal(os.Stdout, display.Options{})
//	for ev, err := range client.Run(ctx, agent, request) {
//		if err != nil {
//			break
//		}
//		screen.Event(ev)
//	}
//	err := screen.Close()
//
// On a terminal, running calls stand below the lines with a spinner and their
// time; in a pipe there are plain lines:
//
//	→ finds: solidity auditor
//	✓ found 2 in 3 ms: Auditor (0xeDf8…93e8, 0.81), Scribe (0x196F…d362, 0.40)
//	→ asks Auditor 0xeDf8…93e8: Audit the vesting contract
//	  · Auditor begins: Audit the vesting contract
//	  → Auditor asks Scribe 0x196F…d362: Translate the comments
//	  ✓ Scribe answered in 901 ms: Only the owner may withdraw. …
//	✓ Auditor answered in 2.4 s: No critical findings. …
//	│ The contract is sound.
//	✓ Coordinator done in 31 s
//
// What child runs do stands indented below their parents. A front end of
// another kind takes each event's [Line] from a [Renderer] and lays its parts
// out itself; [MetaOf] has the words for a single tool event.
//
// # Foreign text
//
// Names, tasks, results and causes are written by agents that nobody vouches
// for. All of it goes through [Clean] before it becomes part of a Line: it can
// move no cursor, set no colour or title, link nowhere, reverse no writing and
// hide nothing. It is also cut: a name to 40 cells, a text to 500. Every line
// of an answer begins with a bar, and every event with a mark that no answer
// can put there. A wallet stands beside the name of whoever is asked or found,
// because a name may be anybody's.
//
// # Bounds
//
// A Renderer remembers the names of 1000 agents and pairs the newest 256 open
// calls. A Terminal keeps 2000 bytes of each of 100 children's unfinished
// lines. Both forget what is beyond.
package display
