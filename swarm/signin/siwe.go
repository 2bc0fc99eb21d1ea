package signin

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/swarmseal/swarmseal/swarm"
	"github.com/swarmseal/swarmseal/wallet"
)

// Limits of a text that a person signs in with.
const (
	MaxMessageBytes = 8 << 10
	MaxResources    = 100
)

// Message is the text by which a person signs in with a browser's wallet:
// EIP-4361, "Sign-In with Ethereum". The wallet shows it, and compares Scheme
// and Domain with the page that asks.
type Message struct {
	Scheme    string         // of the page; "" is https
	Domain    string         // of the page: host, or host:port
	Address   wallet.Address // who signs in
	Statement string         // for people to read, or ""
	URI       string         // what is signed in to
	ChainID   uint64
	Nonce     string // 8 or more letters and digits, used once
	IssuedAt  time.Time
	// The rest is optional, and zero where it is left out.
	ExpirationTime time.Time
	NotBefore      time.Time
	RequestID      string
	Resources      []string // URIs
}

const (
	wantsYou = " wants you to sign in with your Ethereum account:"
	version  = "1"
)

// String gives the text to be signed. Times are in UTC, to the second or as
// fine as they are. ParseMessage reads it where the members are in bounds.
func (m *Message) String() string {
	var b strings.Builder
	if m.Scheme != "" {
		b.WriteString(m.Scheme + "://")
	}
	b.WriteString(m.Domain + wantsYou + "\n" + m.Address.String() + "\n\n")
	if m.Statement != "" {
		b.WriteString(m.Statement + "\n")
	}
	b.WriteString("\nURI: " + m.URI + "\nVersion: " + version + "\nChain ID: " + strconv.FormatUint(m.ChainID, 10) +
		"\nNonce: " + m.Nonce + "\nIssued At: " + timeText(m.IssuedAt))
	if !m.ExpirationTime.IsZero() {
		b.WriteString("\nExpiration Time: " + timeText(m.ExpirationTime))
	}
	if !m.NotBefore.IsZero() {
		b.WriteString("\nNot Before: " + timeText(m.NotBefore))
	}
	if m.RequestID != "" {
		b.WriteString("\nRequest ID: " + m.RequestID)
	}
	if m.Resources != nil {
		b.WriteString("\nResources:")
		for _, r := range m.Resources {
			b.WriteString("\n- " + r)
		}
	}
	return b.String()
}

