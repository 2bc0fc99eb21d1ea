package main

import "fmt"

// A recorded stream, by its tool calls.
func Example_parse() {
	status := run([]string{"parse", "--calls", "testdata/recorded.sse"})
	fmt.Println("status", status)
	// Output:
	// {"toolName":"swarm_delegate","toolCallId":"c1","agent":"0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf","start":1,"end":2}
	// {"end":"clean","lastEventId":"6","retryMs":null,"comments":0}
	// status 0
}
