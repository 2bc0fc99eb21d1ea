package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/stream"
)

// params are what the suite says of a stream that it wants opened. Milliseconds
// are nil where it leaves them to the client.
type params struct {
	StreamURL      string            `json:"streamUrl"`
	CallbackURL    string            `json:"callbackUrl"`
	Tag            string            `json:"tag"` // the test's name
	InitialDelayMS *int              `json:"initialDelayMs"`
	ReadTimeoutMS  *int              `json:"readTimeoutMs"`
	LastEventID    string            `json:"lastEventId"`
	Headers        map[string]string `json:"headers"`
	Method         string            `json:"method"`
	Body           string            `json:"body"`
}

// callback is what the suite is told of a stream.
type callback struct {
	Kind    string `json:"kind"` // event, comment or error
	Event   *event `json:"event,omitempty"`
	Comment string `json:"comment,omitempty"`
	Error   string `json:"error,omitempty"`
}

type event struct {
	Type string `json:"type"`
	Data string `json:"data"`
	ID   string `json:"id"`
}

// errRestart ends a range that another is to follow.
var errRestart = errors.New("the suite wants the stream opened again")

// session is one stream that is read, over all its connections.
type session struct {
	params params
	client *stream.Client
	path   string
	told   int // callbacks so far; the reading goroutine's

	ctx    context.Context // that of the callbacks, too
	cancel context.CancelFunc
	done   chan struct{}

	mu       sync.Mutex
	again    context.CancelCauseFunc // ends the range
	listened map[string]bool
}

// open starts to read a stream.
func open(p params) (*session, error) {
	for name, text := range map[string]string{"streamUrl": p.StreamURL, "callbackUrl": p.CallbackURL} {
		if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%s %q: want http:// or https:// and a host", name, text)
		}
	}
	at, _ := url.Parse(p.StreamURL)
	s := &session{
		params: p,
		client: &stream.Client{
			BaseURL: at.Scheme + "://" + at.Host,
			HTTP:    &http.Client{Transport: &http.Transport{}},
			Header:  make(http.Header),
			Retry:   &stream.Backoff{},
		},
		path:     at.RequestURI(),
		done:     make(chan struct{}),
		listened: map[string]bool{"message": true},
	}
	for name, value := range p.Headers {
		s.client.Header.Set(name, value)
	}
	for name, ms := range map[string]*int{"initialDelayMs": p.InitialDelayMS, "readTimeoutMs": p.ReadTimeoutMS} {
		if ms != nil && *ms < 0 {
			return nil, fmt.Errorf("%s %d: want 0 or more", name, *ms)
		}
	}
	if p.InitialDelayMS != nil { // 0 is at once, which in a Backoff is its default
		s.client.Retry.Min = max(time.Duration(*p.InitialDelayMS)*time.Millisecond, time.Nanosecond)
	}
	if p.ReadTimeoutMS != nil {
		s.client.Idle = time.Duration(*p.ReadTimeoutMS) * time.Millisecond
	}
	s.client.OnComment = func(text string) { s.tell(callback{Kind: "comment", Comment: text}) }
	s.client.OnRetry = func(err error, _ time.Duration) { s.tell(callback{Kind: "error", Error: err.Error()}) }
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.read(s.newRange())
	return s, nil
}

// newRange gives the context of a range, which restart ends.
func (s *session) newRange() context.Context {
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.mu.Lock()
	s.again = cancel
	s.mu.Unlock()
	return ctx
}

// read tells the suite of the stream until it ends: by close, by a 204, or by
// what waiting does not mend.
func (s *session) read(ctx context.Context) {
	defer close(s.done)
	defer s.client.HTTP.CloseIdleConnections()
	opts := stream.FollowOptions{
		LastEventID: s.params.LastEventID,
		Endless:     true,
		Method:      s.params.Method,
		Body:        []byte(s.params.Body),
	}
	for restarted := true; restarted; ctx = s.newRange() {
		restarted = false
		for ev, err := range s.client.Follow(ctx, s.path, opts) {
			switch {
			case err == errRestart:
				restarted = true
			case err != nil:
				s.tell(callback{Kind: "error", Error: err.Error()})
			default:
				opts.LastEventID = ev.ID
				if s.listensTo(ev.Name) {
					s.tell(callback{Kind: "event", Event: &event{Type: ev.Name, Data: string(ev.Data), ID: ev.ID}})
				}
			}
		}
	}
}

func (s *session) listen(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listened[name] = true
}

func (s *session) listensTo(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listened[name]
}

// restart has the stream opened again at once, after the last event.
func (s *session) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again(errRestart)
}

// close ends the session and waits until it has.
func (s *session) close() {
	s.cancel()
	<-s.done
}

// tell makes a callback. The suite puts them in order by the number at the end
// of their URL, from 1.
func (s *session) tell(c callback) {
	if s.ctx.Err() != nil {
		return
	}
	s.told++
	body, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts always marshal
	}
	to := fmt.Sprintf("%s/%d", strings.TrimSuffix(s.params.CallbackURL, "/"), s.told)
	req, err := http.NewRequestWithContext(s.ctx, http.MethodPost, to, bytes.NewReader(body))
	if err == nil {
		req.Header.Set("Content-Type", "application/json")
		var resp *http.Response
		if resp, err = s.client.HTTP.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode/100 != 2 {
				err = errors.New(resp.Status)
			}
		}
	}
	if err != nil && s.ctx.Err() == nil {
		log.Printf("%s: callback %s: %v", s.params.Tag, to, err)
	}
}
