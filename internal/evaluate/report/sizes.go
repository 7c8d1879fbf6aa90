package report

import (
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// sizes are the bytes of a gallery in three modes, by formula.
type sizes struct {
	allRows     float64 // once
	cells       float64 // an answer of int8, an eighth of the gallery
	up, down    float64 // of mode sealed, a query
	hint, norms float64 // of mode sealed, once
	centres     float64
}

// sizesOf returns the bytes of n rows of d numbers. Mode sealed has its defaults: cells by the
// square root of n, room for a quarter more rows than there are, 8 probes.
func sizesOf(n, d int) sizes {
	cells := max(4, math.Round(math.Sqrt(float64(n))/2))
	slots := math.Ceil(1.25 * float64(n) / cells)
	probes := min(8, cells)
	const compact, id = 4, 4 // what a row of int8 has in addition to its codes, and its number in a list
	return sizes{
		allRows: float64(n) * float64(d+compact), cells: float64(n) / 8 * float64(d+compact+id),
		up: 3 * probes * cells * float64(d), down: 4 * probes * slots,
		hint: 4 * sealed.SecretWords * slots, norms: 2 * cells * slots, centres: 4 * cells * float64(d),
	}
}

func (s sizes) once() float64 { return s.hint + s.norms + s.centres }
