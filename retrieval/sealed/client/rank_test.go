package client

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// shapes of galleries: one cell, dimensions that are no multiple of what is encrypted at a time,
// slots that are empty.
var shapes = []shape{{1, 5, 3, 1, 0}, {4, 7, 5, 2, 3}, {9, 30, 24, 4, 4}, {6, 11, 70, 6, 2}}

// exact returns the squared distances between a row and the stored rows of the nearest cells, by
// name.
func (g *gallery) exact(row []float64) map[uint32]float64 {
	m := &g.manifest
	cells := make([]int, m.Cells)
	far := make([]float64, m.Cells)
	for c := range cells {
		cells[c] = c
		for j, v := range row {
			far[c] += (v - float64(m.Centres[c*m.Dimension+j])) * (v - float64(m.Centres[c*m.Dimension+j]))
		}
	}
	slices.SortStableFunc(cells, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	out := make(map[uint32]float64)
	for _, c := range cells[:m.Probes] {
		for name := uint32(c * m.Length); name < uint32((c+1)*m.Length); name++ {
			if g.norms[name] == -1<<15 {
				continue
			}
			sum := 0.
			for j, v := range g.stored(name) {
				e := row[j] - float64(v)/m.Scale
				sum += e * e
			}
			out[name] = sum
		}
	}
	return out
}

func rowOf(rows blas64.General, i int) []float64 { return rows.Data[i*rows.Stride:][:rows.Cols] }

// Ranked rows are those of the nearest cells, all of them, at their distances up to the bound,
// and for rows of any length.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range shapes {
		g := newGallery(t, s)
		c := g.client(t)
		for _, length := range []float64{0, 1e-250, .01, 1, 30} {
			rows := randomRows(r, 3, s.dimension, length)
			for i, q := range ask(t, c, rows) {
				want := g.exact(rowOf(rows, i))
				got, err := c.Rank(q, g.answer(q.Request()), s.cells*s.length)
				if err != nil || len(got) != len(want) {
					t.Fatalf("%v: %d of %d rows: %v", s, len(got), len(want), err)
				}
				bound := c.Bound()*blas64.Nrm2(blas64.Vector{N: s.dimension, Inc: 1, Data: rowOf(rows, i)}) + 1e-9*(1+length*length)
				for j, m := range got {
					squared, ok := want[m.Name]
					if off := math.Abs(m.Distance*m.Distance - squared); !ok || off > bound {
						t.Errorf("%v, length %g: slot %d is off by %g, bound %g", s, length, m.Name, off, bound)
					}
					if m.ID != g.ids[m.Name] {
						t.Errorf("%v: slot %d has row number %d, want %d", s, m.Name, m.ID, g.ids[m.Name])
					}
					if j > 0 && got[j-1].Distance > m.Distance {
						t.Errorf("%v: match %d is nearer than the one before it", s, j)
					}
				}
				few, err := c.Rank(q, g.answer(q.Request()), 2)
				if err != nil || !slices.Equal(few, got[:min(2, len(got))]) {
					t.Errorf("%v: the two nearest are others: %v", s, err)
				}
			}
		}
	}
}
