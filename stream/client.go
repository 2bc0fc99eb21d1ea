package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/wallet"
)

// Client reads the streams of one server. Its methods may be called from many
// goroutines at once; set its fields before.
//
// All its sequences keep these rules:
//
//   - An event's Data is valid until the next event; Clone it to keep it.
//   - An error comes last, alone, and ends the loop. Events of type error are
//     events, not errors: see [events.Event.ErrorText].
//   - Breaking out of the loop closes the connection.
//   - When ctx ends, so does the loop, at once, with context.Cause(ctx).
type Client struct {
	// BaseURL is the server's http or https URL, perhaps with a path before
	// the routes' own, such as "https://example.com/swarm".
	BaseURL string
	// HTTP makes the requests; nil means http.DefaultClient. Leave its Timeout
	// zero, for it would cut every stream. To sign each request, those that
	// take up a stream included, sign in its Transport.
	HTTP *http.Client
	// Header goes with every request, such as Authorization.
	Header http.Header

	// Retry says how a lost stream is taken up again; nil means
	// DefaultBackoff, NoRetry that it is not.
	Retry *Backoff
	// Idle is how long to wait for a byte, of an answer's head or of a stream,
	// before a connection counts as lost with ErrIdle; zero means 60 s.
	// Servers send a comment in each 5 to 10 s of silence.
	Idle time.Duration
	// AfterTerminal is how long to wait in all, after a run's terminal event
	// or [DONE], for what may follow (a receipt) and the stream's end; zero
	// means 5 s. The time that the loop's body takes does not count.
	AfterTerminal time.Duration
	// MaxFrameBytes is that of Scanner; zero means DefaultMaxFrameBytes.
	MaxFrameBytes int

	// OnOpen is called each time a stream has opened, before its events, by
	// the goroutine that ranges over the sequence; nil for none.
	OnOpen func(Open)
	// OnRetry is called before each wait for another try, with what was lost
	// and how long the wait is, by the same goroutine; nil for none.
	OnRetry func(err error, wait time.Duration)
}

// Open tells of a stream that has just opened.
type Open struct {
	RunID       string // x-run-id, else the id asked for; "" where there is neither
	RequestID   string // X-Request-Id; "" where there was none
	LastEventID string // what the stream goes on from; "" for its start
}

// Request is what a user asks of an agent.
type Request struct {
	Message     string `json:"message"`               // the task, in plain text
	ThreadID    string `json:"threadId,omitempty"`    // the conversation; "" for a new one
	RunID       string `json:"runId,omitempty"`       // "" has the server choose
	UserAddress string `json:"userAddress,omitempty"` // the user's wallet, if any
}

// FollowOptions are the ways of Follow.
type FollowOptions struct {
	// LastEventID is the id to go on after; "" for the stream's start.
	LastEventID string
	// Endless says that the stream has no end, such as an agent's inbox: its
	// end, and any temporary failure, the first included, is a reason to open
	// it again, for as long as ctx lasts. No event is terminal in it.
	Endless bool
}

// Run sends a message to an agent and gives the events of its run.
//
// The message is POSTed once, whatever happens; a POST that breaks off before
// its answer is a *StartError. From the answer on, a lost stream is taken up
// by the run's id (x-run-id, else req.RunID). Reading ends with the stream, or
// AfterTerminal after a terminal event or [DONE]; a stream that ends without
// either is taken up as if it were cut, and where that cannot be (no run id, no event
// ids, the server refuses, Retry.GiveUp has passed) the error is a
// *TruncatedError.
//
// Before the stream the errors are *StartError, *PaymentRequiredError,
// *HTTPError and *ContentTypeError. The sequence can be ranged over once;
// then it gives ErrRangedTwice.
func (c *Client) Run(ctx context.Context, agent wallet.Address, req Request) iter.Seq2[events.Event, error] {
	var used atomic.Bool
	return func(yield func(events.Event, error) bool) {
		if used.Swap(true) {
			yield(events.Event{}, ErrRangedTwice)
			return
		}
		f := c.follower(yield, FollowOptions{})
		conn, err := c.start(ctx, agent, req)
		if err != nil {
			f.fail(ctx, err)
			return
		}
		f.runID = conn.runID
		if f.runID != "" {
			f.path, err = eventsPath(f.runID)
			if err != nil {
				conn.close()
				f.fail(ctx, err)
				return
			}
		}
		f.follow(ctx, conn)
	}
}

