package service

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// A certificate that is replaced is shown from the next connection on, and so is the one
// that signs clients. A file that is broken changes nothing.
func TestCertificates(t *testing.T) {
	folder := t.TempDir()
	first, second, stranger := newAuthority(t), newAuthority(t), newAuthority(t)
	files := writeServerFiles(t, folder, first, first)
	c, err := OpenCertificates(files.cert, files.key, files.clients)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Settings{}, c)
	get := func(trust, own *authority) error {
		config := &tls.Config{RootCAs: trust.pool(), ServerName: "localhost"}
		if own != nil {
			config.Certificates = []tls.Certificate{own.issue(t, "client")}
		}
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Get("https://" + r.public + "/v1/gallery")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if _, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != 200 || answer.ProtoMajor != 2 {
			return fmt.Errorf("%d over HTTP/%d, %v", answer.StatusCode, answer.ProtoMajor, err)
		}
		return nil
	}
	check := func(name string, trust, own *authority, want bool) {
		t.Helper()
		if err := get(trust, own); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("known client", first, first, true)
	check("no certificate", first, nil, false)
	check("unknown client", first, stranger, false)
	check("another server", second, first, false)

	writeServerFiles(t, folder, second, second)
	c.forget()
	check("new certificates", second, second, true)
	check("a client of the old ones", second, first, false)
	check("the old server", first, second, false)

	for _, path := range []string{files.cert, files.key, files.clients} {
		breakFile(t, path)
		c.forget()
		check("broken "+path, second, second, true)
		if err := c.Reload(); !isA(err, errCertificates) {
			t.Errorf("%s: %v", path, err)
		}
		writeServerFiles(t, folder, second, second)
	}
	c.forget()
	check("mended", second, second, true)
	if r.metrics.failedLoads.Load() == 0 || r.metrics.reloads.Load() == 0 {
		t.Error("reloads are not counted")
	}
	if got := send(t, "GET", "http://"+r.admin+"/readyz", nil); got.status != 200 {
		t.Errorf("%d", got.status)
	}
}

// Without a client's file everyone is let in.
func TestCertificateWithoutClients(t *testing.T) {
	own := newAuthority(t)
	files := writeServerFiles(t, t.TempDir(), own, own)
	c, err := OpenCertificates(files.cert, files.key, "")
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, Settings{}, c)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.pool(), ServerName: "localhost"}}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get("https://" + r.public + "/v1/gallery")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if _, err := OpenCertificates(files.cert, files.key+"x", ""); !isA(err, errCertificates) {
		t.Error(err)
	}
}

// A client that must show a certificate shows it with each connection: a ticket of an earlier
// one does not take its place.
func TestNoTicketsForClients(t *testing.T) {
	own := newAuthority(t)
	files := writeServerFiles(t, t.TempDir(), own, own)
	for _, clients := range []string{"", files.clients} {
		c, err := OpenCertificates(files.cert, files.key, clients)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, Settings{}, c)
		transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
			RootCAs: own.pool(), ServerName: "localhost", Certificates: []tls.Certificate{own.issue(t, "client")}, ClientSessionCache: tls.NewLRUClientSessionCache(1),
		}}
		resumed := false
		for range 2 {
			answer, err := (&http.Client{Transport: transport}).Get("https://" + r.public + "/v1/gallery")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Error(err)
			}
			answer.Body.Close()
			resumed = answer.TLS.DidResume
		}
		if resumed != (clients == "") {
			t.Errorf("clients %q: resumed %t", clients, resumed)
		}
	}
}
