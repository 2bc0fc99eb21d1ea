package swarm

import (
	"context"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/swarmseal/swarmseal/wallet"
)

// The EIP-712 domain under which everything here is signed. There is no
// verifying contract; chain id 0 is for swarms tied to no chain.
const (
	DomainName    = "Swarmseal"
	DomainVersion = "1"
)

// Domain gives Swarmseal's domain on a chain.
func Domain(chainID uint64) wallet.Domain {
	return wallet.NewDomain(DomainName, DomainVersion, chainID)
}

// The types that are signed, as EIP-712 encodes them. They are compiled in:
// types are never taken from the wire.
const (
	attachmentTypeText = "Attachment(string name,string mediaType,uint64 size,bytes32 hash)"
	delegationTypeText = "Delegation(bytes32 taskId,bytes32 root,bytes32 parent,uint8 hop,uint8 maxHops," +
		"address from,address to,address server,string skill,bytes32 inputHash,Attachment[] attachments," +
		"address asset,uint256 maxPrice,uint64 issuedAt,uint64 expiresAt,bytes32 nonce)" + attachmentTypeText
	resultTypeText = "Result(bytes32 delegation,bytes32 taskId,address from,address to,uint8 status,uint32 seq," +
		"bool last,bytes32 outputHash,Attachment[] attachments,bytes32[] children,uint256 price,uint64 issuedAt)" +
		attachmentTypeText
	arrivalTypeText      = "Arrival(bytes32 result,address server,uint64 receivedAt,bool late)"
	registrationTypeText = "Registration(address wallet,address owner,uint64 seq,string endpoint,bytes32 cardHash," +
		"address replaces,bool active,uint64 issuedAt,uint64 expiresAt,bytes32 nonce)"
	sessionTypeText = "Session(string origin,address wallet,address sessionKey,string[] scope,uint64 issuedAt," +
		"uint64 expiresAt,bytes32 nonce)"
)

var (
	attachmentType   = wallet.Keccak256([]byte(attachmentTypeText))
	delegationType   = wallet.Keccak256([]byte(delegationTypeText))
	resultType       = wallet.Keccak256([]byte(resultTypeText))
	arrivalType      = wallet.Keccak256([]byte(arrivalTypeText))
	registrationType = wallet.Keccak256([]byte(registrationTypeText))
	sessionType      = wallet.Keccak256([]byte(sessionTypeText))
)

// Attachment names a file that goes with a task or a result. Hash is the
// Keccak-256 of its bytes, Size their number.
type Attachment struct {
	Name      string        `json:"name"`
	MediaType string        `json:"mediaType"`
	Size      uint64        `json:"size"`
	Hash      wallet.Digest `json:"hash"`
}

func (a *Attachment) hash() wallet.Digest {
	return wallet.NewEncoder(attachmentType, 4).
		String(a.Name).String(a.MediaType).Uint64(a.Size).Bytes32(a.Hash).Sum()
}

func hashAttachments(list []Attachment) []wallet.Digest {
	hashes := make([]wallet.Digest, len(list))
	for i := range list {
		hashes[i] = list[i].hash()
	}
	return hashes
}

// Delegation is what one agent asks of another, as its wallet signs it.
// Times are Unix seconds. Root is the digest of the delegation at hop 0 and
// Parent that of the one above; both are zero at hop 0.
type Delegation struct {
	TaskID      wallet.Digest  `json:"taskId"` // one for the whole tree, chosen at hop 0
	Root        wallet.Digest  `json:"root"`
	Parent      wallet.Digest  `json:"parent"`
	Hop         uint8          `json:"hop"`
	MaxHops     uint8          `json:"maxHops"` // 1 to MaxHops
	From        wallet.Address `json:"from"`
	To          wallet.Address `json:"to"`
	Server      wallet.Address `json:"server"` // the server that is to perform it
	Skill       string         `json:"skill"`  // a skill id of To's card, or ""
	InputHash   wallet.Digest  `json:"inputHash"`
	Attachments []Attachment   `json:"attachments"`
	Asset       wallet.Address `json:"asset"` // the token of MaxPrice; zero for none
	MaxPrice    wallet.Amount  `json:"maxPrice"`
	IssuedAt    uint64         `json:"issuedAt"`
	ExpiresAt   uint64         `json:"expiresAt"` // the deadline; the delegation is valid before it
	Nonce       wallet.Digest  `json:"nonce"`     // unique for From until ExpiresAt and the skew
}

