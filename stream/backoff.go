package stream

import (
	"math/rand/v2"
	"time"
)

// Backoff says how a lost stream is taken up again. The wait before the n-th
// try since the last progress is Min·2ⁿ⁻¹, at most Max, of which a random half
// is taken off, so that the clients of a restarted server come back one by one.
//
// Progress is a new last event id, or a connection that stood for 30 s. A
// connection that opens and breaks at once is none: a server in a
// bad way would be asked for ever.
type Backoff struct {
	// Min is the first wait; zero means 250 ms. A retry: field of the stream
	// takes its place, read as at least 100 ms and at most 30 s.
	Min time.Duration
	// Max is the longest wait, unless Min or a server's Retry-After is longer;
	// zero means 5 s.
	Max time.Duration
	// GiveUp bounds the time without a connection since the last progress, the
	// wait to come included; zero means 60 s. An endless stream has no such
	// bound.
	GiveUp time.Duration

	never bool
}

// The two backoffs to start from. Do not change them: make another Backoff.
var (
	DefaultBackoff = &Backoff{}
	// NoRetry ends a stream at the first loss.
	NoRetry = &Backoff{never: true}
)

// Bounds on a stream's retry: field.
const (
	minRetry = 100 * time.Millisecond
	maxRetry = 30 * time.Second
)

func (b *Backoff) withDefaults() Backoff {
	if b == nil {
		b = DefaultBackoff
	}
	c := *b
	if c.Min <= 0 {
		c.Min = 250 * time.Millisecond
	}
	if c.Max <= 0 {
		c.Max = 5 * time.Second
	}
	if c.GiveUp <= 0 {
		c.GiveUp = time.Minute
	}
	return c
}

// wait gives the pause before try number attempt, which counts from 1.
func (b *Backoff) wait(attempt int) time.Duration {
	longest := max(b.Min, b.Max)
	d := b.Min
	for ; attempt > 1 && d < longest; attempt-- {
		d *= 2
	}
	d = min(d, longest)
	return d - rand.N(d/2+1)
}

// serverRetry takes a retry: field, in milliseconds, for the first wait.
func (b *Backoff) serverRetry(ms int64) {
	b.Min = time.Duration(min(max(ms, minRetry.Milliseconds()), maxRetry.Milliseconds())) * time.Millisecond
}
