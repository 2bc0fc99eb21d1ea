package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tmaxmax/go-sse"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
)

// frameBytes is the size of the frames of BenchmarkToolFrame, their field name
// and blank line included: what the frames of running agents mostly have.
const frameBytes = 217

// toolFrames gives a stream of tool frames as agents send them, from a format
// with a place for the call's number and one for a text that fills it up.
func toolFrames(format string) []byte {
	var all bytes.Buffer
	for i := range 300 {
		empty := len(fmt.Sprintf(format, i, ""))
		fmt.Fprintf(&all, format, i, strings.Repeat("t", frameBytes-empty))
	}
	return all.Bytes()
}

const (
	startFrame = `data: {"type":"tool_start","toolName":"swarm_delegate","toolCallId":"call-%06d","input":` +
		`{"agentWallet":"0x52908400098527886E0F7030069857D2E4169EE7","task":"%s"}}` + "\n\n"
	endFrame = `data: {"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call-%06d","output":` +
		`{"success":true,"agentWallet":"0x52908400098527886E0F7030069857D2E4169EE7","output":"%s"}}` + "\n\n"
	textFrame = `data: {"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call-%06d","output":"` +
		`{\"success\":true,\"agentWallet\":\"0x52908400098527886E0F7030069857D2E4169EE7\",\"output\":\"%s\"}"}` + "\n\n"
)

// again reads data over and over.
type again struct {
	data []byte
	next int
}

func (r *again) Read(p []byte) (int, error) {
	n := copy(p, r.data[r.next:])
	r.next = (r.next + n) % len(r.data)
	return n, nil
}

// BenchmarkToolFrame reads a stream's bytes into tool events, one a turn.
func BenchmarkToolFrame(b *testing.B) {
	for _, frames := range []struct {
		name string
		data []byte
	}{
		{"start", toolFrames(startFrame)},
		{"end", toolFrames(endFrame)},
		{"end with its output in a string", toolFrames(textFrame)},
	} {
		for _, way := range []struct {
			name string
			read func(b *testing.B, r io.Reader)
		}{{"ours", readOurs}, {"go-sse+encoding-json", readPlain}} {
			b.Run(frames.name+"/"+way.name, func(b *testing.B) {
				b.SetBytes(frameBytes)
				b.ReportAllocs()
				way.read(b, &again{data: frames.data})
			})
		}
	}
}

func readOurs(b *testing.B, r io.Reader) {
	s := stream.NewScanner(r)
	for range b.N {
		frame, err := s.Next()
		if err != nil {
			b.Fatal(err)
		}
		te, err := events.ParseToolEvent(events.Decode(frame.ID, frame.Event, frame.Data))
		if err != nil || te.ToolCallID == "" {
			b.Fatal(te, err)
		}
	}
}

// plainTool is what a program without this package would have of a frame.
type plainTool struct {
	Start                       bool
	Name, CallID, Agent, Action string
	Result                      json.RawMessage
	Error                       string
}

// readPlain is how one reads such a stream with what is at hand: go-sse, and
// the standard decoder into structs. It knows one form of frame, and none of
// the rules of this package.
func readPlain(b *testing.B, r io.Reader) {
	n := 0
	for event, err := range sse.Read(r, nil) {
		if n == b.N {
			return
		}
		n++
		if err != nil {
			b.Fatal(err)
		}
		var frame struct {
			Type       string          `json:"type"`
			ToolName   string          `json:"toolName"`
			ToolCallID string          `json:"toolCallId"`
			Input      json.RawMessage `json:"input"`
			Output     json.RawMessage `json:"output"`
			Error      string          `json:"error"`
		}
		if err := json.Unmarshal([]byte(event.Data), &frame); err != nil {
			b.Fatal(err)
		}
		tool := plainTool{Start: frame.Type == "tool_start", Name: frame.ToolName, CallID: frame.ToolCallID, Error: frame.Error}
		if tool.Start {
			var input struct {
				AgentWallet string `json:"agentWallet"`
				Task        string `json:"task"`
			}
			if err := json.Unmarshal(frame.Input, &input); err != nil {
				b.Fatal(err)
			}
			tool.Agent, tool.Action = input.AgentWallet, input.Task
		} else {
			var output struct {
				Success     bool   `json:"success"`
				AgentWallet string `json:"agentWallet"`
				Output      string `json:"output"`
			}
			if frame.Output[0] == '"' {
				var text string
				if err := json.Unmarshal(frame.Output, &text); err != nil {
					b.Fatal(err)
				}
				frame.Output = json.RawMessage(text)
			}
			if err := json.Unmarshal(frame.Output, &output); err != nil {
				b.Fatal(err)
			}
			tool.Agent, tool.Result = output.AgentWallet, frame.Output
		}
		if tool.CallID == "" || tool.Agent == "" {
			b.Fatalf("%+v", tool)
		}
	}
}
