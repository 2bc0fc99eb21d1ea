package swarm

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/swarmseal/swarmseal/wallet"
)

// The members of the signed documents, as DecodeStrict reads them. What is not
// marked optional must be there: a signer signs all of them.

// UnmarshalJSONFrom reads an attachment strictly; see DecodeStrict.
func (a *Attachment) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "name", into: &a.Name},
		member{name: "mediaType", into: &a.MediaType},
		member{name: "size", into: &a.Size},
		member{name: "hash", into: &a.Hash},
	)
}

// UnmarshalJSONFrom reads a delegation strictly; see DecodeStrict.
func (d *Delegation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "taskId", into: &d.TaskID},
		member{name: "root", into: &d.Root},
		member{name: "parent", into: &d.Parent},
		member{name: "hop", into: &d.Hop},
		member{name: "maxHops", into: &d.MaxHops},
		member{name: "from", into: &d.From},
		member{name: "to", into: &d.To},
		member{name: "server", into: &d.Server},
		member{name: "skill", into: &d.Skill},
		member{name: "inputHash", into: &d.InputHash},
		member{name: "attachments", into: &d.Attachments},
		member{name: "asset", into: &d.Asset},
		member{name: "maxPrice", into: &d.MaxPrice},
		member{name: "issuedAt", into: &d.IssuedAt},
		member{name: "expiresAt", into: &d.ExpiresAt},
		member{name: "nonce", into: &d.Nonce},
	)
}

// UnmarshalJSONFrom reads a result strictly; see DecodeStrict.
func (r *Result) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "delegation", into: &r.Delegation},
		member{name: "taskId", into: &r.TaskID},
		member{name: "from", into: &r.From},
		member{name: "to", into: &r.To},
		member{name: "status", into: (*uint8)(&r.Status)},
		member{name: "seq", into: &r.Seq},
		member{name: "last", into: &r.Last},
		member{name: "outputHash", into: &r.OutputHash},
		member{name: "attachments", into: &r.Attachments},
		member{name: "children", into: &r.Children},
		member{name: "price", into: &r.Price},
		member{name: "issuedAt", into: &r.IssuedAt},
	)
}

// UnmarshalJSONFrom reads an arrival strictly; see DecodeStrict.
func (a *Arrival) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "result", into: &a.Result},
		member{name: "server", into: &a.Server},
		member{name: "receivedAt", into: &a.ReceivedAt},
		member{name: "late", into: &a.Late},
	)
}

// UnmarshalJSONFrom reads a registration strictly; see DecodeStrict.
func (r *Registration) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "wallet", into: &r.Wallet},
		member{name: "owner", into: &r.Owner},
		member{name: "seq", into: &r.Seq},
		member{name: "endpoint", into: &r.Endpoint},
		member{name: "cardHash", into: &r.CardHash},
		member{name: "replaces", into: &r.Replaces},
		member{name: "active", into: &r.Active},
		member{name: "issuedAt", into: &r.IssuedAt},
		member{name: "expiresAt", into: &r.ExpiresAt},
		member{name: "nonce", into: &r.Nonce},
	)
}

// UnmarshalJSONFrom reads a session strictly; see DecodeStrict.
func (s *Session) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "origin", into: &s.Origin},
		member{name: "wallet", into: &s.Wallet},
		member{name: "sessionKey", into: &s.SessionKey},
		member{name: "scope", into: &s.Scope},
		member{name: "issuedAt", into: &s.IssuedAt},
		member{name: "expiresAt", into: &s.ExpiresAt},
		member{name: "nonce", into: &s.Nonce},
	)
}

// UnmarshalJSONFrom reads a signed delegation strictly; see DecodeStrict.
func (s *SignedDelegation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "delegation", into: &s.Delegation},
		member{name: "signature", into: &s.Signature},
		member{name: "input", into: &s.Input},
		member{name: "session", into: &s.Session, optional: true},
	)
}

// UnmarshalJSONFrom reads a signed result strictly; see DecodeStrict.
func (s *SignedResult) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "result", into: &s.Result},
		member{name: "signature", into: &s.Signature},
		member{name: "output", into: &s.Output},
		member{name: "session", into: &s.Session, optional: true},
	)
}

// UnmarshalJSONFrom reads a signed arrival strictly; see DecodeStrict.
func (s *SignedArrival) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "arrival", into: &s.Arrival},
		member{name: "signature", into: &s.Signature},
	)
}

// UnmarshalJSONFrom reads a signed registration strictly; see DecodeStrict.
func (s *SignedRegistration) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "registration", into: &s.Registration},
		member{name: "signature", into: &s.Signature},
		member{name: "ownerSignature", into: given{&s.OwnerSignature}, optional: true},
		member{name: "replacedSignature", into: given{&s.ReplacedSignature}, optional: true},
		member{name: "card", into: &s.Card},
	)
}

// UnmarshalJSONFrom reads a signed session strictly; see DecodeStrict.
func (s *SignedSession) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "session", into: &s.Session},
		member{name: "signature", into: &s.Signature},
		member{name: "keySignature", into: given{&s.KeySignature}, optional: true},
	)
}

// UnmarshalJSONFrom reads a hop strictly; see DecodeStrict.
func (h *BundleHop) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "delegation", into: &h.Delegation},
		member{name: "result", into: &h.Result, optional: true},
		member{name: "arrival", into: &h.Arrival, optional: true},
	)
}

// UnmarshalJSONFrom reads a bundle strictly; see DecodeStrict.
func (b *Bundle) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return readObject(dec,
		member{name: "format", into: &b.Format},
		member{name: "chainId", into: &b.ChainID},
		member{name: "hops", into: &b.Hops},
		member{name: "contents", into: &b.Contents, optional: true},
	)
}

// given reads an optional signature, which is left out where there is none.
type given struct{ into *wallet.Signature }

// UnmarshalJSONFrom reads the signature that is there.
func (g given) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if err := readValue(dec, g.into); err != nil {
		return err
	}
	if g.into.IsZero() {
		return broken(dec, errors.New("no signature is all zero: leave the member out"))
	}
	return nil
}
