package stream

import (
	"bytes"
	"cmp"
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
//   - An error comes last, alone, and ends the loop. An event that says that
//     the run failed is given like any other, and so is what follows it; then a
//     *RunError ends the loop.
//   - Breaking out of the loop closes the connection.
//   - When ctx ends, so does the loop, at once, with context.Cause(ctx).
type Client struct {
	// BaseURL is the server's http or https URL, perhaps with a path before
	// the routes' own, such as "https://example.com/swarm".
	BaseURL string
	// HTTP makes the requests; nil means http.DefaultClient. Leave its Timeout
	// zero, for it would cut every stream. To sign each request, those that
	// take up a stream included, sign in its Transport.
	//
	// Redirects are followed, nine in a row at most and as far as its
	// CheckRedirect allows, but not from https to http, and not where a POST
	// would become a GET (301, 302); then the error is a *RedirectError.
	HTTP *http.Client
	// Header goes with every request, such as Authorization. To another host
	// than BaseURL's, where a redirect leads there, only its Content-Type and
	// User-Agent go: any other name may be that of a credential.
	Header http.Header

	// Retry says how a lost stream is taken up again; nil means
	// DefaultBackoff, NoRetry that it is not.
	Retry *Backoff
	// Idle and Quiet tell a lost connection from a silent one. The time that
	// the loop's body takes counts for neither.
	//
	// Idle is how long to wait for a byte, of an answer's head or of a stream,
	// before a connection counts as lost with ErrIdle; zero means 60 s. A
	// comment is a sign of life: servers send one in each 5 to 10 s of silence.
	Idle time.Duration
	// Quiet is how long to wait for an event, over all connections since the
	// last one; comments do not count. Then the connection counts as lost with
	// ErrQuiet, once: where no new event comes for as long again, a run ends
	// with a *TruncatedError of ErrQuiet. Zero means 10 min, and for an endless
	// stream no bound; with one, it is opened again each time.
	Quiet time.Duration
	// AfterTerminal is how long to wait in all, after a run's terminal event
	// or [DONE], for what may follow (a receipt) and the stream's end; zero
	// means 5 s. The time that the loop's body takes does not count.
	AfterTerminal time.Duration
	// MaxFrameBytes is that of Scanner; zero means DefaultMaxFrameBytes.
	MaxFrameBytes int

	// OnOpen is called each time a stream has opened, before its events, by
	// the goroutine that ranges over the sequence; nil for none.
	OnOpen func(Open)
	// OnComment is called with each comment's text, what stands after its colon,
	// as soon as its line has ended, in order with the events and by the same
	// goroutine; of more than 4 KiB it gets the first 4 KiB. nil for none.
	OnComment func(text string)
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
	// Method and Body are of the request, such as a query that goes by POST;
	// "" means GET. Each time that the stream is taken up they are sent again,
	// so they must be of a request that may be: Run is for one that may not.
	Method string
	Body   []byte
}

// Run sends a message to an agent and gives the events of its run.
//
// The message is POSTed once, whatever happens; a POST that breaks off before
// its answer is a *StartError. From the answer on, a lost stream is taken up
// by the run's id (x-run-id, else req.RunID). Reading ends with the stream, or
// AfterTerminal after a terminal event or [DONE]; a stream that ends without
// either is taken up as if it were cut, and where that cannot be (no run id, no event
// ids, the server refuses, Retry.GiveUp has passed) the error is a
// *TruncatedError. A run that is whole and failed ends with a *RunError; one
// that was stopped or cancelled, with none.
//
// Before the stream the errors are *StartError, *PaymentRequiredError,
// *HTTPError (a 204 too), *RedirectError and *ContentTypeError. The sequence
// can be ranged over once; then it gives ErrRangedTwice.
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
// again. Nothing is tried again before the stream has opened once: the errors
// then are Run's, but for *StartError; a server that is not reached gives
// net/http's *url.Error.
//
// A run that is over and has nothing after lastEventID gives no event and no
// error: whoever has that id has the rest. Where the server no longer has what
// follows it (410), the error is a *TruncatedError. Where it has lost some of
// that, it says so by an event of [events.TypeGap] and goes on.
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
		method:  cmp.Or(opts.Method, http.MethodGet),
		body:    opts.Body,
		lastID:  opts.LastEventID,
		given:   opts.LastEventID != "",
		left:    c.quiet(opts.Endless),
		quiet:   c.quiet(opts.Endless),
		backoff: c.Retry.withDefaults(),
	}
}

// start POSTs a run.
func (c *Client) start(ctx context.Context, agent wallet.Address, r Request) (*connection, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	req, err := c.request(http.MethodPost, "/agent/"+agent.String()+"/stream", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	var message letter
	message.enclose(req, body)
	conn, err := c.connect(ctx, req, c.idle())
	switch err.(type) {
	case nil:
	case *HTTPError, *PaymentRequiredError, *RedirectError, *ContentTypeError:
		return nil, err
	default:
		return nil, &StartError{MayRun: !message.withdraw(), Err: err}
	}
	if conn.over { // no stream, so no run
		conn.close()
		return nil, &HTTPError{Status: http.StatusNoContent, RequestID: conn.requestID}
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

func (c *Client) quiet(endless bool) time.Duration {
	switch {
	case c.Quiet > 0:
		return c.Quiet
	case endless:
		return unbounded
	}
	return 10 * time.Minute
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
