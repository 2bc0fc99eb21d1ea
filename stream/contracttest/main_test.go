package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// suite is a harness as small as can be: one server that is asked for streams
// and told by callbacks.
type suite struct {
	t       *testing.T
	service *httptest.Server
	server  *httptest.Server
	asked   chan *http.Request   // each request for a stream, its body read
	bodies  chan string          // that of each
	told    chan json.RawMessage // callbacks, in order
	count   int
}

func newSuite(t *testing.T, stream http.HandlerFunc) *suite {
	s := &suite{t: t, asked: make(chan *http.Request, 10), bodies: make(chan string, 10), told: make(chan json.RawMessage, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.asked <- r
		s.bodies <- string(body)
		stream(w, r)
	})
	mux.HandleFunc("POST /callback/{n}", func(w http.ResponseWriter, r *http.Request) {
		// One client, one callback at a time: the numbers come in order.
		if s.count++; r.PathValue("n") != strconv.Itoa(s.count) {
			t.Errorf("callback %s, want %d", r.PathValue("n"), s.count)
		}
		body, _ := io.ReadAll(r.Body)
		s.told <- body
		w.WriteHeader(http.StatusAccepted)
	})
	s.server = httptest.NewServer(mux)
	service := newService(func() {})
	s.service = httptest.NewServer(service)
	t.Cleanup(func() {
		service.close()
		s.service.Close()
		s.server.Close()
	})
	return s
}

// ask makes a request to the service.
func (s *suite) ask(method, path, body string) *http.Response {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.service.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.service.Client().Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(strings.NewReader(string(text)))
	return resp
}

// open opens a stream with the members that are more than its URLs, such as
// `"method":"POST"`, and gives its resource.
func (s *suite) open(members string) string {
	s.t.Helper()
	if members != "" {
		members = "," + members
	}
	resp := s.ask("POST", "/", `{"streamUrl":"`+s.server.URL+`/stream","callbackUrl":"`+s.server.URL+`/callback","tag":"t"`+members+`}`)
	if resp.StatusCode != http.StatusCreated {
		s.t.Fatalf("open: %s", resp.Status)
	}
	return resp.Header.Get("Location")
}

func (s *suite) command(stream, body string) {
	s.t.Helper()
	if resp := s.ask("POST", stream, body); resp.StatusCode != http.StatusNoContent {
		s.t.Errorf("%s: %s", body, resp.Status)
	}
}

// hears waits for callbacks.
func (s *suite) hears(callbacks ...string) {
	s.t.Helper()
	for _, want := range callbacks {
		if got := string(next(s.t, s.told)); got != want && !(want == "an error" && strings.HasPrefix(got, `{"kind":"error","error":"`)) {
			s.t.Errorf("told %s, want %s", got, want)
		}
	}
}

func next[T any](t *testing.T, from chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came in 10 s")
	}
	return v
}

// say answers with an event stream and leaves it open.
func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

func TestStatus(t *testing.T) {
	s := newSuite(t, say(""))
	var status struct{ Capabilities []string }
	if err := json.NewDecoder(s.ask("GET", "/", "").Body).Decode(&status); err != nil || len(status.Capabilities) != 10 || !slices.Contains(status.Capabilities, "comments") {
		t.Errorf("%+v, %v", status, err)
	}
}

func TestEventsAndComments(t *testing.T) {
	s := newSuite(t, say("\ufeff: one\ndata: a\n\nid: 7\nevent: greeting\ndata: unheard\n\ndata: b<\ndata\n\n:two\n"))
	stream := s.open("")
	r := next(t, s.asked)
	if r.Method != "GET" || r.Header.Get("Accept") != "text/event-stream" || r.Header.Get("Cache-Control") != "no-cache" || r.Header["Last-Event-Id"] != nil {
		t.Errorf("%s with %q", r.Method, r.Header)
	}
	s.hears(
		`{"kind":"comment","comment":" one"}`,
		`{"kind":"event","event":{"type":"message","data":"a","id":""}}`,
		`{"kind":"event","event":{"type":"message","data":"b\u003c\n","id":"7"}}`,
		`{"kind":"comment","comment":"two"}`,
	)
	if resp := s.ask("DELETE", stream, ""); resp.StatusCode != http.StatusNoContent {
		t.Error(resp.Status)
	}
	if resp := s.ask("DELETE", stream, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("closed twice: %s", resp.Status)
	}
}

func TestListen(t *testing.T) {
	listening := make(chan bool)
	s := newSuite(t, func(w http.ResponseWriter, r *http.Request) {
		<-listening
		say("event: other\ndata: 1\n\nevent: greeting\ndata: 2\n\n")(w, r)
	})
	s.command(s.open(""), `{"command":"listen","listen":{"type":"greeting"}}`)
	close(listening)
	s.hears(`{"kind":"event","event":{"type":"greeting","data":"2","id":""}}`)
}

