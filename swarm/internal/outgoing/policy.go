package outgoing

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Bounds that no caller has had a reason to change.
const (
	maxRedirects    = 5
	maxHeaderBytes  = 64 << 10
	connectTimeout  = 10 * time.Second
	defaultTimeout  = 30 * time.Second
	defaultMaxBytes = 10 << 20
)

// Policy says where requests may go and how much may come back. The zero value
// is the one for production.
type Policy struct {
	// Allow names networks that may be reached although they are not public,
	// over plain http too: for development, and for peers in one's own network.
	Allow []netip.Prefix
	// Timeout bounds a request of Client, its redirects and body included;
	// zero means 30 s.
	Timeout time.Duration
	// MaxBytes bounds a body that Client gives; zero means 10 MiB. Reading
	// beyond gives a *TooLargeError.
	MaxBytes int64
}

// RefusedError says why a URL or an address is not for us to ask.
type RefusedError struct {
	Target string // the URL, without its password, or the address
	Why    string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%.200q is refused: %s", e.Target, e.Why) }

// TooLargeError says that a body has more than Limit bytes.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes, the most that is read", e.Limit)
}

// ParseAllow reads networks such as "127.0.0.0/8" or single addresses, with
// commas between; "" is none.
func ParseAllow(text string) ([]netip.Prefix, error) {
	var allow []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if addr, addrErr := netip.ParseAddr(part); addrErr == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || prefix.Addr().Is4In6() {
			return nil, fmt.Errorf("%q: want an address or a network, such as 127.0.0.1 or 10.0.0.0/8", part)
		}
		allow = append(allow, prefix.Masked())
	}
	return allow, nil
}

// CheckURL tells at once what a request would be refused for, as far as its
// URL alone shows it: use it where a URL is taken in, so that whoever gave it
// hears of it. What its name resolves to is checked as it is dialled.
func (p Policy) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return &RefusedError{text, "it is no URL"}
	}
	return p.check(u)
}

func (p Policy) check(u *url.URL) error {
	refuse := func(why string) error { return &RefusedError{u.Redacted(), why} }
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("want https")
	case u.Hostname() == "":
		return refuse("it names no host")
	case u.User != nil:
		return refuse("a name or password in a URL ends in logs")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := p.checkAddr(u.Scheme, addr); err != nil {
			return refuse(err.Error())
		}
		return nil
	}
	if u.Scheme == "http" && len(p.Allow) == 0 {
		return refuse("want https")
	}
	return nil
}

var guardian = ssrf.New(ssrf.WithAnyPort())

func (p Policy) checkAddr(scheme string, addr netip.Addr) error {
	if slices.ContainsFunc(p.Allow, func(n netip.Prefix) bool { return n.Contains(addr.Unmap().WithZone("")) }) {
		return nil
	}
	if scheme == "http" {
		return errors.New("want https")
	}
	// Not unmapped: nobody has a reason to write ::ffff:10.0.0.1 but to pass a
	// check, so the mapped form is refused as such.
	if guardian.SafeAddr(addr) != nil {
		return errors.New("its address is not public")
	}
	return nil
}

// Client gives a client whose every request is held to the policy.
func (p Policy) Client() *http.Client {
	timeout := p.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	limit := p.MaxBytes
	if limit == 0 {
		limit = defaultMaxBytes
	}
	client := p.StreamClient()
	client.Timeout = timeout
	client.Transport = &capped{client.Transport, limit}
	return client
}

// StreamClient is Client without the bounds on a body's size and time, which
// would cut a stream: whoever reads a stream bounds its frames and silences.
func (p Policy) StreamClient() *http.Client {
	return &http.Client{
		Transport:     &guarded{policy: p, https: p.transport("https"), http: p.transport("http")},
		CheckRedirect: p.redirect,
	}
}

// transport is one for a scheme, since a dialler is not told the scheme.
func (p Policy) transport(scheme string) *http.Transport {
	dialer := &net.Dialer{
		Timeout: connectTimeout,
		Control: func(network, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil || !strings.HasPrefix(network, "tcp") {
				return &RefusedError{address, "want a TCP address"}
			}
			if err := p.checkAddr(scheme, target.Addr()); err != nil {
				return &RefusedError{address, err.Error()}
			}
			return nil
		},
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    connectTimeout,
		ResponseHeaderTimeout:  defaultTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		IdleConnTimeout:        time.Minute,
		MaxIdleConnsPerHost:    4,
	}
}

// redirect is asked before each redirect; the transport checks its URL.
func (p Policy) redirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &RefusedError{via[0].URL.Redacted(), fmt.Sprintf("it redirects more than %d times", maxRedirects)}
	}
	// net/http takes off the headers that it knows to be secret. Which of the
	// others are, nobody can tell: another origin gets none of them.
	if first := via[0].URL; first.Scheme != req.URL.Scheme || first.Host != req.URL.Host {
		for name := range req.Header {
			if !slices.Contains([]string{"Accept", "Content-Type", "User-Agent"}, name) {
				delete(req.Header, name)
			}
		}
	}
	return nil
}
