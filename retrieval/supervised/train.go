package supervised

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// NewMap returns the map of the recipe, made from rows, n x d, with a label for each, -1 for
// a row without one. Steps are no part of a map.
//
// With S the covariance of the labelled rows about the means of their classes and
// R = S + Ridge (tr S / d) I, Whiten makes A with A A' = R^-1, which gives the distances of
// R^(-1/2); fewer columns are the leading generalised eigenvectors of the covariance of all
// rows and R. Discriminate takes those of the covariance of the class means and R: the
// subspace of the means within what Whiten makes. Keep with Columns takes the leading
// eigenvectors of the covariance of all rows. Of fewer rows than columns all of this is made
// in the span of the rows, where Whiten leaves as many columns as there are rows.
//
// Errors: kernel.ErrShape for sizes that do not fit and more columns than there are,
// kernel.ErrNonFinite, kernel.ErrLabels for a label below -1, ErrNoPairs, ErrEqualMeans, those
// of Recipe.Check, and that of ctx.
func (r Recipe) NewMap(ctx context.Context, rows blas32.General, labels []int32) (_ *Map, err error) {
	defer par.Catch(&err)
	return newMap(ctx, new(dense.Core), rows, labels, r)
}

func newMap(ctx context.Context, core *dense.Core, rows blas32.General, labels []int32, r Recipe) (*Map, error) {
	if err := checkRows(rows, labels); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	prepared, err := r.preparation().apply(ctx, core, rows)
	if err == nil {
		var m *Map
		if m, err = newTrainer(core, prepared, labels).newMap(ctx, r); err == nil {
			return m, nil
		}
	}
	return nil, fmt.Errorf("supervised: map: %w", err)
}

// checkRows refuses rows and labels that no map can be made of.
func checkRows(rows blas32.General, labels []int32) error {
	n, d, err := points.Dims(rows)
	if err != nil {
		return fmt.Errorf("supervised: %w", err)
	}
	if n == 0 || d == 0 || len(labels) != n {
		return fmt.Errorf("supervised: %w: %d x %d rows, %d labels", points.ErrShape, n, d, len(labels))
	}
	for i, label := range labels {
		if label < kernel.Unlabelled {
			return fmt.Errorf("supervised: %w: the label of row %d is below -1, want 0 or more, or -1 for none", kernel.ErrLabels, i+1)
		}
	}
	if err := points.CheckFinite(rows); err != nil {
		return fmt.Errorf("supervised: %w", err)
	}
	return nil
}

// A trainer makes maps of prepared rows. What maps have in common is computed once, when
// the first of them needs it.
type trainer struct {
	core   *dense.Core
	rows   blas32.General
	class  []int32 // of each row, -1 for none
	counts []int   // rows of each class
	// columns is how many columns the rows had that these are the coordinates of in their
	// span; 0 for rows as they are.
	columns int

	mean   []float64     // of all rows
	scale  []float64     // one over the standard deviation of a column, 1 for a constant one
	flat   []bool        // whether a column is constant, but for rounding
	weight []float64     // what Weigh multiplies a column by
	means  *mat.Dense    // of the classes
	within *mat.SymDense // covariance about them
	total  *mat.SymDense // covariance about mean
}

func newTrainer(core *dense.Core, rows blas32.General, labels []int32) *trainer {
	t := &trainer{core: core, rows: rows}
	t.class, t.counts = classes(labels)
	return t
}

// classes numbers the labels from 0, in their order, and counts their rows.
func classes(labels []int32) (class []int32, counts []int) {
	names := slices.Clone(labels)
	slices.Sort(names)
	names = slices.Compact(names)
	names = slices.DeleteFunc(names, func(label int32) bool { return label < 0 })
	class, counts = make([]int32, len(labels)), make([]int, len(names))
	for i, label := range labels {
		at, found := slices.BinarySearch(names, label)
		if !found {
			class[i] = -1
			continue
		}
		class[i] = int32(at)
		counts[at]++
	}
	return class, counts
}

