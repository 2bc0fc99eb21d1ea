package stream_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/swarmseal/swarmseal/stream"
)

func TestRedirectsThatAreFollowed(t *testing.T) {
	const path = "/delegations/run-7/events"
	for _, c := range []struct {
		name   string
		status int
		post   bool
		want   string // the request that the redirect leads to
	}{
		{"301", 301, false, "GET /there"},
		{"302", 302, false, "GET /there"},
		{"303", 303, false, "GET /there"},
		{"307", 307, false, "GET /there"},
		{"308", 308, false, "GET /there"},
		{"303 of a POST", 303, true, "GET /there"},
		{"307 of a POST", 307, true, "POST /there"},
		{"308 of a POST", 308, true, "POST /there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, answer(c.status, "", "Location", "/there"), cut(delta(1)), say(done(2)))
			client.Header = http.Header{"X-Api-Key": {"secret"}}
			run := client.Watch(t.Context(), "run-7", "")
			first := "GET " + path
			if c.post {
				run = client.Run(t.Context(), agent, stream.Request{Message: "hi"})
				first = "POST /agent/" + agent.String() + "/stream"
			}
			got, err := collect(t, run)
			want(t, "events", got, []string{"1 text-delta", "2 done"})
			if err != nil {
				t.Error(err)
			}
			// A resume starts from BaseURL again: where it led to may have gone.
			want(t, "requests", s.requests(), []string{first, c.want, "GET " + path + " 1"})
			if c.want == "POST /there" && s.body != `{"message":"hi"}` {
				t.Errorf("the redirected POST had the body %q", s.body)
			}
		})
	}
}

func TestRedirectError(t *testing.T) {
	const broken = "http://[::1"
	for _, c := range []struct {
		name     string
		status   int
		location string
		post     bool
		text     string
	}{
		{"none", 301, "", false, `301 Moved Permanently to "": it has no Location`},
		{"none, 307", 307, "", false, "it has no Location"},
		{"none, of a POST", 308, "", true, "it has no Location"},
		{"broken", 307, broken, false, "missing ']' in host"},
		{"broken, of a POST", 307, broken, true, "missing ']' in host"},
		{"another scheme", 302, "ftp://example.com/x", false, "want a Location of http:// or https://"},
		{"no host", 302, "http:///x", false, "want a Location of http:// or https:// and a host"},
		{"a POST that would become a GET", 301, "/there", true, "set BaseURL to where it leads"},
		{"a POST that would become a GET, 302", 302, "/there", true, "set BaseURL to where it leads"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, s := serve(t, answer(c.status, "", "Location", c.location))
			run := client.Watch(t.Context(), "run-7", "")
			if c.post {
				run = client.Run(t.Context(), agent, stream.Request{Message: "hi"})
			}
			got, err := collect(t, run)
			if e, ok := err.(*stream.RedirectError); !ok || e.Status != c.status || e.Location != c.location || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%#v: %v; want a *RedirectError with %q", err, err, c.text)
			}
			if n := len(s.requests()); n != 1 || got != nil {
				t.Errorf("%d requests, events %q; want one and none", n, got)
			}
		})
	}
}

// On a resume, too, it is final: no storm of requests runs into it.
func TestRedirectErrorOnAResume(t *testing.T) {
	client, s := serve(t, cut(delta(1)), answer(307, ""))
	_, err := collect(t, client.Run(t.Context(), agent, stream.Request{Message: "hi"}))
	_, isRedirect := errors.AsType[*stream.RedirectError](err)
	if e, ok := err.(*stream.TruncatedError); !ok || e.LastEventID != "1" || !isRedirect || len(s.requests()) != 2 {
		t.Errorf("%v after %d requests", err, len(s.requests()))
	}
	client, _ = serve(t, answer(307, ""))
	_, err = collect(t, client.Follow(t.Context(), "/inbox", stream.FollowOptions{Endless: true}))
	if _, ok := err.(*stream.RedirectError); !ok {
		t.Errorf("endless: %v, want a *RedirectError", err)
	}
}

