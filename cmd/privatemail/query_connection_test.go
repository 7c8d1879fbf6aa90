package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// clientFiles returns a certificate of a client, and the files of it and of its key.
func clientFiles(t *testing.T) (own *x509.Certificate, cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	if own, err = x509.ParseCertificate(signed); err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return own, pemFile(t, "CERTIFICATE", signed), pemFile(t, "PRIVATE KEY", bytes)
}

func pemFile(t *testing.T, kind string, b []byte) string {
	t.Helper()
	return textFile(t, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})))
}

// The flags about trust reach the server: its certificate, that of the client, and a token.
func TestQueryTrust(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	own, cert, key := clientFiles(t)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer a-secret-of-some-length" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		g.Public().ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	clients := x509.NewCertPool()
	clients.AddCert(own)
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	s.StartTLS()
	defer s.Close()
	ca, token := pemFile(t, "CERTIFICATE", s.Certificate().Raw), textFile(t, "a-secret-of-some-length\nand a comment\n")
	all := []string{"-ca", ca, "-cert", cert, "-key", key, "-token-file", token, "-tries", "1"}
	without := func(flags ...string) (rest []string) {
		for i := 0; i < len(all); i += 2 {
			if all[i] != flags[0] && all[i] != flags[len(flags)-1] {
				rest = append(rest, all[i], all[i+1])
			}
		}
		return rest
	}
	succeed(t, p.all(s.URL, append(all, "-out", p.out)...)...)
	succeed(t, p.cells(s.URL, append(all, "-out", p.out)...)...)
	refuse(t, cli.Failed, p.all(s.URL, without("-ca")...), "does not trust the certificate of the server", "-ca FILE")
	refuse(t, cli.Failed, p.all(s.URL, without("-cert", "-key")...), "refuses", "certificate required")
	refuse(t, cli.Failed, p.all(s.URL, without("-token-file")...), "refuses", "status 401")
}

// A server that shows another certificate in the middle of a run was sent something by then. The message
// speaks of the last connection alone.
func TestQueryCertificateChanges(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	_, cert, key := clientFiles(t) // nobody trusts it as that of a server
	other, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/cells" {
			asked.Add(1)
			w.Header().Set("Connection", "close")
		}
		g.Public().ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if asked.Load() > 0 {
			return &tls.Config{Certificates: []tls.Certificate{other}}, nil
		}
		return nil, nil
	}}
	s.StartTLS()
	defer s.Close()
	ca := pemFile(t, "CERTIFICATE", s.Certificate().Raw)
	code, _, stderr := call(p.cells(s.URL, "-ca", ca, "-tries", "1")...)
	if code != cli.Failed || !strings.Contains(stderr, "does not trust the certificate of the server") || asked.Load() != 1 {
		t.Fatalf("code %d after %d requests about a row: %s", code, asked.Load(), stderr)
	}
	if !strings.Contains(stderr, "nothing was sent over this connection") {
		t.Errorf("a row was sent, and the message is %q", stderr)
	}
}
