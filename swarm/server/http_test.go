package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/swarm/swarmtest"
	"github.com/swarmseal/swarmseal/wallet"
)

// Every code has a status: the table is exhaustive.
func TestStatusOfEveryCode(t *testing.T) {
	for _, code := range swarm.Codes {
		if status := server.StatusOf[code]; status < 400 || status > 599 {
			t.Errorf("code %s has status %d", code, status)
		}
	}
	if len(server.StatusOf) != len(swarm.Codes) {
		t.Errorf("%d statuses for %d codes: %v", len(server.StatusOf), len(swarm.Codes), slices.Collect(maps.Keys(server.StatusOf)))
	}
}

// exchange makes a plain request, as any HTTP client would.
func exchange(t *testing.T, s *swarmtest.Swarm, method, path, body string, header ...string) (status int, h http.Header, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, swarmtest.BaseURL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

// Bad input gets the status, the code, and a message that names what is wrong.
func TestBadInput(t *testing.T) {
	s := swarmtest.Start(t, nil)
	w := s.Work("echo", func(_ context.Context, task *agent.Task) (string, error) { return task.Input, nil })
	c := s.Client(swarmtest.NewKey(t))
	o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "x"})
	if err != nil {
		t.Fatal(err)
	}
	strangersAuth, err := s.Client(swarmtest.NewKey(t)).Authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	agentPath := "/agents/" + w.Address().String()
	wrongCase := "0x" + strings.ToUpper(w.Address().String()[2:])
	sign := func(change func(*swarm.Delegation)) string {
		signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			d := signed.Delegation
			change(&d)
			if signed, err = swarm.SignDelegation(t.Context(), c.Signer, swarm.Domain(0), d, "x"); err != nil {
				t.Fatal(err)
			}
		}
		text, err := json.Marshal(signed)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	good := sign(nil)
	elsewhere, err := json.Marshal(swarm.SignedRegistration{Registration: swarm.Registration{Wallet: wallet.Address{19: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     swarm.Code
		says                     string
	}{
		{"no route", "GET", "/nowhere", "", nil, 404, swarm.CodeNotFound, "no route GET /nowhere"},
		{"other method", "DELETE", "/delegations", "", nil, 405, swarm.CodeMethod, "the methods here are"},
		{"no address", "GET", "/agents/bob", "", nil, 400, swarm.CodeInvalid, "want 0x and 40 hex digits"},
		{"wrong checksum", "GET", "/agents/" + wrongCase, "", nil, 400, swarm.CodeInvalid, "wrong EIP-55 checksum"},
		{"unknown agent", "GET", "/agents/0x0000000000000000000000000000000000000001", "", nil, 404, swarm.CodeAgentNotFound, "no agent is registered under"},
		{"no run id", "GET", "/delegations/17", "", nil, 400, swarm.CodeInvalid, "want 32 hex digits"},
		{"unknown run", "GET", "/delegations/" + strings.Repeat("0", 32), "", nil, 404, swarm.CodeNotFound, "no run"},
		{"unknown run's events", "GET", "/delegations/" + strings.Repeat("0", 32) + "/events", "", nil, 404, swarm.CodeNotFound, "no run"},
		{"odd cursor", "GET", "/delegations/" + o.ID + "/events", "", []string{"Last-Event-ID", "x"}, 400, swarm.CodeInvalid, "decimal numbers"},
		{"query missing", "GET", "/agents/search", "", nil, 400, swarm.CodeInvalid, "query is empty"},
		{"limit too high", "GET", "/agents/search?q=x&limit=51", "", nil, 400, swarm.CodeInvalid, `limit is "51"; allowed are 1 to 50`},
		{"top_k too high", "GET", "/agents/search?q=x&top_k=21", "", nil, 400, swarm.CodeInvalid, "allowed are 1 to 20"},
		{"strictness", "GET", "/agents/search?q=x&strictness=2", "", nil, 400, swarm.CodeInvalid, "strictness is 2"},
		{"unknown parameter", "GET", "/agents/search?q=x&topk=2", "", nil, 400, swarm.CodeInvalid, `unknown parameter "topk"`},
		{"no JSON", "POST", "/delegations", "{", nil, 400, swarm.CodeInvalid, ""},
		{"no object", "POST", "/delegations", "[]", nil, 400, swarm.CodeInvalid, ""},
		{"unknown member", "POST", "/delegations", `{"extra":1}`, nil, 400, swarm.CodeInvalid, "extra"},
		{"member twice", "POST", "/delegations", `{"input":"a","input":"b"}`, nil, 400, swarm.CodeInvalid, "duplicate"},
		{"lone surrogate", "POST", "/delegations", `{"input":"\ud800"}`, nil, 400, swarm.CodeInvalid, "surrogate"},
		{"too large", "POST", "/delegations", `{"input":"` + strings.Repeat("x", 10<<20) + `"}`, nil, 413, swarm.CodeTooLarge, "10485760 bytes"},
		{"other input", "POST", "/delegations", strings.Replace(good, `"input":"x"`, `"input":"y"`, 1), nil, 401, swarm.CodeSignature, "inputHash"},
		{"other signer", "POST", "/delegations", strings.Replace(good, c.Signer.Address().String(), w.Address().String(), 1), nil, 401, swarm.CodeSignature, "signature"},
		{"other server", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.Server = w.Address() }), nil, 400, swarm.CodeInvalid, "delegation.server"},
		{"expired", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.IssuedAt -= 500; d.ExpiresAt -= 500 }), nil, 422, swarm.CodeExpired, "expired at"},
		{"from the future", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.IssuedAt += 90; d.ExpiresAt += 90 }), nil, 422, swarm.CodeExpired, "a clock may be ahead"},
		{"too long", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.ExpiresAt = d.IssuedAt + 301 }), nil, 400, swarm.CodeInvalid, "at most 300"},
		{"too many hops", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.MaxHops = 6 }), nil, 422, swarm.CodeChainTooLong, "1 to 5"},
		{"unknown parent", "POST", "/delegations", sign(func(d *swarm.Delegation) {
			d.Hop, d.Root, d.Parent = 1, wallet.Digest{1}, wallet.Digest{1}
		}), nil, 404, swarm.CodeNotFound, "no run in progress"},
		{"unknown skill", "POST", "/delegations", sign(func(d *swarm.Delegation) { d.Skill = "juggling" }), nil, 400, swarm.CodeInvalid, "juggling"},
		{"inbox unsigned", "GET", agentPath + "/inbox", "", nil, 401, swarm.CodeUnauthenticated, "sign in"},
		{"inbox of another", "GET", agentPath + "/inbox", "", []string{"Authorization", strangersAuth}, 403, swarm.CodeForbidden, "only"},
		{"made-up token", "GET", agentPath + "/inbox", "", []string{"Authorization", "Bearer swt_AAAA"}, 401, swarm.CodeUnauthenticated, "none of this server's"},
		{"events of another", "POST", "/delegations/" + o.ID + "/events", `{"type":"x"}`, []string{"Authorization", strangersAuth}, 403, swarm.CodeForbidden, "only"},
		{"cancel of another", "POST", "/delegations/" + o.ID + "/cancel", "", []string{"Authorization", strangersAuth}, 403, swarm.CodeForbidden, "may cancel"},
		{"registration for another path", "PUT", agentPath, string(elsewhere), nil, 400, swarm.CodeInvalid, "the path says"},
		{"Compose, elsewhere", "POST", "/agent/" + w.Address().String() + "/stream", `{"message":"hi"}`, nil, 403, swarm.CodeForbidden, "localhost alone"},
		{"Compose, no message", "POST", "/agent/" + w.Address().String() + "/stream", `{}`, []string{"Host", "localhost"}, 400, swarm.CodeInvalid, `"message" is missing`},
		{"another site's page", "POST", "/agent/" + w.Address().String() + "/stream", `{"message":"hi"}`,
			[]string{"Host", "localhost", "Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"}, 403, swarm.CodeForbidden, "cross-origin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, answer := exchange(t, s, tt.method, tt.path, tt.body, tt.header...)
			code, message := gjson.Get(answer, "error.code").Str, gjson.Get(answer, "error.message").Str
			if status != tt.status || code != string(tt.code) || !strings.Contains(message, tt.says) {
				t.Errorf("got %d %s\nwant %d %s, and %q in the message", status, answer, tt.status, tt.code, tt.says)
			}
		})
	}
}

