package wallet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Signer signs for one address. The key may be in this process (Key), or
// where it never leaves, such as a hardware device or a signing service
// (package external).
type Signer interface {
	Address() Address
	// Sign signs the digest of m. The signature's form is that of Signature,
	// low s included. ErrNoMessage for the zero Message.
	Sign(ctx context.Context, m Message) (Signature, error)
}

// Message is what a Signer signs: typed data of EIP-712 or a personal text of
// EIP-191. There is none of a bare digest: whoever keeps a key elsewhere hashes
// a message for himself, and can show it, judge it or log it before.
type Message struct {
	preimage []byte // its Keccak-256 is the digest
	textAt   int    // where a personal text starts in preimage; 0 for typed data
	typed    *typedData
}

type typedData struct {
	domain  Domain
	types   string
	message any
}

// Errors of messages.
var (
	ErrNoMessage    = errors.New("message: there is none to sign")
	ErrNotTypedData = errors.New("message: a personal text, not typed data")
)

const personalPrefix = "\x19Ethereum Signed Message:\n"

// PersonalMessage gives a text as wallets sign it for people (personal_sign):
// EIP-191, version 0x45. Such a signature never passes for one of typed data.
func PersonalMessage(text string) Message {
	preimage := append([]byte(personalPrefix), strconv.Itoa(len(text))...)
	at := len(preimage)
	return Message{preimage: append(preimage, text...), textAt: at}
}

// TypedMessage gives an EIP-712 struct of a domain. types is its encoded type,
// as EIP-712 has it: "Name(type member,…)", and behind it those that it refers
// to. hash is the struct's, from an Encoder; message marshals to its members as
// JSON, by their names.
//
// Only hash is signed by a Key. Signers that hash for themselves are given types
// and message, and their signature holds only where both say the same.
func TypedMessage(domain Domain, types string, hash Digest, message any) Message {
	preimage := make([]byte, 0, 2+2*len(hash))
	preimage = append(preimage, 0x19, 0x01)
	preimage = append(preimage, domain.separator[:]...)
	preimage = append(preimage, hash[:]...)
	return Message{preimage: preimage, typed: &typedData{domain, types, message}}
}

// IsZero reports whether m is the zero Message, which nobody signs.
func (m Message) IsZero() bool { return m.preimage == nil }

// Digest gives what is signed: the Keccak-256 of the preimage.
func (m Message) Digest() Digest { return Keccak256(m.preimage) }

// Preimage gives the bytes whose Keccak-256 is signed: 0x19 0x01, the domain's
// separator and the struct's hash (66 bytes) for typed data, the prefix of
// EIP-191, the length and the text for a personal message.
func (m Message) Preimage() []byte { return bytes.Clone(m.preimage) }

// Text gives a personal message's text; ok is false for typed data.
func (m Message) Text() (text string, ok bool) {
	if m.textAt == 0 {
		return "", false
	}
	return string(m.preimage[m.textAt:]), true
}

// TypedData gives typed data as eth_signTypedData_v4 and clef take it: a JSON
// object of types, primaryType, domain and message. Numbers are decimal text in
// it, which no reader rounds. ErrNotTypedData for a personal message.
func (m Message) TypedData() ([]byte, error) {
	if m.typed == nil {
		return nil, ErrNotTypedData
	}
	types, primary, err := parseTypes(m.typed.types)
	if err != nil {
		return nil, err
	}
	types["EIP712Domain"] = []typeMember{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}}
	members, err := membersOf(m.typed.message)
	if err != nil {
		return nil, fmt.Errorf("message: %s: %w", primary, err)
	}
	d := m.typed.domain
	return json.Marshal(map[string]any{
		"types": types, "primaryType": primary, "message": members,
		"domain": map[string]string{"name": d.name, "version": d.version, "chainId": strconv.FormatUint(d.chainID, 10)},
	})
}

type typeMember struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// parseTypes reads encoded types, which programs have as constants: the error
// is for whoever writes one.
func parseTypes(text string) (types map[string][]typeMember, primary string, err error) {
	types = make(map[string][]typeMember)
	for rest := text; rest != ""; {
		name, after, open := strings.Cut(rest, "(")
		members, next, closed := strings.Cut(after, ")")
		if !open || !closed || name == "" {
			return nil, "", fmt.Errorf("message: type %q: want Name(type member,…)", text)
		}
		list := []typeMember{}
		for member := range strings.SplitSeq(members, ",") {
			typ, name, ok := strings.Cut(member, " ")
			if members != "" && (!ok || typ == "" || name == "") {
				return nil, "", fmt.Errorf("message: type %q: %q is no member", text, member)
			}
			if ok {
				list = append(list, typeMember{name, typ})
			}
		}
		if primary == "" {
			primary = name
		}
		types[name], rest = list, next
	}
	if primary == "" {
		return nil, "", errors.New("message: there is no type")
	}
	return types, primary, nil
}

// membersOf gives v's JSON with its numbers as text.
func membersOf(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&members); err != nil {
		return nil, err
	}
	return textNumbers(members).(map[string]any), nil
}

func textNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case map[string]any:
		for name, member := range v {
			v[name] = textNumbers(member)
		}
	case []any:
		for i, element := range v {
			v[i] = textNumbers(element)
		}
	}
	return v
}
