package distance

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// UnitTolerance is how far from 1 the norm of a unit row may be.
const UnitTolerance = 1e-6

// UnitRows are rows of features, each divided by its norm in float64. One of them may be a
// null record. They are immutable.
type UnitRows struct {
	Rows    rows.View[float64] // packed; a null record is a row of zeros
	NullRow int                // the row of the null record, -1 where there is none
}

// UnitOptions say which rows NewUnitRows accepts. Package kernel says what the fields mean.
type UnitOptions struct {
	Normalize bool
	Nulls     int
	MaxMemory int64
	Workers   *par.Workers
}

// NewUnitRows divides rows of features by their norms.
func NewUnitRows[T rows.Float](features rows.View[T], o UnitOptions) (*UnitRows, error) {
	if err := base.CheckShape("unit rows", features); err != nil {
		return nil, err
	}
	if uint64(features.Rows) >= math.MaxUint32 {
		return nil, fmt.Errorf("kernel: unit rows: %w: %d rows, want fewer than 2^32-1", base.ErrShape, features.Rows)
	}
	if o.Nulls < 0 || o.Nulls > 1 {
		return nil, fmt.Errorf("kernel: unit rows: %w: %d null records, want 0 or 1", base.ErrOption, o.Nulls)
	}
	if o.MaxMemory < 0 {
		return nil, fmt.Errorf("kernel: unit rows: %w: %d bytes of memory", base.ErrOption, o.MaxMemory)
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = mem.DefaultLimit()
	}
	need := mem.Saturate(8 * float64(features.Rows) * float64(features.Cols))
	if need > o.MaxMemory || need > math.MaxInt {
		return nil, &base.MemoryError{What: "unit rows", Need: need, Limit: o.MaxMemory}
	}
	if err := base.CheckFinite("points", features); err != nil {
		return nil, err
	}
	r := &UnitRows{NullRow: -1, Rows: rows.View[float64]{
		Rows: features.Rows, Cols: features.Cols, Stride: features.Cols, Data: make([]float64, features.Rows*features.Cols),
	}}
	chunks := make([]unitChunk, split.Blocks(features.Rows, base.ChunkRows))
	if err := o.Workers.Do(context.Background(), len(chunks), par.Func(func(_, chunk int) {
		lo, hi := split.Block(chunk, features.Rows, base.ChunkRows)
		chunks[chunk] = divideRows(r.Rows, features, lo, hi)
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
		norm := ToUnit(row)
		switch {
		case norm == 0 && chunk.zero < 0:
			chunk.zero = i
		case norm == 0 && chunk.second < 0:
			chunk.second = i
		case norm != 0 && chunk.long < 0 && !(math.Abs(norm-1) <= UnitTolerance):
			chunk.long = i
		}
	}
	return chunk
}

// admit takes the null record of a chunk, or refuses the first of its rows that the options
// do not allow.
func (r *UnitRows) admit(c unitChunk, o UnitOptions) error {
	zero := c.zero
	if zero >= 0 && o.Nulls > 0 && r.NullRow < 0 {
		r.NullRow, zero = zero, c.second
	}
	long := c.long
	if o.Normalize {
		long = -1
	}
	switch {
	case zero >= 0 && (long < 0 || zero < long):
		return &points.ZeroRowError{Row: zero}
	case long >= 0:
		return &base.UnitNormError{Row: long}
	}
	return nil
}

// ToUnit divides a row of finite numbers by its norm, which it returns, +Inf
// where it overflows. A row of zeros stays as it is. The squares are summed
// after scaling by a power of two, which is exact: they neither overflow nor
// underflow, whatever the norm.
func ToUnit(row []float64) (norm float64) {
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
func (r *UnitRows) N() int { return r.Rows.Rows }

// Dim returns the number of columns.
func (r *UnitRows) Dim() int { return r.Rows.Cols }

// Null reports whether row i is the null record.
func (r *UnitRows) Null(i int) bool { return i >= 0 && i == r.NullRow }

// Weights returns the weights between the rows, and refuses a bandwidth at which some underflow.
func (r *UnitRows) Weights(b base.Bandwidth) (*UnitWeights, error) {
	if r.N() == 0 {
		return nil, fmt.Errorf("kernel: unit rows: %w", base.ErrEmpty)
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	if 4*b.Gamma() > MaxUnitExponent {
		return nil, fmt.Errorf("kernel: %w: the weight of opposite unit rows underflows at %v, want a sigma of at least 0.0535", base.ErrBandwidth, b)
	}
	return &UnitWeights{Bandwidth: b, Low: b.Weight(4), Rho: b.Weight(1), Null: r.NullRow}, nil
}

// Except returns a copy of all rows but the given one, in their order. It panics if there is
// no such row.
func (r *UnitRows) Except(row int) blas64.General {
	d := r.Rows.Cols
	out := make([]float64, 0, (r.Rows.Rows-1)*d)
	out = append(append(out, r.Rows.Data[:row*d]...), r.Rows.Data[(row+1)*d:]...)
	return blas64.General{Rows: r.Rows.Rows - 1, Cols: d, Stride: d, Data: out}
}

// MaxUnitExponent is the largest exponent of a weight between unit rows:
// exp(-700) and its inverse are ordinary float64 numbers, so that no unit row is
// isolated.
const MaxUnitExponent = 700

// Points returns the rows as points. Their bounding box is left out: nothing
// is centred, because centring would make unit rows longer.
func (r *UnitRows) Points() *rows.Points {
	return &rows.Points{N: r.N(), D: r.Dim(), Double: r.Rows}
}

// UnitWeights are the weights between unit rows. Their range is that of exact
// arithmetic whatever rounding does to a distance or an exponential, and the
// null record, which is at no distance from anybody, has one constant weight.
type UnitWeights struct {
	Bandwidth base.Bandwidth
	Low       float64 // exp(-4 Gamma), that of opposite rows
	Rho       float64 // exp(-Gamma), that of the null record and any other row
	Null      int     // row of the null record, or -1
}

// At returns the weight at a computed squared distance.
func (u *UnitWeights) At(d2 float64) float64 {
	return min(max(u.Bandwidth.Weight(min(max(d2, 0), 4)), u.Low), 1)
}

// Weigh turns the computed squared distances of row i to the rows from lo on into weights.
// A weight is at most 1 whatever the distance, and at opposite rows and beyond it is raised
// to low.
func (u *UnitWeights) Weigh(kernels *simd.Kernels, d2 []float64, i, lo int) {
	if i == u.Null {
		for j := range d2 {
			d2[j] = u.Rho
		}
		return
	}
	kernels.Weights64(d2, d2, u.Bandwidth.Gamma(), u.Low, MaxUnitExponent)
	if at := u.Null - lo; u.Null >= 0 && at >= 0 && at < len(d2) {
		d2[at] = u.Rho
	}
}

// EntryRel bounds the relative error of a weight. In both forms of the distance
// a squared distance of unit rows is off by at most (4 d + 8) 2^-53, in the form
// of products by |x_i|^2 + |x_j|^2 + 2 |x_i||x_j| = 4 times d roundings and three
// additions of numbers up to 4; the product with Gamma rounds once more.
func (u *UnitWeights) EntryRel(d int) float64 {
	return u.Bandwidth.Gamma()*float64(4*d+16)*0x1p-53 + 0x1p-51
}
