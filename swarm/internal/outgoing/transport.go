package outgoing

import (
	"io"
	"net/http"
)

// guarded checks each request, those that redirects make included.
type guarded struct {
	policy      Policy
	https, http *http.Transport
}

func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := g.policy.check(req.URL); err != nil {
		if req.Body != nil {
			req.Body.Close() // a RoundTripper must, on errors too
		}
		return nil, err
	}
	if req.URL.Scheme == "http" {
		return g.http.RoundTrip(req)
	}
	return g.https.RoundTrip(req)
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (g *guarded) CloseIdleConnections() {
	g.https.CloseIdleConnections()
	g.http.CloseIdleConnections()
}

// capped bounds the bodies of answers.
type capped struct {
	http.RoundTripper
	limit int64
}

func (c *capped) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := c.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &cappedBody{resp.Body, c.limit, c.limit}
	}
	return resp, err
}

// CloseIdleConnections is what http.Client.CloseIdleConnections looks for.
func (c *capped) CloseIdleConnections() {
	if t, ok := c.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

type cappedBody struct {
	io.ReadCloser
	limit, left int64
}

// Read reads one byte more than is allowed, for a body of just the limit is
// none that is too large.
func (b *cappedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		b.left = 0
		return n, &TooLargeError{b.limit}
	}
	b.left -= int64(n)
	return n, err
}
