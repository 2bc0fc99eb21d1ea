package stream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

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

// FuzzAppendFrame asserts that a frame is read back as it was, but for what
// the format cannot carry, and that nothing in it makes another frame.
func FuzzAppendFrame(f *testing.F) {
	f.Add("1", "note", []byte("a\nb"))
	f.Add("", "", []byte("\r\n\r"))
	f.Add(" x", " y", []byte("\xef\xbb\xbf\n\n"))
	f.Fuzz(func(t *testing.T, id, event string, data []byte) {
		wire, err := stream.AppendFrame(nil, stream.Frame{ID: id, Event: event, Data: data})
		if err != nil {
			if !strings.ContainsAny(id+event, "\n\r\x00") {
				t.Fatalf("%q %q: %v", id, event, err)
			}
			return
		}
		s := stream.NewScanner(bytes.NewReader(wire))
		got, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if event == "" {
			event = "message"
		}
		text := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
		// []rune makes U+FFFD of each wrong byte, the scanner of each wrong
		// part: compare without them.
		plain := func(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\ufffd", "") }
		if plain(got.ID) != plain(id) || plain(got.Event) != plain(event) || plain(string(got.Data)) != plain(text) {
			t.Errorf("%q %q %q came back as %+q", id, event, data, got)
		}
		if f, err := s.Next(); err != io.EOF || s.Truncated() {
			t.Errorf("after the frame: %+q, %v", f, err)
		}
	})
}

func TestWriter(t *testing.T) {
	headSent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Run-Id", "r1")
		out, err := stream.NewWriter(w, r)
		if err != nil {
			t.Error(err)
			return
		}
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
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "X-Run-Id": "r1",
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

func TestWriterOutlivesTheServersTimeouts(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(250 * time.Millisecond)
		if err := out.Send(stream.Frame{Data: []byte("late")}); err != nil {
			t.Error(err)
		}
	}))
	server.Config.ReadTimeout = 50 * time.Millisecond
	server.Config.WriteTimeout = 50 * time.Millisecond
	server.Start()
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "data: late\n\n" {
		t.Errorf("%q, %v", body, err)
	}
}

func TestWriterCutsOffAReaderThatTakesNothing(t *testing.T) {
	var result error
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		out, err := stream.NewWriter(w, r)
		start := time.Now()
		for err == nil {
			err = out.Send(stream.Frame{Data: bytes.Repeat([]byte("x"), 1<<20)})
		}
		took(t, start, 5*time.Second, 6*time.Second)
		if again := out.Send(stream.Frame{}); again != err {
			t.Errorf("the second error is %v", again)
		}
		result = err
	}, func(t *testing.T, client *stream.Client, _ *pipeServer) {
		resp, err := client.HTTP.Get(client.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		resp.Body.Close()
	})
	if !errors.Is(result, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want the deadline's", result)
	}
}

func TestWriterTellsThatTheReaderHasLeft(t *testing.T) {
	cause := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	w := httptest.NewRecorder() // has no deadlines, which is no error
	out, err := stream.NewWriter(w, httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	if err != nil || !w.Flushed {
		t.Fatalf("%v, flushed %v", err, w.Flushed)
	}
	cancel(cause)
	if err := out.Comment("ping"); err != cause {
		t.Errorf("error %v, want the cause", err)
	}
	if _, err := stream.NewWriter(struct{ http.ResponseWriter }{w}, httptest.NewRequest("GET", "/", nil)); !errors.Is(err, http.ErrNotSupported) {
		t.Errorf("without Flush: %v, want http.ErrNotSupported", err)
	}
}