// Digest gives the digest that From signs, in a domain.
func (d *Delegation) Digest(domain wallet.Domain) wallet.Digest {
	return wallet.TypedDigest(domain.Separator(), d.hash())
}

func (d *Delegation) message(domain wallet.Domain) wallet.Message {
	return wallet.TypedMessage(domain, delegationTypeText, d.hash(), d)
}

func (d *Delegation) hash() wallet.Digest {
	return wallet.NewEncoder(delegationType, 16).
		Bytes32(d.TaskID).Bytes32(d.Root).Bytes32(d.Parent).
		Uint64(uint64(d.Hop)).Uint64(uint64(d.MaxHops)).
		Address(d.From).Address(d.To).Address(d.Server).
		String(d.Skill).Bytes32(d.InputHash).Array(hashAttachments(d.Attachments)).
		Address(d.Asset).Amount(d.MaxPrice).
		Uint64(d.IssuedAt).Uint64(d.ExpiresAt).Bytes32(d.Nonce).Sum()
}

// ID gives the delegation's id, 32 hex digits that name its run, too. It is
// derived from (From, Nonce), so that the record of the run is the record of
// the nonce: one nonce can't have two runs.
func (d *Delegation) ID() string {
	sum := wallet.Keccak256(d.From[:], d.Nonce[:])
	return hex.EncodeToString(sum[:16])
}

// idLength is the length of an ID: hex digits in lower case.
const idLength = 32

// CheckID reports whether a text has the form of an ID.
func CheckID(id string) error {
	bad := strings.IndexFunc(id, func(c rune) bool { return (c < '0' || c > '9') && (c < 'a' || c > 'f') })
	if len(id) != idLength || bad >= 0 {
		return Errorf(CodeInvalid, "%q is no run id: want %d hex digits in lower case", id, idLength)
	}
	return nil
}

// Status is how a worker ended a task.
type Status uint8

// The statuses of a Result. Zero is none of them, so that a forgotten status
// can't pass for a success.
const (
	StatusCompleted Status = 1 // the output answers the task
	StatusFailed    Status = 2 // the output says why not
)

// Result is a worker's answer, as its wallet signs it.
type Result struct {
	Delegation  wallet.Digest  `json:"delegation"` // digest of the Delegation
	TaskID      wallet.Digest  `json:"taskId"`
	From        wallet.Address `json:"from"` // the worker
	To          wallet.Address `json:"to"`   // who asked
	Status      Status         `json:"status"`
	Seq         uint32         `json:"seq"`  // 0: results come whole
	Last        bool           `json:"last"` // true
	OutputHash  wallet.Digest  `json:"outputHash"`
	Attachments []Attachment   `json:"attachments"`
	// Children names every delegation made for this task: the digest of its
	// Result where the worker had one, else that of the Delegation.
	Children []wallet.Digest `json:"children"`
	Price    wallet.Amount   `json:"price"` // at most the delegation's MaxPrice
	IssuedAt uint64          `json:"issuedAt"`
}

// Digest gives the digest that From signs.
func (r *Result) Digest(domain wallet.Domain) wallet.Digest {
	return wallet.TypedDigest(domain.Separator(), r.hash())
}

func (r *Result) message(domain wallet.Domain) wallet.Message {
	return wallet.TypedMessage(domain, resultTypeText, r.hash(), r)
}

func (r *Result) hash() wallet.Digest {
	return wallet.NewEncoder(resultType, 12).
		Bytes32(r.Delegation).Bytes32(r.TaskID).Address(r.From).Address(r.To).
		Uint64(uint64(r.Status)).Uint64(uint64(r.Seq)).Bool(r.Last).
		Bytes32(r.OutputHash).Array(hashAttachments(r.Attachments)).Array(r.Children).
		Amount(r.Price).Uint64(r.IssuedAt).Sum()
}

// Arrival is the server's own word on when a result came: it dates the result
// by a clock that the worker does not own.
type Arrival struct {
	Result     wallet.Digest  `json:"result"` // digest of the Result
	Server     wallet.Address `json:"server"`
	ReceivedAt uint64         `json:"receivedAt"` // Unix seconds
	Late       bool           `json:"late"`       // after the deadline, or after another outcome was recorded
}

