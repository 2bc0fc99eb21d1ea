package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// joined gives what a joiner tells of frames, a line a call: > where the call
// goes on, = where it is done; then those that are left open as ?.
func join(t testing.TB, frames ...string) []string {
	t.Helper()
	var j ArgumentJoiner
	var told []string
	say := func(mark string, c ToolCall) {
		told = append(told, fmt.Sprintf("%s %s %s %d %s", mark, c.ID, c.Name, c.Index, c.Arguments))
	}
	for _, frame := range frames {
		calls, err := j.Add(Decode("", "message", []byte(frame)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if c.Done {
				say("=", c)
			} else {
				say(">", c)
			}
		}
	}
	for _, c := range j.Open() {
		say("?", c)
	}
	return told
}

// delta makes a tool_args_delta.
func delta(members, args string) string {
	return `{"type":"tool_args_delta",` + members + `"argsDelta":` + string(appendQuoted(nil, args)) + `}`
}

// toolCalls makes a chunk.
func toolCalls(entries ...string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(entries, ",") + `]},"finish_reason":null}]}`
}

func entry(members, function, args string) string {
	return `{` + members + `"function":{` + function + `"arguments":` + string(appendQuoted(nil, args)) + `}}`
}

const finish = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

func TestArgumentJoiner(t *testing.T) {
	for _, tt := range []struct {
		name   string
		frames []string
		want   []string
	}{
		{"ids", []string{
			delta(`"id":"a","toolName":"f",`, `{"x"`), delta(`"id":"b","toolName":"g",`, `{"y"`),
			delta(`"id":"a",`, `:1}`), delta(`"id":"b",`, `:2}`),
		}, []string{`> a f -1 {"x"`, `> b g -1 {"y"`, `= a f -1 {"x":1}`, `= b g -1 {"y":2}`}},
		{"ids at first, then an index", []string{
			delta(`"id":"a","toolName":"f","index":0,`, `{`), delta(`"id":"b","toolName":"f","index":1,`, `{`),
			delta(`"index":0,`, `"x":1}`), delta(`"index":1,`, `"y":2}`),
		}, []string{`> a f 0 {`, `> b f 1 {`, `= a f 0 {"x":1}`, `= b f 1 {"y":2}`}},
		{"an index alone", []string{
			delta(`"index":0,"toolName":"f",`, `{`), delta(`"index":1,"toolName":"g",`, `{`),
			delta(`"index":1,`, `}`), delta(`"index":0,`, `}`),
		}, []string{`>  f 0 {`, `>  g 1 {`, `=  g 1 {}`, `=  f 0 {}`}},
		{"neither", []string{
			delta(`"toolName":"f",`, `{"x"`), delta(``, `:"}{`), delta(``, `"}`), delta(`"toolName":"f",`, `{}`),
		}, []string{`>  f -1 {"x"`, `>  f -1 {"x":"}{`, `=  f -1 {"x":"}{"}`, `=  f -1 {}`}},
		{"neither, of another name", []string{
			delta(`"toolName":"f",`, `{"x"`), delta(`"toolName":"g",`, `{}`),
		}, []string{`>  f -1 {"x"`, `=  g -1 {}`, `?  f -1 {"x"`}},
		{"an id that comes late", []string{
			delta(`"index":0,"toolName":"f",`, `{`), delta(`"index":0,"id":"a",`, `}`),
		}, []string{`>  f 0 {`, `= a f 0 {}`}},
		{"delta in place of argsDelta", []string{`{"type":"tool_args_delta","id":"a","name":"f","delta":"{}"}`},
			[]string{`= a f -1 {}`}},
		{"an index of another kind", []string{`{"type":"tool_args_delta","id":"a","index":"0","delta":"{"}`, `{"type":"tool_args_delta","index":-3,"delta":"}"}`},
			[]string{`> a  -1 {`, `= a  -1 {}`}},
		{"asked again at the same index", []string{
			delta(`"index":0,"toolName":"f",`, `{"x":1}`), delta(`"index":0,`, ``), delta(`"index":0,"toolName":"f",`, ``), delta(`"index":0,`, `{"x":2}`),
		}, []string{`=  f 0 {"x":1}`, `=  f 0 {"x":2}`}},
		{"a last empty piece", []string{
			delta(`"id":"a","toolName":"f",`, `{}`), delta(`"toolName":"f",`, ``), delta(`"id":"a","toolName":"f",`, ``), delta(`"id":"a",`, "\n"), delta(``, ``),
		}, []string{`= a f -1 {}`}},
		{"tool_start by id", []string{
			delta(`"id":"a","toolName":"f",`, `{"x"`), delta(`"id":"b","toolName":"f",`, `{"y"`),
			`{"type":"tool_start","toolName":"f","toolCallId":"b"}`,
		}, []string{`> a f -1 {"x"`, `> b f -1 {"y"`, `= b f -1 {"y"`, `? a f -1 {"x"`}},
		{"tool_start by name", []string{
			delta(`"index":0,"toolName":"f",`, ``), delta(`"index":1,"toolName":"g",`, `words`),
			`{"type":"tool_start","toolName":"g"}`, `{"type":"tool_start","toolName":"h"}`, delta(`"index":1,"toolName":"g",`, `{}`),
		}, []string{`>  f 0 `, `>  g 1 words`, `=  g 1 words`, `=  g 1 {}`, `?  f 0 `}},
		{"a resume in the middle", []string{
			delta(`"id":"a",`, `ult"}`), delta(`"id":"a",`, ` `), `{"type":"tool_start","toolName":"f","toolCallId":"a"}`,
		}, []string{`> a  -1 ult"}`, `> a  -1 ult"} `, `= a  -1 ult"} `}},
		{"arguments that are an object", []string{`{"type":"tool_args_delta","id":"a","delta":{"x":1}}`},
			[]string{`= a  -1 {"x":1}`}},

		{"chunks", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, ``)), toolCalls(entry(`"index":1,"id":"b",`, `"name":"g",`, ``)),
			toolCalls(entry(`"index":0,`, ``, `{"x"`), entry(`"index":1,`, ``, `{"y"`)),
			toolCalls(entry(`"index":1,`, ``, `:2}`)), toolCalls(entry(`"index":0,`, ``, `:1}`)), finish,
		}, []string{`> a f 0 `, `> b g 1 `, `> a f 0 {"x"`, `> b g 1 {"y"`, `= b g 1 {"y":2}`, `= a f 0 {"x":1}`}},
		{"two pieces of a call in a chunk", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{`), entry(`"index":0,`, ``, `}`)), finish,
		}, []string{`= a f 0 {}`}},
		{"index 0 for each", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{"x":1}`)), toolCalls(entry(`"index":0,"id":"b",`, `"name":"f",`, `{"x":2}`)), finish,
		}, []string{`= a f 0 {"x":1}`, `= b f 0 {"x":2}`}},
		{"index 0 for each, unfinished", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{"x"`)), toolCalls(entry(`"index":0,"id":"b",`, `"name":"f",`, `{"y"`)), toolCalls(entry(`"index":0,`, ``, `:2}`)),
		}, []string{`> a f 0 {"x"`, `= a f 0 {"x"`, `> b f 0 {"y"`, `= b f 0 {"y":2}`}},
		{"index 0 and no ids", []string{
			toolCalls(entry(`"index":0,`, `"name":"f",`, `{"x":1}`)), toolCalls(entry(`"index":0,`, `"name":"f",`, `{"x":2}`)), finish,
		}, []string{`=  f 0 {"x":1}`, `=  f 0 {"x":2}`}},
		{"no index", []string{
			toolCalls(entry(`"id":"a",`, `"name":"f",`, `{"x":1}`), entry(`"id":"b",`, `"name":"f",`, `{"x"`)), toolCalls(entry(``, ``, `:2}`)),
		}, []string{`= a f -1 {"x":1}`, `> b f -1 {"x"`, `= b f -1 {"x":2}`}},
		{"id and name in every piece", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{`)), toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `}`)), toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, ``)), finish,
		}, []string{`> a f 0 {`, `= a f 0 {}`}},
		{"no arguments", []string{toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, ``)), finish},
			[]string{`> a f 0 `, `= a f 0 `}},
		{"cut by length", []string{
			toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{"x"`)), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`,
		}, []string{`> a f 0 {"x"`, `= a f 0 {"x"`}},
		{"an id that comes again", []string{
			toolCalls(entry(`"index":0,"id":"call_0",`, `"name":"f",`, `{"x":1}`)), finish, toolCalls(entry(`"index":0,"id":"call_0",`, `"name":"f",`, ``)), toolCalls(entry(`"index":0,`, ``, `{"x":2}`)),
		}, []string{`= call_0 f 0 {"x":1}`, `> call_0 f 0 `, `= call_0 f 0 {"x":2}`}},
		{"several choices", []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}},{"index":1,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{"}}]}}]}`,
			`{"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}}]}`, finish,
		}, []string{`> a f 0 {`, `> b f 0 {`, `= b f 0 {}`, `= a f 0 {`}},
		{"two objects in one piece", []string{toolCalls(entry(`"index":0,"id":"a",`, `"name":"f",`, `{"x":1}{"x":2}`)), finish},
			[]string{`> a f 0 {"x":1}{"x":2}`, `= a f 0 {"x":1}{"x":2}`}},

		{"generation B", []string{
			`{"domain":"model","type":"model.tool.delta","id":"e1","toolCallId":"a","name":"f","delta":"{\"x\""}`,
			`{"domain":"model","type":"model.tool.delta","id":"e2","toolCallId":"b","payload":{"name":"g","delta":"{"}}`,
			`{"domain":"model","type":"model.tool.done","id":"e3","toolCallId":"a","name":"f","arguments":"{\"x\":1}"}`,
			`{"domain":"model","type":"model.tool.delta","id":"e4","toolCallId":"b","delta":"}"}`,
			`{"domain":"model","type":"model.tool.done","id":"e5","toolCallId":"b","arguments":{}}`,
			`{"domain":"model","type":"model.tool.done","id":"e6","toolCallId":"c","name":"h","arguments":{"z":[1]}}`,
		}, []string{`> a f -1 {"x"`, `> b g -1 {`, `= a f -1 {"x":1}`, `= b g -1 {}`, `= c h -1 {"z":[1]}`}},

		{"nothing of a call", []string{
			`{"type":"text-delta","delta":"{"}`, `{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`, `{"type":"tool_start","toolName":"f"}`,
			`{"type":"tool_args_delta"}`, `{"type":"tool_args_delta","argsDelta":[1]}`, `[DONE]`, `{"type":"tool_args_delta","argsDelta":"`, `{"choices":[7,{"delta":{"tool_calls":{}}}]}`, `ping`,
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := join(t, tt.frames...); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestArgumentJoinerBounds(t *testing.T) {
	add := func(j *ArgumentJoiner, frame string) ([]ToolCall, error) {
		return j.Add(Decode("", "message", []byte(frame)))
	}
	j := ArgumentJoiner{MaxBytes: 100}
	if _, err := add(&j, delta(`"id":"a","toolName":"f",`, `{"x":"`)); err != nil {
		t.Fatal(err)
	}
	calls, err := add(&j, delta(`"id":"b","toolName":"g",`, strings.Repeat("x", 99)))
	if !errors.Is(err, ErrArgumentsTooLong) || !strings.Contains(err.Error(), `100 bytes: call "b" of "g"`) || calls != nil {
		t.Errorf("%v, %v; want b given up, beyond 100 bytes", calls, err)
	}
	if calls, err = add(&j, delta(`"id":"b",`, `{}`)); err != nil || calls != nil {
		t.Errorf("%v, %v; want more of b passed by", calls, err)
	}
	calls, err = add(&j, delta(`"id":"a",`, `"}`))
	if err != nil || len(calls) != 1 || !calls[0].Done || calls[0].Arguments != `{"x":""}` {
		t.Errorf("%v, %v; want a to go on", calls, err)
	}
	for range 10 { // what is done counts no more
		id := strings.Repeat("c", 3)
		if calls, err := add(&j, delta(`"id":"`+id+`","toolName":"f",`, `{"x":"`+strings.Repeat("x", 70)+`"}`)); err != nil || !calls[0].Done {
			t.Fatal(calls, err)
		}
	}

	var many ArgumentJoiner
	for i := range MaxJoinedCalls {
		if _, err := add(&many, delta(fmt.Sprintf(`"id":"%d",`, i), `{`)); err != nil {
			t.Fatal(err)
		}
	}
	if calls, err := add(&many, delta(`"id":"one more",`, `{`)); !errors.Is(err, ErrArgumentsTooLong) || calls != nil {
		t.Errorf("%v, %v; want no call beyond %d", calls, err, MaxJoinedCalls)
	}
	if _, err := add(&many, delta(`"id":"7",`, `}`)); err != nil {
		t.Error(err)
	}
	if calls, err := add(&many, delta(`"id":"one more",`, `{}`)); err != nil || len(calls) != 1 {
		t.Errorf("%v, %v; want a call in place of the one that is done", calls, err)
	}
	long := strings.Repeat("i", 200)
	if _, err := add(&j, delta(`"id":"`+long+`",`, `{`)); !errors.Is(err, ErrArgumentsTooLong) {
		t.Errorf("an id beyond the bound: %v", err)
	}
}

// The calls are the caller's: no frame's memory is in them.
func TestArgumentJoinerKeepsNoFrame(t *testing.T) {
	var j ArgumentJoiner
	data := []byte(delta(`"id":"a","toolName":"f",`, `{"x":1}`))
	calls, err := j.Add(Decode("", "message", data))
	clear(data)
	if err != nil || len(calls) != 1 || calls[0] != (ToolCall{ID: "a", Name: "f", Index: -1, Arguments: `{"x":1}`, Done: true}) {
		t.Errorf("%+v, %v", calls, err)
	}
}

// FuzzArgumentJoiner cuts and interleaves calls by the bytes given, and wants
// them back whole.
func FuzzArgumentJoiner(f *testing.F) {
	f.Add(uint8(0), []byte{0, 1, 2, 0, 1, 2, 0, 1, 2})
	f.Add(uint8(1), []byte{2, 2, 1, 0, 0, 0, 1, 2})
	f.Add(uint8(2), []byte{0x10, 0x21, 0x32, 0x03})
	f.Add(uint8(3), []byte{0xff, 0xfe, 0xfd})
	f.Add(uint8(4), []byte{0, 1, 2, 2, 1, 0})
	args := []string{`{"a":"}{\"\\\\","b":[{}]}`, ` {"q":"é\n","n":{"x":1}} `, `{}`}
	f.Fuzz(func(t *testing.T, form uint8, cuts []byte) {
		var frames []string
		rest := slices.Clone(args)
		begun := make([]bool, len(args))
		piece := func(i, n int) {
			text := rest[i][:n]
			rest[i] = rest[i][n:]
			id, name, index := fmt.Sprintf(`"id":"c%d",`, i), fmt.Sprintf(`"%s":"f%d",`, "%s", i), fmt.Sprintf(`"index":%d,`, i)
			if form%3 == 1 && begun[i] {
				id = "" // the index alone goes on
			}
			if form%3 == 2 {
				index = "" // ids alone
			}
			if begun[i] && form&8 == 0 {
				name = "%.0s"
			}
			begun[i] = true
			if form&4 == 0 {
				frames = append(frames, delta(id+index+fmt.Sprintf(name, "toolName"), text))
			} else {
				frames = append(frames, toolCalls(entry(id+index, fmt.Sprintf(name, "name"), text)))
			}
		}
		for _, cut := range cuts[:min(len(cuts), 100)] {
			i := int(cut) % len(args)
			piece(i, min(int(cut)/len(args)%8, len(rest[i])))
		}
		for i := range args {
			piece(i, len(rest[i]))
		}
		done := make(map[string]string)
		var j ArgumentJoiner
		for _, frame := range frames {
			calls, err := j.Add(Decode("", "message", []byte(frame)))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range calls {
				if _, again := done[c.ID]; again {
					t.Fatalf("%+v is given again\n%s", c, strings.Join(frames, "\n"))
				}
				if c.Done {
					done[c.ID] = c.Arguments
				}
			}
		}
		for i, want := range args {
			got := done[fmt.Sprintf("c%d", i)]
			if strings.TrimSpace(got) != strings.TrimSpace(want) && !strings.Contains(got, "\uFFFD") { // which is a character that was cut
				t.Fatalf("call %d is %q, want %q\n%s", i, got, want, strings.Join(frames, "\n"))
			}
		}
		if open := j.Open(); open != nil {
			t.Fatalf("%+v is open", open)
		}
	})
}