// A worker can't write what is the server's, and a posted batch counts once.
func TestReport(t *testing.T) {
	s := swarmtest.Start(t, nil)
	hold := make(chan struct{})
	w := s.Work("busy", func(context.Context, *agent.Task) (string, error) { <-hold; return "ok", nil })
	c := s.Client(swarmtest.NewKey(t))
	signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "x"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if o, err := c.Submit(t.Context(), signed, swarm.Request{}); err != nil || o.Output != "ok" {
			t.Errorf("%+v, %v", o, err)
		}
	}()
	for s.Server.InFlight() == 0 {
		time.Sleep(time.Millisecond)
	}
	auth, err := s.Client(w.Key).Authorization(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	id := signed.Delegation.ID()
	post := func(execution, first, body string) (int, string) {
		status, _, answer := exchange(t, s, "POST", "/delegations/"+id+"/events", body,
			"Authorization", auth, swarm.ReportExecution, execution, swarm.ReportFirst, first)
		return status, gjson.Get(answer, "error.code").Str
	}
	for body, want := range map[string]swarm.Code{
		`{"type":"done"}`:              swarm.CodeForbidden,
		`{"type":"error"}`:             swarm.CodeForbidden,
		`{"type":"receipt"}`:           swarm.CodeForbidden,
		`{"type":"swarm_child_delta"}`: swarm.CodeForbidden,
		`{"type":"tool_end","toolName":"swarm_delegate","toolCallId":"1"}`: swarm.CodeForbidden,
		`{"type":"tool_start","toolName":"delegate","toolCallId":"1"}`:     swarm.CodeForbidden,
		`{"type":"tool_start","toolName":"grep"}`:                          swarm.CodeInvalid,
		`{"type":"tool_end","toolName":"grep","toolCallId":"never"}`:       swarm.CodeInvalid,
		`{"delta":"x"}`: swarm.CodeInvalid,
		`[1]`:           swarm.CodeInvalid,
		`{"type":"a"}{`: swarm.CodeInvalid,
		`{"type":"a","x":"` + strings.Repeat("x", 1<<20) + `"}`: swarm.CodeTooLarge,
	} {
		if _, code := post("e1", "1", body); code != string(want) {
			t.Errorf("%.60s: code %q, want %q", body, code, want)
		}
	}
	if status, _ := post("", "1", `{"type":"a"}`); status != http.StatusBadRequest {
		t.Errorf("no execution: status %d", status)
	}
	batch := `{"type":"text-delta","delta":"one","runId":"forged","ts":1}` + "\n" + `{"type":"tool_start","toolName":"grep","toolCallId":"t1"}` + "\n"
	for range 3 {
		if status, _ := post("e1", "1", batch); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	}
	post("e1", "2", `{"type":"tool_start","toolName":"grep","toolCallId":"t1"}`+"\n"+`{"type":"text-delta","delta":"two"}`)
	close(hold)
	<-done
	var got []string
	for ev, err := range c.Stream().Watch(t.Context(), id, "") {
		if err != nil {
			t.Fatal(err)
		}
		if kind := ev.Type; kind != "action" && kind != "receipt" && kind != "[DONE]" {
			got = append(got, kind+" "+gjson.GetBytes(ev.Data, "delta").Str+gjson.GetBytes(ev.Data, "error").Str)
			if bytes.Contains(ev.Data, []byte("forged")) || gjson.GetBytes(ev.Data, "runId").Str != id {
				t.Errorf("frame with another run's id: %s", ev.Data)
			}
		}
	}
	want := []string{"text-delta one", "tool_start ", "text-delta two", "tool_end the run ended before this tool did", "done "}
	if !slices.Equal(got, want) {
		t.Errorf("streamed %q\nwant     %q", got, want)
	}
	// After the outcome nothing is taken.
	if status, code := post("e1", "9", `{"type":"text-delta","delta":"late"}`); status != http.StatusConflict || code != string(swarm.CodeConflict) {
		t.Errorf("after the end: %d %s", status, code)
	}
}

