package signin

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// RequestAge bounds expires − created of a request's signature.
const RequestAge = 60 * time.Second

// The header fields of a signed request.
const (
	SignatureInputHeader = "Signature-Input"
	SignatureHeader      = "Signature"
	DigestHeader         = "Content-Digest"
)

const (
	label       = "eth"      // the one that ERC-8128 recommends
	keyIDPrefix = "erc8128:" // then the chain id, a colon and the address
	maxCovered  = 32         // components that a signature covers
)

// Requests checks requests that programs sign one by one, by ERC-8128: an HTTP
// message signature (RFC 9421) that a wallet made with personal_sign.
type Requests struct {
	// Authorities are the hosts by which clients reach the server, as a Host
	// header has them: "swarm.example", "127.0.0.1:8420". A signature names one; a
	// request that was signed for another server would hold here as well without.
	Authorities []string
	Nonces      Nonces
	// MaxBodyBytes bounds a body, which is read whole. Zero is swarm.MaxBodyBytes.
	MaxBodyBytes int64
}

// Signed reports whether a request claims to be signed: it has a
// Signature-Input.
func Signed(r *http.Request) bool { return len(r.Header.Values(SignatureInputHeader)) > 0 }

// Verify gives the wallet that signed the request. The signature must cover the
// method, the authority, the path, the query where there is one, and the digest
// of the body where that is not empty; it must have created, expires, nonce and
// keyid, and no alg. It may cover header fields besides. It is valid from
// created (and swarm.Skew before) to expires, that second excluded, and once:
// its nonce is marked as used after all else has proved valid.
//
// The body is read, and replaced by what was read: nobody reads another than
// was signed. A wallet's signature alone counts, of 65 bytes; neither the
// 64-byte form of EIP-2098 nor a contract's (ERC-1271) does. The chain id of
// keyid can be any, and is part of what a nonce is unique for.
//
// Errors are *swarm.Errors, save those of Nonces and of reading the body.
func (v *Requests) Verify(r *http.Request) (wallet.Address, error) {
	s, err := parseSignature(r.Header)
	if err != nil {
		return wallet.Address{}, err
	}
	if err := v.check(r, s); err != nil {
		return wallet.Address{}, err
	}
	base, err := s.base(r)
	if err != nil {
		return wallet.Address{}, err
	}
	if err := wallet.Verify(s.wallet, wallet.PersonalMessage(base).Digest(), s.signature); err != nil {
		return wallet.Address{}, swarm.Errorf(swarm.CodeSignature, "request: %v", err)
	}
	key := keyID(s.chainID, s.wallet) + ":" + base64.RawURLEncoding.EncodeToString([]byte(s.nonce))
	if err := use(r.Context(), v.Nonces, key, time.Unix(s.expires, 0)); err != nil {
		return wallet.Address{}, err
	}
	return s.wallet, nil
}

// check looks at everything but the signature itself.
func (v *Requests) check(r *http.Request, s *signature) error {
	switch now := time.Now().Unix(); {
	case !slices.ContainsFunc(v.Authorities, func(a string) bool { return bareAuthority(a) == bareAuthority(r.Host) }):
		return swarm.Errorf(swarm.CodeUnauthenticated, "the request is for host %.80q; this server is %q", r.Host, v.Authorities)
	case s.expires <= s.created || s.expires-s.created > int64(RequestAge/time.Second):
		return swarm.Errorf(swarm.CodeInvalid, "signature: expires must be 1 to %d s after created", RequestAge/time.Second)
	case s.created-int64(swarm.Skew/time.Second) > now:
		return swarm.Errorf(swarm.CodeExpired, "signature: created at %d, but it is %d here: a clock may be ahead by %v at most", s.created, now, swarm.Skew)
	case now >= s.expires:
		return swarm.Errorf(swarm.CodeExpired, "signature: expired at %d; it is %d", s.expires, now)
	}
	body, err := v.body(r)
	if err != nil {
		return err
	}
	for _, name := range needed(r, len(body) > 0) {
		if !slices.Contains(s.covered, name) {
			return swarm.Errorf(swarm.CodeUnauthenticated, "signature: it must cover %q", name)
		}
	}
	if slices.Contains(s.covered, digestField) {
		return checkDigest(r.Header.Values(DigestHeader), body)
	}
	return nil
}

