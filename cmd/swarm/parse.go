package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/stream"
)

func newParse() *cobra.Command {
	var p parser
	cmd := &cobra.Command{
		Use:   "parse [FILE]",
		Short: "Read a recorded stream: a JSON line an event, with its parsed tool",
		Long: `parse reads a recorded event stream from FILE, else from stdin, and prints a
JSON line an event as it comes:

  {"seq":1,"id":"7","type":"tool_start","tool":{…}}   a tool event
  {"seq":2,"id":"8","type":"text-delta"}              any other; --raw adds its data as "raw"
  {"seq":3,"type":"malformed","error":"…"}            a broken frame, which ends nothing

--frames prints the frames alone, {"id","event","data"}; --calls the paired
calls of tools, {"toolName","toolCallId","agent","start","end"}, with the seq of
their events or null. The last line is always

  {"end":"clean"|"truncated"|"error","lastEventId","retryMs","comments"}

The exit status is 0 for clean, 3 for truncated, and 1 for error: the file
can't be read, or a frame has more than 32 MiB.`,
		Example: `  swarm parse recorded.sse
  curl -sN "$URL" | swarm parse
  swarm parse --calls recorded.sse | jq 'select(.end == null)'`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.frames && p.calls || p.raw && (p.frames || p.calls) {
				return usagef("--frames, --calls and --raw: want one of them at most")
			}
			p.out = bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
			p.lines = json.NewEncoder(p.out)
			p.lines.SetEscapeHTML(false)
			if len(args) == 0 || args[0] == "-" {
				return p.run(cmd.InOrStdin())
			}
			f, err := os.Open(args[0])
			if err != nil {
				return p.end(stream.NewScanner(nil), err)
			}
			defer f.Close()
			return p.run(f)
		},
	}
	cmd.Flags().BoolVar(&p.frames, "frames", false, "print the frames alone, undecoded")
	cmd.Flags().BoolVar(&p.calls, "calls", false, "print the tool calls, their starts and ends paired")
	cmd.Flags().BoolVar(&p.raw, "raw", false, "add the data of events that are no tool events")
	return cmd
}

// parser prints what it reads of one stream.
type parser struct {
	frames, calls, raw bool

	out   *bufio.Writer
	lines *json.Encoder
}

// eventLine is the line of an event.
type eventLine struct {
	Seq  int               `json:"seq"`
	ID   string            `json:"id"`
	Type string            `json:"type"`
	Tool *events.ToolEvent `json:"tool,omitempty"`
	Raw  *string           `json:"raw,omitempty"`
}

// brokenLine is the line of a broken frame.
type brokenLine struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"`
	Error string `json:"error"`
}

type frameLine struct {
	ID    string `json:"id"`
	Event string `json:"event"`
	Data  string `json:"data"`
}

type endLine struct {
	End         string `json:"end"`
	LastEventID string `json:"lastEventId"`
	RetryMs     *int64 `json:"retryMs"`
	Comments    int    `json:"comments"`
}

// lineOf gives what is printed of an event; raw adds the data of those that
// are no tool events.
func lineOf(seq int, e events.Event, raw bool) any {
	te, err := events.ParseToolEvent(e)
	if err != nil && !errors.Is(err, events.ErrNotToolEvent) {
		return brokenLine{seq, events.TypeMalformed, err.Error()}
	}
	line := eventLine{Seq: seq, ID: e.ID, Type: e.Type}
	if err == nil {
		line.Tool = &te
	} else if raw {
		line.Raw = new(string(e.Data))
	}
	return line
}

func (p *parser) run(in io.Reader) error {
	scanner := stream.NewScanner(&flushingReader{in, p.out})
	var tracker events.Tracker
	for seq := 1; ; seq++ {
		frame, err := scanner.Next()
		if err != nil {
			for _, call := range tracker.Calls() {
				if err := p.lines.Encode(call); err != nil {
					return fmt.Errorf("stdout: %w", err)
				}
			}
			return p.end(scanner, err)
		}
		switch {
		case p.frames:
			err = p.lines.Encode(frameLine{frame.ID, frame.Event, string(frame.Data)})
		case p.calls:
			if te, bad := events.ParseToolEvent(events.Decode(frame.ID, frame.Event, frame.Data)); bad == nil {
				// The tracker keeps events, and pairing needs no outputs.
				te.Result, te.Display = nil, nil
				tracker.Add(seq, te)
			}
		default:
			err = p.lines.Encode(lineOf(seq, events.Decode(frame.ID, frame.Event, frame.Data), p.raw))
		}
		if err != nil {
			return fmt.Errorf("stdout: %w", err)
		}
	}
}

// end prints the last line; why is the error that ended the stream, io.EOF
// where its bytes did.
func (p *parser) end(scanner *stream.Scanner, why error) error {
	line := endLine{End: "error", LastEventID: scanner.LastEventID(), Comments: scanner.Comments()}
	if ms, ok := scanner.Retry(); ok {
		line.RetryMs = &ms
	}
	var result error
	switch {
	case why != io.EOF:
		result = failedf("%w", why)
	case scanner.Truncated():
		line.End = "truncated"
		result = &stream.TruncatedError{LastEventID: line.LastEventID, Err: io.ErrUnexpectedEOF}
	default:
		line.End = "clean"
	}
	err := p.lines.Encode(line)
	if err == nil {
		err = p.out.Flush()
	}
	if err != nil {
		return fmt.Errorf("stdout: %w", err)
	}
	return result
}

// flushingReader sends off what was printed before it waits for more, so that
// a live stream's lines come at once and a file's in large pieces.
type flushingReader struct {
	r   io.Reader
	out *bufio.Writer
}

func (f *flushingReader) Read(b []byte) (int, error) {
	if err := f.out.Flush(); err != nil {
		return 0, fmt.Errorf("stdout: %w", err)
	}
	return f.r.Read(b)
}