// A registration is replaced by a later one alone, and taken off by its own wallet.
func TestRegister(t *testing.T) {
	s := swarmtest.Start(t, nil)
	key := swarmtest.NewKey(t)
	put := func(seq uint64, name string, active bool, owner *wallet.Key) (int, string) {
		t.Helper()
		card := `{"wallet":"` + key.Address().String() + `","name":"` + name + `"}`
		r := swarm.Registration{
			Wallet: key.Address(), Owner: owner.Address(), Seq: seq, CardHash: wallet.Keccak256([]byte(card)), Active: active,
			IssuedAt: uint64(time.Now().Unix()), ExpiresAt: uint64(time.Now().Unix()) + 60, Nonce: wallet.Digest{1},
		}
		signed := swarm.SignedRegistration{Registration: r, Card: card}
		digest := r.Digest(swarm.Domain(0))
		signed.Signature, _ = key.SignDigest(t.Context(), digest)
		if owner != key {
			signed.OwnerSignature, _ = owner.SignDigest(t.Context(), digest)
		}
		body, err := json.Marshal(signed)
		if err != nil {
			t.Fatal(err)
		}
		status, _, answer := exchange(t, s, "PUT", "/agents/"+key.Address().String(), string(body))
		return status, answer
	}
	want := func(status int, answer string, wantStatus int, says string) {
		t.Helper()
		if status != wantStatus || !strings.Contains(answer, says) {
			t.Errorf("got %d %s; want %d with %q", status, answer, wantStatus, says)
		}
	}
	status, answer := put(5, "first", true, key)
	want(status, answer, 200, `"seq":5`)
	status, answer = put(5, "first", true, key)
	want(status, answer, 200, `"seq":5`) // a retry
	status, answer = put(5, "other", true, key)
	want(status, answer, 409, "seq must rise")
	status, answer = put(4, "older", true, key)
	want(status, answer, 409, "seq must rise")
	status, answer = put(6, "stolen", true, swarmtest.NewKey(t))
	want(status, answer, 403, "the owner can't be changed")

	c := s.Client(nil)
	if got, err := c.Agent(t.Context(), key.Address()); err != nil || got.Card.Name != "first" {
		t.Errorf("got %+v, %v", got, err)
	}
	status, answer = put(7, "second", true, key)
	want(status, answer, 200, `"seq":7`)
	s.Down()
	s.Up()
	if got, err := c.Agent(t.Context(), key.Address()); err != nil || got.Card.Name != "second" {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	if page, err := c.Agents(t.Context(), wallet.Address{}); err != nil || len(page.Agents) != 1 || page.Agents[0].Connected {
		t.Errorf("list %+v, %v", page, err)
	}
	status, answer = put(8, "second", false, key)
	want(status, answer, 200, `"active":false`)
	if _, err := c.Agent(t.Context(), key.Address()); swarm.CodeOf(err) != swarm.CodeAgentNotFound {
		t.Errorf("revoked: %v", err)
	}
	status, answer = put(7, "second", true, key)
	want(status, answer, 409, "seq must rise") // an old one replayed
}

// Compose's routes, by nothing but an HTTP client.
func TestCompose(t *testing.T) {
	s := swarmtest.Start(t, nil)
	w := s.Work("echo", func(_ context.Context, task *agent.Task) (string, error) { return "you said " + task.Input, nil })
	path := "/agent/" + w.Address().String()
	status, header, body := exchange(t, s, "POST", path+"/stream", `{"message":"hi","threadId":"t","runId":"mine","userAddress":"0x1"}`, "Host", "localhost")
	if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") || header.Get("x-run-id") == "" || header.Get("X-Request-Id") == "" {
		t.Errorf("status %d, header %v", status, header)
	}
	for _, want := range []string{"retry: 1000", `"type":"text-delta","delta":"you said hi"`, `"type":"done"`, `"walletAddress":"` + w.Address().String(), "data: [DONE]\n\n"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in the stream:\n%s", want, body)
		}
	}
	// The same runId is the same run.
	_, again, _ := exchange(t, s, "POST", path+"/stream", `{"message":"hi","runId":"mine"}`, "Host", "127.0.0.1:80")
	if again.Get("x-run-id") != header.Get("x-run-id") {
		t.Errorf("runs %s and %s", header.Get("x-run-id"), again.Get("x-run-id"))
	}
	// Resumed at its end there is nothing left: that stops an EventSource.
	last := body[strings.LastIndex(body, "id: ")+4:]
	last = last[:strings.IndexByte(last, '\n')]
	if status, _, rest := exchange(t, s, "GET", "/delegations/"+header.Get("x-run-id")+"/events?lastEventId="+last, ""); status != 204 || rest != "" {
		t.Errorf("resumed at its end: %d %q", status, rest)
	}
	if status, _, card := exchange(t, s, "GET", path, ""); status != 200 || gjson.Get(card, "name").Str != "echo" {
		t.Errorf("card %d %s", status, card)
	}
	bundle, err := s.Client(nil).Receipt(t.Context(), header.Get("x-run-id"))
	if err != nil {
		t.Fatal(err)
	}
	if r := bundle.Verify(swarm.Expect{}); !r.Verified || r.Hops[0].Custody != swarm.CustodyServer {
		t.Errorf("report %+v", r)
	}
	closed := swarmtest.Start(t, func(c *server.Config) { c.Anonymous = false })
	if status, _, answer := exchange(t, closed, "POST", path+"/stream", `{"message":"hi"}`, "Host", "localhost"); status != 401 {
		t.Errorf("unsigned at a server that takes none: %d %s", status, answer)
	}
}

