package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// told gives a stream's events in short, but for those that the server writes
// of every run.
func told(all []events.Event) []string {
	var short []string
	for _, ev := range all {
		switch ev.Type {
		case events.TypeAction, events.TypeDone, events.TypeReceipt, events.TypeDoneSentinel, events.TypeSwarmChildStart,
			events.TypeSwarmChildDelta, events.TypeSwarmChildDone:
		case events.TypeTextDelta:
			short = append(short, ev.Text())
		case events.TypeToolStart:
			te, err := events.ParseToolEvent(ev)
			if err != nil {
				te.ToolName = "own tool"
			}
			short = append(short, te.ToolName)
		case events.TypeToolEnd:
			short = append(short, "end")
		default:
			short = append(short, ev.Type)
		}
	}
	return short
}

// What a handler says in one go is one event and one post; what it says before
// it searches or delegates comes before that in the stream.
func TestEventsInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		s.Work("helper", echo)
		w, n := workOver(t, s, nil, func(ctx context.Context, task *agent.Task) (string, error) {
			for _, piece := range []string{"let ", "", "me ", "see"} {
				task.Text(piece)
			}
			if err := task.Emit(map[string]string{"type": "thinking_start", "message": "hm"}); err != nil {
				return "", err
			}
			found, err := task.Find(ctx, swarm.Query{Text: "helper"})
			if err != nil {
				return "", err
			}
			task.Text("found")
			end := task.Tool("ruler", map[string]int{"length": 3}, "measures")
			if _, err := task.Delegate(ctx, swarm.Request{To: found.Results[0].AgentID, Task: "help"}); err != nil {
				return "", err
			}
			end(nil, errors.New("too short"))
			task.Text("a")
			time.Sleep(time.Second)
			task.Text("b")
			return "done", nil
		})
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
		want := []string{"let me see", "thinking_start", "agent_find", "end", "found", "own tool", "swarm_delegate", "end", "end", "a", "b"}
		if got := told(streamed(t, c, o.ID)); !slices.Equal(got, want) {
			t.Errorf("stream tells %q, want %q", got, want)
		}
		// The acknowledgement, before Find, before Delegate, and two batches.
		if posts := n.sent("POST events"); len(posts) != 5 {
			t.Errorf("%d posts, want 5: %q", len(posts), posts)
		}
	})
}

// A post whose answer was lost is repeated, and nothing stands twice in the
// stream; one that never got there is repeated, and nothing is missing.
func TestEventsOverBadNetwork(t *testing.T) {
	for name, way := range map[string]loss{"answers lost": answer, "requests lost": request} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
				posts := 0
				w, n := workOver(t, s, func(r *http.Request) loss {
					if !strings.HasSuffix(r.URL.Path, "/events") || r.Method != http.MethodPost {
						return nothing
					}
					if posts++; posts%3 != 0 { // two of three
						return way
					}
					return nothing
				}, func(_ context.Context, task *agent.Task) (string, error) {
					for i := range 30 {
						task.Text(fmt.Sprint(i, " "))
						if err := task.Emit(map[string]any{"type": fmt.Sprint("step-", i)}); err != nil {
							return "", err
						}
						time.Sleep(70 * time.Millisecond)
					}
					return "done", nil
				})
				c := s.Client(swarmtest.NewKey(t))
				o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
				wantOutput(t, o, "done")
				var got, want strings.Builder
				for _, ev := range streamed(t, c, o.ID) {
					if text := ev.Text(); text != "" || strings.HasPrefix(ev.Type, "step-") {
						got.WriteString(text + ev.Type + ";")
					}
				}
				for i := range 30 {
					fmt.Fprintf(&want, "%d text-delta;step-%d;", i, i)
				}
				// Pieces of text are never joined over an event.
				if got.String() != want.String() {
					t.Errorf("stream tells\n%s\nwant\n%s", got.String(), want.String())
				}
				if sent := len(n.sent("POST events")); sent < 20 {
					t.Errorf("%d posts: too few were lost", sent)
				}
			})
		})
	}
}

// A text of any size is streamed, in events that a server takes and without a
// character cut in two.
func TestLongText(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		text := strings.Repeat("aé…\U0001F41D\x01", 500_000) // 5.5 MB
		w := s.Work("talker", func(_ context.Context, task *agent.Task) (string, error) {
			task.Text(text)
			return "done", nil
		})
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
		var got strings.Builder
		for _, ev := range streamed(t, c, o.ID) {
			got.WriteString(ev.Text())
			if len(ev.Data) > swarm.MaxEventBytes+100 {
				t.Errorf("an event of %d bytes", len(ev.Data))
			}
		}
		if got.String() != text {
			t.Errorf("streamed %d bytes, want the same %d", got.Len(), len(text))
		}
	})
}

