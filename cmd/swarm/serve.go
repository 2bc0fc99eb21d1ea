package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmseal/swarmseal/swarm/server"
)

// Bounds of the HTTP server. A bound on the whole of a request or an answer
// would cut streams; package server bounds bodies and writes by itself.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// Waits at the end: for answers and streams that are still on their way out
// after the last outcome, and for connections to close.
const (
	tailWait     = 2 * time.Second
	shutdownWait = 5 * time.Second
)

func newServe() *cobra.Command {
	s := &serving{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `serve runs the server on --addr with its data in --data, where it makes its key,
server-key.json, at first start: delegations are made out to it, so it stays with
the data.

Unsigned requests are taken on a loopback address alone, and bundles show them:
--anonymous=false refuses them there, too.

SIGTERM or SIGINT drain: new work is refused, and what runs has --drain to end;
what is left goes on at the next start. A second signal ends serve at once.`,
		Example: `  swarm serve
  swarm serve --addr 127.0.0.1:0 --data ./data --log-level debug`,
		Args: arguments(0, 0),
		RunE: s.run,
	}
	cmd.Flags().StringVar(&s.addr, "addr", "127.0.0.1:8420", "the `HOST:PORT` to listen on; port 0 takes a free one")
	cmd.Flags().StringVar(&s.data, "data", "", "the data `FOLDER` (default: swarm/server in your data folder)")
	cmd.Flags().Uint64Var(&s.chain, "chain", 0, "the chain `ID` that is part of every signature; 0 is a swarm tied to no chain")
	cmd.Flags().BoolVar(&s.anonymous, "anonymous", false, "take unsigned requests (default: true on a loopback address, and allowed only there)")
	cmd.Flags().DurationVar(&s.drain, "drain", 10*time.Second, "how long runs have to end when the server is told to stop")
	s.pass.flags(cmd)
	logFlag(cmd, &s.level)
	return cmd
}

type serving struct {
	addr, data string
	chain      uint64
	anonymous  bool
	drain      time.Duration
	pass       passphrase
	level      slog.Level
}

func (s *serving) run(cmd *cobra.Command, _ []string) error {
	if s.drain < 0 {
		return usagef("--drain is %v; want 0 or more", s.drain)
	}
	if s.data == "" {
		folder, err := dataFolder()
		if err != nil {
			return err
		}
		s.data = folder
	}
	listener, err := s.listen(cmd)
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	cmd.PrintErrln("data in", clean(s.data))
	if err := os.MkdirAll(s.data, 0o700); err != nil {
		return unusable(s.data, err)
	}
	key, err := keyAt(cmd, &s.pass, filepath.Join(s.data, "server-key.json"), "the server's key")
	if err != nil {
		return unusable(s.data, err)
	}
	log := logger(cmd, s.level)
	srv, err := server.New(ctx, server.Config{
		Dir: s.data, Key: key, ChainID: s.chain, Anonymous: s.anonymous, Version: version(), Log: log,
	})
	if err != nil {
		return unusable(s.data, err)
	}
	tail := &inFlight{handler: srv.Handler()}
	web := &http.Server{
		Handler: tail, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	if s.anonymous {
		cmd.PrintErrln("unsigned requests are taken, from this machine (--anonymous=false refuses them)")
	} else {
		cmd.PrintErrln("signed requests alone are taken")
	}
	cmd.PrintErrf("listening on http://%v\n", listener.Addr())
	cmd.PrintErrf("server wallet %v\n", key.Address())
	select {
	case err := <-ended:
		srv.Close()
		return failedf("serve: %w", err)
	case <-ctx.Done():
	}
	return s.stop(cmd, srv, web, tail)
}

// listen opens the port, and sees whether unsigned requests are to be taken on
// it: its own address tells, however it was written.
func (s *serving) listen(cmd *cobra.Command) (net.Listener, error) {
	listener, err := net.Listen("tcp", s.addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, failedf("%s is in use: stop what listens there, or give another with --addr (port 0 takes a free one)", s.addr)
	case errors.Is(err, os.ErrPermission):
		return nil, failedf("%w: give a port of 1024 or above with --addr", err)
	case err != nil:
		return nil, failedf("%w: --addr wants HOST:PORT of this machine", err)
	}
	tcp, ok := listener.Addr().(*net.TCPAddr)
	loopback := ok && tcp.IP.IsLoopback()
	if !cmd.Flags().Changed("anonymous") {
		s.anonymous = loopback
	}
	if s.anonymous && !loopback {
		listener.Close()
		return nil, usagef("--anonymous is for a loopback address alone, and %s is none: whoever reaches it could have the server sign for them", s.addr)
	}
	return listener, nil
}

// unusable says what to do about a data folder that can't be used.
func unusable(folder string, err error) error {
	if _, held := errors.AsType[*server.InUseError](err); held {
		return failedf("%w with --data", err)
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, os.ErrExist) {
		return failedf("the data folder %s can't be written: %w: give another with --data", folder, err)
	}
	return err
}

// stop drains: runs have their time, streams of runs that ended are sent to
// their end, and the rest (inboxes, and streams of runs that go on) is closed.
func (s *serving) stop(cmd *cobra.Command, srv *server.Server, web *http.Server, tail *inFlight) error {
	cmd.PrintErrf("stopping: runs have %v to end; a second signal stops at once\n", s.drain)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), s.drain)
	defer cancel()
	if err := srv.Drain(ctx); err != nil {
		cmd.PrintErrln(err)
	} else {
		tail.wait(tailWait)
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(cmd.Context()), shutdownWait)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- web.Shutdown(ctx) }()
	srv.Close() // ends the streams, without which Shutdown would wait for ever
	if err := <-closed; err != nil {
		_ = web.Close() // connections that stay are cut
	}
	cmd.PrintErrln("stopped")
	return nil
}

// inFlight counts the requests in work, inboxes apart: those never end by
// themselves.
type inFlight struct {
	handler http.Handler
	n       atomic.Int64
}

func (f *inFlight) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/inbox") {
		f.n.Add(1)
		defer f.n.Add(-1)
	}
	f.handler.ServeHTTP(w, r)
}

// wait waits until no request is in work, at most for d.
func (f *inFlight) wait(d time.Duration) {
	for end := time.Now().Add(d); f.n.Load() > 0 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// dataFolder gives the server's folder in the user's data folder.
func dataFolder() (string, error) {
	base := os.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) { // the specification has relative ones ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", failedf("no data folder: %w; give one with --data", err)
		}
		switch runtime.GOOS {
		case "darwin", "ios":
			base = filepath.Join(home, "Library", "Application Support")
		case "windows":
			if base = os.Getenv("LOCALAPPDATA"); base == "" {
				base = filepath.Join(home, "AppData", "Local")
			}
		default:
			base = filepath.Join(home, ".local", "share")
		}
	}
	return filepath.Join(base, "swarm", "server"), nil
}

func logFlag(cmd *cobra.Command, level *slog.Level) {
	cmd.Flags().TextVar(level, "log-level", slog.LevelInfo, "log to stderr from this `LEVEL` on: debug, info, warn or error")
}

func logger(cmd *cobra.Command, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
}
