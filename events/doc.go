// Package events says what a stream of agent events means: which event a
// frame is, which of them start and end tool calls, and which start belongs to
// which end. It does no I/O: bytes in, values out.
//
//	var calls events.Tracker
//	for seq, frame := range frames { // from 1
//		e := events.Decode(frame.ID, frame.Event, frame.Data)
//		fmt.Print(e.Text()) // the answer, as it comes
//		if e.Failed() {
//			return errors.New(e.ErrorText())
//		}
//		te, err := events.ParseToolEvent(e)
//		switch {
//		case errors.Is(err, events.ErrNotToolEvent):
//			continue
//		case err != nil:
//			return err // a broken frame
//		}
//		if te.Start && te.Delegates() {
//			fmt.Println("asking", te.Agent(), "to", te.Action)
//		}
//		calls.Add(seq, te)
//	}
//
// # Two generations
//
// Both are read, also within one stream, into the same values. In generation
// A a frame's data has its type, or the SSE event name has it:
//
//	data: {"type":"tool_start","toolName":"swarm_delegate","input":{"agentWallet":"0x…","task":"…"}}
//	data: {"type":"tool_end","toolName":"swarm_delegate","output":{…},"display":{…}}
//	data: {"type":"done"}
//	event: receipt
//	data: {…}
//	data: [DONE]
//
// In generation B a tool call is an activity with a status, of which pending
// and running start it and completed, failed and cancelled end it:
//
//	data: {"domain":"activity","type":"activity.tool","status":"running","name":"swarm_delegate",
//	       "target":{…},"payload":{"toolCallId":"c7","input":{…}}}
//
// # What is read of a tool call
//
// Systems disagree on nearly every name, so [ParseToolEvent] looks for each
// value in all the places known to have it, in a fixed order. Member and tool
// names match by case; of members of one name the last counts; an empty text
// and a member of an unexpected JSON kind count as absent.
//
// The agent of a delegation need not be a wallet: other systems name theirs by
// ids, aliases and URLs. Where a frame has a 20-byte hex address it is the
// agent, in its EIP-55 form whatever its case on the wire; else the first text
// is, unchanged and unchecked. So treat [ToolEvent.Subject] as a name and
// check it with wallet.ParseAddress before acting on it.
//
// Outputs come wrapped: as JSON in a string, in LangChain's messages, MCP's
// results and Compose's size wrappers, inside one another. Up to ten layers
// are taken off; [ToolEvent.Result] is always an object, with anything else
// under its member output. What a wrapper or the output itself tells of a
// failure becomes [ToolEvent.Error] even where the frame claims success.
//
// # How a run ends
//
// [Event.Terminal] tells whether an event ends its run and [Event.Failed]
// whether by an error, which may come as an object without a type inside a
// 200, alone or in a chunk of the answer:
//
//	data: {"error":{"message":"no credit","code":402}}
//
// [Event.ErrorText] and [Event.ErrorCode] say why. An event of [TypeGap] says
// that some events between two ids are lost for good; the run goes on.
//
// # Arguments as a model writes them
//
// Before a call starts, its arguments may come in pieces, those of several
// calls interleaved; [ArgumentJoiner] joins them:
//
//	data: {"type":"tool_args_delta","id":"c1","toolName":"swarm_delegate","argsDelta":"{\"task\":","index":0}
//	data: {"type":"tool_args_delta","id":"c2","toolName":"swarm_delegate","argsDelta":"{\"task\":","index":1}
//	data: {"type":"tool_args_delta","argsDelta":"\"Translate the menu\"}","index":0}
//
// # Bounds
//
// A frame nested deeper than 9,992 levels is malformed, and text that holds
// such JSON stays text. The time for a frame grows with its size and not
// faster, whatever is in it. All memory that outlives a call is the caller's
// own, but for [Event.Data], which shares the buffer given to [Decode].
package events
