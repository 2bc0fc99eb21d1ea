package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
)

// seqOf gives the place of the record that an id's frame is of.
func seqOf(t testing.TB, id string) uint64 {
	t.Helper()
	text, _, _ := strings.Cut(id, ".")
	seq, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// purge removes what is before the record of a frame.
func purge(t testing.TB, s *swarmtest.Swarm, root, run, before string) {
	t.Helper()
	if err := s.Server.Purge(t.Context(), root, run, seqOf(t, before)); err != nil {
		t.Fatal(err)
	}
}

// wantGap checks that f tells of what is missing between two ids, and gives its
// message.
func wantGap(t testing.TB, f frame, runID, after, next string) string {
	t.Helper()
	var gap struct{ Type, RunID, After, Next, Message string }
	if err := json.Unmarshal([]byte(f.data), &gap); err != nil || f.kind != events.TypeGap {
		t.Fatalf("%s %s: %v; want a gap event", f, f.data, err)
	}
	if gap.RunID != runID || gap.After != after || gap.Next != next || gap.Message == "" || f.id == "" || f.id == next || f.id == after {
		t.Errorf("gap %s with id %s; want after %q and next %q", f.data, f.id, after, next)
	}
	return gap.Message
}

// refused checks that a request gets a status and a code.
func refused(t testing.TB, s *swarmtest.Swarm, method, path, after string, status int, code swarm.Code) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, swarmtest.BaseURL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", after)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status || gjson.GetBytes(body, "error.code").Str != string(code) {
		t.Errorf("%s %s after %q: %d %s; want %d %s", method, path, after, resp.StatusCode, body, status, code)
	}
}

// The journal loses a run's first events while the run goes on: whoever lacks
// some of them is told so, once, and gets the rest.
func TestGapInARunThatGoesOn(t *testing.T) {
	s := swarmtest.Start(t, nil)
	p := play(t, s)
	had := p.begun
	said := p.say(t, 6)
	purge(t, s, p.id, "", said[4].id)

	// From the start, from an id that is gone, and from one whose successor is there.
	for _, c := range []struct {
		after string
		gap   bool
		want  []frame
	}{
		{"", true, said[4:]},
		{had[0].id, true, said[4:]},
		{had[1].id, true, said[4:]},
		{said[2].id, true, said[4:]},
		{said[3].id, false, said[4:]}, // is gone itself, but nothing after it
		{said[4].id, false, said[5:]},
	} {
		resp := watch(t, s, p.id, c.after)
		scanner := stream.NewScanner(resp.Body)
		if c.gap {
			gap := next(t, scanner, 1)[0]
			message := wantGap(t, gap, p.id, c.after, c.want[0].id)
			if !strings.Contains(message, "24 h") {
				t.Errorf("message %q says nothing of how long records are kept", message)
			}
			// Cut behind the gap event, the stream does not tell it again.
			again := stream.NewScanner(watch(t, s, p.id, gap.id).Body)
			same(t, "after the gap "+gap.id, next(t, again, len(c.want)), c.want)
		}
		same(t, "after "+c.after, next(t, scanner, len(c.want)), c.want)
	}

	// Nothing is left at all: the gap stands before the first event to come.
	purge(t, s, "", "", strconv.FormatUint(math.MaxUint64, 10))
	open := make(map[string]*stream.Scanner)
	for _, after := range []string{"", had[0].id, said[5].id} {
		open[after] = stream.NewScanner(watch(t, s, p.id, after).Body)
	}
	more := p.say(t, 2)
	end := append(more, p.end(t)...)
	for after, scanner := range open {
		if after != said[5].id {
			wantGap(t, next(t, scanner, 1)[0], p.id, after, more[0].id)
		}
		same(t, "after "+after, next(t, scanner, len(end)), end)
	}
	// It has ended, and what was asked of whom is no longer there.
	for _, path := range []string{"", "/events", "/receipt"} {
		refused(t, s, "GET", "/delegations/"+p.id+path, more[0].id, http.StatusGone, swarm.CodeGone)
	}
}

