package service

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// failing is a listener whose first calls fail.
type failing struct {
	net.Listener
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left > 0 {
		f.left--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// What cannot be accepted is counted, and a warning says so once in a while.
func TestGateCountsFailures(t *testing.T) {
	var log logBuffer
	g := newGate(&failing{listen(t), 3}, "public", 10, 1, slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		if _, err := g.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Error(err)
		}
	}
	dial(t, g.Addr().String(), "")
	c, err := g.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	g.Close()
	if _, err := g.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if n := g.failed.Load(); n != 3 {
		t.Errorf("%d failures are counted", n)
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "listener=public") {
		t.Errorf("the log has\n%s", text)
	}
}

// Connections beyond the limit, or beyond the share of an address, are closed, and there is room
// again when others have ended.
func TestGateLimitsConnections(t *testing.T) {
	g := newGate(listen(t), "public", 8, 0.25, slog.New(slog.DiscardHandler))
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := g.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	connect := func() net.Conn { return dial(t, g.Addr().String(), "") }
	connect()
	first := <-accepted
	connect()
	second := <-accepted
	if _, err := io.ReadAll(connect()); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err) // closed
	}
	if n := g.refused.Load(); n != 1 {
		t.Errorf("%d are counted as refused", n)
	}
	g.room.give(g.room.tenant("10.0.0.1"), 6) // all places, and another address has them
	first.Close()
	first.Close() // counts once
	if n, _ := g.room.load(); n != 7 {
		t.Errorf("%d connections are counted", n)
	}
	connect()
	third := <-accepted
	// Package http looks for these methods: without them files are not sent by the system, and a
	// client that still writes does not see a refusal.
	if _, ok := third.(io.ReaderFrom); !ok {
		t.Error("a connection without ReadFrom")
	}
	if _, ok := third.(interface{ CloseWrite() error }); !ok {
		t.Error("a connection without CloseWrite")
	}
	third.Close()
	second.Close()
	g.Close()
	<-accepted
}

// The metrics of the admin listener tell of the public one.
func TestConnectionsAreCounted(t *testing.T) {
	r := run(t, Settings{MaxConnections: 4}, nil)
	dial(t, r.public, "")
	r.gate(t).room.held(t, 1)
	if _, err := io.ReadAll(dial(t, r.public, "")); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	got := readMetrics(t, r.Service)
	for name, want := range map[string]float64{
		"privatemail_connections": 1, "privatemail_connections_refused_total": 1, "privatemail_connections_limit": 4, "privatemail_accept_failures_total": 0, "privatemail_requests_waiting": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %g, want %g", name, v, want)
		}
	}
}

// gate returns the gate of the public listener.
func (r *running) gate(t *testing.T) *gate {
	t.Helper()
	for r.Service.public.Load() == nil {
		time.Sleep(time.Millisecond)
	}
	return r.Service.public.Load()
}

// On a loopback address, whoever names another host is sent away: a page of that host would read
// what is for this machine alone.
func TestAdminHosts(t *testing.T) {
	r := run(t, Settings{}, nil)
	_, port, _ := net.SplitHostPort(r.admin)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:" + port: 200, "LOCALHOST.": 200, "a.localhost": 200, "127.0.0.1:" + port: 200, "[::1]:" + port: 200, "127.0.0.1": 200,
		"evil.example": 421, "evil.example:" + port: 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "notlocalhost": 421,
	} {
		for _, path := range []string{"/", "/metrics", "/livez", "/debug/pprof/"} {
			request, err := http.NewRequest("GET", "http://"+r.admin+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = host
			answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s of %s: %d, want %d", path, host, answer.StatusCode, want)
			}
		}
	}
	// An address that others reach has names that we do not know.
	elsewhere, err := http.NewRequestWithContext(withLocal(t, "192.0.2.1"), "GET", "http://stats.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !ownHost(elsewhere) {
		t.Error("a name on an address that others reach is refused")
	}
}

// A profile ends when its time is over, however long a one was asked for.
func TestProfilesEnd(t *testing.T) {
	s, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if profileTime.Minutes() != 5 {
		t.Errorf("a profile takes up to %v", profileTime)
	}
	for _, path := range []string{"profile", "trace", "heap"} {
		w, r := recorded("GET", fmt.Sprintf("http://localhost/debug/pprof/%s?seconds=100000", path))
		within(1, s.adminRoutes()).ServeHTTP(w, r) // it returns
	}
}