// body reads the body and puts it back.
func (v *Requests) body(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	limit := v.MaxBodyBytes
	if limit == 0 {
		limit = swarm.MaxBodyBytes
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > limit {
		return nil, swarm.Errorf(swarm.CodeTooLarge, "the body has more than %d bytes", limit)
	}
	err = r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// SignRequest signs a client's request, now and for RequestAge: it sets
// Content-Digest where the request has a body, Signature-Input and Signature.
// The body is read, and put back with GetBody set. A request is signed anew for
// every try: its nonce counts once.
func SignRequest(ctx context.Context, s wallet.Signer, chainID uint64, r *http.Request) error {
	var body []byte
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return err
		}
		if err := r.Body.Close(); err != nil {
			return err
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength = int64(len(body))
	}
	if len(body) > 0 {
		r.Header.Set(DigestHeader, digestOf(body))
	}
	now := time.Now()
	params := httpsfv.NewParams()
	params.Add("created", now.Unix())
	params.Add("expires", now.Add(RequestAge).Unix())
	params.Add("nonce", rand.Text())
	params.Add("keyid", keyID(chainID, s.Address()))
	input := httpsfv.InnerList{Params: params}
	covered := needed(r, len(body) > 0)
	for _, name := range covered {
		input.Items = append(input.Items, httpsfv.NewItem(name))
	}
	text, err := httpsfv.Marshal(input)
	if err != nil {
		return err
	}
	base, err := (&signature{covered: covered, params: text}).base(r)
	if err != nil {
		return err
	}
	sig, err := s.Sign(ctx, wallet.PersonalMessage(base))
	if err != nil {
		return err
	}
	r.Header.Set(SignatureInputHeader, label+"="+text)
	r.Header.Set(SignatureHeader, label+"=:"+base64.StdEncoding.EncodeToString(sig[:])+":")
	return nil
}

// keyID names a wallet on a chain, in one way: other cases of the address's
// digits are the same key.
func keyID(chainID uint64, a wallet.Address) string {
	return keyIDPrefix + strconv.FormatUint(chainID, 10) + ":" + strings.ToLower(a.String())
}

// signature is what a request's header fields say of its signature.
type signature struct {
	covered          []string // components, in the signer's order
	params           string   // of Signature-Input: the list with its parameters
	created, expires int64    // Unix seconds
	nonce            string
	chainID          uint64
	wallet           wallet.Address
	signature        wallet.Signature
}

// parseSignature finds the request's ERC-8128 signature: the one labelled eth,
// or else the only one with such a keyid.
func parseSignature(h http.Header) (*signature, error) {
	inputs, err := httpsfv.UnmarshalDictionary(h.Values(SignatureInputHeader))
	if err != nil {
		return nil, swarm.Errorf(swarm.CodeUnauthenticated, "%s: %v", SignatureInputHeader, err)
	}
	signatures, err := httpsfv.UnmarshalDictionary(h.Values(SignatureHeader))
	if err != nil {
		return nil, swarm.Errorf(swarm.CodeUnauthenticated, "%s: %v", SignatureHeader, err)
	}
	name, err := choose(inputs)
	if err != nil {
		return nil, err
	}
	member, _ := inputs.Get(name)
	list, ok := member.(httpsfv.InnerList)
	if !ok {
		return nil, swarm.Errorf(swarm.CodeInvalid, "%s: %q is no list of components", SignatureInputHeader, name)
	}
	s := new(signature)
	if err := s.setCovered(list.Items); err != nil {
		return nil, err
	}
	if err := s.setParams(list.Params); err != nil {
		return nil, err
	}
	if s.params, err = httpsfv.Marshal(list); err != nil {
		return nil, swarm.Errorf(swarm.CodeInvalid, "%s: %v", SignatureInputHeader, err)
	}
	member, _ = signatures.Get(name)
	item, _ := member.(httpsfv.Item)
	raw, _ := item.Value.([]byte)
	if len(raw) != wallet.SignatureLength {
		return nil, swarm.Errorf(swarm.CodeSignature, "%s: want %s=:BASE64: of %d bytes, not %d", SignatureHeader, name, wallet.SignatureLength, len(raw))
	}
	s.signature = wallet.Signature(raw)
	return s, nil
}

// choose gives the label of the signature that counts.
func choose(inputs *httpsfv.Dictionary) (string, error) {
	var names []string
	for _, name := range inputs.Names() {
		member, _ := inputs.Get(name)
		list, ok := member.(httpsfv.InnerList)
		if !ok || list.Params == nil {
			continue
		}
		id, _ := list.Params.Get("keyid")
		if text, _ := id.(string); strings.HasPrefix(text, keyIDPrefix) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) == 1:
		return names[0], nil
	case slices.Contains(names, label):
		return label, nil
	case len(names) == 0:
		return "", swarm.Errorf(swarm.CodeUnauthenticated, `%s: no signature has a keyid="%sCHAIN:ADDRESS"`, SignatureInputHeader, keyIDPrefix)
	}
	return "", swarm.Errorf(swarm.CodeInvalid, "%s: %d signatures have a keyid of ours, and none is labelled %s", SignatureInputHeader, len(names), label)
}

