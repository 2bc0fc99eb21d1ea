package events

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestFaults has streams on which clients are known to have broken. A line of
// told is what one that acts on events learns of a frame, "" for nothing.
func TestFaults(t *testing.T) {
	type frame struct{ event, data, told string }
	for _, tt := range []struct {
		name   string
		frames []frame
		calls  string // sequence numbers of starts and ends
	}{
		{"the body of a ping is no JSON of ours", []frame{
			{"ping", ``, ``},
			{"ping", `2026-11-30T23:59:59Z`, ``},
			{"ping", `keep-alive: {"type":"done"}`, ``},
			{"ping", `"done"`, ``},
			{"ping", `1790000000`, ``},
			{"ping", `[]`, ``},
			{"ping", `{}`, ``},
			{"ping", `{"error":"none","choices":[{"delta":{"content":"x"}}]}`, ``},
			{"ping", `{"type":"ping"}`, ``},
			{"message", `ping`, ``},
			{"ping", `{"type":"text-delta","delta":"but its type wins"}`, `text but its type wins`},
			{"ping", `{"cut`, `broken`},
		}, ``},
		{"an error inside a 200", []frame{
			{"message", `{"choices":[{"delta":{"content":"So "}}]}`, `text So `},
			{"message", `{"error":{"message":"no credit","code":402}}`, `failed no credit (402)`},
			{"message", `[DONE]`, ``},
		}, ``},
		{"an error beside the choices of a chunk", []frame{
			{"message", `{"error":null,"choices":[{"delta":{"content":"So "}}]}`, `text So `},
			{"message", `{"error":{"message":"provider lost","code":"server_error"},"choices":[{"delta":{"content":"far"},"finish_reason":"error"}]}`, `text far, failed provider lost (server_error)`},
		}, ``},
		{"deltas without a start after a resume", []frame{
			{"message", `{"type":"text-delta","delta":"rest of a word"}`, `text rest of a word`},
			{"message", `{"type":"reasoning_delta","delta":"x"}`, ``},
			{"message", `{"type":"thinking_end"}`, ``},
			{"message", `{"type":"swarm_child_delta","runKey":"k","delta":"x"}`, ``},
			{"message", `{"type":"swarm_child_done","runKey":"k"}`, ``},
			{"message", `{"type":"tool_args_delta","index":0,"argsDelta":"ult\"}"}`, `writes ult"}`},
			{"message", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`, `writes :1}`},
		}, ``},
		{"an end without a start after a resume", []frame{
			{"message", `{"type":"tool_end","toolName":"delegate","toolCallId":"a","output":{"n":1}}`, `end {"n":1}`},
			{"message", `{"type":"tool_start","toolName":"delegate","toolCallId":"b"}`, `start`},
			{"message", `{"type":"tool_end","toolName":"delegate","toolCallId":"c","error":"e"}`, `end  e`},
			{"message", `{"type":"tool_end","toolName":"delegate","toolCallId":"b","output":"x"}`, `end {"output":"x"}`},
		}, `0-1 2-4 0-3`},
		{"a start that is replayed after a resume", []frame{
			{"message", `{"type":"tool_start","toolName":"delegate","toolCallId":"a"}`, `start`},
			{"message", `{"type":"tool_start","toolName":"delegate","toolCallId":"a"}`, `start`},
			{"message", `{"type":"tool_end","toolName":"delegate","toolCallId":"a","output":"x"}`, `end {"output":"x"}`},
		}, `1-3`},
		{"events that the server has no more", []frame{
			{"message", `{"type":"tool_start","toolName":"delegate","toolCallId":"a"}`, `start`},
			{"message", `{"type":"gap","runId":"r","after":"1","next":"9","message":"purged"}`, ``},
			{"message", `{"type":"tool_end","toolName":"delegate","toolCallId":"b","output":"x"}`, `end {"output":"x"}`},
		}, `1-0 0-3`},
		{"arguments of two calls interleaved", []frame{
			{"message", `{"type":"tool_args_delta","id":"a","toolName":"f","argsDelta":"{\"x\":","index":0}`, `writes {"x":`},
			{"message", `{"type":"tool_args_delta","id":"b","toolName":"f","argsDelta":"{\"y\":","index":1}`, `writes {"y":`},
			{"message", `{"type":"tool_args_delta","argsDelta":"1}","index":0}`, `wrote {"x":1}`},
			{"message", `{"type":"tool_args_delta","argsDelta":"2}","index":1}`, `wrote {"y":2}`},
		}, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tracker Tracker
			var joiner ArgumentJoiner
			for i, f := range tt.frames {
				e := Decode("", f.event, []byte(f.data))
				if got := told(t, e, i+1, &tracker, &joiner); got != f.told {
					t.Errorf("frame %d, %s %s:\ngot  %s\nwant %s", i, f.event, f.data, got, f.told)
				}
			}
			var calls []string
			for _, c := range tracker.Calls() {
				calls = append(calls, fmt.Sprintf("%d-%d", c.Start, c.End))
			}
			if got := strings.Join(calls, " "); got != tt.calls {
				t.Errorf("calls %s, want %s", got, tt.calls)
			}
		})
	}
}

// told says what e tells by all the readers of the package.
func told(t *testing.T, e Event, seq int, tracker *Tracker, joiner *ArgumentJoiner) string {
	t.Helper()
	var all []string
	if text := e.Text(); text != "" {
		all = append(all, "text "+text)
	}
	if e.Failed() {
		all = append(all, "failed "+e.ErrorText()+" ("+e.ErrorCode()+")")
	}
	te, err := ParseToolEvent(e)
	switch {
	case e.Err != nil && err == e.Err:
		all = append(all, "broken")
	case errors.Is(err, ErrNotToolEvent):
	case err != nil:
		t.Fatal(err)
	case te.Start:
		all = append(all, "start")
		tracker.Add(seq, te)
	default:
		all = append(all, strings.TrimRight("end "+string(te.Result)+" "+te.Error, " "))
		tracker.Add(seq, te)
	}
	calls, err := joiner.Add(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		verb := "writes "
		if c.Done {
			verb = "wrote "
		}
		all = append(all, verb+c.Arguments)
	}
	return strings.Join(all, ", ")
}