func (t *trainer) newMap(ctx context.Context, r Recipe) (*Map, error) {
	d := t.rows.Cols
	if most := t.mostColumns(r.Projection); r.Columns > most {
		return nil, fmt.Errorf("%w: %d columns wanted, the recipe has %d", points.ErrShape, r.Columns, most)
	}
	m := &Map{Root: r.Root, UnitRows: r.UnitRows, UnitImages: r.UnitImages && d > 1, Dim: d}
	if r.Projection == Keep && r.Columns == 0 && !r.Standardize && !r.Weigh && !m.UnitImages {
		return m, nil
	}
	if err := t.moments(ctx); err != nil {
		return nil, err
	}
	scale, err := t.scales(ctx, r)
	if err != nil {
		return nil, err
	}
	m.Mean = t.mean
	if r.Projection == Keep && r.Columns == 0 {
		m.Scale = scale
		return m, nil
	}
	var a *mat.Dense
	if t.columns == 0 && t.rows.Rows < d && r.Columns < t.rows.Rows {
		a, err = t.inSpan(ctx, r, scale)
	} else {
		a, err = t.projection(ctx, r, scale)
	}
	if err != nil {
		return nil, err
	}
	for j, by := range scale {
		row := a.RawRowView(j)
		for c := range row {
			row[c] *= by
		}
	}
	m.A = a
	m.UnitImages = r.UnitImages && m.Columns() > 1
	return m, nil
}

