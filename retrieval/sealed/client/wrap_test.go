package client

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
)

// Every slot has a row, every row is as long as bytes allow, and queries point along one of
// them or away from it: no score wraps, and distances are as exact as the certificate says.
func TestLongestRowsDoNotWrap(t *testing.T) {
	for _, s := range []shape{{1, 3, 1, 1, 0}, {4, 6, 16, 4, 0}, {40, 2, 24, 40, 0}} {
		g := newGallery(t, s)
		m := &g.manifest
		m.MaxNorm, m.NormUnit = 127*127*int64(m.Dimension), 1
		m.NormBase = m.MaxNorm
		for i := range g.matrix {
			g.matrix[i] = int8(127 - 254*(i*i/3%2))
		}
		for name := range m.Norms {
			g.norms[name], m.Norms[name] = 0, 0
		}
		m.Kappa = scheme.Kappa(m.MaxNorm, m.Cells, m.Dimension)
		var err error
		if g.epoch, err = m.Hash(); err != nil {
			t.Fatal(err)
		}
		scheme.NewMatrix(g.epoch).Rows(g.public, 0)
		c := g.client(t)
		first := g.stored(0)
		for _, sign := range []float64{1, -1} {
			row := make([]float64, m.Dimension)
			for j := range row { // the rotation backwards
				unit := make([]float64, m.Dimension)
				unit[j] = 1
				rotation.Row(unit, unit)
				for i, v := range unit {
					row[j] += sign * v * float64(first[i]) / math.Sqrt(float64(m.MaxNorm))
				}
			}
			for range 20 {
				q := ask(t, c, blas64.General{Rows: 1, Cols: m.Dimension, Stride: m.Dimension, Data: row})[0]
				found, err := c.Rank(q, g.answer(q.Request()), m.Slots())
				if err != nil || len(found) != m.Probes*m.Length {
					t.Fatalf("%+v: %d matches, %v", s, len(found), err)
				}
				for _, match := range found {
					var product float64
					for i, v := range g.stored(match.Name) {
						product += sign * float64(v) * float64(first[i]) / math.Sqrt(float64(m.MaxNorm))
					}
					want := float64(m.MaxNorm)/m.Scale/m.Scale + 1 - 2*product/m.Scale
					if got := match.Distance * match.Distance; math.Abs(got-want) > c.Bound()+1e-9 {
						t.Fatalf("%+v: slot %d at %g, want %g to within %g", s, match.Name, got, want, c.Bound())
					}
				}
			}
		}
	}
}
