package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"
)

// UpdateAgent replaces the registration kept under a wallet's text by what
// change makes of the old one, which is nil where there is none. change may be
// called again when another writer came first; its error ends the update and
// is returned as it is.
func (e *Engine) UpdateAgent(ctx context.Context, wallet string, change func(old []byte) ([]byte, error)) error {
	for {
		var old []byte
		var revision uint64
		switch entry, err := e.agents.Get(ctx, wallet); {
		case err == nil:
			old, revision = entry.Value(), entry.Revision()
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return fmt.Errorf("%w: registry: %w", ErrUnavailable, err)
		}
		changed, err := change(old)
		if err != nil {
			return err
		}
		if revision == 0 {
			_, err = e.agents.Create(ctx, wallet, changed)
		} else {
			_, err = e.agents.Update(ctx, wallet, changed, revision)
		}
		// Update reports a lost race as ErrKeyExists, too.
		if err == nil || !errors.Is(err, jetstream.ErrKeyExists) {
			if err != nil {
				err = fmt.Errorf("%w: registry: %w", ErrUnavailable, err)
			}
			return err
		}
	}
}

// WatchAgents calls see with every registration there is, returns, and goes
// on calling it with every new one until stop is called. Calls come one after
// the other.
func (e *Engine) WatchAgents(ctx context.Context, see func(wallet string, data []byte)) (stop func(), err error) {
	watcher, err := e.agents.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("%w: registry: %w", ErrUnavailable, err)
	}
	loaded, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		initial := true
		for entry := range watcher.Updates() {
			if entry == nil { // all that there was has been seen
				if initial {
					initial = false
					close(loaded)
				}
				continue
			}
			see(entry.Key(), entry.Value())
		}
	}()
	stop = func() { _ = watcher.Stop(); <-done }
	select {
	case <-loaded:
		return stop, nil
	case <-done:
		return nil, fmt.Errorf("%w: registry: the watch ended", ErrUnavailable)
	case <-ctx.Done():
		stop()
		return nil, context.Cause(ctx)
	}
}

// Once takes a nonce: ErrExists says that it was taken before. Nonces are
// kept for 25 hours, longer than anything that they guard is valid.
func (e *Engine) Once(ctx context.Context, nonce string) error {
	_, err := e.nonces.Create(ctx, nonce, nil)
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return ErrExists
	case err != nil:
		return fmt.Errorf("%w: nonces: %w", ErrUnavailable, err)
	}
	return nil
}

const floorKey = "floor"

// SetFloor notes that every run with a record before seq has its outcome, so
// that a server that starts need not read what lies below.
func (e *Engine) SetFloor(ctx context.Context, seq uint64) error {
	if _, err := e.floors.Put(ctx, floorKey, strconv.AppendUint(nil, seq, 10)); err != nil {
		return fmt.Errorf("%w: floors: %w", ErrUnavailable, err)
	}
	return nil
}

// Floor gives what SetFloor noted, 0 where nothing was.
func (e *Engine) Floor(ctx context.Context) (uint64, error) {
	entry, err := e.floors.Get(ctx, floorKey)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("%w: floors: %w", ErrUnavailable, err)
	}
	return strconv.ParseUint(string(entry.Value()), 10, 64)
}
