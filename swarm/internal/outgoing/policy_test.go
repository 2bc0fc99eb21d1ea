package outgoing_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/swarmseal/swarmseal/swarm/internal/outgoing"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// Each of these must be refused before a packet leaves, in CheckURL where the
// URL alone shows it, and in a request in any case.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ url, why string }{
		{"https://127.0.0.1/", "not public"},
		{"https://127.1.2.3:8443/", "not public"},
		{"https://[::1]/", "not public"},
		{"https://[::ffff:127.0.0.1]/", "not public"},
		{"https://[::ffff:8.8.8.8]/", "not public"}, // nobody writes it so but to pass a check
		{"https://10.0.0.1/", "not public"},
		{"https://172.16.0.1/", "not public"},
		{"https://192.168.1.1/", "not public"},
		{"https://100.64.0.1/", "not public"},
		{"https://169.254.169.254/latest/meta-data", "not public"},
		{"https://[fe80::1]/", "not public"},
		{"https://[fd00::1]/", "not public"},
		{"https://[fd00:ec2::254]/", "not public"},
		{"https://[64:ff9b::7f00:1]/", "not public"},
		{"https://[2002:7f00:1::]/", "not public"},
		{"https://[::]/", "not public"},
		{"https://0.0.0.0/", "not public"},
		{"https://224.0.0.1/", "not public"},
		{"https://255.255.255.255/", "not public"},
		{"https://198.18.0.1/", "not public"},
		{"http://8.8.8.8/", "want https"},
		{"http://example.com/", "want https"},
		{"ftp://example.com/", "want https"},
		{"file:///etc/passwd", "want https"},
		{"gopher://127.0.0.1:6379/", "want https"},
		{"https:///path", "no host"},
		{"https://user:secret@example.com/", "name or password"},
		{"//example.com", "want https"},
		{"", "want https"},
	} {
		err := outgoing.Policy{}.CheckURL(c.url)
		if refused, ok := errors.AsType[*outgoing.RefusedError](err); !ok || !strings.Contains(refused.Why, c.why) {
			t.Errorf("CheckURL(%q): %v; want it refused as %q", c.url, err, c.why)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("CheckURL(%q) shows the password: %v", c.url, err)
		}
		resp, err := outgoing.Policy{}.Client().Get(c.url)
		if err == nil {
			resp.Body.Close()
		}
		if c.url == "" || strings.HasPrefix(c.url, "//") {
			continue // net/http refuses these itself
		}
		if _, ok := errors.AsType[*outgoing.RefusedError](err); !ok {
			t.Errorf("GET %q: %v; want it refused", c.url, err)
		}
	}
}

func TestPublicURLsPass(t *testing.T) {
	for _, url := range []string{"https://example.com/card.json", "https://example.com:8443/", "https://8.8.8.8/", "https://[2606:4700::1111]/"} {
		if err := (outgoing.Policy{}).CheckURL(url); err != nil {
			t.Errorf("CheckURL(%q): %v", url, err)
		}
	}
}

// A name is checked by what it resolves to, as it is dialled.
func TestNameOfALoopbackAddress(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	url := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	if err := (outgoing.Policy{}).CheckURL(url); err != nil {
		t.Errorf("a name alone shows nothing: %v", err)
	}
	_, err := outgoing.Policy{}.Client().Get(url)
	if _, ok := errors.AsType[*outgoing.RefusedError](err); !ok {
		t.Errorf("%v; want the address refused", err)
	}
}

func TestAllow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "here") }))
	defer server.Close()
	client := outgoing.Policy{Allow: loopback}.Client()
	defer client.CloseIdleConnections()
	resp, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "here" || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := client.Get("http://127.0.0.2:1/"); err == nil || !strings.Contains(err.Error(), "refused: want https") {
		t.Errorf("an address beside the allowed one: %v", err)
	}
}

func TestNoProxyIsUsed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	_, err := outgoing.Policy{Allow: loopback}.Client().Get("https://10.1.1.1/")
	if _, ok := errors.AsType[*outgoing.RefusedError](err); !ok {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	var secret string
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secret = r.Header.Get("X-Api-Key") + r.Header.Get("Authorization")
	}))
	defer target.Close()
	mux := http.NewServeMux()
	to := func(url string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, url, http.StatusFound) }
	}
	mux.HandleFunc("/metadata", to("http://169.254.169.254/latest/meta-data"))
	mux.HandleFunc("/loopback", to("http://127.0.0.2:1/"))
	mux.HandleFunc("/file", to("file:///etc/passwd"))
	mux.HandleFunc("/loop", to("/loop"))
	mux.HandleFunc("/good", to(target.URL))
	server := httptest.NewServer(mux)
	defer server.Close()
	client := outgoing.Policy{Allow: loopback}.Client()
	defer client.CloseIdleConnections()
	for _, path := range []string{"/metadata", "/loopback", "/file", "/loop"} {
		_, err := client.Get(server.URL + path)
		if _, ok := errors.AsType[*outgoing.RefusedError](err); !ok {
			t.Errorf("%s: %v; want it refused", path, err)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/good", nil)
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Authorization", "Bearer b")
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if secret != "" {
		t.Errorf("another origin got %q", secret)
	}
}

func TestBodyIsBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 1000))
	}))
	defer server.Close()
	for _, limit := range []int64{999, 1000, 1001} {
		client := outgoing.Policy{Allow: loopback, MaxBytes: limit}.Client()
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		client.CloseIdleConnections()
		tooLarge, is := errors.AsType[*outgoing.TooLargeError](err)
		if is != (limit < 1000) || len(body) != int(min(limit, 1000)) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(body), err)
		}
		if is && !strings.Contains(tooLarge.Error(), fmt.Sprint(limit)) {
			t.Errorf("the error %q does not name its limit", tooLarge)
		}
	}
}

func TestTimeIsBounded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	client := outgoing.Policy{Allow: loopback, Timeout: 50 * time.Millisecond}.Client()
	defer client.CloseIdleConnections()
	resp, err := client.Get(server.URL)
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); !ok || !timeout.Timeout() {
		t.Errorf("%v; want a timeout", err)
	}
}

func TestParseAllow(t *testing.T) {
	got, err := outgoing.ParseAllow("127.0.0.1, 10.1.2.3/8,::1,")
	if err != nil || fmt.Sprint(got) != "[127.0.0.1/32 10.0.0.0/8 ::1/128]" {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"localhost", "10.0.0.0/33", "::ffff:10.0.0.1", "fe80::1%eth0", "127.0.0.1:80"} {
		if _, err := outgoing.ParseAllow(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
