package service

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A running service listens on ports of its own.
type running struct {
	*Service
	listener      net.Listener // the public one
	public, admin string       // addresses
	stop          func()
	ended         chan error
}

// run starts a service with a gallery whose map has some megabytes, so that an answer does
// not fit into the buffers of a connection.
func run(t *testing.T, settings Settings, certificates *Certificates) *running {
	t.Helper()
	s, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(Gallery{Name: "birds", Cells: newCells(t, 1), Map: longMap}); err != nil {
		t.Fatal(err)
	}
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := Listeners{Public: listen(), Admin: listen(), Certificates: certificates}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{s, l.Public, l.Public.Addr().String(), l.Admin.Addr().String(), stop, make(chan error, 1)}
	go func() { r.ended <- s.Run(ctx, l) }()
	t.Cleanup(func() {
		stop()
		r.wait()
		s.Close()
	})
	return r
}

// wait returns how the service has ended.
func (r *running) wait() error {
	err := <-r.ended
	r.ended <- err
	return err
}

var longMap = []byte(`"` + strings.Repeat("x", 32<<20) + `"`)

// dial opens a connection and writes to it.
func dial(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// The service says that it is not ready, lets requests end that run, and takes no more.
func TestShutdown(t *testing.T) {
	r := run(t, Settings{}, nil)
	body := r.frame(t, 1)
	out, ended := hold(t, r.Service, "http://"+r.public+"/v1/cells", int64(len(body)))
	if got := send(t, "GET", "http://"+r.admin+"/readyz", nil); got.status != 200 {
		t.Fatalf("%d", got.status)
	}
	r.stop()
	for send(t, "GET", "http://"+r.admin+"/readyz", nil).status != 503 {
		time.Sleep(time.Millisecond)
	}
	for { // until the listener is closed
		c, err := net.Dial("tcp", r.public)
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-r.ended:
		t.Fatalf("it ended, and a request runs: %v", err)
	default:
	}
	if _, err := out.Write(body); err != nil {
		t.Error(err)
	}
	out.Close()
	if got := <-ended; got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

// Before it takes no more, it goes on for a while.
func TestShutdownDelay(t *testing.T) {
	r := run(t, Settings{Delay: time.Hour}, nil)
	r.stop()
	for send(t, "GET", "http://"+r.admin+"/readyz", nil).status != 503 {
		time.Sleep(time.Millisecond)
	}
	if got := send(t, "GET", "http://"+r.public+"/v1/gallery", nil); got.status != 200 {
		t.Errorf("%d", got.status)
	}
	// A listener that fails ends the wait.
	r.listener.Close()
	if err := r.wait(); err == nil {
		t.Error("a listener failed, and there is no error")
	}
}

// Requests that do not end are cut off, and that is an error.
func TestShutdownCutsOff(t *testing.T) {
	r := run(t, Settings{Shutdown: time.Millisecond}, nil)
	out, ended := hold(t, r.Service, "http://"+r.public+"/v1/cells", 50)
	r.stop()
	if err := r.wait(); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Error(err)
	}
	out.CloseWithError(io.ErrUnexpectedEOF)
	if got := <-ended; got.status == 200 {
		t.Errorf("%d", got.status)
	}
}

// Under load, whoever got an answer got all of it, and the others know that they have none.
func TestShutdownUnderLoad(t *testing.T) {
	r := run(t, Settings{}, nil)
	body := r.frame(t, 1)
	want := send(t, "POST", "http://"+r.public+"/v1/cells", bytes.NewReader(body)).body
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	begun := make(chan struct{}, 8)
	var all sync.WaitGroup
	for range cap(begun) {
		all.Go(func() {
			for first := true; ; first = false {
				answer, err := (&http.Client{Transport: transport}).Post("http://"+r.public+"/v1/cells", frameType, bytes.NewReader(body))
				if err != nil {
					break // no answer
				}
				got, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != 200 || !bytes.Equal(got, want) {
					t.Errorf("%d, %d bytes, %v", answer.StatusCode, len(got), err)
				}
				if first {
					begun <- struct{}{}
				}
			}
		})
	}
	for range cap(begun) {
		<-begun
	}
	r.stop()
	all.Wait()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

func TestRunRefused(t *testing.T) {
	s, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background(), Listeners{}); !isA(err, ErrSettings) {
		t.Error(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if err := s.Run(context.Background(), Listeners{Public: l}); !isA(err, net.ErrClosed) {
		t.Error(err)
	}
}

// Clients that send little by little, take nothing, take little, hang up in the middle or
// send what is no request are cut off. Others are answered all the while, and nothing of
// the bad ones stays.
func TestBadClients(t *testing.T) {
	s := Settings{Header: 100 * time.Millisecond, Read: 100 * time.Millisecond, Stall: 100 * time.Millisecond}
	r := run(t, s, nil)
	const get = "GET /v1/map HTTP/1.1\r\nHost: a\r\n"
	post := func(length int64) string {
		return fmt.Sprintf("POST /v1/cells HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", length)
	}
	body := string(r.frame(t, 1))
	for name, c := range map[string]struct {
		sends string
		slow  bool   // goes on to send a header a byte at a time
		deaf  bool   // takes nothing
		half  bool   // closes its side
		want  string // the first line of the answer, if there is one
	}{
		"slow head":        {sends: get, slow: true},
		"slow body":        {sends: post(int64(len(body))) + "PMW1", want: "HTTP/1.1 408"},
		"nothing":          {sends: ""},
		"takes nothing":    {sends: get + "\r\n", deaf: true},
		"half-closed":      {sends: post(int64(len(body))) + body, half: true, want: "HTTP/1.1 200"},
		"half a body":      {sends: post(int64(len(body))) + body[:20], half: true, want: "HTTP/1.1 400"},
		"no request":       {sends: "\x16\x03\x01hello\r\n\r\n", want: "HTTP/1.1 400"},
		"two lengths":      {sends: "POST /v1/cells HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", want: "HTTP/1.1 400"},
		"long head":        {sends: get + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", want: "HTTP/1.1 431"},
		"endless body":     {sends: post(1 << 40), want: "HTTP/1.1 413"},
		"chunk of 1 EB":    {sends: "POST /v1/cells HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n" + strings.Repeat("x", 1000), want: "HTTP/1.1 413"},
		"unknown encoding": {sends: "POST /v1/cells HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", want: "HTTP/1.1 501"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, r.public, c.sends)
			if c.half {
				if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
					t.Fatal(err)
				}
			}
			for c.slow {
				if _, err := conn.Write([]byte("x")); err != nil {
					break // it is cut off
				}
				time.Sleep(time.Millisecond)
			}
			if c.deaf {
				for ended := int64(0); ended == 0; ended, _ = r.metrics.route("map").requests() {
					time.Sleep(time.Millisecond)
				}
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			if !strings.HasPrefix(line, c.want) {
				t.Errorf("%q, want %s", line, c.want)
			}
			// The end comes, in whatever way.
			if n, err := io.Copy(io.Discard, conn); c.deaf && err == nil && n >= int64(len(longMap)) {
				t.Error("the whole answer came")
			}
			conn.Close()
			if got := send(t, "POST", "http://"+r.public+"/v1/cells", strings.NewReader(body)); got.status != 200 {
				t.Errorf("others get %d", got.status)
			}
		})
	}
	for r.metrics.running.Load() != 0 || len(r.slots) != 0 {
		time.Sleep(time.Millisecond)
	}
}

// A client that takes an answer slowly but faster than the slowest allowed gets all of it,
// although that takes several times what a block may.
func TestSlowClientGetsAll(t *testing.T) {
	r := run(t, Settings{Stall: 300 * time.Millisecond, Slowest: 1 << 20}, nil)
	c := dial(t, r.public, "GET /v1/map HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	total, block := int64(0), make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(answer.Body, block)
		total += int64(n)
		if err != nil {
			break
		}
		time.Sleep(30 * time.Millisecond)
	}
	if total != int64(len(longMap)) {
		t.Errorf("%d of %d bytes", total, len(longMap))
	}
}

// A thousand connections that do nothing harm nobody.
func TestIdleConnections(t *testing.T) {
	r := run(t, Settings{}, nil)
	for range 1000 {
		c := dial(t, r.public, "HEAD /v1/gallery HTTP/1.1\r\nHost: a\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	body := r.frame(t, 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if got := send(t, "POST", "http://"+r.public+"/v1/cells", bytes.NewReader(body)); got.status != 200 {
					t.Errorf("%d %s", got.status, got.body)
				}
			}
		})
	}
	all.Wait()
	if n := len(r.slots); n != 0 {
		t.Errorf("%d places are taken", n)
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("idle connections keep it from ending: %v", err)
	}
}

// HTTP/2 without encryption gives the same answers, many at a time.
func TestUnencryptedHTTP2(t *testing.T) {
	r := run(t, Settings{}, nil)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	body := r.frame(t, 1)
	want := send(t, "POST", "http://"+r.public+"/v1/cells", bytes.NewReader(body)).body
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			request, err := http.NewRequest("POST", "http://"+r.public+"/v1/cells", bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := transport.RoundTrip(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			got, err := io.ReadAll(answer.Body)
			if err != nil || answer.ProtoMajor != 2 || !bytes.Equal(got, want) {
				t.Errorf("HTTP/%d, %d bytes, %v", answer.ProtoMajor, len(got), err)
			}
		})
	}
	all.Wait()
	request, err := http.NewRequest("GET", "http://"+r.public+"/v1/map", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); n != int64(len(longMap)) || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

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
		if err := c.Reload(); !isA(err, ErrCertificates) {
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
	if _, err := OpenCertificates(files.cert, files.key+"x", ""); !isA(err, ErrCertificates) {
		t.Error(err)
	}
}
