package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
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

// A hook is a meter that calls a function.
type hook func(privatemail.Progress)

func (h hook) Report(p privatemail.Progress) { h(p) }
func (hook) Close()                          {}

// A server sees when a connection ends. In mode all that is before the first row is ranked,
// which takes a time that depends on the row, and in the other modes before results are written.
func TestQueryClosesConnections(t *testing.T) {
	sealed := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	cells := startService(t)
	for name, c := range map[string]struct {
		service http.Handler
		flags   query.Flags
	}{
		query.ModeSealed: {sealed.Public(), query.Flags{Mode: query.ModeSealed, Sealed: query.SealedFlags{Unconfirmed: true, Fetch: true}}},
		query.ModeCells:  {cells.Public(), query.Flags{Mode: query.ModeCells, Unconfirmed: true, Epsilon: 100, Ledger: accounts.NoLedger, Memory: query.NoMemory}},
		query.ModeAll:    {cells.Public(), query.Flags{Mode: query.ModeAll, Unconfirmed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guests{left: make(chan struct{}, 1)}
			h := httptest.NewUnstartedServer(c.service)
			h.Config.ConnState = g.count
			h.Start()
			defer h.Close()
			c.flags.K, c.flags.Cache = 5, "none"
			e := &cli.Env{Stdout: io.Discard, Stderr: io.Discard, JSON: true}
			in, err := c.flags.Files.Queries(e, newPlace(t, 3).rows)
			if err != nil {
				t.Fatal(err)
			}
			s, err := query.Open(t.Context(), e, &c.flags, h.URL, in)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if name != query.ModeAll {
				if err := s.Answer(t.Context(), e); err != nil {
					t.Fatal(err)
				}
				g.gone(t)
				return
			}
			ranked := 0
			s.Meter = hook(func(p privatemail.Progress) {
				if p.Stage == "queries" {
					ranked++
					g.gone(t)
				}
			})
			if err := s.RankAll(t.Context()); err != nil || ranked != 3 {
				t.Errorf("%d rows ranked, %v", ranked, err)
			}
		})
	}
}
