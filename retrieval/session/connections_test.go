package session_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

// guests counts the connections of a server.
type guests struct {
	mutex     sync.Mutex
	open, all int
	left      chan struct{} // somebody has left
}

func (g *guests) count(_ net.Conn, state http.ConnState) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	switch state {
	case http.StateNew:
		g.open++
		g.all++
	case http.StateClosed:
		g.open--
		select {
		case g.left <- struct{}{}:
		default:
		}
	}
}

// gone waits until all have left.
func (g *guests) gone(t *testing.T) {
	t.Helper()
	tooLong := time.After(20 * time.Second)
	for {
		g.mutex.Lock()
		open, all := g.open, g.all
		g.mutex.Unlock()
		if all == 0 {
			t.Fatal("nobody came")
		}
		if open == 0 {
			return
		}
		select {
		case <-g.left:
		case <-tooLong:
			t.Fatal("the connection stays open")
		}
	}
}

// A server sees when a connection ends. In mode all that is before the first row is ranked,
// which takes a time that depends on the row, and in the other modes before results are returned.
func TestClosesConnections(t *testing.T) {
	for mode, settings := range everyMode() {
		t.Run(string(mode), func(t *testing.T) {
			g := &guests{left: make(chan struct{}, 1)}
			h := httptest.NewUnstartedServer(serviceOf(t, mode))
			h.Config.ConnState = g.count
			h.Start()
			defer h.Close()
			ranked := 0
			settings.Progress = func(stage string, _, _ int) {
				if mode == session.All && stage == "queries" {
					ranked++
					g.gone(t)
				}
			}
			s, err := session.New(h.URL, settings)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Answer(t.Context(), rowsOf(t, 3)); err != nil || mode == session.All && ranked != 3 {
				t.Fatalf("%d rows ranked, %v", ranked, err)
			}
			g.gone(t)
		})
	}
}
