package stream

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"time"
)

// Backoff says how a lost stream is taken up again. The wait before the n-th
// try since the last progress is Min·2ⁿ⁻¹, at most Max, of which a random half
// is taken off, so that the clients of a restarted server come back one by one.
//
// A connection made progress where it moved the last event id on: it began with
// an id, and ended at an id, that none of the last 64 connections began with or
// ended at. So no server can have us ask it fast for long by accepting and
// closing, by sending its events from the start again each time, or by going
// round a few ids; and a stream without ids makes none.
//
// A connection that stood for 30 s without progress, as of a silent run behind
// a proxy that cuts each minute, starts GiveUp's clock anew, but not the count
// of tries.
type Backoff struct {
	// Min is the first wait; zero means 250 ms. A retry: field of the stream
	// takes its place, read as at least 100 ms and at most 30 s.
	Min time.Duration
	// Max is the longest wait, unless Min or a server's Retry-After is longer;
	// zero means 5 s.
	Max time.Duration
	// GiveUp bounds the time without a connection since the last progress or
	// the last connection that stood for 30 s, the wait to come included; zero
	// means 60 s. An endless stream has no such bound.
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

// settled is how long a connection must stand to start GiveUp's clock anew.
const settled = 30 * time.Second

// places are the ids at which the last connections began and ended, as hashes:
// ids are of any length.
type places struct {
	seen [2 * 64]uint64
	next int
}

var placesSeed = maphash.MakeSeed()

// add notes an id, and reports whether it is new. No id is no place.
func (p *places) add(id string) bool {
	if id == "" {
		return false
	}
	h := maphash.String(placesSeed, id)
	if slices.Contains(p.seen[:], h) {
		return false
	}
	p.seen[p.next%len(p.seen)] = h
	p.next++
	return true
}

// moved notes where a connection began and ended, and reports whether both are
// new.
func (p *places) moved(first, last string) bool {
	isNew := p.add(first)
	return (first == last || p.add(last)) && isNew
}

// serverRetry takes a retry: field, in milliseconds, for the first wait.
func (b *Backoff) serverRetry(ms int64) {
	b.Min = time.Duration(min(max(ms, minRetry.Milliseconds()), maxRetry.Milliseconds())) * time.Millisecond
}
