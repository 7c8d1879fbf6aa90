package plot

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
)

// A Plane has rows as points of the plane: their two columns unchanged, or their two
// leading principal components.
type Plane struct {
	Points []Point
	// Columns is how many columns the rows have.
	Columns int
	// Share has the parts of the variance along the two components, if there are more
	// than two columns.
	Share [2]float64
}

// NewPlane returns the given rows of x in the plane. Rows of one column get arbitrary
// heights, so that they do not hide each other. Errors: points.ErrShape for no rows,
// *points.NonFiniteError with the number of the row in x, and that of ctx.
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

// The principal directions are found from at most fitRows rows, and from fewer if these
// would have more than fitNumbers numbers, 128 MiB.
const (
	fitRows    = 2000
	fitNumbers = 1 << 24
	blockRows  = 256 // projected at a time
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
	c, total, err := pca.Leading(ctx, m, 2)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
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
