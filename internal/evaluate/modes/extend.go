package modes

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// extend places new rows in an embedding x by their neighbours: index holds k
// row numbers of x for each new row, nearest first, and squared their squared
// distances, in the space where the graph of x was made. A new row is
//
//	sum_j w_j x_j / sum_j w_j,   w_j = exp(-(r_j / r)^2),
//
// r the distance of the last neighbour, so the scale follows the place. Where all k are
// at distance 0 they count alike. k = 10 is a good number.
//
// Errors: kernel.ErrShape for sizes that do not fit and row numbers that do not
// exist, kernel.ErrNonFinite for a squared distance that is no number from 0 on.
func extend(x *mat.Dense, index []int, squared []float64, k int) (*mat.Dense, error) {
	n, columns := x.Dims()
	if k < 1 || len(index) == 0 || len(index)%k != 0 || len(squared) != len(index) {
		return nil, fmt.Errorf("modes: extend: %w: %d neighbours and %d distances, %d of each row", points.ErrShape, len(index), len(squared), k)
	}
	out := mat.NewDense(len(index)/k, columns, nil)
	for i := range len(index) / k {
		dst, total := out.RawRowView(i), 0.0
		far := squared[(i+1)*k-1]
		for e := i * k; e < (i+1)*k; e++ {
			if index[e] < 0 || index[e] >= n {
				return nil, fmt.Errorf("modes: extend: %w: neighbour %d of %d rows", points.ErrShape, int64(index[e])+1, n)
			}
			if d := squared[e]; d < 0 || d-d != 0 {
				return nil, fmt.Errorf("modes: extend: %w", &points.NonFiniteError{What: "squared distances", Row: i, Col: e - i*k})
			}
			w := nearest.LocalWeight(squared[e], far)
			total += w
			for c, v := range x.RawRowView(index[e]) {
				dst[c] += w * v
			}
		}
		for c := range dst {
			dst[c] /= total
		}
	}
	return out, nil
}
