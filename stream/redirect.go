package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects is the number of the redirect, of one request, that is not
// followed any more: the same as net/http's.
const maxRedirects = 10

// What stands in the way of following a redirect.
var (
	errNoLocation  = errors.New("it has no Location: where to go on is not said")
	errNotHTTP     = errors.New("want a Location of http:// or https:// and a host")
	errInTheClear  = errors.New("it leads from https to http, where others can read along")
	errBecomesGET  = errors.New("it would turn the request into a GET: set BaseURL to where it leads")
	errTooMany     = fmt.Errorf("it is number %d in a row: a loop?", maxRedirects)
	errNotFollowed = errors.New("HTTP's CheckRedirect does not follow it")
)

// RedirectError says that an answer leads elsewhere and was not followed.
type RedirectError struct {
	Status   int    // 301, 302, 303, 307 or 308
	Location string // as it came; "" where there was none
	Err      error  // why it was not followed; never nil
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("%d %s to %.200q: %v", e.Status, http.StatusText(e.Status), e.Location, e.Err)
}

func (e *RedirectError) Unwrap() error { return e.Err }

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// do sends a request and follows redirects as net/http does, but for those
// that this package refuses, each with a *RedirectError.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	client := http.DefaultClient
	if c.HTTP != nil {
		client = c.HTTP
	}
	own := *client
	own.Transport = &redirecting{next: client.Transport, first: req.URL, header: c.Header}
	resp, err := own.Do(req)
	if e, ok := errors.AsType[*RedirectError](err); ok {
		return nil, e
	}
	if resp == nil || err == nil {
		return resp, err
	}
	// Both come only where CheckRedirect gave the error; the body is closed.
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return nil, &RedirectError{Status: resp.StatusCode, Location: resp.Header.Get("Location"), Err: err}
}

// redirecting judges the redirects of one request. It is a RoundTripper and no
// CheckRedirect because that is not asked where a Location is missing or
// broken, and comes too late to see that a POST has become a GET.
type redirecting struct {
	next    http.RoundTripper
	first   *url.URL
	header  http.Header // the caller's
	count   int
	strange bool // some request went to another host than the first
}

func (r *redirecting) RoundTrip(req *http.Request) (*http.Response, error) {
	r.strange = r.strange || !sameHost(r.first, req.URL)
	if r.strange {
		own := *req
		req = &own
		req.Header = req.Header.Clone()
		for name := range r.header {
			switch name = http.CanonicalHeaderKey(name); name {
			case "Content-Type", "User-Agent":
			default: // any name may be that of a credential
				req.Header.Del(name)
			}
		}
	}
	next := r.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if err != nil || !redirects(resp.StatusCode) {
		return resp, err
	}
	r.count++
	location := resp.Header.Get("Location")
	if err := r.check(req, resp.StatusCode, location); err != nil {
		resp.Body.Close()
		return nil, &RedirectError{Status: resp.StatusCode, Location: location, Err: err}
	}
	return resp, nil
}

// check says why a redirect is not followed.
func (r *redirecting) check(req *http.Request, status int, location string) error {
	if location == "" {
		return errNoLocation
	}
	to, err := req.URL.Parse(location)
	switch {
	case err != nil:
		return err
	case to.Scheme != "http" && to.Scheme != "https" || to.Host == "":
		return errNotHTTP
	case req.URL.Scheme == "https" && to.Scheme == "http":
		return errInTheClear
	case req.Method != http.MethodGet && (status == http.StatusMovedPermanently || status == http.StatusFound):
		return errBecomesGET
	case r.count >= maxRedirects:
		return errTooMany
	}
	return nil
}

// sameHost reports whether to is on from's host and port, or on its https port
// where from has that of http.
func sameHost(from, to *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" || u.Scheme != "https" {
			return cmp.Or(p, "80")
		}
		return "443"
	}
	upgraded := port(from) == "80" && port(to) == "443" && to.Scheme == "https"
	return strings.EqualFold(from.Hostname(), to.Hostname()) && (port(from) == port(to) || upgraded)
}