func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ParseMessage reads a text by EIP-4361's grammar to the letter: nothing is
// trimmed, no line is passed over, and line feeds alone end lines. Stricter than
// the grammar, an address must have its checksum, an empty statement or request
// id is left out, and the chain id has no leading zeros; every wallet and
// library writes it so.
//
// The error is a *swarm.Error of CodeInvalid that names the line.
func ParseMessage(text string) (*Message, error) {
	if len(text) > MaxMessageBytes {
		return nil, swarm.Errorf(swarm.CodeTooLarge, "the sign-in message has %d bytes; at most %d are allowed", len(text), MaxMessageBytes)
	}
	p := &parser{lines: strings.Split(text, "\n")}
	m := new(Message)
	p.origin(m)
	p.address(m)
	p.statement(m)
	p.value("URI: ", func(v string) bool { m.URI = v; return isURI(v) }, "a URI")
	p.value("Version: ", func(v string) bool { return v == version }, version)
	p.value("Chain ID: ", func(v string) (ok bool) {
		m.ChainID, ok = number(v)
		return ok
	}, "a number in digits")
	p.value("Nonce: ", func(v string) bool { m.Nonce = v; return isNonce(v) }, "8 or more letters and digits")
	p.value("Issued At: ", p.time(&m.IssuedAt), timeForm)
	p.optional("Expiration Time: ", p.time(&m.ExpirationTime), timeForm)
	p.optional("Not Before: ", p.time(&m.NotBefore), timeForm)
	p.optional("Request ID: ", func(v string) bool {
		m.RequestID = v
		return v != "" && isText(v, func(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@%", c) >= 0 }) && percentEncoded(v)
	}, "an id that a URI can hold")
	p.resources(m)
	if p.err == nil && p.at < len(p.lines) {
		p.fail("nothing more")
	}
	if p.err != nil {
		return nil, p.err
	}
	return m, nil
}

const timeForm = "a time such as 2026-01-02T15:04:05Z"

// parser reads a message line by line, until something is wrong.
type parser struct {
	lines []string
	at    int // the index of the line that comes next
	err   error
}

func (p *parser) fail(want string) {
	if p.err != nil {
		return
	}
	got := "nothing"
	if p.at < len(p.lines) {
		got = strconv.Quote(p.lines[p.at])
		if len(got) > 80 {
			got = got[:80] + "…"
		}
	}
	p.err = swarm.Errorf(swarm.CodeInvalid, "line %d of the sign-in message: want %s, not %s", p.at+1, want, got)
}

// next gives the line that comes next, where there is one.
func (p *parser) next() (line string, ok bool) {
	if p.err != nil || p.at == len(p.lines) {
		return "", false
	}
	return p.lines[p.at], true
}

func (p *parser) origin(m *Message) {
	line, _ := p.next()
	origin, ok := strings.CutSuffix(line, wantsYou)
	m.Domain = origin
	if scheme, domain, given := strings.Cut(origin, "://"); given {
		m.Scheme, m.Domain = scheme, domain
		ok = ok && isScheme(scheme)
	}
	if !ok || !isAuthority(m.Domain) {
		p.fail(`"DOMAIN` + wantsYou + `"`)
		return
	}
	p.at++
}

func (p *parser) address(m *Message) {
	line, _ := p.next()
	a, err := wallet.ParseAddress(line)
	if err != nil || a.String() != line {
		p.fail("an address with its EIP-55 checksum")
		return
	}
	m.Address = a
	p.at++
}

func (p *parser) statement(m *Message) {
	p.empty()
	// The statement is a line with an empty one behind it.
	if line, ok := p.next(); ok && line != "" {
		if !isText(line, func(c byte) bool { return c == ' ' || isUnreserved(c) || isReserved(c) }) {
			p.fail("a statement of ASCII letters, digits, spaces and the signs that a URI may have")
			return
		}
		m.Statement = line
		p.at++
	}
	p.empty()
}

func (p *parser) empty() {
	if line, ok := p.next(); !ok || line != "" {
		p.fail("an empty line")
		return
	}
	p.at++
}

// value reads a line that must be there.
func (p *parser) value(name string, set func(string) bool, want string) {
	line, _ := p.next()
	if v, ok := strings.CutPrefix(line, name); !ok || !set(v) {
		p.fail(strconv.Quote(name) + " and " + want)
		return
	}
	p.at++
}

// optional reads a line that may be there.
func (p *parser) optional(name string, set func(string) bool, want string) {
	if line, ok := p.next(); ok && strings.HasPrefix(line, name) {
		p.value(name, set, want)
	}
}

func (p *parser) resources(m *Message) {
	if line, ok := p.next(); !ok || line != "Resources:" {
		return
	}
	p.at++
	m.Resources = []string{}
	for line, ok := p.next(); ok; line, ok = p.next() {
		r, isResource := strings.CutPrefix(line, "- ")
		switch {
		case !isResource || !isURI(r):
			p.fail(`"- " and a URI`)
		case len(m.Resources) == MaxResources:
			p.fail("at most " + strconv.Itoa(MaxResources) + " resources")
		default:
			m.Resources = append(m.Resources, r)
			p.at++
		}
	}
}

// time reads a date-time of RFC 3339 with a T and a Z in upper case.
func (p *parser) time(into *time.Time) func(string) bool {
	return func(v string) bool {
		t, err := time.Parse(time.RFC3339Nano, v)
		*into = t.UTC()
		return err == nil && len(v) <= len("2006-01-02T15:04:05.999999999+07:00") && !t.IsZero() && !strings.Contains(v, ",")
	}
}

func number(v string) (uint64, bool) {
	n, err := strconv.ParseUint(v, 10, 64)
	return n, err == nil && strconv.FormatUint(n, 10) == v
}

func isText(s string, allowed func(byte) bool) bool {
	for i := range len(s) {
		if !allowed(s[i]) {
			return false
		}
	}
	return true
}

func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isUnreserved(c byte) bool { return isAlpha(c) || isDigit(c) || strings.IndexByte("-._~", c) >= 0 }
func isReserved(c byte) bool   { return strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 }

func isNonce(s string) bool {
	return len(s) >= 8 && len(s) <= maxNonce && isText(s, func(c byte) bool { return isAlpha(c) || isDigit(c) })
}

func isScheme(s string) bool {
	return s != "" && isAlpha(s[0]) && isText(s, func(c byte) bool { return isAlpha(c) || isDigit(c) || strings.IndexByte("+-.", c) >= 0 })
}

// isURI reports whether s is a URI of RFC 3986: a scheme, and behind it what
// its grammar allows.
func isURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && isScheme(u.Scheme) && percentEncoded(s) &&
		isText(s, func(c byte) bool { return isUnreserved(c) || isReserved(c) || c == '%' })
}

// isAuthority reports whether s is a host with an optional port. RFC 3986 has
// room for a user before it, which no origin of a page has.
func isAuthority(s string) bool {
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Hostname() != "" && !strings.HasSuffix(s, ":") && percentEncoded(s) &&
		isText(s, func(c byte) bool { return isUnreserved(c) || strings.IndexByte("!$&'()*+,;=:[]%", c) >= 0 })
}

// percentEncoded reports whether every % has two hex digits behind it.
func percentEncoded(s string) bool {
	for {
		_, after, found := strings.Cut(s, "%")
		if !found {
			return true
		}
		if len(after) < 2 || strings.Trim(after[:2], "0123456789abcdefABCDEF") != "" {
			return false
		}
		s = after[2:]
	}
}
