package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// unitTolerance is how far from 1 the norm of a unit row may be.
const unitTolerance = 1e-6

// UnitRows are rows of features, each divided by its norm in float64. One of them may be a
// null record, which has no direction. The operators that have a bound on what one record
// can change are built from UnitRows: that bound rests on the range of the weights between
// unit rows, and a float32 row has unit norm to 1e-7 only.
//
// UnitRows are immutable and safe for concurrent use. They are a copy: the
// features are not needed afterwards.
type UnitRows struct {
	rows rows.View[float64] // packed; a null record is a row of zeros
	null int                // the row of the null record, -1 where there is none
}

// UnitOptions say which rows NewUnitRows accepts. The zero value accepts rows
// of unit norm only.
type UnitOptions struct {
	// Normalize accepts rows of any norm but zero. By default a norm must be
	// within 1e-6 of 1.
	Normalize bool
	// Nulls is the number of rows that may be null records, rows of zeros: 0 or
	// 1. Default 0.
	Nulls int
	// BudgetBytes is the memory that may be taken. Default: three quarters of
	// what the machine has available.
	BudgetBytes int64
	// Workers share the rows. Default: the caller works alone. The rows have the same
	// bits for any number of workers.
	Workers *par.Workers
}

// NewUnitRows divides rows of features in either precision by their norms. Errors: ErrShape and
// ErrEmpty, *privatemail.NonFiniteError, *UnitNormError, *privatemail.ZeroRowError for the first row
// of zeros beyond UnitOptions.Nulls, ErrOption, *MemoryError.
func NewUnitRows[M points.Matrix](features M, o UnitOptions) (*UnitRows, error) {
	switch x := any(features).(type) {
	case blas32.General:
		return newUnitRows(rows.View32(x), o)
	case blas64.General:
		return newUnitRows(rows.View64(x), o)
	}
	panic("kernel: points.Matrix has another type")
}

func newUnitRows[T rows.Float](features rows.View[T], o UnitOptions) (*UnitRows, error) {
	if err := checkShape("unit rows", features); err != nil {
		return nil, err
	}
	if uint64(features.Rows) >= math.MaxUint32 {
		return nil, fmt.Errorf("kernel: unit rows: %w: %d rows, want fewer than 2^32-1", ErrShape, features.Rows)
	}
	if o.Nulls < 0 || o.Nulls > 1 {
		return nil, fmt.Errorf("kernel: unit rows: %w: %d null records, want 0 or 1", ErrOption, o.Nulls)
	}
	if o.BudgetBytes < 0 {
		return nil, fmt.Errorf("kernel: unit rows: %w: a budget of %d bytes", ErrOption, o.BudgetBytes)
	}
	if o.BudgetBytes == 0 {
		o.BudgetBytes = mem.Budget()
	}
	need := mem.Saturate(8 * float64(features.Rows) * float64(features.Cols))
	if need > o.BudgetBytes || need > math.MaxInt {
		return nil, &MemoryError{What: "unit rows", Need: need, Budget: o.BudgetBytes}
	}
	if err := checkFinite("points", features); err != nil {
		return nil, err
	}
	r := &UnitRows{null: -1, rows: rows.View[float64]{
		Rows: features.Rows, Cols: features.Cols, Stride: features.Cols, Data: make([]float64, features.Rows*features.Cols),
	}}
	chunks := make([]unitChunk, split.Blocks(features.Rows, chunkRows))
	if err := o.Workers.Do(context.Background(), len(chunks), par.Func(func(_, chunk int) {
		lo, hi := split.Block(chunk, features.Rows, chunkRows)
		chunks[chunk] = divideRows(r.rows, features, lo, hi)
	})); err != nil {
		return nil, fmt.Errorf("kernel: unit rows: %w", err)
	}
	for _, c := range chunks {
		if err := r.admit(c, o); err != nil {
			return nil, fmt.Errorf("kernel: unit rows: %w", err)
		}
	}
	return r, nil
}

// A unitChunk says what a chunk of rows has that may be refused: the first row that is not
// of unit norm, and the first two of zeros; -1 where there is none.
type unitChunk struct{ long, zero, second int }

// divideRows sets the rows lo to hi-1 of dst to those of the features, divided by their
// norms.
func divideRows[T rows.Float](dst rows.View[float64], features rows.View[T], lo, hi int) unitChunk {
	chunk := unitChunk{-1, -1, -1}
	for i := lo; i < hi; i++ {
		row := dst.Row(i)
		for c, v := range features.Row(i) {
			row[c] = float64(v)
		}
		norm := toUnit(row)
		switch {
		case norm == 0 && chunk.zero < 0:
			chunk.zero = i
		case norm == 0 && chunk.second < 0:
			chunk.second = i
		case norm != 0 && chunk.long < 0 && !(math.Abs(norm-1) <= unitTolerance):
			chunk.long = i
		}
	}
	return chunk
}

