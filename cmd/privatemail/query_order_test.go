package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
)

// orderly runs a query and calls before with the number of each download, from 1 on, before it is
// answered. It returns what was found and the methods of requests in their order.
func orderly(t *testing.T, service http.Handler, f query.Flags, p place, before func(s *query.Session, download int)) (ids []int32, methods []string) {
	t.Helper()
	var s *query.Session
	downloads := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		if r.Method == http.MethodGet {
			downloads++
			before(s, downloads)
		}
		service.ServeHTTP(w, r)
	}))
	defer h.Close()
	e := &cli.Env{Stdout: io.Discard, Stderr: io.Discard, JSON: true}
	in, err := f.Files.Queries(e, p.rows)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = query.Open(t.Context(), e, &f, h.URL, in); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.X.Data = slices.Clone(s.X.Data)
	if err := s.Answer(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return s.IDs, methods
}

// No number of a row is looked at before everything that is taken once is here: rows that are
// others until the server gets the last request for such a thing give the same answers. After that
// request nothing but questions is sent.
func TestQueryTouchesRowsAfterDownloads(t *testing.T) {
	sealed := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
	cells := startService(t)
	for name, c := range map[string]struct {
		service   http.Handler
		flags     query.Flags
		downloads int
		questions bool
	}{
		query.ModeSealed: {sealed.Public(), query.Flags{Mode: query.ModeSealed, Sealed: query.SealedFlags{Unconfirmed: true, Fetch: true}}, 6, true},
		query.ModeCells:  {cells.Public(), query.Flags{Mode: query.ModeCells, Unconfirmed: true, Epsilon: 100, Ledger: accounts.NoLedger, Memory: query.NoMemory}, 3, true},
		query.ModeAll:    {cells.Public(), query.Flags{Mode: query.ModeAll, Unconfirmed: true}, 3, false},
	} {
		p := newPlace(t, 3)
		c.flags.K, c.flags.Cache = 5, "none"
		want, methods := orderly(t, c.service, c.flags, p, func(*query.Session, int) {})
		downloads := 0
		for i, m := range methods {
			if m != http.MethodGet {
				continue
			}
			if downloads++; i >= downloads {
				t.Errorf("%s: requests %q: a download comes after a question", name, methods)
				break
			}
		}
		if downloads != c.downloads || (len(methods) > downloads) != c.questions {
			t.Errorf("%s: requests %q, want %d downloads", name, methods, c.downloads)
		}
		var rows []float32
		got, _ := orderly(t, c.service, c.flags, p, func(s *query.Session, n int) {
			if n == 1 {
				rows = slices.Clone(s.X.Data)
			}
			for i := range s.X.Data {
				s.X.Data[i] = rows[(i+n)%len(rows)] * float32(n)
			}
			if n == c.downloads {
				copy(s.X.Data, rows)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: a row was looked at too early: %v, want %v", name, got, want)
		}
	}
}

// A map that could make numbers of rows so small or so large that processors take longer for them
// is refused, in every mode, and no question is sent.
func TestQueryRefusesMapOutOfRange(t *testing.T) {
	sealed := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2, Map: []byte(`{"dim":6,"scale":[1,1,1,1,1,1e49]}`)})
	cells := startService(t)
	cells.chart.Scale = []float64{1, 1, 1, 1, 1, 1e49}
	cells.publish(t, galleryOf(t, 2))
	p := newPlace(t, 2)
	for _, args := range [][]string{
		p.sealed(sealed.address), p.all(cells.address),
		{"query", "cells", cells.address, p.rows, "-epsilon", "4", "-ledger", "none", "-sent", "none", "-cache", "none", "-unconfirmed-codebook"},
	} {
		refuse(t, cli.Failed, args, "out of the range of a map for private rows: the scale, row 1, column 6")
	}
	for _, g := range []*galleryService{sealed.galleryService, cells} {
		if paths, bodies := g.sent(t); len(bodies) > 0 {
			t.Errorf("sent %q", paths)
		}
	}
}