func (s *signature) setCovered(items []httpsfv.Item) error {
	if len(items) > maxCovered {
		return swarm.Errorf(swarm.CodeInvalid, "signature: it covers %d components; at most %d are allowed", len(items), maxCovered)
	}
	for _, item := range items {
		name, ok := item.Value.(string)
		switch {
		case !ok || name == "":
			return swarm.Errorf(swarm.CodeInvalid, "signature: a component's name is a string")
		case item.Params != nil && len(item.Params.Names()) > 0:
			return swarm.Errorf(swarm.CodeInvalid, "signature: component %.80q has parameters, and none are known here", name)
		case slices.Contains(s.covered, name):
			return swarm.Errorf(swarm.CodeInvalid, "signature: component %.80q is there twice", name)
		}
		s.covered = append(s.covered, name)
	}
	return nil
}

var errParams = errors.New("want created and expires (Unix seconds), nonce and keyid (strings)")

func (s *signature) setParams(p *httpsfv.Params) error {
	created, _ := p.Get("created")
	expires, _ := p.Get("expires")
	nonce, _ := p.Get("nonce")
	id, _ := p.Get("keyid")
	var ok [4]bool
	s.created, ok[0] = created.(int64)
	s.expires, ok[1] = expires.(int64)
	s.nonce, ok[2] = nonce.(string)
	key, isText := id.(string)
	ok[3] = isText
	if ok != [4]bool{true, true, true, true} {
		return swarm.Errorf(swarm.CodeInvalid, "signature: %v", errParams)
	}
	if _, named := p.Get("alg"); named {
		return swarm.Errorf(swarm.CodeInvalid, "signature: ERC-8128 has no alg: keyid says it")
	}
	// A short one is the signer's own risk: it may have been used before.
	if len(s.nonce) < 1 || len(s.nonce) > maxNonce {
		return swarm.Errorf(swarm.CodeInvalid, "signature: nonce has %d bytes; want 1 to %d", len(s.nonce), maxNonce)
	}
	chain, address, _ := strings.Cut(strings.TrimPrefix(key, keyIDPrefix), ":")
	var isChain, isAddress bool
	s.chainID, isChain = number(chain)
	// ERC-8128 has verifiers take any case; the signature says whose it is.
	s.wallet, isAddress = wallet.FoldAddress(address)
	if !isChain || !isAddress {
		return swarm.Errorf(swarm.CodeInvalid, "signature: keyid is %.80q; want %sCHAIN:0x and 40 hex digits", key, keyIDPrefix)
	}
	return nil
}