func TestDrain(t *testing.T) {
	s := swarmtest.Start(t, nil)
	hold := make(chan struct{})
	w := s.Work("busy", func(context.Context, *agent.Task) (string, error) { <-hold; return "ok", nil })
	c := s.Client(swarmtest.NewKey(t))
	outcome := make(chan *swarm.Outcome)
	go func() {
		o, err := c.Delegate(t.Context(), swarm.Request{To: w.Address(), Task: "x"})
		if err != nil {
			t.Error(err)
		}
		outcome <- o
	}()
	for s.Server.InFlight() == 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := s.Server.Drain(ctx); err == nil || !strings.Contains(err.Error(), "1 runs") {
		t.Errorf("drained with a run in flight: %v", err)
	}
	if status, header, _ := exchange(t, s, "GET", "/readyz", ""); status != 503 || header.Get("Retry-After") == "" {
		t.Errorf("ready while draining: %d", status)
	}
	signed, err := c.Sign(t.Context(), nil, swarm.Request{To: w.Address(), Task: "y"})
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(signed)
	if status, _, answer := exchange(t, s, "POST", "/delegations", string(body)); status != 503 {
		t.Errorf("taken while draining: %d %s", status, answer)
	}
	close(hold)
	if o := <-outcome; o.Output != "ok" {
		t.Errorf("%+v", o)
	}
	if err := s.Server.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
