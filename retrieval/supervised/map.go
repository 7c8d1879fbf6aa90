package supervised

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// ErrNoPairs reports labels that say nothing of what a class has in common: no
// two different rows share one.
var ErrNoPairs = errors.New("no two different rows share a label")

// ErrEqualMeans reports labels that Discriminate finds no direction in: there is one class,
// or all classes have the same mean.
var ErrEqualMeans = errors.New("all classes have the same mean, or there is one class only")

// A Map takes a row of d values to its image of k:
//
//	z = (p(f) - Mean) A
//
// where p takes roots and divides by the norm, as Root and UnitRows say, and z is divided
// by its norm at last with UnitImages. A Map is public: whoever knows it places a query
// alone. It is not changed once made and is safe for concurrent use.
type Map struct {
	// Root and UnitRows are those of the Recipe.
	Root, UnitRows bool
	// Mean is subtracted, length d; nil for zeros.
	Mean []float64
	// Scale has what every column is multiplied by, length d; nil for ones. It is nil
	// where there is an A.
	Scale []float64
	// A is d x k; nil for the identity.
	A *mat.Dense
	// UnitImages is that of the Recipe, unless there is one column.
	UnitImages bool
	// Dim is d.
	Dim int
	// ColumnNames are the names of the d values of a row, for who has names; nil for none. Nothing is
	// computed from them.
	ColumnNames []string
}

// Columns returns k.
func (m *Map) Columns() int {
	if m.A == nil {
		return m.Dim
	}
	_, k := m.A.Dims()
	return k
}

// largest is the most an entry of a map may be.
const largest = 1e50

// Check refuses a map that cannot be applied, such as one that came from
// elsewhere: kernel.ErrShape, and kernel.ErrNonFinite, also for an entry beyond
// 1e50.
func (m *Map) Check() error {
	d := m.Dim
	switch {
	case d < 1 || m.Mean != nil && len(m.Mean) != d || m.Scale != nil && len(m.Scale) != d:
		return fmt.Errorf("supervised: map: %w: for %d columns, a mean of %d values and a scale of %d", points.ErrShape, d, len(m.Mean), len(m.Scale))
	case m.ColumnNames != nil && len(m.ColumnNames) != d:
		return fmt.Errorf("supervised: map: %w: %d names for %d columns", points.ErrShape, len(m.ColumnNames), d)
	case m.A != nil && m.Scale != nil:
		return fmt.Errorf("supervised: map: %w: it has a scale and a matrix: want one of them", points.ErrShape)
	}
	for _, v := range []struct {
		what   string
		values []float64
	}{{"mean", m.Mean}, {"scale", m.Scale}} {
		for j, x := range v.values {
			if !(math.Abs(x) <= largest) {
				return fmt.Errorf("supervised: map: %w", &points.NonFiniteError{What: v.what, Col: j})
			}
		}
	}
	if m.A == nil {
		return nil
	}
	rows, k := m.A.Dims()
	if rows != d || k == 0 {
		return fmt.Errorf("supervised: map: %w: a matrix of %d x %d for %d columns", points.ErrShape, rows, k, d)
	}
	for i := range d {
		for j := range k {
			if !(math.Abs(m.A.At(i, j)) <= largest) {
				return fmt.Errorf("supervised: map: %w", &points.NonFiniteError{What: "matrix", Row: i, Col: j})
			}
		}
	}
	return nil
}

// Apply returns the images of rows. A row that a map with UnitImages takes to zero, as it
// does the mean, stays there, and an entry that float32 cannot hold becomes the largest it
// can: a client that failed for some queries, and sent nothing, would tell whoever made the
// map which ones. Errors: kernel.ErrShape when rows do not have the map's dimension,
// kernel.ErrNonFinite, and those of Check.
func (m *Map) Apply(rows blas32.General) (blas32.General, error) {
	return m.applyWith(context.Background(), new(dense.Core), rows)
}

// Place is Apply with the workers of an Engine, and ends with ctx.
func (m *Map) Place(ctx context.Context, e *privatemail.Engine, rows blas32.General) (blas32.General, error) {
	return m.applyWith(ctx, &dense.Core{Workers: e.Lend(), Kernels: simd.At(e.Level())}, rows)
}

func (m *Map) applyWith(ctx context.Context, core *dense.Core, rows blas32.General) (_ blas32.General, err error) {
	defer par.Catch(&err)
	var none blas32.General
	p, err := newPlacer(m, core)
	if err != nil {
		return none, err
	}
	n, err := m.checkRows(rows)
	if err != nil {
		return none, err
	}
	z := newRows(n, m.Columns())
	if err := p.place(ctx, core.Workers, z, rows); err != nil {
		return none, fmt.Errorf("supervised: map: %w", err)
	}
	return z, nil
}

