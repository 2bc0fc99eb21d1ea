package stream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
	"github.com/swarmseal/swarmseal/wallet"
)

// A run is taken up where its connection broke: the caller sees one stream.
func ExampleClient_Run() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Run-Id", "r1")
		out, err := stream.NewWriter(w, r)
		if err != nil {
			return
		}
		if r.Method == http.MethodPost {
			out.Send(stream.Frame{ID: "1", Data: []byte(`{"type":"text-delta","delta":"Two issues"}`)})
			panic(http.ErrAbortHandler) // the connection breaks
		}
		out.Send(stream.Frame{ID: "2", Data: []byte(`{"type":"done"}`)})
	}))
	defer server.Close()

	client := &stream.Client{BaseURL: server.URL, HTTP: server.Client()}
	agent := wallet.MustParseAddress("0x52908400098527886E0F7030069857D2E4169EE7")
	for ev, err := range client.Run(context.Background(), agent, stream.Request{Message: "Audit this"}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		if ev.Type == events.TypeDone {
			fmt.Println("done")
			continue
		}
		fmt.Printf("%s %s\n", ev.Type, ev.Data)
	}
	// Output:
	// text-delta {"type":"text-delta","delta":"Two issues"}
	// done
}

// A run that failed is told from one that was cut: the one can be asked for
// again, the other be taken up again.
func ExampleRunError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\nevent: error\ndata: {\"error\":{\"code\":\"quota\",\"message\":\"no credit\"}}\n\n")
	}))
	defer server.Close()

	client := &stream.Client{BaseURL: server.URL, HTTP: server.Client()}
	for _, err := range client.Watch(context.Background(), "r1", "") {
		if err == nil {
			continue
		}
		if failed, ok := errors.AsType[*stream.RunError](err); ok {
			fmt.Println("failed:", failed.Code, failed.Message)
		} else if cut, ok := errors.AsType[*stream.TruncatedError](err); ok {
			fmt.Println("cut after event", cut.LastEventID)
		} else {
			fmt.Println("no stream:", err)
		}
	}
	// Output:
	// failed: quota no credit
}

func ExampleRead() {
	recorded := "id: 1\ndata: {\"type\":\"thinking_start\"}\n\nid: 2\ndata: {\"type\":\"tex"
	for ev, err := range stream.Read(strings.NewReader(recorded)) {
		if cut, ok := errors.AsType[*stream.TruncatedError](err); ok {
			fmt.Println("cut after event", cut.LastEventID)
		} else if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(ev.ID, ev.Type)
		}
	}
	// Output:
	// 1 thinking_start
	// cut after event 1
}

func ExampleScanner() {
	scanner := stream.NewScanner(strings.NewReader(": open\n\nevent: note\ndata: one\ndata: two\n\n"))
	for {
		frame, err := scanner.Next()
		if err != nil {
			fmt.Println(err, scanner.Truncated(), scanner.Comments())
			return
		}
		fmt.Printf("%s %q\n", frame.Event, frame.Data)
	}
	// Output:
	// note "one\ntwo"
	// EOF false 1
}

func ExampleAppendFrame() {
	wire, err := stream.AppendFrame(nil, stream.Frame{ID: "7", Event: "note", Data: []byte("one\ntwo")})
	fmt.Printf("%s%v\n", wire, err)
	// Output:
	// id: 7
	// event: note
	// data: one
	// data: two
	//
	// <nil>
}
