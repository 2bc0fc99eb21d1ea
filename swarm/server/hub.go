package server

import (
	"sync"

	"github.com/swarmseal/swarmseal/swarm/internal/engine"
)

// hub hands each record, decoded once, to whoever watches its root.
type hub struct {
	mu   sync.Mutex
	subs map[string]map[*subscription]struct{} // by root id
}

// hubBuffer is how many records may wait for one subscriber. One that falls
// behind by more is unsubscribed, and reads what it missed from the journal:
// it never slows the others.
const hubBuffer = 64

type noted struct {
	entry  engine.Entry
	record *record
}

// subscription is a place in the hub. records is closed when the subscriber
// fell behind.
type subscription struct {
	root    string
	records chan noted
}

func newHub() *hub { return &hub{subs: make(map[string]map[*subscription]struct{})} }

func (h *hub) subscribe(root string) *subscription {
	s := &subscription{root: root, records: make(chan noted, hubBuffer)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs[root] == nil {
		h.subs[root] = make(map[*subscription]struct{})
	}
	h.subs[root][s] = struct{}{}
	return s
}

func (h *hub) unsubscribe(s *subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(s)
}

func (h *hub) remove(s *subscription) {
	delete(h.subs[s.root], s)
	if len(h.subs[s.root]) == 0 {
		delete(h.subs, s.root)
	}
}

func (h *hub) publish(e engine.Entry, rec *record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs[e.Root] {
		select {
		case s.records <- noted{e, rec}:
		default:
			h.remove(s)
			close(s.records)
		}
	}
}
