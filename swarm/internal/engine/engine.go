package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of what is kept and carried.
const (
	Retention      = 24 * time.Hour // of the journal's records
	MaxRecordBytes = 24 << 20       // of one record; a body of 10 MiB fits with its quoting
	syncInterval   = 100 * time.Millisecond
	startTimeout   = 30 * time.Second // for the embedded server to open its files
	nonceRetention = 25 * time.Hour   // longer than any session that a nonce is for
)

// Errors that callers tell apart.
var (
	ErrExists      = errors.New("engine: exists already")
	ErrUnavailable = errors.New("engine: not available")
	ErrTooLarge    = errors.New("engine: record too large")
)

// ConflictError says that a run has a later record than the writer had seen.
type ConflictError struct{ Seen uint64 }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("engine: the run has a later record than %d", e.Seen)
}

// InUseError says that another process holds the data folder.
type InUseError struct{ Dir string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("data folder %s is held by another server: stop that one, or give another folder", e.Dir)
}

// Config says where the engine keeps its data.
type Config struct {
	// Dir is the embedded server's folder. It is made, and held by a lock
	// while the engine is open.
	Dir string
	// MaxAge is how long the journal keeps a record, a second at least; 0 is
	// Retention.
	MaxAge time.Duration
	// Log gets the embedded server's warnings and errors; nil discards them.
	Log *slog.Logger
}

// Engine is an open engine, safe for concurrent use.
type Engine struct {
	conn     *nats.Conn
	js       jetstream.JetStream
	runs     jetstream.Stream
	agents   jetstream.KeyValue
	nonces   jetstream.KeyValue
	floors   jetstream.KeyValue
	embedded *server.Server
	lock     *flock.Flock
}

// Open starts the embedded server and makes what is missing there. A folder that another process holds is an *InUseError.
func Open(ctx context.Context, cfg Config) (_ *Engine, err error) {
	e := &Engine{}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	if err := e.embed(cfg); err != nil {
		return nil, err
	}
	if err := e.connect(); err != nil {
		return nil, err
	}
	if err := e.prepare(ctx, cmp.Or(cfg.MaxAge, Retention)); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Engine) embed(cfg Config) error {
	if cfg.Dir == "" {
		return errors.New("engine: no data folder given")
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	lock := flock.New(filepath.Join(cfg.Dir, "lock"))
	held, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if !held {
		return &InUseError{cfg.Dir}
	}
	e.lock = lock
	srv, err := server.NewServer(&server.Options{
		ServerName:         "swarm",
		DontListen:         true,
		NoSigs:             true,
		JetStream:          true,
		StoreDir:           filepath.Join(cfg.Dir, "engine"),
		SyncInterval:       syncInterval,
		MaxPayload:         MaxRecordBytes + 1<<20,
		MaxPending:         2 * (MaxRecordBytes + 1<<20),
		JetStreamMaxMemory: 1 << 28,
		JetStreamMaxStore:  1 << 40, // the disk is the bound; ours are on the stream
	})
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	log := cfg.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	srv.SetLoggerV2(natsLog{log}, false, false, false)
	e.embedded = srv
	srv.Start()
	if !srv.ReadyForConnections(startTimeout) {
		return fmt.Errorf("%w: the embedded server did not start within %v", ErrUnavailable, startTimeout)
	}
	return nil
}

func (e *Engine) connect() error {
	conn, err := nats.Connect("", nats.Name("swarm"), nats.InProcessServer(e.embedded),
		nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	e.conn = conn
	e.js, err = jetstream.New(conn, jetstream.WithDefaultTimeout(10*time.Second))
	return err
}

func (e *Engine) prepare(ctx context.Context, maxAge time.Duration) error {
	journal := jetstream.StreamConfig{
		Name:        "RUNS",
		Description: "every record of every run",
		Subjects:    []string{"run.*.*"},
		Storage:     jetstream.FileStorage,
		MaxAge:      maxAge,
		AllowDirect: true,
		// The default window of two minutes would hold a map of every id
		// for nothing: records are made once by compare and set.
		Duplicates: time.Second,
	}
	switch old, err := e.js.Stream(ctx, journal.Name); {
	case err == nil:
		journal.FirstSeq = old.CachedInfo().Config.FirstSeq
	case errors.Is(err, jetstream.ErrStreamNotFound):
		journal.FirstSeq = uint64(time.Now().UnixMicro())
	default:
		return fmt.Errorf("%w: journal: %w", ErrUnavailable, err)
	}
	var err error
	if e.runs, err = e.js.CreateOrUpdateStream(ctx, journal); err != nil {
		return fmt.Errorf("%w: journal: %w", ErrUnavailable, err)
	}
	for _, bucket := range []struct {
		kv   *jetstream.KeyValue
		name string
		ttl  time.Duration
	}{
		{&e.agents, "REG", 0}, {&e.nonces, "NONCES", nonceRetention}, {&e.floors, "FLOORS", 0},
	} {
		*bucket.kv, err = e.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: bucket.name, History: 1, TTL: bucket.ttl, Storage: jetstream.FileStorage,
		})
		if err != nil {
			return fmt.Errorf("%w: bucket %s: %w", ErrUnavailable, bucket.name, err)
		}
	}
	return nil
}

// Close ends the connection and the embedded server, which syncs its files,
// and lets go of the folder.
func (e *Engine) Close() {
	if e.conn != nil {
		e.conn.Close()
	}
	if e.embedded != nil {
		e.embedded.Shutdown()
		e.embedded.WaitForShutdown()
	}
	if e.lock != nil {
		_ = e.lock.Unlock() // the process's end would let go of it too
	}
}

// Ready reports whether the engine answers: nil, or an error that wraps
// ErrUnavailable.
func (e *Engine) Ready(ctx context.Context) error {
	if _, err := e.runs.Info(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}

// natsLog passes on what an operator must see.
type natsLog struct{ log *slog.Logger }

func (l natsLog) Noticef(string, ...any) {}
func (l natsLog) Debugf(string, ...any)  {}
func (l natsLog) Tracef(string, ...any)  {}

func (l natsLog) Warnf(format string, v ...any) {
	message := fmt.Sprintf(format, v...)
	if strings.Contains(message, "Maximum payload") || strings.Contains(message, "MaxPayload") {
		return // ours is larger than the default on purpose
	}
	l.log.Warn("engine", "message", message)
}

func (l natsLog) Errorf(format string, v ...any) {
	l.log.Error("engine", "message", fmt.Sprintf(format, v...))
}

func (l natsLog) Fatalf(format string, v ...any) {
	l.log.Error("engine", "message", fmt.Sprintf(format, v...), "fatal", true)
}
