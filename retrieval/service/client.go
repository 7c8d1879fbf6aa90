package service

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
)

// Tokens are the secrets that a client may show, read from a file. They can be read again
// while a service uses them.
type Tokens struct {
	path   string
	hashes atomic.Pointer[[][sha256.Size]byte]
}

const (
	minToken     = 16      // bytes of a token
	maxTokenFile = 1 << 20 // bytes
)

// OpenTokens reads a file with a token in each line, of at least 16 characters without
// spaces. Empty lines and lines that begin with # mean nothing. The error is ErrSettings; it
// names the line and never a token.
func OpenTokens(path string) (*Tokens, error) {
	t := &Tokens{path: path}
	if err := t.Reload(); err != nil {
		return nil, err
	}
	return t, nil
}

// Reload reads the file again. After an error the tokens are those from before.
func (t *Tokens) Reload() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return fmt.Errorf("service: %w: %w", errTokens, err)
	}
	if info.Size() > maxTokenFile {
		return fmt.Errorf("service: %w: %s has %d bytes, more than %d", errTokens, t.path, info.Size(), maxTokenFile)
	}
	text, err := os.ReadFile(t.path)
	if err != nil {
		return fmt.Errorf("service: %w: %w", errTokens, err)
	}
	hashes, err := parseTokens(string(text))
	if err != nil {
		return fmt.Errorf("service: %w: %s: %w", errTokens, t.path, err)
	}
	t.hashes.Store(&hashes)
	return nil
}

func parseTokens(text string) (hashes [][sha256.Size]byte, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		token := strings.TrimSpace(line)
		if token == "" || strings.HasPrefix(token, "#") {
			continue
		}
		if len(token) < minToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, fmt.Errorf("line %d: want at least %d printable ASCII characters without spaces", number, minToken)
		}
		hashes = append(hashes, sha256.Sum256([]byte(token)))
	}
	if len(hashes) == 0 {
		return nil, fmt.Errorf("there is no token in it")
	}
	return hashes, nil
}

// client returns who sends a request, as a key for rates, and whether that is somebody who
// may. Whoever shows no token that is known is known by address, so that guesses are
// limited.
func (t *Tokens) client(r *http.Request) (key string, known bool) {
	if t == nil {
		return address(r), true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		token = r.Header.Get("X-API-Key")
	}
	// Hashes have one length, and all of them are compared: the time tells neither the
	// length of a token nor which one is like it.
	shown := sha256.Sum256([]byte(strings.TrimSpace(token)))
	found := 0
	for _, hash := range *t.hashes.Load() {
		found |= subtle.ConstantTimeCompare(hash[:], shown[:])
	}
	if found == 0 {
		return address(r), false
	}
	return string(shown[:]), true
}

// unixClient is the address of all clients of a Unix socket: they call themselves what they like.
const unixClient = "unix"

// address returns the address of a client without its port; of IPv6 the first 64 bits, which are
// what one subscriber gets. Headers such as X-Forwarded-For are not believed: a client writes there
// what it likes.
func address(r *http.Request) string { return addressOf(r.RemoteAddr) }

// addressOf is address for the other end of a connection.
func addressOf(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return unixClient
	}
	ip := at.Addr().Unmap()
	if ip.Is4() || ip.IsLoopback() {
		return ip.WithZone("").String()
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil { // 64 bits are not too many
		return ip.String()
	}
	return prefix.String()
}
