package server

import (
	"encoding/json"
	"time"

	json2 "github.com/go-json-experiment/json"

	"github.com/swarmseal/swarmseal/swarm"
)

// A record is one entry of a run's journal. The journal is the truth: whatever
// else the server knows of a run is made of these, in their order.
type record struct {
	Kind recordKind `json:"kind"`
	TS   int64      `json:"ts"` // Unix milliseconds, the server's clock

	// Of kindCreated.
	Delegation *swarm.SignedDelegation `json:"delegation,omitempty"`
	ParentID   string                  `json:"parentId,omitempty"`

	// Of kindClaimed: how often the task has been handed out, this time included.
	Attempt int `json:"attempt,omitzero"`

	// Of kindEvent: the event as the worker posted it, and its number among
	// those of one execution, by which a repeated post is known.
	Event     json.RawMessage `json:"event,omitempty"`
	Execution string          `json:"execution,omitempty"`
	Number    uint64          `json:"number,omitzero"`

	// Of kindFound.
	Query *foundQuery  `json:"query,omitempty"`
	Found *swarm.Found `json:"found,omitempty"`
	Error *swarm.Error `json:"error,omitempty"` // also of kindOutcome

	// Of kindOutcome, and the signed pair of kindLate, too.
	State   swarm.State          `json:"state,omitempty"`
	Result  *swarm.SignedResult  `json:"result,omitempty"`
	Arrival *swarm.SignedArrival `json:"arrival,omitempty"`
}

type recordKind string

const (
	kindCreated   recordKind = "created"   // admitted: the signed delegation
	kindClaimed   recordKind = "claimed"   // handed to a worker
	kindEvent     recordKind = "event"     // reported by the worker
	kindFound     recordKind = "found"     // the worker searched for agents
	kindOutcome   recordKind = "outcome"   // the terminal one; there is exactly one
	kindLate      recordKind = "late"      // an answer after the outcome; at most one
	kindCollected recordKind = "collected" // the requester took the result
)

// foundQuery is what a worker searched for, as its stream tells it.
type foundQuery struct {
	Query      string       `json:"query"`
	TopK       int          `json:"top_k"`
	Strictness float64      `json:"strictness"`
	Detail     swarm.Detail `json:"output_detail"`
	Tags       []string     `json:"include_tags,omitempty"`
}

func (r *record) encode() ([]byte, error) {
	r.TS = time.Now().UnixMilli()
	// Unlike encoding/json this does not escape <, > and &, which would make
	// a body grow sixfold.
	return json2.Marshal(r)
}

func decodeRecord(data []byte) (*record, error) {
	var r record
	if err := json2.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
