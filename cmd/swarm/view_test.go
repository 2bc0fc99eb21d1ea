package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/client"
)

// Every event that ends a run has its exit status, in either generation.
func TestFollowStatus(t *testing.T) {
	for _, c := range []struct {
		data   string
		status int
		code   swarm.Code
	}{
		{`{"type":"done"}`, exitOK, ""},
		{`{"type":"complete","success":true}`, exitOK, ""},
		{`{"type":"activity.run","status":"completed"}`, exitOK, ""},
		{`{"type":"stopped","reason":"enough"}`, exitCancelled, swarm.CodeCancelled},
		{`{"type":"stopped","reason":"enough"}` + "\n\ndata: " + `{"type":"complete","success":true}`, exitCancelled, swarm.CodeCancelled},
		{`{"type":"activity.run","status":"cancelled","message":"enough"}`, exitCancelled, swarm.CodeCancelled},
		{`{"type":"error","error":"broken"}`, exitFailed, swarm.CodeWorker},
		{`{"type":"error","error":"late","code":"timeout"}`, exitTimeout, swarm.CodeTimeout},
		{`{"type":"activity.run","status":"failed","error":{"message":"late","code":"timeout"}}`, exitTimeout, swarm.CodeTimeout},
		{`{"type":"complete","success":false}`, exitFailed, swarm.CodeWorker},
		{`{"type":"complete","error":{"code":"collaboration_loop_detected"}}`, exitRefused, swarm.CodeLoop},
		{`{"error":{"message":"slow down","code":"rate_limited"}}`, exitRefused, swarm.CodeRateLimited},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\ndata: %s\n\ndata: [DONE]\n\n", c.data)
		}))
		cmd := new(cobra.Command)
		cmd.SetOut(io.Discard)
		err := new(view).follow(t.Context(), cmd, &client.Client{BaseURL: server.URL}, "run-7", "", impatient)
		server.Close()
		var status int
		var code swarm.Code
		if err != nil {
			status, code = classify(err)
		}
		if status != c.status || code != c.code {
			t.Errorf("%s: status %d, code %q (%v); want %d, %q", c.data, status, code, err, c.status, c.code)
		}
	}
}
