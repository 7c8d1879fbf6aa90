package main

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
)

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