// Whatever is purged, and wherever a client was: it gets what is left after its
// place, and a gap event in between if, and only if, something is missing.
func TestGapIffMissing(t *testing.T) {
	s := swarmtest.Start(t, nil)
	leaf := s.Work("leaf", func(_ context.Context, task *agent.Task) (string, error) {
		task.Tool("left open", 1, "never ends")
		task.Tool("left open", 2, "never ends")
		task.Text("leaf's")
		return "leaf's", nil
	})
	for i := range 24 {
		var (
			goesOn  = i%2 == 0   // or has ended
			oneRun  = i/2%2 == 0 // a child alone is purged, or the tree
			child   string
			purged  = make(map[string]bool) // by id of a frame
			missing = func(f frame) bool { return purged[f.id] }
		)
		p := play(t, s)
		whole := append(p.begun, p.say(t, 2)...)
		for range 2 {
			done := make(chan struct{})
			p.steps <- func(ctx context.Context, task *agent.Task) {
				defer close(done)
				o, err := task.Delegate(ctx, swarm.Request{To: leaf.Address(), Task: "x"})
				if err != nil {
					t.Error(err)
					return
				}
				child = o.ID
			}
			<-done
		}
		whole = append(whole, p.say(t, 3)...) // and reads what came before of the children
		for whole[len(whole)-1].kind != "trace" || !strings.Contains(whole[len(whole)-1].data, `"message":"2"`) {
			whole = append(whole, p.next(t, 1)...)
		}
		whole = append(whole, p.say(t, 1)...)
		if !goesOn {
			whole = append(whole, p.end(t)...)
		}
		before := whole[rand.N(len(whole))].id
		of := ""
		if oneRun {
			of = child
		}
		purge(t, s, p.id, of, before)
		started := false // the child's first record is there
		for _, f := range whole {
			ofChild := strings.Contains(f.data, child)
			if seqOf(t, f.id) < seqOf(t, before) && (ofChild || !oneRun) {
				purged[f.id] = true
			} else if ofChild && strings.Contains(f.data, `"type":"tool_start"`) {
				started = true
			}
		}
		if !goesOn && purged[whole[0].id] {
			refused(t, s, "GET", "/delegations/"+p.id+"/events", "", http.StatusGone, swarm.CodeGone)
			continue
		}
		for at := -1; at < len(whole); at++ {
			after := ""
			if at >= 0 {
				after = whole[at].id
			}
			var want []frame
			lost := false
			for _, f := range whole[at+1:] {
				switch {
				case missing(f):
					lost = true
				case !goesOn && !started && strings.Contains(f.data, child):
					lost = true // nothing says any more who did it
				default:
					want = append(want, f)
				}
			}
			resp := watch(t, s, p.id, after)
			var got []frame
			switch scanner := stream.NewScanner(resp.Body); {
			case resp.StatusCode == http.StatusNoContent:
			case !goesOn:
				got = framesOf(t, resp.Body)
			default:
				for len(want) > 0 && (len(got) == 0 || got[len(got)-1] != want[len(want)-1]) {
					got = append(got, next(t, scanner, 1)...)
				}
			}
			resp.Body.Close()
			gaps := 0
			got = slices.DeleteFunc(got, func(f frame) bool {
				if f.kind == events.TypeGap {
					gaps++
				}
				return f.kind == events.TypeGap
			})
			what := fmt.Sprintf("run goes on %v, child alone %v, purged before %s, after %q", goesOn, oneRun, before, after)
			same(t, what, got, want)
			if lost != (gaps > 0) && len(want) > 0 {
				t.Fatalf("%s: %d gap events, when something is missing: %v\n%v\nof %v", what, gaps, lost, want, whole)
			}
		}
		if goesOn {
			p.end(t)
		}
	}
}

