package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs a test on a swarm whose time is the bubble's.
func bubble(t *testing.T, test func(t *testing.T, s *swarmtest.Swarm)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, swarmtest.Start(t, nil)) })
}

func echo(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil }

func after(d time.Duration, text string) agent.HandlerFunc {
	return func(context.Context, *agent.Task) (string, error) {
		time.Sleep(d)
		return text, nil
	}
}

func wantCode(t *testing.T, err error, want swarm.Code, says string) {
	t.Helper()
	if got := swarm.CodeOf(err); got != want || err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v (%s), want %s that says %q", err, got, want, says)
	}
}

func wantOutput(t *testing.T, o *swarm.Outcome, err error, want string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if o.State != swarm.StateCompleted || o.Output != want {
		t.Errorf("outcome is %s %q (%v), want completed %q", o.State, o.Output, o.Error, want)
	}
}

// proxy is a transport that answers in the server's place where answer gives
// something.
type proxy struct {
	next   http.RoundTripper
	answer func(r *http.Request) (*http.Response, error)
}

func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	if resp, err := p.answer(r); resp != nil || err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return resp, err
	}
	return p.next.RoundTrip(r)
}

func page(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// What a proxy says while its server is away is no answer: the client asks on,
// and the task is done once.
func TestDelegateThroughProxy(t *testing.T) {
	for name, away := range map[string]func() (*http.Response, error){
		"502":     func() (*http.Response, error) { return page(502, "<html>Bad Gateway</html>"), nil },
		"503":     func() (*http.Response, error) { return page(503, ""), nil },
		"504":     func() (*http.Response, error) { return page(504, "upstream timed out"), nil },
		"429":     func() (*http.Response, error) { return page(429, "slow down"), nil },
		"refused": func() (*http.Response, error) { return nil, syscall.ECONNREFUSED },
		"cut": func() (*http.Response, error) {
			resp := page(200, "")
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"id":`), errReader{io.ErrUnexpectedEOF}))
			return resp, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
				var runs, asked atomic.Int32
				w := s.Work("busy", func(context.Context, *agent.Task) (string, error) {
					runs.Add(1)
					time.Sleep(3 * time.Second)
					return "done", nil
				})
				c := s.Client(swarmtest.NewKey(t))
				c.HTTP = &http.Client{Transport: &proxy{s.HTTP.Transport, func(r *http.Request) (*http.Response, error) {
					if asked.Add(1)%3 != 0 {
						return away()
					}
					return nil, nil
				}}}
				o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "x"})
				wantOutput(t, o, err, "done")
				if runs.Load() != 1 {
					t.Errorf("the handler ran %d times", runs.Load())
				}
			})
		})
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// An answer that is another server's is an error at once: waiting does not
// mend it.
func TestOtherServers(t *testing.T) {
	key := swarmtest.NewKey(t)
	const info = `{"server":"0x52908400098527886E0F7030069857D2E4169EE7"}`
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name   string
		status int
		info   string // of /.well-known/swarmseal
		answer string // of all else
		code   swarm.Code
		says   string
	}{
		{"a page of HTML", 200, "<html>hello</html>", "", swarm.CodeInternal, "the answer is not what was expected"},
		{"no server", 200, "{}", "", swarm.CodeInternal, "is this the URL of a Swarmseal server?"},
		{"member twice", 200, `{"server":"0x52908400098527886E0F7030069857D2E4169EE7","server":"0x52908400098527886E0F7030069857D2E4169EE7"}`, "", swarm.CodeInternal, "duplicate"},
		{"cut JSON", 200, info, `{"id":"`, swarm.CodeInternal, "the answer is not what was expected"},
		{"another kind", 200, info, `[1,2]`, swarm.CodeInternal, "the answer is not what was expected"},
		{"plain 404", 404, info, "404 page not found", swarm.CodeInternal, "404 Not Found and no error of a Swarmseal server"},
		{"older form of errors", 400, info, `{"error":"bad","code":"invalid_argument"}`, swarm.CodeInternal, "400 Bad Request"},
		{"too large for a proxy", 413, info, "<html>", swarm.CodeTooLarge, "413"},
		{"a refusal", 409, info, `{"error":{"code":"target_not_available","message":"asleep"}}`, swarm.CodeNotAvailable, "asleep"},
		{"unknown code", 418, info, `{"error":{"code":"teapot","message":"short and stout"}}`, "teapot", "short and stout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/.well-known/swarmseal" {
					_, _ = io.WriteString(w, tt.info)
					return
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.answer)
			}))
			defer ts.Close()
			c := &client.Client{BaseURL: ts.URL, Signer: key, HTTP: ts.Client()}
			_, err := c.Delegate(t.Context(), swarm.Request{To: wallet.Address{1}, Task: "x"})
			wantCode(t, err, tt.code, tt.says)
		})
	}
	t.Run("without end", func(t *testing.T) {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/.well-known/swarmseal" {
				_, _ = io.WriteString(w, info)
				return
			}
			for {
				if _, err := io.WriteString(w, long); err != nil {
					return
				}
			}
		}))
		defer ts.Close()
		c := &client.Client{BaseURL: ts.URL, Signer: key, HTTP: ts.Client()}
		_, err := c.Get(t.Context(), strings.Repeat("0", 32))
		wantCode(t, err, swarm.CodeInternal, "has more than")
	})
}

