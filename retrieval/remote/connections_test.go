package remote

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Close ends all connections, over HTTP/1 and HTTP/2: those that are idle, and those whose answer
// does not come. Later calls open another one.
func TestCloseEndsConnections(t *testing.T) {
	g := newThings(t, 1)
	for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(version, func(t *testing.T) {
			closed, reached := make(chan struct{}, 8), make(chan struct{}, 8)
			h := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != version {
					t.Errorf("%s", r.Proto)
				}
				if r.URL.Path == "/v1/codebook" {
					w.Header().Set("Content-Type", "application/octet-stream")
					w.Write(g.codebook)
					return
				}
				reached <- struct{}{}
				<-r.Context().Done() // no answer comes
			}))
			h.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					closed <- struct{}{}
				}
			}
			settings := Settings{Tries: 1}
			if version == "HTTP/2.0" {
				h.EnableHTTP2 = true
				h.StartTLS()
				roots := x509.NewCertPool()
				roots.AddCert(h.Certificate())
				settings.TLS = &tls.Config{RootCAs: roots}
			} else {
				h.Start()
			}
			defer h.Close()
			s, err := New(h.URL, settings)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ends := func() {
				t.Helper()
				select {
				case <-closed:
				case <-time.After(20 * time.Second):
					t.Fatal("the connection stays open")
				}
			}
			if _, err := s.Codebook(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.Close()
			ends()
			failed := make(chan error, 1)
			go func() {
				_, err := s.Base(t.Context(), g.hash, wire.Float32)
				failed <- err
			}()
			<-reached
			s.Close()
			ends()
			if err := <-failed; !errors.Is(err, ErrUnreachable) {
				t.Errorf("%v, want %v", err, ErrUnreachable)
			}
		})
	}
}
