package evaluate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/random"
)

// Split says what each row of a data set is used for: Public rows fix the
// coordinates, Gallery rows are searched, Queries are searched for. The lists
// are disjoint.
type Split struct {
	Public, Gallery, Queries []int
}

// NewSplit cuts the rows 0..n-1, shuffled by SplitMix64(seed), into the first
// public ones, the next gallery ones, and the rest as queries. The error is
// ErrShape unless all three parts get at least one row.
func NewSplit(n, public, gallery int, seed uint64) (*Split, error) {
	// Written so that no sum can overflow.
	if public < 1 || gallery < 1 || public >= n || gallery >= n-public {
		return nil, fmt.Errorf("evaluate: split: %w: %d public and %d gallery rows of %d", ErrShape, public, gallery, n)
	}
	p := random.Permutation(n, seed)
	return &Split{
		Public:  p[:public:public],
		Gallery: p[public : public+gallery : public+gallery],
		Queries: p[public+gallery:],
	}, nil
}

// pick returns v[rows[0]], v[rows[1]], ..: the labels of the rows of a split, say.
func pick[T any](v []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = v[row]
	}
	return out
}

// Features turns features into the unit rows of dimension m that are searched, in
// float64:
//
//	x <- sign(x) sqrt|x|            entry by entry, tames large ones (Hellinger)
//	x <- x / |x|
//	x <- V'(x - mean)               mean and the m leading principal
//	                                components V of the public rows
//	x <- x / |x|
//
// Only public rows shape the map, so a row's image does not depend on the other
// gallery rows and queries. Errors: ErrShape, ErrRow for a public row that does
// not exist, ErrNonFinite, and ErrZeroRow for a row without direction before or
// after the projection.
func Features(x blas32.General, public []int, m int) (*mat.Dense, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("evaluate: features: %w", err)
	}
	if err := points.CheckFinite(x); err != nil {
		return nil, fmt.Errorf("evaluate: features: %w", err)
	}
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("evaluate: features: %w: %d x %d is empty", ErrShape, n, d)
	}
	roots := mat.NewDense(n, d, nil)
	for i := range n {
		row := roots.RawRowView(i)
		points.ReadRow(row, x, i)
		for j, v := range row {
			row[j] = math.Copysign(math.Sqrt(math.Abs(v)), v)
		}
	}
	if err := normalizeRows(roots); err != nil {
		return nil, fmt.Errorf("evaluate: features: %w", err)
	}

	reference := blas64.General{Rows: len(public), Cols: d, Stride: d, Data: make([]float64, 0, len(public)*d)}
	for _, row := range public {
		if row < 0 || row >= n {
			return nil, fmt.Errorf("evaluate: features: public: %w: row %d of %d", ErrRow, row+1, n)
		}
		reference.Data = append(reference.Data, roots.RawRowView(row)...)
	}
	components, err := pca.Fit(reference, m)
	if err != nil {
		return nil, fmt.Errorf("evaluate: features: public rows: %w", err)
	}
	f, err := pca.Project(components, roots.RawMatrix())
	if err != nil {
		return nil, fmt.Errorf("evaluate: features: %w", err)
	}
	if err := normalizeRows(f); err != nil {
		return nil, fmt.Errorf("evaluate: features: projected: %w", err)
	}
	return f, nil
}

func normalizeRows(x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		if points.Normalize(x.RawRowView(i)) == 0 {
			return &points.ZeroRowError{Row: i}
		}
	}
	return nil
}
