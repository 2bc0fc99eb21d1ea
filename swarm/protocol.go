package swarm

import (
	"time"

	"github.com/swarmseal/swarmseal/wallet"
)

// Words of the protocol between a server and its workers.
const (
	TaskFrame   = "task"   // SSE event name on an inbox: a Task to do
	CancelFrame = "cancel" // SSE event name on an inbox: a Cancel
	EventAck    = "ack"    // the type of the first event of a worker that took a task
)

// Default limits of a server; it tells its own in Info.
const (
	MaxBodyBytes     = 10 << 20 // of one request
	MaxEventBytes    = 1 << 20  // of one event that a worker posts
	MaxInFlight      = 10_000   // runs that have no outcome yet
	MaxInFlightPerTo = 1_000    // of them, to one agent
)

// Cancel tells a worker to stop a task: whatever it sends after is refused or
// kept as late.
type Cancel struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Task is what a worker's inbox brings: a signed delegation to its wallet, the
// delegations above it from hop 0 down (without their inputs), and the digests
// of the delegations that an earlier attempt at it has already made.
type Task struct {
	ID       string             `json:"id"`
	RootID   string             `json:"rootId"`
	Attempt  int                `json:"attempt"` // 1, and more when it was handed out before
	Signed   SignedDelegation   `json:"delegation"`
	Chain    []SignedDelegation `json:"chain"`
	Children []wallet.Digest    `json:"children"`
}

// Info tells a client what it must know of a server before it signs.
type Info struct {
	Server    wallet.Address `json:"server"`
	ChainID   uint64         `json:"chainId"`
	Version   string         `json:"version"`
	Anonymous bool           `json:"anonymous"` // whether unsigned requests are taken
	Limits    Limits         `json:"limits"`
}

// Limits are a server's bounds.
type Limits struct {
	BodyBytes      int64 `json:"bodyBytes"`
	EventBytes     int64 `json:"eventBytes"`
	CardBytes      int64 `json:"cardBytes"`
	TimeoutSeconds int64 `json:"timeoutSeconds"`
	Hops           int   `json:"hops"`
	InFlight       int   `json:"inFlight"`         // runs in all
	InFlightPerTo  int   `json:"inFlightPerAgent"` // runs to one agent
}

// Token is what a signed Session is exchanged for.
type Token struct {
	Token     string         `json:"token"` // for "Authorization: Bearer"; a secret
	Wallet    wallet.Address `json:"wallet"`
	ExpiresAt uint64         `json:"expiresAt"` // Unix seconds
}

// ListedAgent is an agent in a list.
type ListedAgent struct {
	Wallet    wallet.Address `json:"wallet"`
	Name      string         `json:"name"`
	Kind      Kind           `json:"kind,omitempty"`
	Summary   string         `json:"summary,omitempty"`
	Tags      []string       `json:"tags,omitempty"`
	Available bool           `json:"available"` // tasks are taken
	Connected bool           `json:"connected"` // one of its workers is there now
}

// AgentsPage is a page of the list of agents, by wallet.
type AgentsPage struct {
	Agents []ListedAgent  `json:"agents"`
	Next   wallet.Address `json:"next,omitzero"` // give it as after for the next page
}

// RegisteredAgent is an agent's card with the registration that vouches for it.
type RegisteredAgent struct {
	Card         Card               `json:"card"`
	Registration SignedRegistration `json:"registration"`
	Available    bool               `json:"available"`
	Connected    bool               `json:"connected"`
	CreatedAt    time.Time          `json:"createdAt"`
	UpdatedAt    time.Time          `json:"updatedAt"`
}

// FindRequest is the body by which a worker searches in the midst of a task.
type FindRequest struct {
	Query       string   `json:"query"`
	TopK        int      `json:"top_k,omitzero"`
	Strictness  *float64 `json:"strictness,omitempty"`
	Detail      Detail   `json:"output_detail,omitempty"`
	IncludeTags []string `json:"include_tags,omitempty"`
}

// ReportHeader names the execution of a task that posts events, and
// ReportFirst the number of the first of them, from 0: a post that is repeated
// is then known.
const (
	ReportExecution = "Swarm-Execution"
	ReportFirst     = "Swarm-First-Event"
)
