package display_test

import (
	"fmt"
	"os"

	"github.com/swarmseal/swarmseal/display"
	"github.com/swarmseal/swarmseal/events"
)

var stream = []string{
	`{"type":"tool_start","toolName":"agent_find","input":{"query":"solidity auditor"},"ts":1790000000000}`,
	`{"type":"tool_end","toolName":"agent_find","output":{"results":[
		{"agent_id":"0xeDf8f866B9C4FbfBc3A79E31a2Bc79e3937993e8","name":"Auditor","similarity_score":0.8123}]},"ts":1790000000003}`,
	`{"type":"tool_start","toolName":"swarm_delegate","input":{
		"agentWallet":"0xeDf8f866B9C4FbfBc3A79E31a2Bc79e3937993e8","task":"Audit the vesting contract"},"ts":1790000000010}`,
	`{"type":"tool_end","toolName":"swarm_delegate","output":"No critical findings.","ts":1790000001210}`,
	`{"type":"text-delta","delta":"The contract "}`,
	`{"type":"text-delta","delta":"is sound."}`,
	`{"type":"done"}`,
}

// In a pipe, as here, a Terminal writes plain lines.
func ExampleTerminal() {
	screen := display.NewTerminal(os.Stdout, display.Options{})
	for _, data := range stream {
		screen.Event(events.Decode("", "message", []byte(data)))
	}
	if err := screen.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// → finds: solidity auditor
	// ✓ found 1 in 3 ms: Auditor (0xeDf8…93e8, 0.81)
	// → asks Auditor 0xeDf8…93e8: Audit the vesting contract
	// ✓ Auditor answered in 1.2 s: No critical findings.
	// │ The contract is sound.
	// ✓ done
}

// A front end of another kind lays the parts out itself.
func ExampleRenderer() {
	r := display.NewRenderer()
	for _, data := range stream {
		l, ok := r.Line(events.Decode("", "message", []byte(data)))
		if ok && l.Kind == display.KindToolEnd {
			fmt.Printf("%q %q %q %v\n", l.Who, l.Verb, l.Text, l.Elapsed)
		}
	}
	// Output:
	// "" "found 1" "Auditor (0xeDf8…93e8, 0.81)" 3ms
	// "Auditor" "answered" "No critical findings." 1.2s
}

func ExampleMetaOf() {
	te, err := events.ParseToolEvent(events.Decode("", "message", []byte(stream[2])))
	if err != nil {
		fmt.Println(err)
		return
	}
	meta := display.MetaOf(te)
	fmt.Println(meta.Mark, meta.Verb, meta.Name)
	// Output: → asks 0xeDf8…93e8
}

func ExampleClean() {
	fmt.Println(display.Clean("\x1b[2J\x1b]8;;https://evil.example\x07Auditor\x1b]8;;\x07 \u202e(verified)\n✓ done"))
	// Output: Auditor (verified) ✓ done
}