// An id that is none of the run's is no place in it: the client is told, and
// gets the run from its beginning.
func TestGapAfterAForeignID(t *testing.T) {
	s := swarmtest.Start(t, nil)
	other, p := play(t, s), play(t, s)
	others := other.say(t, 1)[0]
	whole := append(p.begun, p.say(t, 2)...)
	late := other.say(t, 1)[0]
	check := func(after string) {
		t.Helper()
		scanner := stream.NewScanner(watch(t, s, p.id, after).Body)
		message := wantGap(t, next(t, scanner, 1)[0], p.id, after, whole[0].id)
		if !strings.Contains(message, "none of this run's") {
			t.Errorf("message %q", message)
		}
		same(t, "after "+after, next(t, scanner, len(whole)), whole)
	}
	ids := []string{"1", "1.1", "17.0", other.begun[0].id, others.id, late.id, strconv.FormatUint(math.MaxUint64, 10)}
	for _, after := range ids {
		check(after)
	}
	whole = append(whole, p.end(t)...)
	for _, after := range ids {
		check(after) // and no 204, however far it lies behind the end
	}
	for _, id := range []string{"", "0", "0.3"} {
		same(t, "from the start", rest(t, s, p.id, id), whole)
	}
	end := strconv.FormatUint(seqOf(t, whole[len(whole)-1].id), 10)
	same(t, "after a frame that never was", rest(t, s, p.id, end+".99"), whole[len(whole)-4:])
	for _, id := range []string{"x", "17.", ".1", "-1", "+1", "1.-1", "1.2.3", "0x1", "1e3", "99999999999999999999", "1.99999999999"} {
		refused(t, s, "GET", "/delegations/"+p.id+"/events", id, http.StatusBadRequest, swarm.CodeInvalid)
	}
	other.end(t)
}

// The store was wiped and begun anew, with the same run in it: the client's
// place is in a history that is no more.
func TestGapInAStoreBegunAnew(t *testing.T) {
	s := swarmtest.Start(t, nil)
	p := play(t, s)
	before := append(p.begun, p.say(t, 20)...)
	s.Down()
	if err := os.RemoveAll(filepath.Join(s.Dir, "engine")); err != nil {
		t.Fatal(err)
	}
	s.Up()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		status, _, _ := exchange(t, s, "GET", "/agent/"+p.Address().String(), "")
		if status == http.StatusOK { // the worker has registered again
			break
		}
		if time.Now().After(end) {
			t.Fatal("no worker came back within 20 s")
		}
	}
	for _, f := range before {
		refused(t, s, "GET", "/delegations/"+p.id+"/events", f.id, http.StatusNotFound, swarm.CodeNotFound)
	}
	old := p.id
	// Its worker remembers the task, and goes on with it where it was.
	p.start(t, s)
	if p.id != old {
		t.Fatalf("the run is %s, and was %s", p.id, old)
	}
	for _, f := range before {
		scanner := stream.NewScanner(watch(t, s, p.id, f.id).Body)
		wantGap(t, next(t, scanner, 1)[0], p.id, f.id, p.begun[0].id)
		same(t, "after "+f.id, next(t, scanner, 2), p.begun)
	}
	close(p.steps)
}

// Nothing of a run is left: whoever has one of its ids learns that it was, and
// is gone.
func TestGoneWhollyOrInPart(t *testing.T) {
	s := swarmtest.Start(t, nil)
	p, q := play(t, s), play(t, s)
	whole := append(append(p.begun, p.say(t, 3)...), p.end(t)...)
	others := append(q.begun, q.end(t)...)
	last := whole[len(whole)-1]
	events := "/delegations/" + p.id + "/events"
	purge(t, s, p.id, "", whole[3].id)
	for _, after := range []string{"", whole[0].id, whole[4].id, last.id} {
		refused(t, s, "GET", events, after, http.StatusGone, swarm.CodeGone)
	}
	for _, path := range []string{"", "/receipt"} {
		refused(t, s, "GET", "/delegations/"+p.id+path, "", http.StatusGone, swarm.CodeGone)
	}
	purge(t, s, p.id, "", others[len(others)-1].id)
	refused(t, s, "GET", events, "", http.StatusNotFound, swarm.CodeNotFound)
	for _, f := range whole {
		refused(t, s, "GET", events, f.id, http.StatusGone, swarm.CodeGone)
	}
	for _, never := range []string{"1", others[0].id, strconv.FormatUint(math.MaxUint64, 10)} {
		refused(t, s, "GET", events, never, http.StatusNotFound, swarm.CodeNotFound)
	}
	same(t, "the other run", rest(t, s, q.id, ""), others)
}

