package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"
)

// vector is a case of testdata/tools.json; its README gives the format.
type vector struct {
	Name, Why string
	Frames    []struct{ Event, Data string }
	Want      []struct {
		Kind, Type string
		Tool       map[string]any
	}
	Calls []struct {
		ToolName, Agent string
		Start           *int `json:"start_frame"`
		End             *int `json:"end_frame"`
	}
}

func vectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("testdata/tools.json: no cases")
	}
	return all
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			began := time.Now()
			var tracker Tracker
			for i, f := range v.Frames {
				e := Decode("", f.Event, []byte(f.Data))
				if string(e.Data) != f.Data {
					t.Errorf("frame %d: data %q, want it as it came", i, e.Data)
				}
				te, err := ParseToolEvent(e)
				if err == nil {
					tracker.Add(i+1, te)
				}
				if got := checkFrame(v, i, e, te, err); got != "" {
					t.Errorf("%s\nframe %d: %s", v.Why, i, got)
				}
			}
			if v.Calls != nil {
				checkCalls(t, v, tracker.Calls())
			}
			if d := time.Since(began); d > time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func checkFrame(v vector, i int, e Event, te ToolEvent, err error) string {
	want := v.Want[i]
	switch want.Kind {
	case "malformed":
		var bad *MalformedError
		if e.Type != TypeMalformed || !errors.As(e.Err, &bad) || err != e.Err {
			return fmt.Sprintf("type %q, errors %v and %v; want a malformed event", e.Type, e.Err, err)
		}
	case "other":
		if e.Type != want.Type || e.Err != nil || !errors.Is(err, ErrNotToolEvent) {
			return fmt.Sprintf("type %q, errors %v and %v; want another event of type %q", e.Type, e.Err, err, want.Type)
		}
	case "not_mine":
		if !errors.Is(err, ErrNotToolEvent) {
			return fmt.Sprintf("error %v, tool %+v; want not mine", err, te)
		}
	case "tool":
		if err != nil {
			return err.Error()
		}
		got := asMap(te)
		for key, w := range want.Tool {
			if !same(got[key], w) {
				return fmt.Sprintf("%s is %v, want %v", key, got[key], w)
			}
		}
		for _, key := range familyKeys {
			_, has := got[key]
			if _, should := want.Tool[key]; has != should {
				return fmt.Sprintf("member %s: got %t, want %t", key, has, should)
			}
		}
	default:
		return "unknown kind " + want.Kind
	}
	return ""
}

func asMap(te ToolEvent) map[string]any {
	b, err := json.Marshal(te)
	if err != nil {
		panic(err)
	}
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		panic(err)
	}
	return m
}

// same compares JSON values, where want may be {"$any": "object"} or string.
func same(got, want any) bool {
	if m, ok := want.(map[string]any); ok && len(m) == 1 && m["$any"] != nil {
		switch got.(type) {
		case map[string]any:
			return m["$any"] == "object"
		case string:
			return m["$any"] == "string"
		}
		return false
	}
	return reflect.DeepEqual(got, want)
}

func checkCalls(t *testing.T, v vector, calls []Call) {
	t.Helper()
	seq := func(frame *int) int {
		if frame == nil {
			return 0
		}
		return *frame + 1
	}
	type key struct {
		tool, agent string
		start, end  int
	}
	got, want := map[key]int{}, map[key]int{}
	for _, c := range calls {
		got[key{c.ToolName, c.Agent, c.Start, c.End}]++
	}
	for _, c := range v.Calls {
		want[key{c.ToolName, c.Agent, seq(c.Start), seq(c.End)}]++
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ncalls %v\nwant  %v", v.Why, got, want)
	}
}