func TestEmitRefuses(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		for _, tt := range []struct {
			name  string
			event any
			says  string
		}{
			{"no JSON", func() {}, "unsupported type"},
			{"null", nil, `want an object with a "type"`},
			{"text", "hello", `want an object with a "type"`},
			{"list", []map[string]string{{"type": "x"}}, `want an object with a "type"`},
			{"no type", map[string]string{"delta": "x"}, `want an object with a "type"`},
			{"empty type", map[string]string{"type": ""}, `want an object with a "type"`},
			{"type of another kind", map[string]int{"type": 1}, `want an object with a "type"`},
			{"member twice", json.RawMessage(`{"type":"x","type":"y"}`), "each member once"},
			{"no UTF-8", json.RawMessage("{\"type\":\"x\",\"text\":\"\xff\"}"), "in UTF-8"},
			{"the run's end", map[string]string{"type": "done"}, "the server's own"},
			{"an error", map[string]string{"type": "error", "error": "x"}, "the server's own"},
			{"a workflow's end", map[string]string{"type": "complete"}, "the server's own"},
			{"the run's end, newer", map[string]string{"type": "activity.run", "status": "failed"}, "the server's own"},
			{"a receipt", map[string]string{"type": "receipt"}, "the server's own"},
			{"lost events", map[string]string{"type": "gap", "after": "1", "next": "9"}, "the server's own"},
			{"an acknowledgement", map[string]string{"type": "ack"}, "the worker's own"},
			{"a child's", map[string]string{"type": "swarm_child_done"}, "the server's own"},
			{"a delegation", map[string]string{"type": "tool_start", "toolName": "swarm_delegate"}, "the server's own: it writes them"},
			{"a search, newer", map[string]string{"type": "activity.tool", "status": "running", "name": "agent_find"}, "the server's own: it writes them"},
			{"half a tool", map[string]string{"type": "tool_end", "toolName": "grep", "toolCallId": "1"}, "call Tool"},
			{"too large", map[string]string{"type": "x", "text": strings.Repeat("x", swarm.MaxEventBytes)}, "at most 1048576 are allowed"},
		} {
			w := s.Work(tt.name, func(_ context.Context, task *agent.Task) (string, error) {
				err := task.Emit(tt.event)
				task.Text("still heard")
				return fmt.Sprint(err), nil
			})
			c := s.Client(swarmtest.NewKey(t))
			o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
			if !strings.Contains(o.Output, tt.says) {
				t.Errorf("%s: Emit gave %q, want %q", tt.name, o.Output, tt.says)
			}
			if got := told(streamed(t, c, o.ID)); !slices.Equal(got, []string{"still heard"}) {
				t.Errorf("%s: stream tells %q", tt.name, got)
			}
		}
	})
}

// Whatever a handler gives to Tool, its start has one end, and what it says
// after is heard.
func TestTool(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		huge := strings.Repeat("x", swarm.MaxEventBytes)
		w := s.Work("toolmaker", func(ctx context.Context, task *agent.Task) (string, error) {
			task.Tool("good", 1, "")(2, nil)
			end := task.Tool("ended twice", 1, "")
			end(2, nil)
			end(3, errors.New("too late"))
			task.Tool("failing", nil, "")(nil, errors.New("blunt"))
			task.Tool("no JSON", func() {}, "")(make(chan int), nil)
			task.Tool("huge", huge, "")(huge, nil)
			task.Tool("", 1, "")(2, nil)
			task.Tool("swarm_delegate", 1, "")(2, nil)
			task.Tool("left open", 1, "")
			_, err := task.Find(ctx, swarm.Query{Text: "x"})
			return "done", err
		})
		c := s.Client(swarmtest.NewKey(t))
		o := delegate(t, c, swarm.Request{To: w.Address(), Task: "x"})
		wantOutput(t, o, "done")
		var got []string
		for _, ev := range streamed(t, c, o.ID) {
			var e struct{ Type, ToolName, Error string }
			if ev.Type != events.TypeToolStart && ev.Type != events.TypeToolEnd {
				continue
			}
			if err := json.Unmarshal(ev.Data, &e); err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSpace(strings.TrimPrefix(e.Type, "tool_")+" "+e.ToolName+" "+e.Error))
		}
		want := []string{
			"start good", "end good", "start ended twice", "end ended twice", "start failing", "end failing blunt",
			"start no JSON", "end no JSON", "start huge", "end huge", "start left open",
			"start agent_find", "end agent_find", "end left open the run ended before this tool did",
		}
		if !slices.Equal(got, want) {
			t.Errorf("stream tells %q\nwant %q", got, want)
		}
	})
}
