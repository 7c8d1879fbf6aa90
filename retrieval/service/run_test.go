package service

import (
	"bufio"
	"bytes"
	"context"
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

// run starts a service with a gallery.
func run(t *testing.T, settings Settings, certificates *Certificates) *running {
	t.Helper()
	return runWith(t, settings, certificates, shortMap)
}

// runWith is run with a map.
func runWith(t *testing.T, settings Settings, certificates *Certificates, chart []byte) *running {
	t.Helper()
	s, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(Offer{Name: "birds", Cells: newCells(t, 1), Map: chart}); err != nil {
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

// Maps; the long one does not fit into the buffers of a connection.
var (
	shortMap = []byte("{}")
	longMap  = []byte(`"` + strings.Repeat("x", 32<<20) + `"`)
)

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

// Clients that send little by little, take nothing, hang up in the middle or send what is no
// request are cut off or told so. Others are answered all the while, and nothing of the bad
// ones stays.
func TestBadClients(t *testing.T) {
	const short = 100 * time.Millisecond
	const get = "GET /v1/map HTTP/1.1\r\nHost: a\r\n"
	post := func(length int64) string {
		return fmt.Sprintf("POST /v1/cells HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", length)
	}
	const chunked = "POST /v1/cells HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
	const request = 92 // bytes of one
	for name, c := range map[string]struct {
		settings Settings
		sends    string
		body     int    // bytes of a request behind it
		slow     bool   // goes on to send a header a byte at a time
		deaf     bool   // takes nothing
		half     bool   // closes its side
		want     string // the first line of the answer, if there is one
	}{
		"slow head":        {settings: Settings{Header: short}, sends: get, slow: true},
		"nothing":          {settings: Settings{Header: short}},
		"slow body":        {settings: Settings{Read: short}, sends: post(request), body: 20, want: "HTTP/1.1 408"},
		"takes nothing":    {settings: Settings{Stall: short}, sends: get + "\r\n", deaf: true},
		"half-closed":      {sends: post(request), body: request, half: true, want: "HTTP/1.1 200"},
		"half a body":      {sends: post(request), body: 20, half: true, want: "HTTP/1.1 400"},
		"no request":       {sends: "\x16\x03\x01" + strings.Repeat("hello", 10) + "\r\n\r\n", want: "HTTP/1.1 400"},
		"two lengths":      {sends: "POST /v1/cells HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", want: "HTTP/1.1 400"},
		"long head":        {sends: get + "X: " + strings.Repeat("x", 64<<10) + "\r\n\r\n", want: "HTTP/1.1 431"},
		"endless body":     {sends: post(1 << 40), want: "HTTP/1.1 413"},
		"a byte too many":  {settings: Settings{Read: time.Hour}, sends: post(request + 1), want: "HTTP/1.1 413"},
		"endless chunk":    {sends: chunked + "chunked\r\n\r\nfffffffffffffff\r\n" + strings.Repeat("x", 1000), want: "HTTP/1.1 413"},
		"unknown encoding": {sends: chunked + "gzip\r\n\r\n", want: "HTTP/1.1 501"},
	} {
		t.Run(name, func(t *testing.T) {
			chart := shortMap
			if c.deaf {
				chart = longMap
			}
			r := runWith(t, c.settings, nil, chart)
			body := r.frame(t, 1)
			if len(body) != request {
				t.Fatalf("a request has %d bytes", len(body))
			}
			conn := dial(t, r.public, c.sends+string(body[:c.body]))
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
			// On a busy machine the short times may cut off good clients, too.
			for others := 0; others != 200; {
				answer, err := http.Post("http://"+r.public+"/v1/cells", frameType, bytes.NewReader(body))
				if err == nil {
					others = answer.StatusCode
					answer.Body.Close()
				}
			}
			if line, _ := bufio.NewReader(conn).ReadString('\n'); !strings.HasPrefix(line, c.want) {
				t.Errorf("%q, want %s", line, c.want)
			}
			if c.half { // a good request leaves the connection open
				conn.Close()
			}
			if n, err := io.Copy(io.Discard, conn); c.deaf && err == nil && n >= int64(len(longMap)) {
				t.Error("the whole answer came")
			}
			for r.metrics.running.Load() != 0 || r.placesTaken() != 0 {
				time.Sleep(time.Millisecond)
			}
			http.DefaultClient.CloseIdleConnections()
		})
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
	if n := r.placesTaken(); n != 0 {
		t.Errorf("%d places are taken", n)
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("idle connections keep it from ending: %v", err)
	}
}

// HTTP/2 without encryption gives the same answers, many at a time.
func TestUnencryptedHTTP2(t *testing.T) {
	r := runWith(t, Settings{}, nil, longMap)
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
