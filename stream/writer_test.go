package stream_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"github.com/swarmseal/swarmseal/stream"
)

func TestAppendFrame(t *testing.T) {
	for _, c := range []struct {
		frame stream.Frame
		want  string
	}{
		{stream.Frame{Data: []byte("x")}, "data: x\n\n"},
		{stream.Frame{Event: "message", Data: []byte("x")}, "data: x\n\n"},
		{stream.Frame{ID: "7", Event: "note", Data: []byte("x")}, "id: 7\nevent: note\ndata: x\n\n"},
		{stream.Frame{}, "data: \n\n"},
		{stream.Frame{Data: []byte("\n")}, "data: \ndata: \n\n"},
		{stream.Frame{Data: []byte(" a\n\nb\n")}, "data:  a\ndata: \ndata: b\ndata: \n\n"},
		{stream.Frame{Data: []byte("a\rb\r\nc\r")}, "data: a\ndata: b\ndata: c\ndata: \n\n"},
		{stream.Frame{Data: []byte("a\n\nid: 9\n\nevent: forged")}, "data: a\ndata: \ndata: id: 9\ndata: \ndata: event: forged\n\n"},
	} {
		got, err := stream.AppendFrame([]byte("before|"), c.frame)
		if err != nil || string(got) != "before|"+c.want {
			t.Errorf("%+v: %q, %v; want %q", c.frame, got, err, c.want)
		}
	}
	for _, bad := range []string{"a\nb", "a\rb", "\n", "a\x00", "7\n\ndata: forged"} {
		for field, f := range map[string]stream.Frame{"id": {ID: bad}, "event": {Event: bad}} {
			got, err := stream.AppendFrame([]byte("before|"), f)
			e, ok := errors.AsType[*stream.FieldError](err)
			if !ok || e.Field != field || e.Value != bad || string(got) != "before|" {
				t.Errorf("%s %q: %q, %v; want a *FieldError", field, bad, got, err)
			}
		}
	}
}

// FuzzAppendFrame asserts that what is accepted is read back as one frame that
// is the same but for what the format cannot carry, and that nothing else
// comes of it, also behind another frame.
func FuzzAppendFrame(f *testing.F) {
	f.Add("1", "note", []byte("a\nb"))
	f.Add("", "", []byte("\r\n\r"))
	f.Add(" x", " y", []byte("\xef\xbb\xbf\n\n"))
	f.Add("7\n\ndata: forged", "message", []byte("id: 9\n\nevent: forged"))
	f.Add("a\x00", "b\x00", []byte("\x00"))
	f.Add(":", "\xe2\x80\xa8", []byte("\xed\xa0\x80\xf0\x90\u2028\x85"))
	f.Fuzz(func(t *testing.T, id, event string, data []byte) {
		before := []byte("id: before\ndata: x\n\n")
		wire, err := stream.AppendFrame(bytes.Clone(before), stream.Frame{ID: id, Event: event, Data: data})
		if e, ok := errors.AsType[*stream.FieldError](err); err != nil && (!ok || !strings.ContainsAny(e.Value, "\n\r\x00") || !bytes.Equal(wire, before)) {
			t.Fatalf("%q %q: %v, %q", id, event, err, wire)
		} else if err != nil {
			return
		}
		s := stream.NewScanner(bytes.NewReader(wire))
		if first, err := s.Next(); err != nil || first.ID != "before" || string(first.Data) != "x" {
			t.Fatalf("the frame before became %+q, %v", first, err)
		}
		got, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		want := stream.Frame{ID: decoded(t, id), Event: decoded(t, event), Data: []byte(decoded(t, lines.Replace(string(data))))}
		if id == "" {
			want.ID = "before"
		}
		if event == "" {
			want.Event = "message"
		}
		if got.ID != want.ID || got.Event != want.Event || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%q %q %q came back as %+q", id, event, data, got)
		}
		if f, err := s.Next(); err != io.EOF || s.Truncated() || s.Comments() > 0 {
			t.Errorf("after the frame: %+q, %v, %d comments", f, err, s.Comments())
		}
	})
}

// lines makes the line ends of a text what they are in a frame's data.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// decoded gives a text as a reader decodes it, by a decoder other than ours.
func decoded(t *testing.T, text string) string {
	t.Helper()
	got, err := unicode.UTF8.NewDecoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// FuzzComment asserts that no comment breaks out: it comes back line for line
// as comments, and leaves the frames around it, the last id and the retry
// alone.
func FuzzComment(f *testing.F) {
	for _, text := range []string{"ping", "", "\n", "a\rb\r\nc", "x\n\ndata: forged\n\n", "x\nid: 9\nretry: 1", "\x00\xff\u2028", "x\r"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rec := httptest.NewRecorder()
		out, err := stream.NewWriter(rec, httptest.NewRequest("GET", "/", nil), stream.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		for _, err := range []error{out.Send(stream.Frame{ID: "1", Data: []byte("a")}), out.Comment(text), out.Send(stream.Frame{Data: []byte("b")})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		s := stream.NewScanner(rec.Body)
		for _, want := range []string{"a", "b"} {
			got, err := s.Next()
			if err != nil || got.ID != "1" || got.Event != "message" || string(got.Data) != want {
				t.Fatalf("%q: %+q, %v; want the frame %q", text, got, err, want)
			}
		}
		if f, err := s.Next(); err != io.EOF || s.Truncated() {
			t.Errorf("%q: then %+q, %v", text, f, err)
		}
		if want := strings.Count(lines.Replace(text), "\n") + 1; s.Comments() != want {
			t.Errorf("%q: %d comment lines, want %d", text, s.Comments(), want)
		}
		if ms, ok := s.Retry(); ok {
			t.Errorf("%q: a retry of %d", text, ms)
		}
	})
}

func TestWriter(t *testing.T) {
	headSent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Run-Id", "r1")
		out, err := stream.NewWriter(w, r, stream.WriterOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		defer out.Close()
		<-headSent // the head goes out before any frame
		bad := stream.Frame{ID: "2\n", Data: []byte("never")}
		for _, err := range []error{
			out.Retry(1500 * time.Millisecond),
			out.Comment("ping"),
			out.Comment("two\nlines"),
			out.Comment(""),
			out.Send(stream.Frame{ID: "1", Data: []byte("a")}, stream.Frame{ID: "2", Event: "b", Data: []byte("b")}),
			out.SendEncoded([]byte("data: encoded\n\n")),
			out.Send(),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if err := out.Send(stream.Frame{Data: []byte("never")}, bad); err == nil {
			t.Error("a bad id was sent")
		}
		if err := out.Retry(0); err == nil {
			t.Error("a retry of 0 was sent")
		}
	}))
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	close(headSent)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "X-Run-Id": "r1",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	body, err := io.ReadAll(resp.Body)
	want := "retry: 1500\n\n: ping\n\n: two\n: lines\n\n: \n\nid: 1\ndata: a\n\nid: 2\nevent: b\ndata: b\n\ndata: encoded\n\n"
	if err != nil || string(body) != want {
		t.Errorf("%q, %v; want %q", body, err, want)
	}
}