// checkRows returns the number of rows, and refuses those that the map does not take.
func (m *Map) checkRows(rows blas32.General) (n int, err error) {
	n, d, err := points.Dims(rows)
	if err != nil {
		return 0, fmt.Errorf("supervised: map: %w", err)
	}
	if n == 0 || d != m.Dim {
		return 0, fmt.Errorf("supervised: map: %w: %d x %d rows for a map of %d columns", points.ErrShape, n, d, m.Dim)
	}
	return n, nil
}

// images maps rows that are prepared.
func (m *Map) images(ctx context.Context, core *dense.Core, prepared blas32.General) (blas32.General, error) {
	z, exp := newRows(prepared.Rows, m.Columns()), 0
	if m.A != nil {
		var a *mat.Dense
		if a, exp = m.shrunk(); a != nil {
			if err := core.Mul(ctx, z, prepared, m.Mean, a); err != nil {
				return z, err
			}
		}
	}
	k := core.Loops()
	err := core.Workers.Do(ctx, split.Blocks(z.Rows, rowsAtOnce), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, z.Rows, rowsAtOnce)
		m.finish(k, partOf(z, lo, hi), partOf(prepared, lo, hi), exp)
	}))
	return z, err
}

// keeps reports whether the image of a row that is prepared is the row itself.
func (m *Map) keeps() bool { return m.A == nil && m.Mean == nil && m.Scale == nil && !m.UnitImages }

// shrunk returns A times 2^-exp, so small that no image of float32 values overflows. It is
// nil where A is zero.
func (m *Map) shrunk() (a *mat.Dense, exp int) {
	var most float64
	for i := range m.Dim {
		for _, v := range m.A.RawRowView(i) {
			most = max(most, math.Abs(v))
		}
	}
	if most == 0 {
		return nil, 0
	}
	far := float64(math.MaxFloat32)
	for _, v := range m.Mean {
		far = max(far, math.Abs(v))
	}
	_, exp = math.Frexp(2 * far / math.MaxFloat32 * most * float64(m.Dim))
	exp = max(exp+1, -1000) // one more for what rounding adds; 2^1000 is a number, too
	a = new(mat.Dense)
	a.Scale(math.Ldexp(1, -exp), m.A)
	return a, exp
}

// finish turns z, products with the shrunk matrix, into the images of rows that are prepared.
// Without a matrix it makes the images from these rows alone.
func (m *Map) finish(k *simd.Kernels, z, prepared blas32.General, exp int) {
	for i := range z.Rows {
		switch {
		case m.A == nil:
			m.moveColumns(rowOf(z, i), rowOf(prepared, i))
		case exp != 0 && !m.UnitImages:
			grow(rowOf(z, i), exp)
		}
	}
	if m.UnitImages {
		normalizeAll(k, z)
	}
}

// moveColumns sets z to the image of a row under a map without a matrix.
func (m *Map) moveColumns(z, row []float32) {
	if m.Mean == nil && m.Scale == nil {
		copy(z, row)
		return
	}
	for j, v := range row {
		x := float64(v)
		if m.Mean != nil {
			x -= m.Mean[j]
		}
		if m.Scale != nil {
			x *= m.Scale[j]
		}
		z[j] = held(x)
	}
}

// grow multiplies a row with 2^exp. The product is exact, or so small that float32 has 0 for it.
func grow(row []float32, exp int) {
	by := math.Ldexp(1, exp)
	for j, v := range row {
		row[j] = held(float64(v) * by)
	}
}

// held returns x, or the largest float32 where x is beyond it.
func held(x float64) float32 {
	switch {
	case x > math.MaxFloat32:
		return math.MaxFloat32
	case x < -math.MaxFloat32:
		return -math.MaxFloat32
	}
	return float32(x)
}

// Affine returns the matrix M with (f - Mean) A = (f 1) M, of d+1 rows: the linear part of
// the map in one piece, for others to use.
func (m *Map) Affine() *mat.Dense {
	d, k := m.Dim, m.Columns()
	out := mat.NewDense(d+1, k, nil)
	linear := out.Slice(0, d, 0, k).(*mat.Dense)
	if m.A != nil {
		linear.Copy(m.A)
	} else {
		for j := range d {
			linear.Set(j, j, 1)
			if m.Scale != nil {
				linear.Set(j, j, m.Scale[j])
			}
		}
	}
	if m.Mean != nil {
		last := out.RowView(d).(*mat.VecDense)
		last.MulVec(linear.T(), mat.NewVecDense(d, m.Mean))
		last.ScaleVec(-1, last)
	}
	return out
}