func TestRedirectLoop(t *testing.T) {
	var n int
	loop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		http.Redirect(w, r, "/"+strconv.Itoa(n%2), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(loop.Close)
	refused := errors.New("not there")
	for _, c := range []struct {
		name     string
		policy   func(*http.Request, []*http.Request) error
		requests int
		text     string
	}{
		{"net/http's bound", nil, 10, ""},
		{"ours, where CheckRedirect has none", func(*http.Request, []*http.Request) error { return nil }, 10, "number 10 in a row: a loop?"},
		{"CheckRedirect refuses", func(*http.Request, []*http.Request) error { return refused }, 1, "not there"},
		{"CheckRedirect stops", func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, 1, "CheckRedirect does not follow it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n = 0
			client := &stream.Client{BaseURL: loop.URL, HTTP: &http.Client{CheckRedirect: c.policy, Transport: loop.Client().Transport}}
			_, err := collect(t, client.Watch(t.Context(), "run-7", ""))
			if e, ok := err.(*stream.RedirectError); !ok || e.Status != 307 || !strings.HasPrefix(e.Location, "/") || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%#v: %v; want a *RedirectError with %q", err, err, c.text)
			}
			if n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if c.name == "CheckRedirect refuses" && !errors.Is(err, refused) {
				t.Errorf("%v, want CheckRedirect's error in it", err)
			}
		})
	}
}

// Net/http takes only the names that it knows for credentials.
func TestHeaderStaysWithItsHost(t *testing.T) {
	var there http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		there = r.Header.Clone()
		if r.URL.Path == "/back" {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
			return
		}
		say(done(1))(w, r)
	}))
	t.Cleanup(other.Close)
	var here []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		here = append(here, r.Header.Clone())
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other.URL+"/away", http.StatusTemporaryRedirect)
		case "/round":
			http.Redirect(w, r, other.URL+"/back?to=http://"+r.Host+"/here", http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		default:
			say(done(1))(w, r)
		}
	}))
	t.Cleanup(server.Close)
	client := &stream.Client{BaseURL: server.URL, HTTP: server.Client(), Header: http.Header{
		"x-api-key": {"secret"}, "Authorization": {"Bearer secret"}, "Content-Type": {"text/plain"}, "User-Agent": {"me"},
	}}
	follow := func(path string) {
		t.Helper()
		there, here = nil, nil
		opts := stream.FollowOptions{LastEventID: "7", Method: "POST", Body: []byte("q")}
		if _, err := collect(t, client.Follow(t.Context(), path, opts)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	secret := func(h http.Header) bool { return h.Get("X-Api-Key") != "" || h.Get("Authorization") != "" }

	follow("/away")
	if secret(there) || there.Get("Content-Type") != "text/plain" || there.Get("User-Agent") != "me" || there.Get("Last-Event-Id") != "7" {
		t.Errorf("another host got %q", there)
	}
	follow("/round")
	if secret(there) || !secret(here[0]) || secret(here[1]) {
		t.Error("a detour by another host came back with the headers: that host has chosen where to")
	}
	follow("/near")
	if !secret(here[0]) || !secret(here[1]) {
		t.Error("the same host did not get the headers")
	}
}

func TestNoRedirectIntoTheClear(t *testing.T) {
	server := httptest.NewTLSServer(answer(307, "", "Location", "http://127.0.0.1/x"))
	t.Cleanup(server.Close)
	client := &stream.Client{BaseURL: server.URL, HTTP: server.Client()}
	_, err := collect(t, client.Watch(t.Context(), "r", ""))
	if e, ok := err.(*stream.RedirectError); !ok || !strings.Contains(err.Error(), "from https to http") {
		t.Errorf("%#v: %v", e, err)
	}
}

func TestTheSameHostByHTTPS(t *testing.T) {
	for to, same := range map[string]bool{
		"https://Swarm.Test/x": true, "https://swarm.test:443/x": true, "http://swarm.test:80/x": true,
		"https://swarm.test:8443/x": false, "http://swarm.test:443/x": false, "https://a.swarm.test/x": false,
	} {
		var got http.Header
		transport := roundTripper(func(r *http.Request) (*http.Response, error) {
			resp := httptest.NewRecorder()
			if r.URL.Path == "/" {
				answer(307, "", "Location", to)(resp, r)
			} else {
				got = r.Header
				say(done(1))(resp, r)
			}
			return resp.Result(), nil
		})
		client := &stream.Client{BaseURL: "http://swarm.test", HTTP: &http.Client{Transport: transport}, Header: http.Header{"X-Api-Key": {"secret"}}}
		if _, err := collect(t, client.Follow(t.Context(), "/", stream.FollowOptions{})); err != nil || (got.Get("X-Api-Key") != "") != same {
			t.Errorf("%s: %v, header %q; is the same host: %t", to, err, got, same)
		}
	}
}
