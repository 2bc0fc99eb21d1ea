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

// frameBytes is the size of the frames compared, with their field name and
// blank line: what the tool frames of agents mostly have.
const frameBytes = 217

// The frames, each with a place for a number and one for a text that fills it
// up.
const (
	startFrame = `data: {"type":"tool_start","toolName":"swarm_delegate","toolCallId":"call-%06d","input":` +
		`{"agentWallet":"0x52908400098527886E0F7030069857D2E4169EE7","task":"%s"}}` + "\n\n"
	endFrame = `data: {"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call-%06d","output":` +
		`{"success":true,"agentWallet":"0x52908400098527886E0F7030069857D2E4169EE7","output":"%s"}}` + "\n\n"
	quotedFrame = `data: {"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call-%06d","output":` +
		`"{\"success\":true,\"agentWallet\":\"0x52908400098527886E0F7030069857D2E4169EE7\",\"output\":\"%s\"}"}` + "\n\n"
	chunkFrame = `data: {"id":"chatcmpl-%06d","object":"chat.completion.chunk","created":1790000000,"model":"m-1",` +
		`"choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}` + "\n\n"
)

// endless gives a stream of a frame over and over, numbered.
func endless(format string) io.Reader {
	var all bytes.Buffer
	for i := range 300 {
		empty := len(fmt.Sprintf(format, i, ""))
		fmt.Fprintf(&all, format, i, strings.Repeat("t", frameBytes-empty))
	}
	return &loop{data: all.Bytes()}
}

type loop struct {
	data []byte
	next int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.next:])
	l.next = (l.next + n) % len(l.data)
	return n, nil
}

// BenchmarkStream reads a stream's bytes into what a program wants of them, a
// frame a turn: the tool event of a tool's frame, the text of a chunk. Beside
// this package stands what one would use without it: go-sse, and the standard
// decoder into structs, which know one form of frame and none of the rules.
func BenchmarkStream(b *testing.B) {
	for _, frames := range []struct {
		name, format string
		plain        func(data []byte) bool
	}{
		{"tool-start", startFrame, plainStart},
		{"tool-end", endFrame, plainEnd},
		{"tool-end-quoted", quotedFrame, plainEnd},
		{"text-chunk", chunkFrame, plainChunk},
	} {
		b.Run(frames.name+"/ours", func(b *testing.B) {
			b.SetBytes(frameBytes)
			b.ReportAllocs()
			s := stream.NewScanner(endless(frames.format))
			for range b.N {
				frame, err := s.Next()
				if err != nil {
					b.Fatal(err)
				}
				e := events.Decode(frame.ID, frame.Event, frame.Data)
				te, err := events.ParseToolEvent(e)
				if err != nil && e.Text() == "" || err == nil && te.ToolCallID == "" || e.Terminal() {
					b.Fatal(string(e.Data), te, err)
				}
			}
		})
		b.Run(frames.name+"/go-sse+encoding-json", func(b *testing.B) {
			b.SetBytes(frameBytes)
			b.ReportAllocs()
			n := 0
			for event, err := range sse.Read(endless(frames.format), nil) {
				if n++; n > b.N {
					break
				}
				if err != nil || !frames.plain([]byte(event.Data)) {
					b.Fatal(event, err)
				}
			}
		})
	}
}

// plainTool is what a program without this package would make of a frame.
type plainTool struct {
	Type       string          `json:"type"`
	ToolName   string          `json:"toolName"`
	ToolCallID string          `json:"toolCallId"`
	Input      json.RawMessage `json:"input"`
	Output     json.RawMessage `json:"output"`
	Error      string          `json:"error"`
}

func plainStart(data []byte) bool {
	var tool plainTool
	var input struct {
		AgentWallet string `json:"agentWallet"`
		Task        string `json:"task"`
	}
	return json.Unmarshal(data, &tool) == nil && json.Unmarshal(tool.Input, &input) == nil &&
		tool.Type == "tool_start" && tool.ToolCallID != "" && input.AgentWallet != "" && input.Task != ""
}

func plainEnd(data []byte) bool {
	var tool plainTool
	var output struct {
		Success     bool   `json:"success"`
		AgentWallet string `json:"agentWallet"`
		Output      string `json:"output"`
	}
	if json.Unmarshal(data, &tool) != nil {
		return false
	}
	if tool.Output[0] == '"' {
		var quoted string
		if json.Unmarshal(tool.Output, &quoted) != nil {
			return false
		}
		tool.Output = json.RawMessage(quoted)
	}
	return json.Unmarshal(tool.Output, &output) == nil &&
		tool.Type == "tool_end" && tool.ToolCallID != "" && output.AgentWallet != "" && output.Success
}

func plainChunk(data []byte) bool {
	var chunk struct {
		Error   json.RawMessage `json:"error"`
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
	}
	return json.Unmarshal(data, &chunk) == nil && chunk.Error == nil && chunk.Choices[0].Delta.Content != ""
}
