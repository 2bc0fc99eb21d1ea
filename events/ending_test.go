package events

import (
	"strings"
	"testing"
)

// TestEnding has events with how they end their run: - not at all, "over" or
// "failed"; and for what tells of an error its text and code.
func TestEnding(t *testing.T) {
	const none, over, failed = "-", "over", "failed"
	for _, tt := range []struct{ event, data, end, text, code string }{
		{"message", `{"type":"done"}`, over, "", ""},
		{"message", `{"type":"done","error":"x","code":"y"}`, over, "", ""},
		{"message", `{"type":"stopped","reason":"user left","code":"x"}`, over, "", ""},
		{"message", `[DONE]`, none, "", ""},
		{"receipt", `{"error":"x"}`, none, "", ""},
		{"message", `{"type":"gap","after":"7","next":"12","message":"purged"}`, none, "", ""},
		{"message", `{"type":"quantum","error":"x"}`, none, "", ""},
		{"message", `{"type":"tool_end","error":"x"}`, none, "", ""},
		{"message", "plain error", none, "", ""},
		{"message", `{"type":"model.done"}`, none, "", ""},

		{"error", `{"error":"upstream timed out"}`, failed, "upstream timed out", ""},
		{"error", `{"error":"slow down","code":"rate_limited","retryAfterMs":5}`, failed, "slow down", "rate_limited"},
		{"compose.error", `{"error":{"message":"overloaded","code":"E1"},"code":"E0"}`, failed, "overloaded", "E1"},
		{"message", `{"type":"error","code":"insufficient_funds","message":"Top up"}`, failed, "Top up", "insufficient_funds"},
		{"message", `{"type":"error","content":"said so"}`, failed, "said so", ""},
		{"message", `{"type":"error","code":"E2"}`, failed, "E2", "E2"},
		{"message", `{"type":"error","code":503}`, failed, "503", "503"},
		{"message", `{"type":"error","code":{"a":1},"message":"m"}`, failed, "m", ""},
		{"message", `{"type":"error","error":{"status":503}}`, failed, `{"status":503}`, ""},
		{"message", `{"type":"error","error":{},"message":"m"}`, failed, "m", ""},
		{"message", `{"type":"error","error":{"code":"a","code":null},"code":"b"}`, failed, `{"code":"a","code":null}`, "b"},
		{"error", "gateway closed", failed, "gateway closed", ""},
		{"error", "", failed, "error without a cause", ""},
		{"error", `{"error":""}`, failed, "error without a cause", ""},
		{"error", `[1]`, failed, "[1]", ""},

		{"message", `{"type":"model.error","payload":{"error":"no model"}}`, none, "no model", ""},
		{"message", `{"type":"model.error","payload":{"error":{"message":"no model","code":404}}}`, none, "no model", "404"},
		{"message", `{"type":"activity.error","payload":{"message":"lost","code":"E3"}}`, none, "lost", "E3"},
		{"message", `{"type":"swarm_child_error","error":"child died"}`, none, "child died", ""},
		{"message", `{"type":"task.failed","message":"no disk","code":"E4"}`, none, "no disk", "E4"},

		{"message", `{"type":"activity.run","status":"running"}`, none, "", ""},
		{"message", `{"type":"activity.run","status":"info"}`, none, "", ""},
		{"message", `{"type":"activity.run","status":"completed","payload":{"error":"x"}}`, over, "", ""},
		{"message", `{"type":"activity.run","status":"cancelled"}`, over, "", ""},
		{"message", `{"type":"activity.run","status":"failed"}`, failed, "error without a cause", ""},
		{"message", `{"type":"activity.run","status":"failed","payload":{"error":{"code":"E5"}}}`, failed, "E5", "E5"},
		{"message", `{"type":"activity.run","status":"running","status":"failed","payload":{"message":"m"}}`, failed, "m", ""},
		{"message", `{"type":"activity.run","status":"failed","status":"running"}`, none, "", ""},

		{"complete", `{"success":true,"output":"o"}`, over, "", ""},
		{"complete", `{"output":"o"}`, over, "", ""},
		{"complete", `plain`, over, "", ""},
		{"complete", `{"success":false,"output":"step 2 broke"}`, failed, "step 2 broke", ""},
		{"complete", `{"success":false,"message":"no","output":"o"}`, failed, "no", ""},
		{"complete", `{"error":{"message":"no","code":"E6"}}`, failed, "no", "E6"},
		{"complete", `{"success":true,"error":null}`, over, "", ""},

		// What gateways of OpenAI's kind send inside a 200.
		{"message", `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`, failed, "The server had an error", ""},
		{"message", `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, failed, "Rate limit reached", "rate_limit_exceeded"},
		{"message", `{"error":{"message":"Provider returned error","code":502,"metadata":{"provider_name":"x"}},"user_id":"u"}`, failed, "Provider returned error", "502"},
		{"message", `{"id":"gen-1","object":"chat.completion.chunk","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, failed, "Provider disconnected", "server_error"},
		{"message", `{"error":"overloaded","code":529}`, failed, "overloaded", "529"},
		{"message", `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no task"}}`, failed, "no task", "-32001"},
		{"message", ` {"error":{"message":""}} `, failed, `{"message":""}`, ""},
		{"message", `{"\u0065rror":"spelt otherwise"}`, failed, "spelt otherwise", ""},
		{"message", `{"error":null,"error":"the last counts"}`, failed, "the last counts", ""},
		{"message", `{"error":"the last counts","error":null}`, none, "", ""},
		{"message", `{"error":null,"choices":[]}`, none, "", ""},
		{"message", `{"error":""}`, none, "", ""},
		{"message", `{"error":{}}`, none, "", ""},
		{"message", `{"error":{ }}`, none, "", ""},
		{"message", `{"error":false}`, none, "", ""},
		{"message", `{"error":500}`, none, "", ""},
		{"message", `{"error":["x"]}`, none, "", ""},
		{"message", `{"Error":"another member"}`, none, "", ""},
		{"message", `{"choices":[{"delta":{"content":"say \"error\""}}],"error_rate":"x"}`, none, "", ""},
		{"message", `{"choices":[{"error":{"message":"within a choice"}}]}`, none, "", ""},
		{"message", `[{"error":"x"}]`, none, "", ""},
		{"ping", `{"error":"another name"}`, none, "", ""},
	} {
		e := Decode("", tt.event, []byte(tt.data))
		end := none
		switch {
		case e.Failed() && !e.Terminal():
			end = "failed and not terminal"
		case e.Failed():
			end = failed
		case e.Terminal():
			end = over
		}
		if end != tt.end || e.ErrorText() != tt.text || e.ErrorCode() != tt.code {
			t.Errorf("%s %s:\ngot  %s, error %q, code %q\nwant %s, error %q, code %q", tt.event, tt.data,
				end, e.ErrorText(), e.ErrorCode(), tt.end, tt.text, tt.code)
		}
	}
}

// A broken frame is not the run's failure, whatever it seems to say.
func TestEndingMalformed(t *testing.T) {
	e := Decode("", "error", []byte(`{"error":{"message":"cut of`))
	if e.Failed() || e.Terminal() || e.ErrorCode() != "" || !strings.Contains(e.ErrorText(), "unexpected end") {
		t.Errorf("failed %t, terminal %t, code %q, error %q", e.Failed(), e.Terminal(), e.ErrorCode(), e.ErrorText())
	}
	byHand := Event{Data: []byte(`{"error":"x"`)}
	if byHand.Failed() || byHand.ErrorText() != "" {
		t.Error("broken data of an event made by hand reads as an error")
	}
}