// What is purged is not proven any more: a bundle that lacks a run is refused.
func TestNoReceiptWithoutAChild(t *testing.T) {
	s := swarmtest.Start(t, nil)
	root, runs := perform(t, s)
	whole := rest(t, s, root, "")
	if status, _, answer := exchange(t, s, "GET", "/delegations/"+root+"/receipt", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	for _, id := range runs {
		if id != root {
			purge(t, s, root, id, whole[len(whole)-1].id)
			break
		}
	}
	refused(t, s, "GET", "/delegations/"+root+"/receipt", "", http.StatusGone, swarm.CodeGone)
	if status, _, answer := exchange(t, s, "GET", "/delegations/"+root, ""); status != http.StatusOK {
		t.Errorf("the run itself: %d %s", status, answer)
	}
}

// Records expire by age, while a run goes on.
func TestExpiredEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := swarmtest.Start(t, func(c *server.Config) { c.SetMaxAge(10 * time.Second) })
		p := play(t, s)
		had := append(p.begun, p.say(t, 2)...)
		time.Sleep(8 * time.Second)
		said := p.say(t, 2)
		time.Sleep(4 * time.Second) // what was had is gone, and what was said is there
		for _, after := range []string{"", had[0].id, had[2].id} {
			scanner := stream.NewScanner(watch(t, s, p.id, after).Body)
			wantGap(t, next(t, scanner, 1)[0], p.id, after, said[0].id)
			same(t, "after "+after, next(t, scanner, 2), said)
		}
		scanner := stream.NewScanner(watch(t, s, p.id, had[3].id).Body)
		same(t, "with all that is gone", next(t, scanner, 2), said)
		time.Sleep(20 * time.Second) // all is gone, and the run goes on
		resp := watch(t, s, p.id, said[1].id)
		close(p.steps)
		end := framesOf(t, resp.Body)
		if len(end) == 0 || end[0].kind != events.TypeTextDelta || end[len(end)-1].kind != "[DONE]" {
			t.Errorf("the end is %v", end)
		}
		refused(t, s, "GET", "/delegations/"+p.id+"/events", end[0].id, http.StatusGone, swarm.CodeGone)
		time.Sleep(20 * time.Second)
		refused(t, s, "GET", "/delegations/"+p.id+"/events", end[0].id, http.StatusGone, swarm.CodeGone)
		refused(t, s, "GET", "/delegations/"+p.id+"/events", "", http.StatusNotFound, swarm.CodeNotFound)
	})
}

// A server starts with what is left of its journal, says which runs it can't
// take up, and takes up the others.
func TestRestartWithAPartialJournal(t *testing.T) {
	var log bytes.Buffer
	s := swarmtest.Start(t, func(c *server.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	})
	lost, kept := play(t, s), play(t, s)
	said := lost.say(t, 3)
	keptFrames := append(kept.begun, kept.say(t, 3)...)
	newest := lost.say(t, 1) // the journal's last record
	purge(t, s, lost.id, "", said[1].id)
	s.Down()
	log.Reset()
	s.Up()
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), lost.id) {
		t.Errorf("the log is %q; want one error, with the run %s", &log, lost.id)
	}
	if n := s.Server.InFlight(); n != 1 {
		t.Errorf("%d runs in flight, want 1", n)
	}
	for _, after := range []string{"", said[1].id, newest[0].id} {
		refused(t, s, "GET", "/delegations/"+lost.id+"/events", after, http.StatusGone, swarm.CodeGone)
	}
	refused(t, s, "GET", "/delegations/"+lost.id, "", http.StatusGone, swarm.CodeGone)
	same(t, "the run that was kept", next(t, stream.NewScanner(watch(t, s, kept.id, "").Body), len(keptFrames)), keptFrames)

	// The same where the journal's newest records are among those that went.
	purge(t, s, lost.id, "", strconv.FormatUint(math.MaxUint64, 10))
	s.Down()
	s.Up()
	refused(t, s, "GET", "/delegations/"+lost.id+"/events", newest[0].id, http.StatusGone, swarm.CodeGone)
	close(lost.steps)
	close(kept.steps)
	all := rest(t, s, kept.id, "")
	same(t, "the run that was kept", all[:len(keptFrames)], keptFrames)
	if end := all[len(all)-1]; end.kind != "[DONE]" {
		t.Errorf("it ends with %s", end)
	}
}
