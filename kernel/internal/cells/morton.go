package cells

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// mortonOrder returns the order of the rows of p along a Morton curve through their
// bounding cube: order[r] is the row that comes r-th. Rows near each other on the
// curve are near each other in space. So products of a matrix permuted by this order
// read nearby rows of X together, and short runs of the curve have small bounding
// boxes. Rows with equal codes are ordered by their coordinates and then by their
// number, so equal points are adjacent.
//
// The code of a row interleaves 64/D bits of each of its D coordinates, at most 32.
// From D = 64 on only the first 64 coordinates take part, with a bit each. Errors:
// kernel.ErrShape, kernel.ErrNonFinite.
func mortonOrder(p blas32.General) ([]uint32, error) {
	if err := points.CheckFinite(p); err != nil {
		return nil, fmt.Errorf("kernel: morton order: %w", err)
	}
	axes := min(p.Cols, 64)
	order := make([]uint32, p.Rows)
	for i := range order {
		order[i] = uint32(i)
	}
	if p.Rows == 0 || axes == 0 {
		return order, nil
	}
	code := mortonCodes(p, axes)
	row := func(i uint32) []float32 {
		return p.Data[int(i)*p.Stride:][:p.Cols]
	}
	slices.SortFunc(order, func(i, j uint32) int {
		return cmp.Or(cmp.Compare(code[i], code[j]), slices.Compare(row(i), row(j)), cmp.Compare(i, j))
	})
	return order, nil
}

// mortonCodes returns the code of each row, from its first coordinates.
func mortonCodes(p blas32.General, axes int) []uint64 {
	bits := min(64/axes, 32)
	low, widest := boundingCube(p, axes)
	scale := 0.0
	if widest > 0 {
		scale = (math.Exp2(float64(bits)) - 1) / widest
	}
	code := make([]uint64, p.Rows)
	for c := range axes {
		for i := range p.Rows {
			q := uint64((float64(p.Data[i*p.Stride+c]) - low[c]) * scale)
			for b := range bits {
				code[i] |= (q >> b & 1) << (b*axes + c)
			}
		}
	}
	return code
}

// boundingCube returns the low corner of the bounding box and its widest side. All axes
// have the same side: the curve runs through cubes, not through scaled copies of the
// box.
func boundingCube(p blas32.General, axes int) (low []float64, widest float64) {
	low = make([]float64, axes)
	for c := range axes {
		lo, hi := float64(p.Data[c]), float64(p.Data[c])
		for i := range p.Rows {
			v := float64(p.Data[i*p.Stride+c])
			lo, hi = min(lo, v), max(hi, v)
		}
		low[c], widest = lo, max(widest, hi-lo)
	}
	return low, widest
}