// A URL that is none is told at once; a server that is not there within the
// task's timeout, then.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := swarmtest.NewKey(t)
		refuse := &http.Client{Transport: &proxy{nil, func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }}}
		for _, url := range []string{"", "localhost:8420", "127.0.0.1:8420", "ftp://example.com", "http://", "http://example.com?x=1", "::"} {
			c := &client.Client{BaseURL: url, Signer: key, HTTP: refuse}
			start := time.Now()
			if _, err := c.Delegate(t.Context(), swarm.Request{To: wallet.Address{1}, Task: "x"}); err == nil || !strings.Contains(err.Error(), "BaseURL") || time.Since(start) > 0 {
				t.Errorf("%q gave %v after %v, want an error about BaseURL at once", url, err, time.Since(start))
			}
		}
		c := &client.Client{BaseURL: "http://127.0.0.1:1", Signer: key, HTTP: refuse}
		start := time.Now()
		_, err := c.Delegate(t.Context(), swarm.Request{To: wallet.Address{1}, Task: "x", Timeout: 30 * time.Second})
		if took := time.Since(start); took != 30*time.Second || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "not reached within the task's timeout of 30s") {
			t.Errorf("an absent server gave %v after %v", err, took)
		}
		// What is asked once is not asked again.
		if _, err := c.Find(t.Context(), swarm.Query{Text: "x"}); !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "server not reached") {
			t.Errorf("Find gave %v", err)
		}
		// ctx's end comes with its cause.
		bored := errors.New("bored")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, bored)
		defer cancel()
		if _, err := c.Delegate(ctx, swarm.Request{To: wallet.Address{1}, Task: "x"}); !errors.Is(err, bored) {
			t.Errorf("the end of ctx gave %v, want its cause", err)
		}
	})
}

// A server that says nothing holds up nobody for longer than its own ctx.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := &http.Client{Transport: &proxy{nil, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}}
		c := &client.Client{BaseURL: "http://127.0.0.1:1", Signer: swarmtest.NewKey(t), HTTP: silent}
		start := time.Now()
		var wg sync.WaitGroup
		for _, d := range []time.Duration{30 * time.Second, time.Second} {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), d)
				defer cancel()
				_, err := c.Delegate(ctx, swarm.Request{To: wallet.Address{1}, Task: "x"})
				if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != d {
					t.Errorf("%v after %v, want the ctx's end after %v", err, took, d)
				}
			})
			synctest.Wait() // the first holds whatever it holds
		}
		wg.Wait()
	})
}

