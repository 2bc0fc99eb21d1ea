package events

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

// side makes the start or end of a delegation.
func side(start bool, id, agent string) ToolEvent {
	return ToolEvent{Start: start, ToolName: "delegate", ToolCallID: id, Subject: agent}
}

func pairs(events ...ToolEvent) [][2]int {
	var t Tracker
	for i, te := range events {
		t.Add(i+1, te)
	}
	var got [][2]int
	for _, c := range t.Calls() {
		got = append(got, [2]int{c.Start, c.End})
	}
	return got
}

func TestTracker(t *testing.T) {
	child := func(te ToolEvent, runKey, subID string) ToolEvent {
		te.Child = &Child{RunKey: runKey, SubID: subID}
		return te
	}
	run := func(te ToolEvent, id string) ToolEvent {
		te.RunID = id
		return te
	}
	for _, tt := range []struct {
		name   string
		events []ToolEvent
		want   [][2]int
	}{
		{"same agent with an id before none without one",
			[]ToolEvent{side(true, "", ""), side(true, "1", "a"), side(false, "", "a")},
			[][2]int{{1, 0}, {2, 3}}},
		{"an end with an unknown id takes a start without one",
			[]ToolEvent{side(true, "1", "a"), side(true, "", "a"), side(false, "2", "a")},
			[][2]int{{1, 0}, {2, 3}}},
		{"an end with an unknown id and no agent too",
			[]ToolEvent{side(true, "1", "a"), side(true, "", "b"), side(false, "2", "")},
			[][2]int{{1, 0}, {2, 3}}},
		{"a closed id opens anew",
			[]ToolEvent{side(true, "1", "a"), side(false, "1", "a"), side(true, "1", "a"), side(false, "1", "a")},
			[][2]int{{1, 2}, {3, 4}}},
		{"closed by agent, its id is closed",
			[]ToolEvent{side(true, "1", "a"), side(false, "", "a"), side(false, "1", "a")},
			[][2]int{{1, 2}, {0, 3}}},
		{"an agent told late keeps the call's age",
			[]ToolEvent{side(true, "1", ""), side(true, "2", "a"), side(true, "1", "a"), side(false, "", "a")},
			[][2]int{{1, 4}, {2, 0}}},
		{"and leaves those without an agent",
			[]ToolEvent{side(true, "1", ""), side(true, "1", "a"), side(true, "2", ""), side(false, "", "b")},
			[][2]int{{1, 0}, {3, 4}}},
		{"a sub id is tied to its run key",
			[]ToolEvent{child(side(true, "", "a"), "", "s"), child(side(false, "", "a"), "k", "s"),
				child(side(true, "", "a"), "k", ""), child(side(false, "", "a"), "", "s")},
			[][2]int{{1, 2}, {3, 4}}},
		{"a sub id used again under another run key",
			[]ToolEvent{child(side(true, "", "a"), "k1", "s"), child(side(false, "", "a"), "k2", "s")},
			[][2]int{{1, 0}, {0, 2}}},
		{"children without ids by their run",
			[]ToolEvent{run(child(side(true, "", "a"), "", ""), "r"), run(side(false, "", "a"), "r"), run(child(side(false, "", "a"), "", ""), "r")},
			[][2]int{{1, 3}, {0, 2}}},
		{"frames without a run are of the stream's own",
			[]ToolEvent{side(true, "", "a"), run(side(false, "", "a"), "r1"), run(side(true, "", "a"), "r2"), side(false, "", "a")},
			[][2]int{{1, 2}, {3, 0}, {0, 4}}},
	} {
		if got := pairs(tt.events...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTrackerCalls(t *testing.T) {
	var tr Tracker
	if tr.Calls() == nil || tr.Open() != nil {
		t.Error("no events: want no calls and none open")
	}
	start, end := side(true, "", "a"), side(false, "9", "b")
	seq := 0
	start.Action = "from the start"
	end.Action, end.Error = "from the end", "failed"
	for _, add := range []struct {
		te                 ToolEvent
		wantStart, wantEnd int
		wantAgent          string
	}{
		{side(true, "1", ""), 1, 0, ""},
		{start, 2, 0, "a"},
		{side(false, "", "a"), 2, 3, "a"},
		{end, 0, 4, "b"},
		{side(true, "1", "c"), 1, 0, "c"}, // told again, and more of it
	} {
		seq++
		if c := tr.Add(seq, add.te); c.Start != add.wantStart || c.End != add.wantEnd || c.Agent != add.wantAgent {
			t.Errorf("event %d is of %+v, want %+v", seq, c, add)
		}
	}
	calls := tr.Calls()
	if open := tr.Open(); len(open) != 1 || open[0].Start != 1 {
		t.Errorf("open %+v, want the first", open)
	}
	if c := calls[1]; c.Action != "from the start" || c.Agent != "a" || c.StartEvent == nil || c.EndEvent == nil {
		t.Errorf("paired %+v", c)
	}
	if c := calls[2]; c.Action != "from the end" || c.StartEvent != nil || c.EndEvent.Error != "failed" {
		t.Errorf("end alone %+v", c)
	}
	got, err := json.Marshal(calls)
	want := `[{"toolName":"delegate","toolCallId":"1","agent":"c","start":1,"end":null},` +
		`{"toolName":"delegate","toolCallId":"","agent":"a","start":2,"end":3},` +
		`{"toolName":"delegate","toolCallId":"9","agent":"b","start":null,"end":4}]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// TestTrackerMany pairs in an order that is the worst for a search through the
// open calls.
func TestTrackerMany(t *testing.T) {
	const n = 100_000
	var tr Tracker
	began := time.Now()
	for i := range n {
		tr.Add(i+1, side(true, "", string(rune('a'+i%7))))
	}
	for i := range n {
		tr.Add(n+i+1, side(false, "", string(rune('a'+i%7))))
	}
	for _, c := range tr.Calls() {
		if c.End != c.Start+n {
			t.Fatalf("call %d ends at %d", c.Start, c.End)
		}
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
}
