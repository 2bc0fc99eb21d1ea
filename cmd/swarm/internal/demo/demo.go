package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/swarmseal/swarmseal/events"
	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/wallet"
)

// Options say what a demo works on. Dir, Data and Event are needed.
type Options struct {
	Dir  string // the folder that is reported on
	Data string // the server's data folder
	// Event is called with every event of the run's stream, in order; its Data
	// is valid until it returns.
	Event func(events.Event)
	// Stream gets the bytes of the stream as the client got them; nil drops
	// them.
	Stream io.Writer
	// Log is where the server and the workers say what an operator should
	// know; nil discards it.
	Log *slog.Logger
}

// Result is what came of a demo.
type Result struct {
	Outcome *swarm.Outcome
	Bundle  *swarm.Bundle
	Report  *swarm.Report // of the bundle, checked against who was asked by whom
}

// shutdownTime bounds how long a demo's end takes.
const shutdownTime = 5 * time.Second

// Run runs a demo. An error says that there was no run to speak of; what
// became of one is in the result.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	if strings.ContainsAny(dir, "\r\n") {
		return nil, errors.New("the folder's name has a line break in it, which a task's line can't hold")
	}
	url, serverAddress, stopServer, err := serve(ctx, o)
	if err != nil {
		return nil, err
	}
	defer stopServer()
	coordinator, stopWorkers, err := join(ctx, url, dir, o.Log)
	if err != nil {
		return nil, err
	}
	defer stopWorkers()
	return request(ctx, o, url, dir, serverAddress, coordinator)
}

// serve starts the server on a free port of this machine.
func serve(ctx context.Context, o Options) (url string, address wallet.Address, stop func(), err error) {
	key, err := wallet.NewKey()
	if err != nil {
		return "", address, nil, err
	}
	srv, err := server.New(ctx, server.Config{Dir: o.Data, Key: key, Log: o.Log})
	if err != nil {
		return "", address, nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		srv.Close()
		return "", address, nil, err
	}
	httpServer := &http.Server{Handler: srv.Handler(), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = httpServer.Serve(listener) // ends by Shutdown below
	}()
	stop = func() {
		srv.Close() // ends the streams, for which Shutdown would wait
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		_ = httpServer.Shutdown(ctx)
		<-done
	}
	return "http://" + listener.Addr().String(), key.Address(), stop, nil
}

// join starts the workers and gives the coordinator's wallet once all of them
// are there.
func join(ctx context.Context, url, dir string, log *slog.Logger) (coordinator wallet.Address, stop func(), err error) {
	everyone := append(members(dir), member{
		swarm.Card{Name: "coordinator", Summary: "Reports on a folder: finds an agent for each part and puts their answers together."},
		coordinate(dir),
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	stop = func() { cancel(); running.Wait() }
	ready := make(chan error, len(everyone))
	for _, m := range everyone {
		key, err := wallet.NewKey()
		if err != nil {
			stop()
			return coordinator, nil, err
		}
		coordinator = key.Address() // the last one's
		var once sync.Once
		w := &agent.Worker{
			Server: url, Key: key, Card: m.card, Handler: m.work, Log: log,
			OnConnect: func() { once.Do(func() { ready <- nil }) },
		}
		running.Go(func() {
			err := w.Run(ctx)
			once.Do(func() { ready <- fmt.Errorf("%s: %w", m.card.Name, err) })
		})
	}
	for range everyone {
		if err := <-ready; err != nil {
			stop()
			return coordinator, nil, err
		}
	}
	return coordinator, stop, nil
}

// request asks for the report, reads the stream, and verifies the bundle.
func request(ctx context.Context, o Options, url, dir string, serverAddress, coordinator wallet.Address) (*Result, error) {
	user, err := wallet.NewKey()
	if err != nil {
		return nil, err
	}
	c := &client.Client{BaseURL: url, Signer: user}
	ask := swarm.Request{To: coordinator, Task: "Report on " + dir + "\n" + folderLine + dir, Timeout: swarm.MaxTimeout}
	signed, err := c.Sign(ctx, nil, ask)
	if err != nil {
		return nil, err
	}
	id := signed.Delegation.ID()
	type answer struct {
		outcome *swarm.Outcome
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		outcome, err := c.Submit(ctx, signed, ask)
		answered <- answer{outcome, err}
	}()
	if err := known(ctx, c, id, func() bool { return len(answered) > 0 }); err != nil {
		a := <-answered
		return nil, errors.Join(a.err, err)
	}
	reader := c.Stream()
	if o.Stream != nil {
		reader.HTTP = &http.Client{Transport: tee{http.DefaultTransport, o.Stream}}
	}
	for ev, err := range reader.Watch(ctx, id, "") {
		if err != nil {
			return nil, err
		}
		o.Event(ev)
	}
	a := <-answered
	if a.err != nil {
		return nil, a.err
	}
	bundle, err := c.Receipt(ctx, id)
	if err != nil {
		return nil, err
	}
	from, root := user.Address(), signed.Delegation.Digest(swarm.Domain(bundle.ChainID))
	report := bundle.Verify(swarm.Expect{Root: &root, From: &from, To: &coordinator, Server: &serverAddress})
	return &Result{Outcome: a.outcome, Bundle: bundle, Report: report}, nil
}

// known waits until the server has the run, so that it can be watched.
func known(ctx context.Context, c *client.Client, id string, over func() bool) error {
	for {
		_, err := c.Get(ctx, id)
		if swarm.CodeOf(err) != swarm.CodeNotFound || over() {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// tee copies the bytes of answers as they are read.
type tee struct {
	next http.RoundTripper
	to   io.Writer
}

func (t tee) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(r)
	if err == nil {
		resp.Body = &struct {
			io.Reader
			io.Closer
		}{io.TeeReader(resp.Body, t.to), resp.Body}
	}
	return resp, err
}
