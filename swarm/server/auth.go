package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/swarm/internal/engine"
	"github.com/swarmseal/swarmseal/wallet"
)

// A bearer token is "swt_" and the base64url of wallet ‖ expiry ‖ HMAC-SHA256
// of the two under a secret of this process. It needs no store; a restart
// ends all of them, and clients sign in again by themselves.
const (
	tokenPrefix  = "swt_"
	tokenPayload = wallet.AddressLength + 8
)

func (s *Server) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write(payload)
	return h.Sum(nil)
}

// signIn gives a token for a signed session.
func (s *Server) signIn(r *http.Request, signed *swarm.SignedSession) (token string, err error) {
	if err := signed.Verify(s.domain, swarm.SessionOrigin(s.cfg.Key.Address()), time.Now()); err != nil {
		return "", err
	}
	session := &signed.Session
	switch err := s.engine.Once(r.Context(), session.Wallet.String()+"."+session.Nonce.String()); {
	case errors.Is(err, engine.ErrExists):
		return "", swarm.Errorf(swarm.CodeNonceConflict, "session.nonce was used before")
	case err != nil:
		return "", err
	}
	payload := binary.BigEndian.AppendUint64(session.Wallet[:], session.ExpiresAt)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(payload, s.mac(payload)...)), nil
}

// caller gives the wallet that the request's bearer token is bound to.
func (s *Server) caller(r *http.Request) (wallet.Address, error) {
	refuse := func(why string) (wallet.Address, error) {
		return wallet.Address{}, swarm.Errorf(swarm.CodeUnauthenticated, "%s: sign in with POST /sessions", why)
	}
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "+tokenPrefix)
	if !ok {
		return refuse("no bearer token of this server's")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != tokenPayload+sha256.Size || !hmac.Equal(raw[tokenPayload:], s.mac(raw[:tokenPayload])) {
		return refuse("the bearer token is none of this server's, or of before its restart")
	}
	if expires := binary.BigEndian.Uint64(raw[wallet.AddressLength:]); time.Now().Unix() >= int64(expires) {
		return refuse("the bearer token has expired")
	}
	return wallet.Address(raw[:wallet.AddressLength]), nil
}

// callerIs refuses a request that is not signed in as want.
func (s *Server) callerIs(r *http.Request, want wallet.Address) error {
	got, err := s.caller(r)
	if err == nil && got != want {
		err = swarm.Errorf(swarm.CodeForbidden, "signed in as %v; only %v may do this", got, want)
	}
	return err
}

// anonymousHere refuses an unsigned request that was not made out to this
// machine: a page in a browser may have had its own host's name resolve to it.
func (s *Server) anonymousHere(r *http.Request) error {
	if !s.cfg.Anonymous {
		return swarm.Errorf(swarm.CodeUnauthenticated, "this server takes signed requests alone: send a signed delegation to POST /delegations")
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return swarm.Errorf(swarm.CodeForbidden, "unsigned requests are taken for localhost alone, not for host %q", host)
	}
	return nil
}
