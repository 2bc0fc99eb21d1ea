package signin

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/swarmseal/swarmseal/swarm"
)

// digestField is Content-Digest as a component of a signature.
const digestField = "content-digest"

// needed gives what a signature covers at the least, so that it is bound to one
// request.
func needed(r *http.Request, body bool) []string {
	list := []string{"@method", "@authority", "@path"}
	if hasQuery(r) {
		list = append(list, "@query")
	}
	if body {
		list = append(list, digestField)
	}
	return list
}

func hasQuery(r *http.Request) bool { return r.URL.RawQuery != "" || r.URL.ForceQuery }

// base gives the signature base of RFC 9421: what is signed.
func (s *signature) base(r *http.Request) (string, error) {
	var b strings.Builder
	for _, name := range s.covered {
		value, err := component(r, name)
		if err != nil {
			return "", err
		}
		b.WriteString(`"` + name + `": ` + value + "\n")
	}
	b.WriteString(`"@signature-params": ` + s.params)
	return b.String(), nil
}

// component gives the value of a covered component. Of the derived ones there
// are those that bind a request; the rest say the same in other words.
func component(r *http.Request, name string) (string, error) {
	switch name {
	case "@method":
		return cmp.Or(r.Method, http.MethodGet), nil
	case "@authority":
		return bareAuthority(host(r)), nil
	case "@path":
		if path := r.URL.EscapedPath(); path != "" {
			return path, nil
		}
		return "/", nil
	case "@query":
		return "?" + r.URL.RawQuery, nil
	}
	if strings.HasPrefix(name, "@") || name != strings.ToLower(name) || strings.ContainsAny(name, " \t\":") {
		return "", swarm.Errorf(swarm.CodeInvalid, "signature: component %.80q is not known here; "+
			"there are @method, @authority, @path, @query, and header fields in lower case", name)
	}
	values := r.Header.Values(name)
	if len(values) == 0 {
		return "", swarm.Errorf(swarm.CodeUnauthenticated, "signature: it covers the field %.80q, and the request has none", name)
	}
	trimmed := make([]string, len(values))
	for i, v := range values {
		if strings.ContainsAny(v, "\r\n") {
			return "", swarm.Errorf(swarm.CodeInvalid, "signature: the field %.80q has a line break", name)
		}
		trimmed[i] = strings.Trim(v, " \t")
	}
	return strings.Join(trimmed, ", "), nil
}

// host gives the host of a server's request, or of a client's.
func host(r *http.Request) string {
	if r.Host != "" {
		return r.Host
	}
	return r.URL.Host
}

// bareAuthority writes a host as signatures do: in lower case, and without the
// port that is its scheme's own. Which scheme that is a server behind a proxy
// can't know, and no client reaches one host by both ports.
func bareAuthority(host string) string {
	host = strings.ToLower(host)
	for _, port := range []string{":443", ":80"} {
		if bare, ok := strings.CutSuffix(host, port); ok {
			return bare
		}
	}
	return host
}

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// checkDigest compares a Content-Digest (RFC 9530) with the body: sha-256 and
// sha-512 must be right where they are there, and one of them must be.
func checkDigest(values []string, body []byte) error {
	digests, err := httpsfv.UnmarshalDictionary(values)
	if err != nil {
		return swarm.Errorf(swarm.CodeInvalid, "%s: %v", DigestHeader, err)
	}
	found := false
	for _, algorithm := range []struct {
		name string
		sum  func() []byte
	}{
		{"sha-256", func() []byte { sum := sha256.Sum256(body); return sum[:] }},
		{"sha-512", func() []byte { sum := sha512.Sum512(body); return sum[:] }},
	} {
		member, there := digests.Get(algorithm.name)
		if !there {
			continue
		}
		item, _ := member.(httpsfv.Item)
		want, _ := item.Value.([]byte)
		if subtle.ConstantTimeCompare(want, algorithm.sum()) != 1 {
			return swarm.Errorf(swarm.CodeSignature, "%s: %s is not that of the body that came", DigestHeader, algorithm.name)
		}
		found = true
	}
	if !found {
		return swarm.Errorf(swarm.CodeInvalid, "%s: want sha-256 or sha-512", DigestHeader)
	}
	return nil
}
