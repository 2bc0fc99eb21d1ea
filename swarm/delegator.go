package swarm

import (
	"context"
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Delegator finds agents and hands them work: the two acts that every face of
// a swarm offers. A program does so at hop 0 (package client), a worker in the
// midst of a task (agent.Task).
type Delegator interface {
	// Find searches the agents that are available.
	Find(ctx context.Context, q Query) (*Found, error)
	// Delegate hands over a task and waits for its outcome. A refusal is an
	// *Error; a task that was accepted has an Outcome, whatever became of it.
	Delegate(ctx context.Context, r Request) (*Outcome, error)
}

// Request is a task for an agent.
type Request struct {
	To      wallet.Address
	Task    string        // all that the agent needs to know; it sees nothing else
	Skill   string        // a skill id of its card, or ""
	Timeout time.Duration // whole seconds up to MaxTimeout; 0 is Estimate(Task)
	// IdempotencyKey makes repeated requests of one caller one delegation; ""
	// makes each call its own.
	IdempotencyKey string
}

// State is where a delegation stands.
type State string

// The states. The last four are terminal: the first of them that is recorded
// stays.
const (
	StatePending   State = "pending" // accepted; no worker has it
	StateRunning   State = "running" // a worker has it
	StateCompleted State = "completed"
	StateFailed    State = "failed"    // the worker said why
	StateTimeout   State = "timeout"   // the deadline passed
	StateCancelled State = "cancelled" // whoever asked, or the run above, stopped it
)

// Terminal reports whether s stays as it is.
func (s State) Terminal() bool {
	switch s {
	case StateCompleted, StateFailed, StateTimeout, StateCancelled:
		return true
	case StatePending, StateRunning:
		return false
	}
	return false
}

// Outcome is a delegation as the server knows it.
type Outcome struct {
	ID        string         `json:"id"` // the request id
	RootID    string         `json:"rootId"`
	ParentID  string         `json:"parentId,omitempty"`
	Agent     wallet.Address `json:"agent"`
	Requester wallet.Address `json:"requester"`
	State     State          `json:"state"`
	// Output is the answer of a completed delegation.
	Output string `json:"output,omitempty"`
	// Error tells why a delegation that ended did not complete.
	Error *Error `json:"error,omitempty"`
	// Result is the worker's signed answer, Arrival the server's word on when
	// it came. Both are nil until one came; a late one comes after the state
	// was final, and does not change it.
	Result  *SignedResult  `json:"result,omitempty"`
	Arrival *SignedArrival `json:"arrival,omitempty"`
	// Seconds that passed from acceptance to the outcome, or until now.
	Seconds   float64 `json:"seconds"`
	ExpiresAt uint64  `json:"expiresAt"` // Unix seconds
}

// Late reports whether the worker's answer came after the outcome was final.
func (o *Outcome) Late() bool { return o.Arrival != nil && o.Arrival.Arrival.Late }

// Collected is the answer to whoever asks for the result of a delegation that
// it made: the statuses of check_collaboration_result.
type Collected struct {
	Status    string `json:"status"`
	RequestID string `json:"request_id"`
	Response  string `json:"response,omitempty"`
	// Delegation is the whole record, absent when not found.
	Delegation *Outcome `json:"delegation,omitempty"`
}

// The statuses of Collected.
const (
	CollectedCompleted   = "completed"
	CollectedLate        = "completed_late"
	CollectedPending     = "pending"
	CollectedPendingLate = "pending_after_timeout"
	CollectedNotFound    = "not_found" // never known, consumed already, or expired
	CollectedError       = "error"     // it ended without an answer; response says why
)
