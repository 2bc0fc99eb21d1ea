package server

import (
	"log/slog"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Config says what a server is. Dir and Key are needed; the zero value of
// everything else is its default.
type Config struct {
	// Dir is the data folder; one server holds it at a time.
	Dir string
	// Key signs arrivals, and the delegations of anonymous callers. A server
	// keeps its key for as long as its data: delegations are made out to it.
	Key wallet.Signer
	// ChainID is part of every signature; 0 is a swarm tied to no chain.
	ChainID uint64
	// Anonymous takes unsigned requests on Compose's routes: the server
	// signs their delegations itself, and every bundle shows it. It is for
	// trials on one machine.
	Anonymous bool
	// Version is told to clients; "" is "dev".
	Version string
	// MaxBodyBytes bounds one request; 0 is swarm.MaxBodyBytes (10 MiB), which
	// is also the most.
	MaxBodyBytes int64
	// MaxInFlight and MaxInFlightPerTo bound the runs that have no outcome
	// yet, in all and to one agent; 0 is swarm.MaxInFlight (10,000) and
	// swarm.MaxInFlightPerTo (1,000). Beyond, requests get 429.
	MaxInFlight, MaxInFlightPerTo int
	// Lease is how long an agent counts as available after its last worker
	// went away; 0 is 15 s. A server that starts grants one to every agent.
	Lease time.Duration
	// AckWait is how long a worker has to say that it took a task before the
	// task is handed out again; 0 is 10 s.
	AckWait time.Duration
	// Shun is for how long an agent that timed out on a caller is left out of
	// that caller's searches; 0 is 5 minutes.
	Shun time.Duration
	// Ping is the silence after which a stream gets a comment; 0 is 10 s.
	Ping time.Duration
	// WriteTimeout is how long the reader of a stream has for each 64 KiB
	// before it is cut off, to come back with its last event id; 0 is 5 s.
	WriteTimeout time.Duration
	// Log is where the server says what an operator should know; nil
	// discards it.
	Log *slog.Logger

	maxAge time.Duration // of the journal's records; 0 is engine.Retention. For tests.
}

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&c.Lease, 15*time.Second)
	set(&c.AckWait, 10*time.Second)
	set(&c.Shun, 5*time.Minute)
	if c.MaxBodyBytes == 0 || c.MaxBodyBytes > swarm.MaxBodyBytes {
		c.MaxBodyBytes = swarm.MaxBodyBytes
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = swarm.MaxInFlight
	}
	if c.MaxInFlightPerTo == 0 {
		c.MaxInFlightPerTo = swarm.MaxInFlightPerTo
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}
