package server

import (
	"encoding/json"
	"time"

	json2 "github.com/go-json-experiment/json"
	"github.com/tidwall/gjson"

	"github.com/swarmseal/swarmseal/swarm"
)

// A record is one entry of a run's journal. The journal is the truth: whatever
// else the server knows of a run is made of these, in their order.
type record struct {
	Kind recordKind `json:"kind"`
	TS   int64      `json:"ts"` // Unix milliseconds, the server's clock

	// After is the place of the run's record before this one, and Known that of
	// the newest of the whole tree that its writer knew; 0 where there is none.
	// Places are not dense: by these a reader knows that records are missing.
	After uint64 `json:"after,omitzero"`
	Known uint64 `json:"known,omitzero"`

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

	// Of kindOutcome: what the end of the stream is made of, so that it can be
	// told without the records of what came before; and the places of the
	// outcomes of the runs right below, so that a reader knows of each that is
	// missing.
	Open     []openTool `json:"open,omitempty"`
	Streamed bool       `json:"streamed,omitzero"`
	Ended    []uint64   `json:"ended,omitempty"`

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

// kindOf gives a record's kind without reading the rest of it.
func kindOf(data []byte) recordKind { return recordKind(gjson.GetBytes(data, "kind").Str) }

func decodeRecord(data []byte) (*record, error) {
	var r record
	if err := json2.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
