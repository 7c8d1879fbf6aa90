package remote

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/loopback"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Settings say how a server is reached. The zero value is fine for one on this machine.
type Settings struct {
	// Codebook is the hash of the codebook that is confirmed, if there is one; see
	// client.CellsSettings. Server.Codebook then returns that one or none.
	Codebook wire.Hash
	// Epoch is the hash of the epoch of mode sealed that is confirmed, if there is one.
	// Server.SealedManifest then returns that one or none.
	Epoch wire.Hash
	// Cache is a folder for what does not depend on a query. Default: none.
	Cache string
	// TLS has certificates and their authorities for https. Default: those of the system.
	TLS *tls.Config
	// Token is sent as a bearer token. It goes over https, and over http to this machine.
	Token string
	// ClearToken sends Token over http to other machines as well, where everybody on the
	// way can read it.
	ClearToken bool
	// Proxy uses the proxies that the environment names.
	Proxy bool
	// Stall is how long to wait for a connection, for the head of an answer, and for each
	// 16 KiB of its body. Default: 30 seconds.
	Stall time.Duration
	// Tries is how often to try without progress, which is 16 KiB, before giving up.
	// Default: 5.
	Tries int
	// Wait is the longest pause before another try that a server may ask for by Retry-After. Where
	// it asks for a longer one there is no other try. Default: a minute.
	Wait time.Duration
	// Memory is how many bytes of memory everything may take that comes from the server: the
	// codebook, the map, samples, galleries and hints together, and the answer that is being
	// taken, as bytes and as numbers. What a caller keeps in addition to these, such as answers, it counts
	// by Hold. A message that there is no room for is ErrTooLong. Some 8 MiB for connections come
	// on top. Default: no limit.
	Memory int64
	// Progress, if not nil, is told how much of a download is there, by the goroutine that
	// waits for it.
	Progress func(what string, done, total int64)
	// Warn, if not nil, is told what does not work and is not needed, such as the cache, in
	// the same manner.
	Warn func(error)
}

const (
	defaultStall = 30 * time.Second
	defaultTries = 5
	defaultWait  = time.Minute
)

// checkAddress returns the address of a server without a slash at its end.
func checkAddress(address string, s *Settings) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // what it says repeats the address, which may hold a password
		return nil, fmt.Errorf("remote: %w: the address of the server is invalid; want http://HOST:PORT or https://HOST", ErrSettings)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("remote: %w: the address of the server begins with http:// or https://, and a host follows", ErrSettings)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("remote: %w: the address of the server has a name, a query or a fragment in it; want a host, a port and a path alone", ErrSettings)
	case u.Scheme == "http" && s.Token != "" && !s.ClearToken && !loopback.Host(u.Hostname()):
		return nil, fmt.Errorf("remote: %w: the token would go over http, where everybody on the way can read it; use https", ErrSettings)
	case strings.ContainsAny(s.Token, "\r\n\x00"):
		return nil, fmt.Errorf("remote: %w: the token has more than one line", ErrSettings)
	case s.Stall < 0 || s.Tries < 0 || s.Wait < 0 || s.Memory < 0:
		return nil, fmt.Errorf("remote: %w: Stall, Tries, Wait and Memory must not be negative", ErrSettings)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// newHTTPClient returns a client that adds nothing to a request, follows no redirect and
// waits for nothing longer than stall.
func newHTTPClient(s *Settings, open *connections) *http.Client {
	t := &http.Transport{
		DialContext:           open.dialer((&net.Dialer{Timeout: s.Stall}).DialContext),
		TLSHandshakeTimeout:   s.Stall,
		ResponseHeaderTimeout: s.Stall,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   16,
		// A header of the answer is some lines.
		MaxResponseHeaderBytes: 1 << 16,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
	}
	if s.TLS != nil {
		t.TLSClientConfig = s.TLS.Clone()
	}
	if s.Proxy {
		t.Proxy = http.ProxyFromEnvironment
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