func TestRequests(t *testing.T) {
	for _, method := range []string{"POST", "REPORT"} {
		s := newSuite(t, say(""))
		s.open(`"method":"` + method + `","body":"{\"a\":1}","lastEventId":"abc","headers":{"content-type":"application/json","x-one":"1"}`)
		r, body := next(t, s.asked), next(t, s.bodies)
		if r.Method != method || body != `{"a":1}` || r.Header.Get("Last-Event-Id") != "abc" ||
			r.Header.Get("X-One") != "1" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %q with %q", r.Method, body, r.Header)
		}
	}
}

func TestReconnect(t *testing.T) {
	var asked atomic.Int32
	s := newSuite(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 1 {
			say("data: 2\n\n")(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "id: abc\ndata: 1\n\nid: def\ndata: cut")
	})
	s.open(`"initialDelayMs":0,"method":"POST","body":"q"`)
	s.hears(`{"kind":"event","event":{"type":"message","data":"1","id":"abc"}}`, "an error",
		`{"kind":"event","event":{"type":"message","data":"2","id":"abc"}}`)
	for _, id := range []string{"", "abc"} {
		if r, body := next(t, s.asked), next(t, s.bodies); r.Header.Get("Last-Event-Id") != id || r.Method != "POST" || body != "q" {
			t.Errorf("%s %q after %q, want a POST of q after %q", r.Method, body, r.Header.Get("Last-Event-Id"), id)
		}
	}
}

func TestReadTimeout(t *testing.T) {
	s := newSuite(t, say("data: 1\n\n"))
	s.open(`"initialDelayMs":0,"readTimeoutMs":50`)
	event := `{"kind":"event","event":{"type":"message","data":"1","id":""}}`
	s.hears(event, "an error", event)
}

// A restart is the caller's doing, so it is no error.
func TestRestart(t *testing.T) {
	s := newSuite(t, say("id: abc\ndata: 1\n\n"))
	stream := s.open("")
	event := `{"kind":"event","event":{"type":"message","data":"1","id":"abc"}}`
	s.hears(event)
	for range 3 {
		s.command(stream, `{"command":"restart"}`)
		s.hears(event)
	}
	next(t, s.asked)
	if r := next(t, s.asked); r.Header.Get("Last-Event-Id") != "abc" {
		t.Errorf("header %q", r.Header)
	}
}

func TestWhatEndsAStream(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"204":                        func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) },
		"a redirect to nowhere":      func(w http.ResponseWriter) { w.WriteHeader(http.StatusMovedPermanently) },
		"a redirect to nowhere, 307": func(w http.ResponseWriter) { w.WriteHeader(http.StatusTemporaryRedirect) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSuite(t, func(w http.ResponseWriter, _ *http.Request) { answer(w) })
			s.open(`"initialDelayMs":0`)
			next(t, s.asked)
			if name != "204" {
				s.hears("an error")
			}
			select {
			case r := <-s.asked:
				t.Errorf("%s came again", r.URL)
			case <-time.After(100 * time.Millisecond):
			}
		})
	}
}

func TestBadRequests(t *testing.T) {
	s := newSuite(t, say(""))
	stream := s.open("")
	url := s.server.URL
	for _, c := range []struct{ path, body, text string }{
		{"/", `{`, "body: unexpected end"},
		{"/", `{"callbackUrl":"` + url + `"}`, `streamUrl "": want http://`},
		{"/", `{"streamUrl":"` + url + `","callbackUrl":"ftp://x"}`, `callbackUrl "ftp://x": want http://`},
		{"/", `{"streamUrl":"` + url + `","callbackUrl":"` + url + `","readTimeoutMs":-1}`, "readTimeoutMs -1: want 0 or more"},
		{stream, `{"command":"dance"}`, `command "dance": want listen or restart`},
		{stream, `{"command":"listen"}`, `listen: want {"type"`},
		{stream, strings.Repeat(" ", maxRequestBytes+1), "too large"},
	} {
		resp := s.ask("POST", c.path, c.body)
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), c.text) {
			t.Errorf("%s %.60s: %s: %s; want 400 with %q", c.path, c.body, resp.Status, text, c.text)
		}
	}
	if resp := s.ask("POST", "/streams/99", `{"command":"restart"}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("no such stream: %s", resp.Status)
	}
}

func TestStop(t *testing.T) {
	out, in := io.Pipe()
	ended := make(chan error)
	go func() { ended <- run(t.Context(), "127.0.0.1:0", in) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, _ := strings.Cut(strings.TrimSpace(line), "on ")
	req, err := http.NewRequestWithContext(t.Context(), "DELETE", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := <-ended; err != nil || resp.StatusCode != http.StatusNoContent {
		t.Errorf("%s, %v", resp.Status, err)
	}
}
