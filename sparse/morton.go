package sparse

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/points"
)

// MortonOrder returns the order of the rows of p along a Morton curve
// through their bounding cube: order[r] is the row that comes r-th. Rows near
// each other on the curve are near each other in space, so a matrix permuted
// by it reads nearby rows of X together, and short runs of the curve have
// small bounding boxes. Equal codes are ordered by the coordinates themselves
// and then by row, so equal points are adjacent.
//
// The code interleaves 64/D bits an axis, at most 32; from 64 axes on only
// the first 64 take part, with a bit each. The errors are ErrShape and
// ErrNonFinite.
func MortonOrder(p blas32.General) ([]uint32, error) {
	if err := points.CheckFinite(p); err != nil {
		return nil, fmt.Errorf("sparse: morton order: %w", err)
	}
	n, axes := p.Rows, min(p.Cols, 64)
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	if n == 0 || axes == 0 {
		return order, nil
	}
	bits := min(64/axes, 32)
	// One scale for all axes: the curve runs through cubes, not through
	// shrunken images of the box.
	low, widest := make([]float64, axes), 0.0
	for c := range axes {
		lo, hi := float64(p.Data[c]), float64(p.Data[c])
		for i := range n {
			v := float64(p.Data[i*p.Stride+c])
			lo, hi = min(lo, v), max(hi, v)
		}
		low[c], widest = lo, max(widest, hi-lo)
	}
	scale := 0.0
	if widest > 0 {
		scale = (math.Exp2(float64(bits)) - 1) / widest
	}
	code := make([]uint64, n)
	for c := range axes {
		for i := range n {
			q := uint64((float64(p.Data[i*p.Stride+c]) - low[c]) * scale)
			for b := range bits {
				code[i] |= (q >> b & 1) << (b*axes + c)
			}
		}
	}
	row := func(i uint32) []float32 {
		return p.Data[int(i)*p.Stride:][:p.Cols]
	}
	slices.SortFunc(order, func(i, j uint32) int {
		return cmp.Or(cmp.Compare(code[i], code[j]), slices.Compare(row(i), row(j)), cmp.Compare(i, j))
	})
	return order, nil
}
