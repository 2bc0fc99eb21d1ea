package signin

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strings"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// TicketAge is how long a ticket is good for.
const TicketAge = 30 * time.Second

// TicketParameter is the query parameter that carries a ticket.
const TicketParameter = "ticket"

const (
	ticketPrefix  = "swk_"
	ticketNonce   = 16
	ticketPayload = wallet.AddressLength + 8 + ticketNonce
)

// Tickets makes and takes tickets: a browser's EventSource can set no header,
// so it gets one for one stream, by a request that is signed in, and opens the
// stream with it in the URL. A ticket is good once and for TicketAge, for one
// path: what a log or a history keeps of it opens nothing.
//
// Its text is "swk_" and the base64url, without padding, of wallet ‖ expiry ‖
// nonce ‖ HMAC-SHA256 of these and the path under Secret. It needs no store but
// that of the nonces, and holds on every node with the same Secret.
type Tickets struct {
	Secret [32]byte
	Nonces Nonces
}

// Issue gives a ticket for a wallet and the path of a stream, as requests for it
// have it (URL.EscapedPath), and when it expires.
func (t *Tickets) Issue(who wallet.Address, path string) (ticket string, expires time.Time) {
	expires = time.Now().Add(TicketAge).Truncate(time.Second)
	payload := make([]byte, 0, ticketPayload+sha256.Size)
	payload = append(payload, who[:]...)
	payload = binary.BigEndian.AppendUint64(payload, uint64(expires.Unix()))
	payload = payload[:ticketPayload]
	_, _ = rand.Read(payload[ticketPayload-ticketNonce:]) // it never fails
	return ticketPrefix + base64.RawURLEncoding.EncodeToString(append(payload, t.mac(payload, path)...)), expires
}

func (t *Tickets) mac(payload []byte, path string) []byte {
	h := hmac.New(sha256.New, t.Secret[:])
	h.Write([]byte("swarmseal ticket\x00"))
	h.Write(payload) // of a fixed length
	h.Write([]byte(path))
	return h.Sum(nil)
}

// Redeem gives the wallet that a ticket is for, and uses it up. Errors are
// *swarm.Errors, save those of Nonces; none has the ticket in it.
func (t *Tickets) Redeem(ctx context.Context, ticket, path string) (wallet.Address, error) {
	refuse := func(why string) (wallet.Address, error) {
		return wallet.Address{}, swarm.Errorf(swarm.CodeUnauthenticated, "the ticket %s: ask for another", why)
	}
	raw, ok := decodeTicket(ticket)
	if !ok || !hmac.Equal(raw[ticketPayload:], t.mac(raw[:ticketPayload], path)) {
		return refuse("is none of this server's for this stream")
	}
	expires := time.Unix(int64(binary.BigEndian.Uint64(raw[wallet.AddressLength:])), 0)
	if !time.Now().Before(expires) {
		return refuse("has expired")
	}
	nonce := base64.RawURLEncoding.EncodeToString(raw[ticketPayload-ticketNonce : ticketPayload])
	switch fresh, err := t.Nonces.Use(ctx, "ticket:"+nonce, expires); {
	case err != nil:
		return wallet.Address{}, err
	case !fresh:
		return refuse("was used before")
	}
	return wallet.Address(raw[:wallet.AddressLength]), nil
}

// decodeTicket gives a ticket's bytes, of their length.
func decodeTicket(ticket string) (raw []byte, ok bool) {
	text, ok := strings.CutPrefix(ticket, ticketPrefix)
	if !ok || len(text) != base64.RawURLEncoding.EncodedLen(ticketPayload+sha256.Size) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return raw, err == nil && len(raw) == ticketPayload+sha256.Size // line breaks are passed over
}

// LogURL writes a request's path and query for a log, with any ticket as
// REDACTED.
func LogURL(u *url.URL) string {
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		// A query that can't be read may hide one.
		return u.EscapedPath() + "?REDACTED"
	}
	query := u.Query()
	if !query.Has(TicketParameter) {
		return u.RequestURI()
	}
	query.Set(TicketParameter, "REDACTED")
	return u.EscapedPath() + "?" + query.Encode()
}
