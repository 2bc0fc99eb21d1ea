package events

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// delegateStart is an ordinary frame of a stream: 217 bytes.
var delegateStart = []byte(`{"type":"tool_start","toolName":"swarm_delegate","toolCallId":"call_7","input":{"agentWallet":"0xedf8f866b9c4fbfbc3a79e31a2bc79e3937993e8","task":"Audit the vesting contract"},"display":{"kind":"agent","name":"Scout"}}`)

var delegateEnd = []byte(`{"type":"tool_end","toolName":"swarm_delegate","toolCallId":"call_7","output":"{\"success\":true,\"agentWallet\":\"0xedf8f866b9c4fbfbc3a79e31a2bc79e3937993e8\",\"output\":\"No critical findings\"}","display":{"kind":"agent","name":"Scout"}}`)

var textDelta = []byte(`{"type":"text-delta","delta":"No critical findings."}`)

var chunk = []byte(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,"model":"m-1","choices":[{"index":0,"delta":{"content":"No critical"},"finish_reason":null}]}`)

func BenchmarkDecode(b *testing.B) {
	for _, bb := range []struct {
		name string
		data []byte
	}{{"start", delegateStart}, {"end", delegateEnd}, {"text", textDelta}, {"chunk", chunk}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.data)))
			b.ReportAllocs()
			for b.Loop() {
				if e := Decode("7", "message", bb.data); e.Err != nil {
					b.Fatal(e.Err)
				}
			}
		})
	}
}

func BenchmarkParseToolEvent(b *testing.B) {
	for _, bb := range []struct {
		name string
		data []byte
	}{{"start", delegateStart}, {"end", delegateEnd}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(bb.data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseToolEvent(Decode("7", "message", bb.data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncodingJSON is what the plain way costs: the standard decoder into
// a struct of the members that a start has, without any of the rules.
func BenchmarkEncodingJSON(b *testing.B) {
	b.SetBytes(int64(len(delegateStart)))
	b.ReportAllocs()
	for b.Loop() {
		var f struct {
			Type, ToolName, ToolCallID string
			Input                      struct{ AgentWallet, Task string }
			Display                    Display
		}
		if err := json.Unmarshal(delegateStart, &f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	e := Decode("7", "message", textDelta)
	b.ReportAllocs()
	for b.Loop() {
		if e.Text() == "" {
			b.Fatal("no text")
		}
	}
}

// BenchmarkTerminal is what asking each event whether it ends its run costs.
func BenchmarkTerminal(b *testing.B) {
	for _, bb := range []struct {
		name string
		data []byte
	}{{"tool", delegateStart}, {"text", textDelta}, {"chunk", chunk}} {
		b.Run(bb.name, func(b *testing.B) {
			e := Decode("7", "message", bb.data)
			b.ReportAllocs()
			for b.Loop() {
				if e.Terminal() {
					b.Fatal("terminal")
				}
			}
		})
	}
}

// BenchmarkHostile has outputs of 16 MB that are made to be dear.
func BenchmarkHostile(b *testing.B) {
	for name, data := range hostile(16 << 20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				e := Decode("7", "message", data)
				_, _ = ParseToolEvent(e)
				_ = e.ErrorText()
				_ = e.Text()
			}
		})
	}
}

// hostile gives frames of about n bytes, each the worst for some part of the
// reader.
func hostile(n int) map[string][]byte {
	end := func(output string) []byte {
		return []byte(`{"type":"tool_end","toolName":"swarm_delegate","output":` + output + `}`)
	}
	start := func(content string) []byte {
		return append(appendQuoted([]byte(`{"type":"tool_start","toolName":"agent_find","content":`), content), '}')
	}
	nested := `{"core":1}`
	for range 20 {
		nested = string(appendQuoted(nil, nested))
		if len(nested) > n/2 {
			break
		}
	}
	plain := strings.Repeat("a", n)
	layers := `"` + plain + `"`
	for range 16 {
		layers = string(appendQuoted(nil, layers))
	}
	tags := func(tag string) string { return "<invoke>" + strings.Repeat(tag, n/len(tag)) }
	var distinct bytes.Buffer
	distinct.WriteString("<invoke>")
	for i := 0; distinct.Len() < n; i++ {
		distinct.WriteString("<t")
		distinct.WriteString(strings.Repeat("x", i%40))
		distinct.WriteString(">")
	}
	deep := func(open, core, shut string) string {
		k := min(n/(len(open)+len(shut)), maxDepth-2)
		return strings.Repeat(open, k) + core + strings.Repeat(shut, k)
	}
	return map[string][]byte{
		"nested-strings":   end(nested),
		"plain-layers":     end(layers),
		"quotes":           end(`"\"` + strings.Repeat(`\"`, n/2) + `"`),
		"backslashes":      end(`"` + strings.Repeat(`\\`, n/2) + `"`),
		"text-parts":       end(`[` + strings.Repeat(`{"type":"text","text":"x"},`, n/28) + `{"type":"text","text":"x"}]`),
		"brackets":         []byte(strings.Repeat("[", n)),
		"braces":           []byte(strings.Repeat(`{"a":`, n/5)),
		"errors":           []byte(`{"type":"tool_end","toolName":"delegate","error":` + deep(`{"error":`, `"`+plain[:n/2]+`"`, `}`) + `}`),
		"inputs":           []byte(`{"type":"tool_start","toolName":"delegate","input":` + deep(`{"input":`, `"`+plain[:n/2]+`"`, `}`) + `}`),
		"messages":         end(deep(`{"content":[`, `"`+plain[:n/2]+`"`, `]}`)),
		"open-tags":        start(tags("<a>")),
		"closed-tags":      start(tags("<a>b</a>")),
		"parameter-tags":   start(tags(`<parameter name="a">`)),
		"left-angles":      start(tags("<")),
		"long-tag":         start(tags("<") + ">"),
		"distinct-tags":    start(distinct.String()),
		"choices":          []byte(`{"choices":[` + strings.Repeat(`{"delta":{"content":"x"}},`, n/26) + `{}]}`),
		"members":          []byte(`{"type":"tool_end",` + strings.Repeat(`"a":1,`, n/6) + `"toolName":"delegate"}`),
		"invalid-utf8":     end(`"` + strings.Repeat("\xff", n) + `"`),
		"long-number":      end(strings.Repeat("9", n)),
		"run-key-chain":    []byte(`{"type":"swarm_child_tool_end","toolName":"delegate","runKeyChain":[` + strings.Repeat(`"k",`, n/4) + `"k"]}`),
		"error-event":      []byte(`{"type":"error","error":` + deep(`{"error":`, `"`+plain[:n/2]+`"`, `}`) + `}`),
		"unclosed-content": start("<invoke" + plain),
	}
}
