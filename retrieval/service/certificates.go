package service

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// lookEvery is the time between two looks at the files of certificates.
const lookEvery = time.Second

// Certificates are the files of a certificate and its key, and of those who may sign the
// certificates of clients. A file that changes is read again with the next connection.
type Certificates struct {
	cert, key, clients string

	mu     sync.Mutex
	report func(error) // of a reload
	looked time.Time
	stamps [3]stamp
	config *tls.Config // is never changed
}

// A stamp reports whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// OpenCertificates reads a certificate with those that signed it, its key, and, unless that
// is "", the certificates of who signs those of clients. All of them are PEM files. Clients
// need a certificate in the latter case. The error is ErrSettings.
func OpenCertificates(cert, key, clients string) (*Certificates, error) {
	c := &Certificates{cert: cert, key: key, clients: clients}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reload reads the files again. After an error the certificates are those from before.
// Connections that are open stay.
func (c *Certificates) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.load()
}

// load reads the files. The lock is held.
func (c *Certificates) load() error {
	c.stamps = c.look() // before reading: what changes meanwhile is read again
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("service: %w: %w", errCertificates, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if c.clients != "" {
		text, err := os.ReadFile(c.clients)
		if err != nil {
			return fmt.Errorf("service: %w: %w", errCertificates, err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("service: %w: %s has no certificate in it", errCertificates, c.clients)
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
		// A ticket would let a client in by a certificate that was good once.
		config.SessionTicketsDisabled = true
	}
	c.config = config
	return nil
}

// look returns the stamps of the files; of a file that is not there, none.
func (c *Certificates) look() (s [3]stamp) {
	for i, path := range []string{c.cert, c.key, c.clients} {
		if path == "" {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

// watch sets who hears of reloads.
func (c *Certificates) watch(report func(error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = report
}

// current returns the configuration, of the files as they are now if they can be used.
func (c *Certificates) current(now time.Time) *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) < lookEvery {
		return c.config
	}
	c.looked = now
	if c.look() != c.stamps {
		if err := c.load(); c.report != nil {
			c.report(err)
		}
	}
	return c.config
}

// serverConfig returns a configuration that asks for the current one with each connection.
func (c *Certificates) serverConfig() *tls.Config {
	config := c.current(time.Now()).Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(time.Now()), nil }
	return config
}
