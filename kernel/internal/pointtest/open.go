package pointtest

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// fewDimensions is the most for which nobody asks how far points are from their centre.
const fewDimensions = 8

// Open returns p as searches take it, with its box. It checks nothing.
func Open(p blas32.General) *rows.Points {
	out := &rows.Points{N: p.Rows, D: p.Cols, Single: rows.View32(p), Radius: math.Inf(1)}
	for c := range p.Cols {
		lo, hi := math.Inf(1), math.Inf(-1)
		for i := range p.Rows {
			v := float64(out.Single.Row(i)[c])
			lo, hi = min(lo, v), max(hi, v)
		}
		out.Lo, out.Hi = append(out.Lo, lo), append(out.Hi, hi)
	}
	if p.Cols <= fewDimensions {
		return out
	}
	centre := Fill(p.Cols, func(c int) float64 { return out.Lo[c] + (out.Hi[c]-out.Lo[c])/2 })
	out.Radius = 0
	for i := range p.Rows {
		out.Radius = max(out.Radius, math.Sqrt(rows.Dist2(centre, out.Single.Row(i))))
	}
	return out
}
