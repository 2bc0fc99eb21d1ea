package server

import (
	"context"
	"time"
)

// StatusOf is the table of HTTP statuses, for the test that it is exhaustive.
var StatusOf = statusOf

// SetMaxAge makes the journal's records expire sooner than they do.
func (c *Config) SetMaxAge(d time.Duration) { c.maxAge = d }

// Purge is what an operator may do to the journal: it removes the records
// before a sequence of one root's runs, of one run, or of all.
func (s *Server) Purge(ctx context.Context, root, run string, before uint64) error {
	return s.engine.Purge(ctx, root, run, before)
}
