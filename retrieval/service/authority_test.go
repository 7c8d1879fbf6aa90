package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	der  []byte
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	var err error
	if a.der, err = x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) pool() *x509.CertPool {
	cert, err := x509.ParseCertificate(a.der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return pool
}

// issue returns a certificate for a server called localhost or for a client.
func (a *authority) issue(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key := newKey(t)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serverFiles are the paths of what a server needs.
type serverFiles struct{ cert, key, clients string }

// writeServerFiles writes a certificate for localhost by one authority, and another as the
// one of clients.
func writeServerFiles(t *testing.T, folder string, own, clients *authority) serverFiles {
	t.Helper()
	f := serverFiles{filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem"), filepath.Join(folder, "clients.pem")}
	pair := own.issue(t, "localhost")
	key, err := x509.MarshalECPrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		f.cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, f.key: {Type: "EC PRIVATE KEY", Bytes: key}, f.clients: {Type: "CERTIFICATE", Bytes: clients.der},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// breakFile makes a file one that cannot be used.
func breakFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// forget makes the next connection look at the files again, however soon it comes.
func (c *Certificates) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked, c.stamps = time.Time{}, [3]stamp{}
}
