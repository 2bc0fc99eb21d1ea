package swarmtest

import (
	"context"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/agent"
	"github.com/swarmseal/swarmseal/swarm/client"
	"github.com/swarmseal/swarmseal/swarm/server"
	"github.com/swarmseal/swarmseal/wallet"
)

// BaseURL is the address of every swarm that Start gives. It is no network's:
// connections are made in memory, by the swarm's HTTP client alone.
const BaseURL = "http://swarm.test"

// Swarm is a whole swarm inside a test: a server on the real engine, served
// over HTTP on connections in memory, so that it runs in a testing/synctest
// bubble and time is the bubble's.
type Swarm struct {
	Server *server.Server
	Key    *wallet.Key // the server's
	HTTP   *http.Client
	Dir    string

	t      testing.TB
	config server.Config
	http   *http.Server
	net    *network
	served sync.WaitGroup
}

// Start starts a swarm that ends with the test. change may be nil; it sees the
// server's Config before it is used.
func Start(t testing.TB, change func(*server.Config)) *Swarm {
	t.Helper()
	s := &Swarm{t: t, Key: NewKey(t), Dir: t.TempDir(), net: newNetwork()}
	s.config = server.Config{Dir: s.Dir, Key: s.Key, Anonymous: true, Log: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&s.config)
	}
	s.HTTP = &http.Client{Transport: &http.Transport{DialContext: s.net.dial}}
	s.Up()
	t.Cleanup(func() {
		s.HTTP.CloseIdleConnections()
		s.Down()
	})
	return s
}

// Up starts the server, on the data folder as it stands.
func (s *Swarm) Up() {
	s.t.Helper()
	srv, err := server.New(context.Background(), s.config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Server = srv
	s.http = &http.Server{Handler: srv.Handler(), ErrorLog: log.New(io.Discard, "", 0), ConnState: s.track}
	listener := s.net.listen()
	s.served.Go(func() { _ = s.http.Serve(listener) })
}

// Shutdown ends the server as a program does that is told to stop: it is
// closed, and its answers and streams are written to their end. Up goes on.
func (s *Swarm) Shutdown() {
	if s.Server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.http.Shutdown(ctx) }()
	s.Server.Close() // ends the streams, without which Shutdown would wait
	if err := <-ended; err != nil {
		s.t.Errorf("shutdown: %v", err)
	}
	s.Down()
}

// Down ends the server at once: connections are cut, and runs are left as they
// are. Up goes on with them.
func (s *Swarm) Down() {
	if s.Server == nil {
		return
	}
	_ = s.http.Close()
	s.net.cut()
	s.Server.Close()
	s.served.Wait()
	s.Server = nil
}

// track counts the connections: http.Server.Close does not wait for the
// goroutines that serve them, and a bubble must not end before they do.
func (s *Swarm) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.served.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.served.Done()
	case http.StateActive, http.StateIdle:
	}
}

// NewKey makes a key.
func NewKey(t testing.TB) *wallet.Key {
	t.Helper()
	key, err := wallet.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Client gives a client of the swarm with a key of its own, or as nobody where
// signer is nil.
func (s *Swarm) Client(signer wallet.Signer) *client.Client {
	return &client.Client{BaseURL: BaseURL, Signer: signer, HTTP: s.HTTP}
}

// Worker is a worker that Work started.
type Worker struct {
	*agent.Worker
	stop func()
}

// Address is the worker's wallet.
func (w *Worker) Address() wallet.Address { return w.Key.Address() }

// Stop ends the worker and waits for its handlers.
func (w *Worker) Stop() { w.stop() }

// Work starts an agent under a new key and waits until its inbox is open.
func (s *Swarm) Work(name string, handle agent.HandlerFunc) *Worker {
	s.t.Helper()
	return s.Start(&agent.Worker{
		Key: NewKey(s.t), Card: swarm.Card{Name: name, Summary: "does " + name}, Handler: handle,
	})
}

// Start starts a worker and waits until its inbox is open. Its Server is set to
// the swarm's, and its HTTP, where it is nil.
func (s *Swarm) Start(w *agent.Worker) *Worker {
	s.t.Helper()
	w.Server = BaseURL
	if w.HTTP == nil {
		w.HTTP = s.HTTP
	}
	opened := make(chan struct{})
	var once sync.Once
	told := w.OnConnect
	w.OnConnect = func() {
		once.Do(func() { close(opened) })
		if told != nil {
			told()
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- w.Run(ctx)
	}()
	stop := func() { cancel(); <-done }
	s.t.Cleanup(stop)
	select {
	case <-opened:
	case err := <-ended:
		s.t.Fatalf("worker %s: %v", w.Card.Name, err)
	case <-time.After(30 * time.Second):
		s.t.Fatalf("worker %s: no inbox within 30 s", w.Card.Name)
	}
	return &Worker{Worker: w, stop: stop}
}

// network is connections in memory, whose blocking a synctest bubble sees, as
// it does not see a socket's.
type network struct {
	mu     sync.Mutex
	accept chan net.Conn // nil while nothing listens
	closed chan struct{}
	conns  map[net.Conn]struct{}
}

func newNetwork() *network { return &network{conns: make(map[net.Conn]struct{})} }

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	n.mu.Lock()
	accept, closed := n.accept, n.closed
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: "memory", Err: syscall.ECONNREFUSED}
	if accept == nil {
		return nil, refused
	}
	near, far := net.Pipe()
	select {
	case accept <- far:
		n.mu.Lock()
		n.conns[far] = struct{}{}
		n.mu.Unlock()
		return near, nil
	case <-closed:
		return nil, refused
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (n *network) listen() net.Listener {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.accept, n.closed = make(chan net.Conn), make(chan struct{})
	return &listener{n, n.accept, n.closed}
}

// cut ends every connection, as the end of a process does.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		_ = c.Close()
	}
	clear(n.conns)
}

type listener struct {
	network *network
	accept  chan net.Conn
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.network.mu.Lock()
	defer l.network.mu.Unlock()
	if l.network.accept == l.accept {
		l.network.accept = nil
		close(l.closed)
	}
	return nil
}

func (l *listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "swarm.test:80" }
