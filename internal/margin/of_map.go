package margin

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// OfMap diagnoses places, such as those of a Model, that are searched for the images of new rows
// under a map. rows are those that the places belong to. Workers, kernels and progress are those
// of the Engine, unless the settings have a function of progress, and its memory limit counts the memory.
//
// Distances of rows are taken where the map is linear: after roots and divisions by norms, if
// it begins with them. They are the same for every data set, so the theorem holds there as it does
// for rows as they are; and among these it would say nothing, as roots have no Lipschitz
// constant near 0, and divisions none near rows of zeros. A division of images stays part
// of the map: the constant is that over images of the norm that those of all rows have.
//
// Errors: those of Map.Place and Diagnose, and kernel.ErrMemory.
func OfMap(ctx context.Context, e *privatemail.Engine, m *supervised.Map, rows, places blas32.General, labels []int32, settings *Settings) (_ *Report, err error) {
	defer par.Catch(&err)
	if m == nil {
		return nil, fmt.Errorf("margin: %w: no map", points.ErrShape)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("margin: %w", err)
	}
	n, err := shape(rows, places, labels, m)
	if err != nil {
		return nil, err
	}
	if err := CheckLabels(labels); err != nil {
		return nil, err
	}
	var s Settings
	if settings != nil {
		s = *settings
	}
	s.Workers, s.Kernels = e.Lend(), simd.At(e.Level())
	if s.Progress == nil {
		s.Progress = e.Report(ctx)
	}
	var report *Report
	err = e.Reserve(ctx, mem.Saturate(bytesOf(m, n)), func(ctx context.Context) (err error) {
		report, err = ofMap(ctx, e, m, rows, places, labels, &s)
		return err
	})
	return report, err
}

// shape refuses sizes that do not fit the map, before memory is taken for them.
func shape(rows, places blas32.General, labels []int32, m *supervised.Map) (n int, err error) {
	n, d, err := points.Dims(rows)
	if err != nil {
		return 0, fmt.Errorf("margin: rows: %w", err)
	}
	at, k, err := points.Dims(places)
	if err != nil {
		return 0, fmt.Errorf("margin: places: %w", err)
	}
	if n < 1 || d != m.Dim || at != n || k != m.Columns() || len(labels) != n {
		return 0, fmt.Errorf("margin: %w: %d x %d rows, %d x %d places and %d labels for a map from %d columns to %d", points.ErrShape, n, d, at, k, len(labels), m.Dim, m.Columns())
	}
	return n, nil
}

// bytesOf is what a diagnosis of n rows takes: prepared rows, images before and after
// their division, two copies of the places within a search, neighbours and distances of each row,
// and the square of the matrix of the map with what its eigenvalue takes.
func bytesOf(m *supervised.Map, n int) float64 {
	d, k := float64(m.Dim), float64(m.Columns())
	bytes := 4 * 4 * float64(n) * k
	if m.Root || m.UnitRows {
		bytes += 4 * float64(n) * d
	}
	if m.A != nil {
		bytes += 8 * (d*k + 4*k*k)
	}
	return bytes + float64(n)*(16*firstLook+200) + 16*secondLook*float64(min(n, rowsAtOnce))
}

func ofMap(ctx context.Context, e *privatemail.Engine, m *supervised.Map, rows, places blas32.General, labels []int32, s *Settings) (*Report, error) {
	core := &dense.Core{Workers: s.Workers, Kernels: s.Kernels}
	largest, err := lipschitz(ctx, core, m)
	if err != nil {
		return nil, fmt.Errorf("margin: map: %w", err)
	}
	d := Embedding{Rows: rows, Places: places, Labels: labels, Interpolation: Interpolation{Lipschitz: max(largest, math.SmallestNonzeroFloat64), Unit: m.UnitImages}}
	if m.Root || m.UnitRows {
		if d.Rows, err = (&supervised.Map{Root: m.Root, UnitRows: m.UnitRows, Dim: m.Dim}).Place(ctx, e, rows); err != nil {
			return nil, err
		}
	}
	if d.Images, err = m.Place(ctx, e, rows); err != nil {
		return nil, err
	}
	if m.UnitImages {
		linear := *m
		linear.UnitImages = false
		before, err := linear.Place(ctx, e, rows)
		if err != nil {
			return nil, err
		}
		d.Floor = norms(before, labels, math.Inf(1), math.Min) * (1 - rounding)
	}
	if m.A != nil || m.Mean != nil || m.Scale != nil || m.UnitImages {
		d.Rounding = rounding * norms(d.Images, labels, 0, math.Max)
	}
	r, err := Diagnose(ctx, &d, s)
	if err != nil {
		return nil, err
	}
	r.Space = space(m)
	return r, nil
}

// rounding is by what share of the largest norm an image may be off for float32.
const rounding = 0x1p-20

// norms returns the least or largest norm of the rows that have a label.
func norms(x blas32.General, labels []int32, none float64, of func(a, b float64) float64) float64 {
	for i, label := range labels {
		if label < 0 {
			continue
		}
		var sum float64
		for _, v := range rowOf(x, uint32(i)) {
			sum += float64(v) * float64(v)
		}
		none = of(none, math.Sqrt(sum))
	}
	return none
}

// space names what happens to rows before distances are taken.
func space(m *supervised.Map) string {
	var words []string
	if m.Root {
		words = append(words, "root")
	}
	if m.UnitRows {
		words = append(words, "unit-rows")
	}
	return strings.Join(words, ",")
}

// lipschitz returns the largest singular value of the linear part of a map, or a little more.
func lipschitz(ctx context.Context, core *dense.Core, m *supervised.Map) (float64, error) {
	if m.A == nil {
		if m.Scale == nil {
			return 1, nil
		}
		most := 0.0
		for _, v := range m.Scale {
			most = max(most, math.Abs(v))
		}
		return most, nil
	}
	product, err := core.Product(ctx, mat.DenseCopyOf(m.A.T()), m.A)
	if err != nil {
		return 0, err
	}
	k, _ := product.Dims()
	values, _, err := core.Leading(ctx, mat.NewSymDense(k, product.RawMatrix().Data), 1)
	if err != nil {
		return 0, err
	}
	return math.Sqrt(max(0, values[0])) * (1 + slack), nil
}
