package plot

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// A Plane has rows as points of the plane: their two columns as they are, or their two
// leading principal components.
type Plane struct {
	Points []Point
	// Columns is how many columns the rows have.
	Columns int
	// Share are the parts of the variance along the two components, where there are more
	// than two columns.
	Share [2]float64
}

// NewPlane returns the given rows of x in the plane. Rows of one column get heights that
// mean nothing, so that they do not hide each other. The error is points.ErrShape for no
// rows, *points.NonFiniteError with the number of the row in x, or that of ctx.
func NewPlane[M points.Matrix](ctx context.Context, x M, rows []int) (*Plane, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	if len(rows) == 0 || d == 0 {
		return nil, fmt.Errorf("plot: %w: %d of %d x %d rows", points.ErrShape, len(rows), n, d)
	}
	p := &Plane{Points: make([]Point, len(rows)), Columns: d}
	if d > 2 {
		return p, components(ctx, p, x, rows)
	}
	m, err := pick(ctx, x, rows)
	if err != nil {
		return nil, err
	}
	for i := range p.Points {
		p.Points[i] = Point{m.At(i, 0), m.At(i, d-1)}
	}
	if d == 1 {
		spread(p.Points)
	}
	return p, nil
}

// pick copies rows of x.
func pick[M points.Matrix](ctx context.Context, x M, rows []int) (*mat.Dense, error) {
	_, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("plot: %w", err)
	}
	m := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		points.ReadRow(m.RawRowView(i), x, row)
		for j, v := range m.RawRowView(i) {
			if v-v != 0 {
				return nil, fmt.Errorf("plot: %w", &points.NonFiniteError{What: "points", Row: row, Col: j})
			}
		}
	}
	return m, nil
}

// spread gives points on a line heights within a tenth of their extent.
func spread(at []Point) {
	lo, hi := at[0].X, at[0].X
	for _, p := range at {
		lo, hi = min(lo, p.X), max(hi, p.X)
	}
	for i := range at {
		at[i].Y = (hi - lo) / 10 * (float64(scramble(uint64(i))>>11)/0x1p53 - 0.5)
	}
}

// The principal directions are found from so many rows at most, and from fewer where they
// would have more than so many numbers: 128 MiB.
const (
	fitRows    = 2000
	fitNumbers = 1 << 24
	blockRows  = 256 // that are projected at a time
)

// components sets the points to the two leading principal components of rows.
func components[M points.Matrix](ctx context.Context, p *Plane, x M, rows []int) error {
	some := make([]int, min(len(rows), fitRows, max(fitNumbers/p.Columns, 16)))
	for i := range some {
		some[i] = rows[share(i, len(rows), len(some))]
	}
	m, err := pick(ctx, x, some)
	if err != nil {
		return err
	}
	c, total, err := leading(ctx, m)
	if err != nil {
		return err
	}
	for from := 0; from < len(rows); from += blockRows {
		to := min(from+blockRows, len(rows))
		block, err := pick(ctx, x, rows[from:to])
		if err != nil {
			return err
		}
		z, err := pca.Project(c, block.RawMatrix())
		if err != nil {
			return err
		}
		for i := range to - from {
			p.Points[from+i] = Point{z.At(i, 0), z.At(i, 1)}
		}
	}
	for j := range p.Share {
		if total > 0 {
			p.Share[j] = min(c.Variances[j]/total, 1)
		}
	}
	return nil
}

// leading returns the two leading principal components of the rows of x and the sum of
// all variances. It iterates on a block of columns (Golub and Van Loan, Matrix
// Computations, 2013, section 8.2.4): a picture needs two directions, and the full
// problem takes far longer in many dimensions. The mean is taken off x itself.
func leading(ctx context.Context, x *mat.Dense) (*pca.Components, float64, error) {
	const block, most, settled = 8, 100, 1e-6
	n, d := x.Dims()
	c, total := centre(x)
	basis := start(d, min(block, d))
	var images, next, small mat.Dense
	c.Variances = []float64{0, 0}
	for range most {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		images.Mul(x, basis)
		small.Mul(images.T(), &images)
		values, turn, ok := eigen(&small)
		if !ok {
			return nil, 0, fmt.Errorf("plot: %w: principal components did not converge", ErrPlot)
		}
		next.Mul(basis, turn)
		change := max(math.Abs(values[0]-c.Variances[0]), math.Abs(values[1]-c.Variances[1]))
		copy(c.Variances, values[:2])
		c.Vectors = mat.DenseCopyOf(next.Slice(0, d, 0, 2))
		if change <= settled*values[0] {
			break
		}
		next.Mul(x.T(), &images)
		basis = orthonormal(mat.DenseCopyOf(&next))
		images.Reset()
		next.Reset()
		small.Reset()
	}
	orient(c.Vectors)
	for j := range c.Variances {
		c.Variances[j] /= float64(max(n-1, 1))
	}
	return c, total, nil
}

// centre takes the mean off the rows of x and returns it, with the sum of the variances: 0
// where nothing but rounding is left.
func centre(x *mat.Dense) (*pca.Components, float64) {
	n, d := x.Dims()
	c := &pca.Components{Mean: make([]float64, d)}
	squares, total := 0.0, 0.0
	for i := range n {
		for j, v := range x.RawRowView(i) {
			c.Mean[j] += v / float64(n)
			squares += v * v
		}
	}
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range c.Mean {
			row[j] -= v
			total += row[j] * row[j]
		}
	}
	if total <= 0x1p-90*squares {
		return c, 0
	}
	return c, total / float64(max(n-1, 1))
}

// start returns columns to begin with, the same in every run.
func start(d, columns int) *mat.Dense {
	m := mat.NewDense(d, columns, nil)
	data := m.RawMatrix().Data
	for i := range data {
		data[i] = float64(scramble(uint64(i))>>11)/0x1p53 - 0.5
	}
	return orthonormal(m)
}

// orthonormal makes the columns of m orthonormal, each twice against those before it. A
// column that they span becomes zero.
func orthonormal(m *mat.Dense) *mat.Dense {
	d, columns := m.Dims()
	for j := range columns {
		v := m.ColView(j).(*mat.VecDense)
		before := mat.Norm(v, 2)
		for range 2 {
			for i := range j {
				w := m.ColView(i)
				v.AddScaledVec(v, -mat.Dot(v, w), w)
			}
		}
		norm := mat.Norm(v, 2)
		if norm <= before*float64(d)*0x1p-50 {
			v.Zero()
			continue
		}
		v.ScaleVec(1/norm, v)
	}
	return m
}

// eigen returns the eigenvalues of a small symmetric matrix, falling, and its vectors.
func eigen(m *mat.Dense) ([]float64, *mat.Dense, bool) {
	k, _ := m.Dims()
	s := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			s.SetSym(i, j, m.At(i, j))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, false
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values, out := make([]float64, k), mat.NewDense(k, k, nil)
	for j, v := range e.Values(nil) {
		values[k-1-j] = max(v, 0)
		out.SetCol(k-1-j, mat.Col(nil, j, &vectors))
	}
	return values, out, true
}

// orient makes the entry of largest magnitude of each column positive.
func orient(m *mat.Dense) {
	d, columns := m.Dims()
	for j := range columns {
		most := 0.0
		for i := range d {
			if v := m.At(i, j); math.Abs(v) > math.Abs(most)*(1+1e-9) {
				most = v
			}
		}
		if most < 0 {
			for i := range d {
				m.Set(i, j, -m.At(i, j))
			}
		}
	}
}
