package agent_test

import (
	"context"
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