// Watch gives the events of a run that somebody started, those after
// lastEventID, "" meaning all. It ends as Run does, and can be ranged over
// again. Nothing is tried again before the stream has opened once.
//
// A run that is over and has nothing after lastEventID gives no event and no
// error: whoever has that id has the rest.
func (c *Client) Watch(ctx context.Context, runID, lastEventID string) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		f := c.follower(yield, FollowOptions{LastEventID: lastEventID})
		f.runID = runID
		var err error
		if f.path, err = eventsPath(runID); err != nil {
			f.fail(ctx, err)
			return
		}
		f.follow(ctx, nil)
	}
}

// Follow gives the events of the stream at path, which starts with a slash and
// may have a query. It is Watch for any route, and with Endless it reads on
// until ctx ends, the loop breaks, the server answers 204, or it meets what
// waiting does not mend, such as a 401; that is then the error as it is.
func (c *Client) Follow(ctx context.Context, path string, opts FollowOptions) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		f := c.follower(yield, opts)
		f.path = path
		f.follow(ctx, nil)
	}
}

func (c *Client) follower(yield func(events.Event, error) bool, opts FollowOptions) *follower {
	return &follower{
		client:  c,
		yield:   yield,
		endless: opts.Endless,
		lastID:  opts.LastEventID,
		given:   opts.LastEventID != "",
		backoff: c.Retry.withDefaults(),
	}
}

// start POSTs a run.
func (c *Client) start(ctx context.Context, agent wallet.Address, r Request) (*connection, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	req, err := c.request(http.MethodPost, "/agent/"+agent.String()+"/stream", body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	conn, err := c.connect(ctx, req, c.idle())
	switch err.(type) {
	case nil:
	case *HTTPError, *PaymentRequiredError, *ContentTypeError:
		return nil, err
	default:
		return nil, &StartError{MayRun: mayHaveBeenSent(err), Err: err}
	}
	if conn.runID == "" {
		conn.runID = r.RunID
	}
	c.notifyOpen(conn, "")
	return conn, nil
}

func (c *Client) idle() time.Duration {
	if c.Idle > 0 {
		return c.Idle
	}
	return time.Minute
}

func (c *Client) afterTerminal() time.Duration {
	if c.AfterTerminal > 0 {
		return c.AfterTerminal
	}
	return 5 * time.Second
}

func (c *Client) notifyOpen(conn *connection, lastID string) {
	if c.OnOpen != nil {
		c.OnOpen(Open{RunID: conn.runID, RequestID: conn.requestID, LastEventID: lastID})
	}
}

// request makes a request without its context; path starts with a slash.
func (c *Client) request(method, path string, body []byte) (*http.Request, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, &requestError{"BaseURL: " + err.Error()}
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, &requestError{fmt.Sprintf("BaseURL %q: want http:// or https://, a host and at most a path", base.Redacted())}
	}
	if !strings.HasPrefix(path, "/") {
		return nil, &requestError{fmt.Sprintf("path %q: want a slash at its start", path)}
	}
	req, err := http.NewRequest(method, strings.TrimSuffix(c.BaseURL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, &requestError{err.Error()}
	}
	for name, values := range c.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Accept", "text/event-stream")
	// A proxy that compresses holds frames back to do so.
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("Cache-Control", "no-cache")
	return req, nil
}

// eventsPath gives the route of a run's events. The id may come from the
// server, so it must not be able to name another route.
func eventsPath(runID string) (string, error) {
	if runID == "" || runID == "." || runID == ".." {
		return "", &requestError{fmt.Sprintf("run id %q: want the x-run-id of a run", runID)}
	}
	return "/delegations/" + url.PathEscape(runID) + "/events", nil
}