// admit takes the null record of a chunk, or refuses the first of its rows that the options
// do not allow.
func (r *UnitRows) admit(c unitChunk, o UnitOptions) error {
	zero := c.zero
	if zero >= 0 && o.Nulls > 0 && r.null < 0 {
		r.null, zero = zero, c.second
	}
	long := c.long
	if o.Normalize {
		long = -1
	}
	switch {
	case zero >= 0 && (long < 0 || zero < long):
		return &points.ZeroRowError{Row: zero}
	case long >= 0:
		return &UnitNormError{Row: long}
	}
	return nil
}

// toUnit divides a row of finite numbers by its norm, which it returns, +Inf
// where it overflows. A row of zeros stays as it is. The squares are summed
// after scaling by a power of two, which is exact: they neither overflow nor
// underflow, whatever the norm.
func toUnit(row []float64) (norm float64) {
	largest := 0.0
	for _, v := range row {
		if size := math.Abs(v); size > largest { // faster than max, which looks for NaN
			largest = size
		}
	}
	if largest == 0 {
		return 0
	}
	_, exponent := math.Frexp(largest)
	exponent = min(max(exponent, -1022), 1022) // so that both powers are numbers
	scale, sum := math.Ldexp(1, -exponent), 0.0
	for c := range row {
		row[c] *= scale
		sum += float64(row[c] * row[c])
	}
	scaled := math.Sqrt(sum)
	for c := range row {
		row[c] /= scaled
	}
	return math.Ldexp(scaled, exponent)
}

// N returns the number of rows.
func (r *UnitRows) N() int { return r.rows.Rows }

// dim returns the number of columns.
func (r *UnitRows) dim() int { return r.rows.Cols }

// Null tells whether row i is the null record.
func (r *UnitRows) Null(i int) bool { return i >= 0 && i == r.null }

// Except returns a copy of all rows but the given one, in their order. It panics if there is
// no such row.
func (r *UnitRows) Except(row int) blas64.General {
	d := r.rows.Cols
	out := make([]float64, 0, (r.rows.Rows-1)*d)
	out = append(append(out, r.rows.Data[:row*d]...), r.rows.Data[(row+1)*d:]...)
	return blas64.General{Rows: r.rows.Rows - 1, Cols: d, Stride: d, Data: out}
}

// open validates what the operators of unit rows are given and fills in the
// defaults.
func (r *UnitRows) open(ctx context.Context, b Bandwidth, opt *Options) (*unitWeights, *Options, error) {
	if r == nil || r.N() == 0 {
		return nil, nil, fmt.Errorf("kernel: unit rows: %w", ErrEmpty)
	}
	o, err := opt.agreed(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := b.Check(); err != nil {
		return nil, nil, err
	}
	if 4*b.gamma > maxUnitExponent {
		return nil, nil, fmt.Errorf("kernel: %w: the weight of opposite unit rows underflows at %v, want a sigma of at least 0.0535", ErrBandwidth, b)
	}
	return &unitWeights{bandwidth: b, low: b.Weight(4), rho: b.Weight(1), null: r.null}, o, nil
}

// maxUnitExponent is the largest exponent of a weight between unit rows:
// exp(-700) and its inverse are ordinary float64 numbers, so that no unit row is
// isolated.
const maxUnitExponent = 700

// points returns the rows as points. Their bounding box is left out: nothing
// is centred, because centring would make unit rows longer.
func (r *UnitRows) points() *rows.Points {
	return &rows.Points{N: r.N(), D: r.dim(), Double: r.rows}
}

// unitWeights are the weights between unit rows. Their range is that of exact
// arithmetic whatever rounding does to a distance or an exponential, and the
// null record, which is at no distance from anybody, has one constant weight.
type unitWeights struct {
	bandwidth Bandwidth
	low       float64 // exp(-4 Gamma), that of opposite rows
	rho       float64 // exp(-Gamma), that of the null record and any other row
	null      int     // row of the null record, or -1
}

// at returns the weight at a computed squared distance.
func (u *unitWeights) at(d2 float64) float64 {
	return min(max(u.bandwidth.Weight(min(max(d2, 0), 4)), u.low), 1)
}

// weigh turns the computed squared distances of row i to the rows from lo on into weights.
// A weight is at most 1 whatever the distance, and at opposite rows and beyond it is raised
// to low.
func (u *unitWeights) weigh(kernels *simd.Kernels, d2 []float64, i, lo int) {
	if i == u.null {
		for j := range d2 {
			d2[j] = u.rho
		}
		return
	}
	kernels.Weights64(d2, d2, u.bandwidth.gamma, u.low, maxUnitExponent)
	if at := u.null - lo; u.null >= 0 && at >= 0 && at < len(d2) {
		d2[at] = u.rho
	}
}

// entryRel bounds the relative error of a weight. In both forms of the distance
// a squared distance of unit rows is off by at most (4 d + 8) 2^-53, in the form
// of products by |x_i|^2 + |x_j|^2 + 2 |x_i||x_j| = 4 times d roundings and three
// additions of numbers up to 4; the product with Gamma rounds once more.
func (u *unitWeights) entryRel(d int) float64 {
	return u.bandwidth.gamma*float64(4*d+16)*0x1p-53 + 0x1p-51
}