// inSpan is projection in the span of the rows.
func (t *trainer) inSpan(ctx context.Context, r Recipe, scale []float64) (*mat.Dense, error) {
	span, err := t.core.NewSpan(ctx, t.rows, t.mean, scale)
	if errors.Is(err, dense.ErrNotDefinite) { // all rows are equal
		return nil, ErrNoPairs
	}
	if err != nil {
		return nil, err
	}
	in := &trainer{core: t.core, rows: span.Coordinates(), class: t.class, counts: t.counts, columns: t.rows.Cols}
	if err := in.moments(ctx); err != nil {
		return nil, err
	}
	a, err := in.projection(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	return span.Back(ctx, a)
}

// mostColumns is the number of columns that a projection has.
func (t *trainer) mostColumns(p Projection) int {
	if p == Discriminate {
		return min(max(len(t.counts)-1, 1), t.rows.Cols)
	}
	return t.rows.Cols
}

// moments computes mean, scale and flat.
func (t *trainer) moments(ctx context.Context) error {
	if t.mean != nil {
		return nil
	}
	means, err := t.core.Means(ctx, t.rows, nil)
	if err != nil {
		return err
	}
	mean, scale := means.RawRowView(0), make([]float64, t.rows.Cols)
	const columns = 128
	err = t.core.Workers.Do(ctx, split.Blocks(t.rows.Cols, columns), par.Func(func(_, piece int) {
		lo, hi := split.Block(piece, t.rows.Cols, columns)
		for i := range t.rows.Rows {
			for j, v := range rowOf(t.rows, i)[lo:hi] {
				x := float64(v) - mean[lo+j]
				scale[lo+j] += x * x
			}
		}
	}))
	if err != nil {
		return err
	}
	flat := make([]bool, t.rows.Cols)
	for j, sum := range scale {
		scale[j] = 1
		if sd := math.Sqrt(sum / float64(t.rows.Rows)); sd > math.Abs(mean[j])*1e-7 && sd > 1e-45 {
			scale[j] = 1 / sd
		} else {
			flat[j] = true
		}
	}
	t.mean, t.scale, t.flat = mean, scale, flat
	return nil
}

// projection returns the linear map of columns that are multiplied by a scale already.
func (t *trainer) projection(ctx context.Context, r Recipe, scale []float64) (*mat.Dense, error) {
	if r.Projection == Keep {
		c, err := t.covariance(ctx, &t.total, nil)
		if err != nil {
			return nil, err
		}
		_, vectors, err := t.core.Leading(ctx, scaled(c, scale), r.Columns)
		return vectors, err
	}
	if r.Projection == Discriminate {
		return t.discriminate(ctx, r, scale)
	}
	white, err := t.whiten(ctx, r, scale)
	if err != nil || r.Columns == 0 || r.Columns == t.rows.Cols {
		return white, err
	}
	c, err := t.covariance(ctx, &t.total, nil)
	if err != nil {
		return nil, err
	}
	a, _, err := t.leading(ctx, white, scaled(c, scale), r.Columns)
	return a, err
}

// whiten returns A with A A' = R^-1.
func (t *trainer) whiten(ctx context.Context, r Recipe, scale []float64) (*mat.Dense, error) {
	within, err := t.ridged(ctx, r, scale)
	if err != nil {
		return nil, err
	}
	a, err := t.core.Whiten(ctx, within)
	if err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(a), nil // products of general matrices are the faster ones
}

// covariance computes the covariance of rows about the means of their classes, or of all
// rows where class is nil, unless it is there already.
func (t *trainer) covariance(ctx context.Context, s **mat.SymDense, class []int32) (*mat.SymDense, error) {
	if *s != nil {
		return *s, nil
	}
	count := t.rows.Rows
	centres := mat.NewDense(1, t.rows.Cols, t.mean)
	if class != nil {
		count = 0
		for _, rows := range t.counts {
			count += rows
		}
		centres = t.means
	}
	sum, err := t.core.Gram(ctx, t.rows, class, centres)
	if err != nil {
		return nil, err
	}
	sum.ScaleSym(1/float64(count), sum)
	*s = sum
	return sum, nil
}

// scaled returns the covariance of columns that are multiplied by a scale; nil is one of ones.
func scaled(s *mat.SymDense, scale []float64) *mat.SymDense {
	d := s.SymmetricDim()
	out := mat.NewSymDense(d, nil)
	out.CopySym(s)
	raw := out.RawSymmetric()
	for i, by := range scale {
		row := raw.Data[i*raw.Stride:][:d]
		for j := i; j < d; j++ {
			row[j] = row[j] * by * scale[j]
		}
	}
	return out
}

// classMeans computes means.
func (t *trainer) classMeans(ctx context.Context) (err error) {
	if len(t.counts) == 0 {
		return ErrNoPairs
	}
	if t.means == nil {
		t.means, err = t.core.Means(ctx, t.rows, t.class)
	}
	return err
}

// ridged returns R.
func (t *trainer) ridged(ctx context.Context, r Recipe, scale []float64) (*mat.SymDense, error) {
	if err := t.classMeans(ctx); err != nil {
		return nil, err
	}
	s, err := t.covariance(ctx, &t.within, t.class)
	if err != nil {
		return nil, err
	}
	s = scaled(s, scale)
	d := s.SymmetricDim()
	mean := mat.Trace(s) / float64(cmp.Or(t.columns, d))
	if mean == 0 {
		return nil, ErrNoPairs
	}
	for j := range d {
		s.SetSym(j, j, s.At(j, j)+r.Ridge*mean)
	}
	return s, nil
}

// leading returns the k leading generalised eigenvectors of a covariance C and of R: A
// times the eigenvectors of A' C A.
func (t *trainer) leading(ctx context.Context, white *mat.Dense, c mat.Matrix, k int) (*mat.Dense, []float64, error) {
	half, err := t.core.Product(ctx, mat.DenseCopyOf(c), white)
	if err != nil {
		return nil, nil, err
	}
	both, err := t.core.Product(ctx, mat.DenseCopyOf(white.T()), half)
	if err != nil {
		return nil, nil, err
	}
	values, vectors, err := t.core.Leading(ctx, symmetric(both), k)
	if err != nil {
		return nil, nil, err
	}
	out, err := t.core.Product(ctx, white, vectors)
	return out, values, err
}

// symmetric returns the mean of a square matrix and its transpose.
func symmetric(x *mat.Dense) *mat.SymDense {
	d, _ := x.Dims()
	out := mat.NewSymDense(d, nil)
	a, to := x.RawMatrix(), out.RawSymmetric()
	for i := range d {
		for j := i; j < d; j++ {
			to.Data[i*to.Stride+j] = (a.Data[i*a.Stride+j] + a.Data[j*a.Stride+i]) / 2
		}
	}
	return out
}

// discriminate returns the directions in which class means differ, without those of
// rounding errors alone. Where a number of columns was asked for these are zeros.
func (t *trainer) discriminate(ctx context.Context, r Recipe, scale []float64) (*mat.Dense, error) {
	if len(t.counts) == 1 { // its mean is that of all rows, rounding apart
		return nil, ErrEqualMeans
	}
	k := t.mostColumns(Discriminate)
	if r.Columns > 0 {
		k = r.Columns
	}
	directions := t.betweenFew
	if len(t.counts) > t.rows.Cols {
		directions = t.betweenMany
	}
	a, values, err := directions(ctx, r, scale, k)
	if err != nil {
		return nil, err
	}
	if !(values[0] > 0) {
		return nil, ErrEqualMeans
	}
	found := k
	for found > 1 && values[found-1] <= 1e-9*values[0] {
		found--
	}
	if r.Columns == 0 {
		k = found
	}
	out := mat.NewDense(t.rows.Cols, k, nil)
	out.Copy(a.Slice(0, t.rows.Cols, 0, found))
	return out, nil
}

// betweenMany returns the k leading generalised eigenvectors of M'M and R, and their
// eigenvalues, where M are the centred means.
func (t *trainer) betweenMany(ctx context.Context, r Recipe, scale []float64, k int) (*mat.Dense, []float64, error) {
	white, err := t.whiten(ctx, r, scale)
	if err != nil {
		return nil, nil, err
	}
	m := t.centredMeans(scale)
	c, err := t.core.Product(ctx, mat.DenseCopyOf(m.T()), m)
	if err != nil {
		return nil, nil, err
	}
	return t.leading(ctx, white, c, k)
}

// betweenFew is betweenMany for fewer classes than columns, in less time: the eigenvectors
// are Y'U/sqrt(lambda), where Y = M R^-1, and lambda and U are the eigenvalues and
// eigenvectors of Y M'.
func (t *trainer) betweenFew(ctx context.Context, r Recipe, scale []float64, k int) (*mat.Dense, []float64, error) {
	within, err := t.ridged(ctx, r, scale)
	if err != nil {
		return nil, nil, err
	}
	m := t.centredMeans(scale)
	y, err := t.core.Solve(ctx, m, within)
	if err != nil {
		return nil, nil, err
	}
	square, err := t.core.Product(ctx, y, mat.DenseCopyOf(m.T()))
	if err != nil {
		return nil, nil, err
	}
	values, vectors, err := t.core.Leading(ctx, symmetric(square), k)
	if err != nil {
		return nil, nil, err
	}
	out, err := t.core.Product(ctx, mat.DenseCopyOf(y.T()), vectors)
	if err != nil {
		return nil, nil, err
	}
	out.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(max(values[j], 1e-300)) }, out)
	return out, values, nil
}

// centredMeans returns the means of the classes less that of the labelled rows, each times
// the root of the share of its class, in columns that are multiplied by a scale.
func (t *trainer) centredMeans(scale []float64) *mat.Dense {
	c, d := t.means.Dims()
	centre, labelled := make([]float64, d), 0.0
	for at, rows := range t.counts {
		labelled += float64(rows)
		for j, v := range t.means.RawRowView(at) {
			centre[j] += v * float64(rows)
		}
	}
	m := mat.NewDense(c, d, nil)
	for at, rows := range t.counts {
		root := math.Sqrt(float64(rows) / labelled)
		row := m.RawRowView(at)
		for j, v := range t.means.RawRowView(at) {
			row[j] = (v - centre[j]/labelled) * root
			if scale != nil {
				row[j] *= scale[j]
			}
		}
	}
	return m
}
