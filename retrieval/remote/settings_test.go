package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:8480": true, "https://gallery.example": true, "https://gallery.example/under/": true, "http://[::1]:80": true,
		"": false, "gallery.example": false, "ftp://gallery.example": false, "http://": false, "http://name:secret@host": false,
		"http://host?query": false, "http://host#part": false, "http://host:port": false, "http://ho\nst": false,
	} {
		s, err := New(address, Settings{})
		if ok != (err == nil) || err != nil && !errors.Is(err, ErrSettings) {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
		if err == nil && strings.HasSuffix(s.address.Path, "/") {
			t.Error(s.address)
		}
	}
	for _, c := range []struct {
		address  string
		settings Settings
		ok       bool
	}{
		{"http://gallery.example", Settings{Token: "t"}, false},
		{"http://gallery.example", Settings{Token: "t", ClearToken: true}, true},
		{"https://gallery.example", Settings{Token: "t"}, true},
		{"http://localhost:1", Settings{Token: "t"}, true},
		{"http://127.0.0.1", Settings{Token: "t"}, true},
		{"http://127.0.0.1.example", Settings{Token: "t"}, false},
		{"https://gallery.example", Settings{Token: "t\r\nHost: other"}, false},
		{"https://gallery.example", Settings{Stall: -1}, false},
		{"https://gallery.example", Settings{Tries: -1}, false},
	} {
		if _, err := New(c.address, c.settings); c.ok != (err == nil) || err != nil && !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %v", c.address, err)
		}
	}
}

// Proxies are used where that is said, and not otherwise.
func TestProxies(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		c := newHTTPClient(&Settings{Proxy: proxy}, new(connections))
		if got := c.Transport.(*http.Transport).Proxy != nil; got != proxy {
			t.Errorf("proxy %v, want %v", got, proxy)
		}
	}
}

// A server is trusted by its certificate, and trusts a client by its token. No try is made
// twice where trust is missing.
func TestTrust(t *testing.T) {
	g := newThings(t, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		g.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	trusting := &tls.Config{RootCAs: pool}
	for name, c := range map[string]struct {
		settings Settings
		want     error
	}{
		"both":           {Settings{TLS: trusting, Token: "secret"}, nil},
		"no certificate": {Settings{Token: "secret"}, ErrCertificate},
		"no token":       {Settings{TLS: trusting}, ErrRefused},
		"another token":  {Settings{TLS: trusting, Token: "other"}, ErrRefused},
	} {
		r := reachAt(t, s.URL, c.settings)
		_, err := r.Codebook(t.Context())
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || len(r.pauses) > 0) {
			t.Errorf("%s: %v after %d pauses", name, err, len(r.pauses))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999999999999": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
	for failures := 1; failures < 100; failures++ {
		if d := backoff(failures); d < shortestPause/2 || d > longestPause {
			t.Errorf("%d failures: %v", failures, d)
		}
	}
}

// A pause that a server asks for is never cut short, and differs from client to client.
func TestRetryAfterIsSpread(t *testing.T) {
	const after = 40 * time.Second
	all := map[time.Duration]bool{}
	for range 20 {
		var told bool
		s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if told {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			told = true
			w.Header().Set("Retry-After", "40")
			w.WriteHeader(http.StatusTooManyRequests)
		}), Settings{})
		if _, err := s.Codebook(t.Context()); !errors.Is(err, ErrRefused) || len(s.pauses) != 1 {
			t.Fatalf("%v after %v", err, s.pauses)
		}
		if d := s.pauses[0]; d < after || d > after+after/2 {
			t.Errorf("a pause of %v", d)
		} else {
			all[d] = true
		}
	}
	if len(all) < 10 {
		t.Errorf("%d different pauses of 20", len(all))
	}
	if d := later(0); d != 0 {
		t.Errorf("%v where no pause was asked for", d)
	}
}

// What is wrong with TLS is said in plain words, at the first try, and nothing was sent.
func TestDistrustIsExplained(t *testing.T) {
	plain := httptest.NewServer(newThings(t, 1))
	defer plain.Close()
	tlsServer := func(change func(*tls.Config)) *httptest.Server {
		s := httptest.NewUnstartedServer(newThings(t, 1))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = new(tls.Config)
		change(s.TLS)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	asks := tlsServer(func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	s := tlsServer(func(*tls.Config) {})
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	for name, c := range map[string]struct {
		address  string
		settings *tls.Config
		want     error
		says     string
	}{
		"unknown":      {s.URL, nil, ErrCertificate, "this client does not trust the certificate of the server: none of the authorities"},
		"another name": {s.URL, &tls.Config{RootCAs: pool, ServerName: "gallery.example"}, ErrCertificate, "it is not for the name gallery.example"},
		"expired":      {s.URL, &tls.Config{RootCAs: pool, Time: func() time.Time { return time.Now().AddDate(200, 0, 0) }}, ErrCertificate, "it has expired"},
		"none shown":   {asks.URL, &tls.Config{RootCAs: pool}, ErrRefused, "certificate of the client"},
		"no TLS":       {strings.Replace(plain.URL, "http:", "https:", 1), nil, ErrUnreachable, "may serve http://"},
	} {
		r := reachAt(t, c.address, Settings{TLS: c.settings})
		_, err := r.Codebook(t.Context())
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || len(r.pauses) > 0 {
			t.Errorf("%s: %v after %d pauses", name, err, len(r.pauses))
		}
	}
}

// A server that asks to wait for an hour, or for longer than Wait, is not waited for.
func TestLongRetryAfter(t *testing.T) {
	for after, settings := range map[string]Settings{"3600": {}, "3": {Wait: 2 * time.Second}} {
		s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusServiceUnavailable)
		}), settings)
		if _, err := s.Codebook(t.Context()); !errors.Is(err, ErrRefused) || len(s.pauses) != 0 {
			t.Errorf("%v after %v", err, s.pauses)
		}
	}
}
