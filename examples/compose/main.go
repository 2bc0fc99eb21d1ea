// Compose is a client written against the frames that Compose documents, with
// nothing but Go's standard library: it shows that such a client needs no
// change, and what a client in another language has to do.
//
//	go run ./examples/compose "to be or not to be"
//
// The server is SWARM_SERVER, http://127.0.0.1:8420 by default; "swarm serve"
// and "go run ./examples/agent" give one with agents.
//
// It knows less than package stream does: it can't take up a broken stream,
// reads one generation of frames, and joins no data lines.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// event is what this client reads of a frame; others have more members.
type event struct {
	Type     string          `json:"type"`
	ToolName string          `json:"toolName"`
	Delta    string          `json:"delta"`
	Error    string          `json:"error"`
	Reason   string          `json:"reason"`
	Failed   bool            `json:"failed"`
	Output   json.RawMessage `json:"output"`
	Display  struct {
		Name    string `json:"name"`    // the agent's display name
		Target  string `json:"target"`  // its wallet
		Summary string `json:"summary"` // the task in one line
	} `json:"display"`
}

func main() {
	log.SetFlags(0)
	server := os.Getenv("SWARM_SERVER")
	if server == "" {
		server = "http://127.0.0.1:8420"
	}
	message := strings.Join(os.Args[1:], " ")
	if message == "" {
		message = "to be or not to be"
	}
	wallet, err := search(server, "judge a speech")
	if err != nil {
		log.Fatal(err)
	}
	if err := run(server, wallet, message); err != nil {
		log.Fatal(err)
	}
}

// search gives the wallet of the agent that fits best.
func search(server, query string) (string, error) {
	resp, err := http.Get(server + "/agents/search?limit=1&q=" + url.QueryEscape(query))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var found struct {
		Results []struct {
			AgentID string `json:"agent_id"`
		} `json:"results"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil {
		return "", err
	}
	if len(found.Results) == 0 {
		return "", fmt.Errorf("no agent found to %s: start one with go run ./examples/agent", query)
	}
	return found.Results[0].AgentID, nil
}

// run posts a message and reads the answer's frames.
func run(server, wallet, message string) error {
	body, err := json.Marshal(map[string]string{"message": message})
	if err != nil {
		return err
	}
	resp, err := http.Post(server+"/agent/"+wallet+"/stream", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var refusal struct {
			Error struct{ Code, Message string }
		}
		if err := json.NewDecoder(resp.Body).Decode(&refusal); err != nil {
			return fmt.Errorf("%s", resp.Status)
		}
		return fmt.Errorf("%s: %s", refusal.Error.Code, refusal.Error.Message)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 32<<20) // an agent's output may stand in one line
	whole := false
	for lines.Scan() {
		// Comments (": ping"), ids and retry times are not for this client.
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			whole = true
			continue // what follows it, such as a receipt, is read to the end
		}
		var e event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return fmt.Errorf("broken frame: %w", err)
		}
		show(e)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !whole {
		return fmt.Errorf("the stream broke off")
	}
	return nil
}

// show prints with %q what others wrote: in a terminal it could do more than
// be read.
func show(e event) {
	switch e.Type {
	case "tool_start":
		switch e.ToolName {
		case "agent_find":
			fmt.Printf("looking for an agent to %q\n", e.Display.Summary)
		case "swarm_delegate":
			fmt.Printf("asking %q (%s): %q\n", e.Display.Name, e.Display.Target, e.Display.Summary)
		}
	case "tool_end":
		if e.ToolName == "swarm_delegate" && e.Failed {
			fmt.Printf("%q failed: %q\n", e.Display.Name, e.Error)
		} else if e.ToolName == "swarm_delegate" {
			fmt.Printf("%q answered %s\n", e.Display.Name, answer(e.Output))
		}
	case "text-delta":
		fmt.Printf("answer: %q\n", e.Delta)
	case "done":
		fmt.Println("done")
	case "stopped":
		fmt.Printf("stopped: %q\n", e.Reason)
	case "error":
		fmt.Printf("failed: %q\n", e.Error)
	}
}

// answer gives the text of a delegation's output.
func answer(output json.RawMessage) string {
	var o struct {
		Output string `json:"output"`
	}
	if json.Unmarshal(output, &o) != nil {
		return string(output)
	}
	return fmt.Sprintf("%q", o.Output)
}
