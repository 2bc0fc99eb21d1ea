package events_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/swarmseal/swarmseal/events"
)

// A run finds an agent and hands it a task; the answer comes as text.
func Example() {
	frames := []string{
		`{"type":"tool_start","toolName":"agent_find","input":{"query":"translator, Basque"}}`,
		`{"type":"tool_end","toolName":"agent_find","output":"{\"results\":[{\"wallet\":\"0x7fa36a04833ddf5e27518af072ddccf2f50bffd1\"}]}"}`,
		`{"type":"text-delta","delta":"Asking Clio."}`,
		`{"type":"tool_start","toolName":"swarm_delegate","toolCallId":"c1","input":{"agentWallet":"0x7fa36a04833ddf5e27518af072ddccf2f50bffd1","task":"Translate the menu"}}`,
		`{"type":"tool_end","toolName":"swarm_delegate","toolCallId":"c1","output":{"success":false,"error":"Clio is asleep"}}`,
		`{"type":"done"}`,
	}
	var calls events.Tracker
	for i, frame := range frames {
		e := events.Decode("", "message", []byte(frame))
		if text := e.Text(); text != "" {
			fmt.Println("answer:", text)
		}
		te, err := events.ParseToolEvent(e)
		switch {
		case errors.Is(err, events.ErrNotToolEvent):
			continue
		case err != nil:
			fmt.Println("broken frame:", err)
			continue
		}
		switch {
		case te.Start && te.Finds():
			fmt.Println("looking for:", te.Action)
		case te.Start && te.Delegates():
			fmt.Println("asking", te.Agent(), "to:", te.Action)
		case te.Error != "":
			fmt.Println("failed:", te.Error)
		}
		calls.Add(i+1, te)
	}
	for _, c := range calls.Calls() {
		b, _ := json.Marshal(c)
		fmt.Println(string(b))
	}
	// Output:
	// looking for: translator, Basque
	// answer: Asking Clio.
	// asking 0x7fa36A04833DdF5e27518aF072DDCCf2f50bffD1 to: Translate the menu
	// failed: Clio is asleep
	// {"toolName":"agent_find","toolCallId":"","agent":"0x7fa36A04833DdF5e27518aF072DDCCf2f50bffD1","start":1,"end":2}
	// {"toolName":"swarm_delegate","toolCallId":"c1","agent":"0x7fa36A04833DdF5e27518aF072DDCCf2f50bffD1","start":4,"end":5}
}

// Outputs come wrapped in many ways; Result is what is inside, as an object.
func ExampleParseToolEvent() {
	e := events.Decode("", "message", []byte(`{"type":"tool_end","toolName":"delegate",`+
		`"output":{"content":[{"type":"text","text":"{\"wei\":115792089237316195423570985008687907853}"}],"isError":false}}`))
	te, err := events.ParseToolEvent(e)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _ := te.MarshalJSON()
	fmt.Println(string(b))
	// Output:
	// {"start":false,"agent":"","action":"","result":{"wei":115792089237316195423570985008687907853},"error":null,"toolName":"delegate"}
}

// A broken frame is an event of its own and does not end the stream.
func ExampleDecode() {
	e := events.Decode("8", "message", []byte(`{"type":"tool_start","toolName":"swarm_del`))
	fmt.Println(e.Type)
	fmt.Println(e.Err)
	// Output:
	// malformed
	// "message" frame of 42 bytes, at byte 42: unexpected end of JSON input; want one whole JSON value
}

// Two calls of one tool whose arguments come interleaved; only the first piece
// of each has its id.
func ExampleArgumentJoiner() {
	chunk := `{"choices":[{"index":0,"delta":{"tool_calls":[%s]}}]}`
	var joiner events.ArgumentJoiner
	for _, piece := range []string{
		`{"index":0,"id":"call_a","function":{"name":"swarm_delegate","arguments":""}}`,
		`{"index":1,"id":"call_b","function":{"name":"swarm_delegate","arguments":"{\"task\":"}}`,
		`{"index":0,"function":{"arguments":"{\"task\":\"draw a map\"}"}}`,
		`{"index":1,"function":{"arguments":"\"find a boat\"}"}}`,
	} {
		calls, err := joiner.Add(events.Decode("", "message", fmt.Appendf(nil, chunk, piece)))
		if err != nil {
			fmt.Println("given up:", err)
		}
		for _, c := range calls {
			if c.Done {
				fmt.Println(c.ID, c.Name, c.Arguments)
			}
		}
	}
	fmt.Println("cut:", len(joiner.Open()))
	// Output:
	// call_a swarm_delegate {"task":"draw a map"}
	// call_b swarm_delegate {"task":"find a boat"}
	// cut: 0
}