func TestNoSigner(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		w := s.Work("public", echo)
		c := s.Client(nil)
		ctx := t.Context()
		for name, call := range map[string]func() error{
			"Delegate": func() error { _, err := c.Delegate(ctx, swarm.Request{To: w.Address(), Task: "x"}); return err },
			"Sign":     func() error { _, err := c.Sign(ctx, nil, swarm.Request{To: w.Address(), Task: "x"}); return err },
			"Register": func() error { return c.Register(ctx, swarm.Card{Name: "x"}) },
			"Revoke":   func() error { return c.Revoke(ctx) },
			"Cancel":   func() error { _, err := c.Cancel(ctx, strings.Repeat("0", 32)); return err },
			"Collect":  func() error { _, err := c.Collect(ctx, strings.Repeat("0", 32)); return err },
			"Post":     func() error { return c.Post(ctx, "/x", nil, nil, nil) },
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), "Signer is nil") {
				t.Errorf("%s without a signer gave %v", name, err)
			}
		}
		// Reading needs none.
		if found, err := c.Find(ctx, swarm.Query{Text: "public"}); err != nil || len(found.Results) != 1 {
			t.Errorf("Find gave %+v, %v", found, err)
		}
		if agents, err := c.Agents(ctx, wallet.Address{}); err != nil || len(agents.Agents) != 1 {
			t.Errorf("Agents gave %+v, %v", agents, err)
		}
		if there, err := c.Agent(ctx, w.Address()); err != nil || there.Card.Name != "public" {
			t.Errorf("Agent gave %+v, %v", there, err)
		}
	})
}

func TestRegisterAndRevoke(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		key := swarmtest.NewKey(t)
		c := s.Client(key)
		for _, name := range []string{"first", "second", "third"} { // in one millisecond
			if err := c.Register(t.Context(), swarm.Card{Name: name}); err != nil {
				t.Fatal(err)
			}
			if there, err := c.Agent(t.Context(), key.Address()); err != nil || there.Card.Name != name || there.Card.Wallet != key.Address() {
				t.Errorf("the card is %+v, %v; want %s", there, err, name)
			}
		}
		wantCode(t, c.Register(t.Context(), swarm.Card{}), swarm.CodeInvalid, "card.name is missing")
		if err := c.Revoke(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err := c.Agent(t.Context(), key.Address())
		wantCode(t, err, swarm.CodeAgentNotFound, "no agent is registered")
		wantCode(t, c.Revoke(t.Context()), swarm.CodeAgentNotFound, "no agent is registered")
	})
}

// A restarted server knows no old tokens; the client signs in again.
func TestSignsInAgain(t *testing.T) {
	bubble(t, func(t *testing.T, s *swarmtest.Swarm) {
		c := s.Client(swarmtest.NewKey(t))
		before, err := c.Authorization(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := c.Authorization(t.Context()); err != nil || again != before {
			t.Errorf("signed in twice: %v", err)
		}
		s.Down()
		s.Up()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if got, err := c.Collect(t.Context(), strings.Repeat("0", 32)); err != nil || got.Status != swarm.CollectedNotFound {
					t.Errorf("Collect gave %+v, %v", got, err)
				}
			})
		}
		wg.Wait()
		now, err := c.Authorization(t.Context())
		if err != nil || now == before {
			t.Errorf("kept a token that the server does not know: %v", err)
		}
	})
}

// A token is given up a minute before its end.
func TestTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signIns := 0
		c := &client.Client{BaseURL: swarmtest.BaseURL, Signer: swarmtest.NewKey(t)}
		c.HTTP = &http.Client{Transport: &proxy{nil, func(r *http.Request) (*http.Response, error) {
			var answer any = swarm.Info{Server: c.Signer.Address()}
			if r.URL.Path == "/sessions" {
				signIns++
				answer = swarm.Token{Token: "swt_x", ExpiresAt: uint64(time.Now().Add(swarm.MaxSessionAge).Unix())}
			}
			text, err := json.Marshal(answer)
			return page(200, string(text)), err
		}}}
		for _, wait := range []time.Duration{0, swarm.MaxSessionAge - time.Minute, time.Second, time.Hour} {
			time.Sleep(wait)
			if _, err := c.Authorization(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if signIns != 2 {
			t.Errorf("signed in %d times, want 2", signIns)
		}
	})
}
