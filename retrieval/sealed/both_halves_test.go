package sealed_test

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// classRows returns rows of unit length in classes, as those of digits are.
func classRows(t *testing.T, n, d int) blas64.General {
	t.Helper()
	x, _, err := synth.Classes(n, d, 10, 3)
	if err != nil {
		t.Fatal(err)
	}
	out := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		row := out.Data[i*d : (i+1)*d]
		points.ReadRow(row, x, i)
		points.Normalize(row)
	}
	return out
}

// A match is a row of a probed cell with the squared distance that its bytes give.
type match struct {
	name     uint32
	id       uint32
	distance float64
}

// exact ranks the rows of the probed cells by the bytes that are stored of them.
func exact(m *wire.SealedManifest, ids []uint32, rows blas64.General, z []float64) []match {
	type cell struct {
		number   int
		distance float64
	}
	cells := make([]cell, m.Cells)
	for c := range cells {
		cells[c].number = c
		for j, v := range z {
			e := v - float64(m.Centres[c*m.Dimension+j])
			cells[c].distance += e * e
		}
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return cmp.Compare(a.distance, b.distance) })
	var out []match
	rotated, x := make([]float64, len(z)), make([]float64, len(z))
	rotation.Row(rotated, z)
	for _, c := range cells[:m.Probes] {
		for name := c.number * m.Length; name < (c.number+1)*m.Length; name++ {
			id := ids[name]
			if id == wire.Padding {
				continue
			}
			sum := 0.0
			rotation.Row(x, rows.Data[int(id)*rows.Stride:][:rows.Cols])
			for j, v := range rotated {
				stored := min(max(math.RoundToEven(x[j]*m.Scale), -127), 127) / m.Scale
				sum += (v - stored) * (v - stored)
			}
			out = append(out, match{uint32(name), id, sum})
		}
	}
	slices.SortFunc(out, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	return out
}

// checkMatches fails where matches are not the nearest rows of the probed cells, up to what the
// certificate allows.
func checkMatches(t *testing.T, c *client.Client, g *server.Gallery, rows blas64.General, z []float64, got []client.Match, k int) {
	t.Helper()
	want := exact(g.Manifest(), g.IDs().IDs, rows, z)
	bound := c.Bound()
	if !(bound > 0 && bound < 1e-3) {
		t.Fatalf("a certificate of %g", bound)
	}
	if len(got) != min(k, len(want)) {
		t.Fatalf("%d matches, want %d", len(got), min(k, len(want)))
	}
	for i, m := range got {
		at := slices.IndexFunc(want, func(w match) bool { return w.name == m.Name })
		if at < 0 || want[at].id != m.ID {
			t.Fatalf("match %d is no row of a probed cell", i)
		}
		if d := math.Abs(m.Distance*m.Distance - want[at].distance); d > bound {
			t.Fatalf("match %d is off by %g, the certificate says %g", i, d, bound)
		}
		if want[at].distance > want[i].distance+2*bound {
			t.Fatalf("match %d is farther than the certificate allows", i)
		}
	}
}

// A client finds what an exact search of the bytes in its cells finds, in a gallery that grows
// and shrinks while it asks, and that is saved and opened.
func TestBothHalves(t *testing.T) {
	for name, settings := range map[string]server.Settings{"defaults": {}, "few probes": {Rounds: -1, Probes: 4}} {
		t.Run(name, func(t *testing.T) { testBothHalves(t, settings) })
	}
}

func testBothHalves(t *testing.T, settings server.Settings) {
	const n, later, d, k = 700, 60, 19, 8
	all := classRows(t, n+later+5, d)
	rows := all
	rows.Rows = n
	queries := all
	queries.Rows, queries.Data = 5, all.Data[(n+later)*d:]
	workers := par.New(2)
	defer workers.Close()
	settings.Seed, settings.Workers = 1, workers
	g, err := server.New(t.Context(), rows, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	c, err := client.New(g.Manifest(), g.Hint(), client.Settings{Epoch: g.Epoch()})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetIDs(g.IDs()); err != nil {
		t.Fatal(err)
	}
	asked, err := c.Ask(t.Context(), queries)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(c *client.Client, g *server.Gallery) {
		t.Helper()
		var requests []*wire.SealedRequest
		for _, q := range asked {
			requests = append(requests, q.Request())
		}
		answers, err := g.Answer(t.Context(), requests...)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range answers {
			got, err := c.Rank(asked[i], a, k)
			if stale := new(client.VersionError); errors.As(err, &stale) {
				changes, err := g.Changes(stale.Have, stale.Want)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.Update(changes); err != nil {
					t.Fatal(err)
				}
				if got, err = c.Rank(asked[i], a, k); err != nil {
					t.Fatal(err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			checkMatches(t, c, g, all, queries.Data[i*d:(i+1)*d], got, k)
		}
		if c.Version() != g.Version() {
			t.Errorf("the client has version %d of %d", c.Version(), g.Version())
		}
	}
	ask(c, g)
	inserted := 0
	for id := n; id < n+later; id++ {
		switch _, err := g.Insert(all.Data[id*d:(id+1)*d], uint32(id)); {
		case err == nil:
			inserted++
		case !errors.Is(err, server.ErrFull):
			t.Fatal(err)
		}
		if id%20 == 0 {
			ask(c, g)
		}
	}
	if inserted < later/2 {
		t.Errorf("%d of %d rows were inserted", inserted, later)
	}
	for name := uint32(0); name < 5; name++ {
		if err := g.Remove(name); err != nil && !errors.Is(err, server.ErrGallery) {
			t.Fatal(err)
		}
	}
	ask(c, g)

	path := t.TempDir() + "/test.sealed"
	if err := g.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	opened, err := server.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ask(c, opened)
	// One who comes later has the hint of that version.
	if c, err = client.New(opened.Manifest(), opened.Hint(), client.Settings{Epoch: g.Epoch()}); err != nil {
		t.Fatal(err)
	}
	if err := c.SetIDs(opened.IDs()); err != nil {
		t.Fatal(err)
	}
	if asked, err = c.Ask(t.Context(), queries); err != nil {
		t.Fatal(err)
	}
	ask(c, opened)
}
