package signin

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// RFC 9421's test request and its signature base of B.2.3.
func TestBaseOfRFC9421(t *testing.T) {
	r := httptest.NewRequest("POST", "http://example.com/foo?param=Value&Pet=dog", strings.NewReader(`{"hello": "world"}`))
	for name, value := range map[string]string{
		"Date": "Tue, 20 Apr 2021 02:07:55 GMT", "Content-Type": "application/json", "Content-Length": "18",
		"Content-Digest": "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:",
	} {
		r.Header.Set(name, value)
	}
	s := signature{
		covered: []string{"date", "@method", "@path", "@query", "@authority", "content-type", "content-digest", "content-length"},
		params: `("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length")` +
			`;created=1618884473;keyid="test-key-rsa-pss"`,
	}
	got, err := s.base(r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@query": ?param=Value&Pet=dog
"@authority": example.com
"content-type": application/json
"content-digest": sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:
"content-length": 18
"@signature-params": ("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-rsa-pss"`
	if got != want {
		t.Errorf("base\n%s\nwant\n%s", got, want)
	}
	if err := checkDigest(r.Header.Values(DigestHeader), []byte(`{"hello": "world"}`)); err != nil {
		t.Error(err)
	}
}

// The forms of @authority, @path and @query that RFC 9421 shows in 2.2.
func TestComponents(t *testing.T) {
	for _, c := range []struct{ url, name, want string }{
		{"http://www.example.com/path?param=value", "@authority", "www.example.com"},
		{"http://WWW.EXAMPLE.com:80/path", "@authority", "www.example.com"},
		{"https://www.example.com:443/path", "@authority", "www.example.com"},
		{"http://www.example.com:8080/path", "@authority", "www.example.com:8080"},
		{"http://[::1]:8420/path", "@authority", "[::1]:8420"},
		{"http://www.example.com/path?param=value", "@path", "/path"},
		{"http://www.example.com", "@path", "/"},
		{"http://www.example.com/%61%2Fb", "@path", "/%61%2Fb"},
		{"http://www.example.com/path?param=value&foo=bar&baz=bat%2Dman", "@query", "?param=value&foo=bar&baz=bat%2Dman"},
		{"http://www.example.com/path?queryString", "@query", "?queryString"},
		{"http://www.example.com/path?", "@query", "?"},
		{"http://www.example.com/path", "@query", "?"},
	} {
		got, err := component(httptest.NewRequest("GET", c.url, nil), c.name)
		if err != nil || got != c.want {
			t.Errorf("%s of %s is %q (%v), want %q", c.name, c.url, got, err, c.want)
		}
	}
}