// Digest gives the digest that Server signs.
func (a *Arrival) Digest(domain wallet.Domain) wallet.Digest {
	return wallet.TypedDigest(domain.Separator(), a.hash())
}

func (a *Arrival) message(domain wallet.Domain) wallet.Message {
	return wallet.TypedMessage(domain, arrivalTypeText, a.hash(), a)
}

func (a *Arrival) hash() wallet.Digest {
	return wallet.NewEncoder(arrivalType, 4).
		Bytes32(a.Result).Address(a.Server).Uint64(a.ReceivedAt).Bool(a.Late).Sum()
}

// SignedDelegation is a delegation as it travels. Input is the task's text;
// InputHash is the Keccak-256 of its UTF-8 bytes.
type SignedDelegation struct {
	Delegation Delegation       `json:"delegation"`
	Signature  wallet.Signature `json:"signature"`
	Input      string           `json:"input"`
	// Session is there where its key signed, and not From's own.
	Session *SignedSession `json:"session,omitempty"`
}

// SignedResult is a result as it travels. Output is the answer's text, or the
// cause of a failure.
type SignedResult struct {
	Result    Result           `json:"result"`
	Signature wallet.Signature `json:"signature"`
	Output    string           `json:"output"`
	// Session is there where its key signed, and not From's own.
	Session *SignedSession `json:"session,omitempty"`
}

// SignedArrival is an arrival as it travels.
type SignedArrival struct {
	Arrival   Arrival          `json:"arrival"`
	Signature wallet.Signature `json:"signature"`
}

// checkText refuses text that JSON can't carry: it would arrive as other text
// than was signed.
func checkText(name, text, skill string, attachments []Attachment) error {
	valid := utf8.ValidString(text) && utf8.ValidString(skill)
	for _, a := range attachments {
		valid = valid && utf8.ValidString(a.Name) && utf8.ValidString(a.MediaType)
	}
	if !valid {
		return Errorf(CodeInvalid, "%s, skill and the attachments' names must be UTF-8", name)
	}
	return nil
}

// SignDelegation fills in the hash of the input and signs, for s's address.
// With a *SessionSigner, what it gives carries the session.
func SignDelegation(ctx context.Context, s wallet.Signer, domain wallet.Domain, d Delegation, input string) (*SignedDelegation, error) {
	d.From, d.InputHash = s.Address(), wallet.Keccak256([]byte(input))
	if d.Attachments == nil {
		d.Attachments = []Attachment{}
	}
	if err := checkText("input", input, d.Skill, d.Attachments); err != nil {
		return nil, err
	}
	sig, err := s.Sign(ctx, d.message(domain))
	if err != nil {
		return nil, err
	}
	return &SignedDelegation{Delegation: d, Signature: sig, Input: input, Session: sessionOf(s)}, nil
}

// SignResult fills in the hash of the output and signs, for s's address. With
// a *SessionSigner, what it gives carries the session.
func SignResult(ctx context.Context, s wallet.Signer, domain wallet.Domain, r Result, output string) (*SignedResult, error) {
	r.From, r.OutputHash = s.Address(), wallet.Keccak256([]byte(output))
	if r.Attachments == nil {
		r.Attachments = []Attachment{}
	}
	if r.Children == nil {
		r.Children = []wallet.Digest{}
	}
	if err := checkText("output", output, "", r.Attachments); err != nil {
		return nil, err
	}
	sig, err := s.Sign(ctx, r.message(domain))
	if err != nil {
		return nil, err
	}
	return &SignedResult{Result: r, Signature: sig, Output: output, Session: sessionOf(s)}, nil
}

// SignArrival signs an arrival.
func SignArrival(ctx context.Context, s wallet.Signer, domain wallet.Domain, a Arrival) (*SignedArrival, error) {
	if err := ownKey(s); err != nil {
		return nil, err
	}
	a.Server = s.Address()
	sig, err := s.Sign(ctx, a.message(domain))
	if err != nil {
		return nil, err
	}
	return &SignedArrival{Arrival: a, Signature: sig}, nil
}

// NonceOf gives the nonce of a delegation with an idempotency key: the same
// for the same key, so that the same sender's second request with it meets the
// first.
func NonceOf(key string) wallet.Digest {
	return wallet.Keccak256([]byte("swarmseal idempotency key\x00"), []byte(key))
}
