package supervised

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/points"
)

// ErrNoPairs reports labels that say nothing of what a class has in common: no
// two different rows share one.
var ErrNoPairs = errors.New("no two different rows share a label")

// A Map takes rows of d values to unit rows of k, z = (f - Mean) A over its
// norm. It is public: whoever knows it embeds a query alone. A Map is not
// changed once made and is safe for concurrent use.
type Map struct {
	// Mean of the rows it was made from, length d.
	Mean []float64
	// A is d x k.
	A *mat.Dense
}

// NewMap returns the map that whitens rows within their classes. rows are n x d;
// labels has one number for each row, -1 for a row without one.
//
// With S the covariance of the labelled rows about the means of their classes
// and R = S + (tr S / d) I, A is the symmetric R^(-1/2) for k = 0 and k = d.
// Fewer dimensions k are the leading generalised eigenvectors of the covariance
// of all rows and R, the directions in which rows differ most relative to their
// classes; k = d of them would give the same distances as R^(-1/2).
//
// Errors: kernel.ErrShape for sizes that do not fit and k outside 0..d,
// kernel.ErrNonFinite, ErrNoPairs.
func NewMap(rows blas64.General, labels []int32, k int) (*Map, error) {
	n, d, err := points.Dims(rows)
	if err != nil {
		return nil, fmt.Errorf("supervised: map: %w", err)
	}
	if n == 0 || d == 0 || len(labels) != n || k < 0 || k > d {
		return nil, fmt.Errorf("supervised: map: %w: %d x %d rows, %d labels, %d dimensions wanted", points.ErrShape, n, d, len(labels), k)
	}
	if err := points.CheckFinite(rows); err != nil {
		return nil, fmt.Errorf("supervised: map: %w", err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	m := &Map{Mean: meanOf(rows, all)}
	within := mat.NewSymDense(d, nil)
	for _, class := range classRows(labels) {
		addScatter(within, rows, class, meanOf(rows, class))
	}
	ridge := mat.Trace(within) / float64(d)
	if ridge == 0 {
		return nil, fmt.Errorf("supervised: map: %w; without labels search the rows themselves, or what Engine.Embed makes of them with form attract and coefficient 0", ErrNoPairs)
	}
	for j := range d {
		within.SetSym(j, j, within.At(j, j)+ridge)
	}
	if m.A, err = inverseRoot(within); err != nil {
		return nil, err
	}
	if k == 0 || k == d {
		return m, nil
	}
	total := mat.NewSymDense(d, nil)
	addScatter(total, rows, all, m.Mean)
	m.A, err = leading(m.A, total, k)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// leading returns the k leading generalised eigenvectors of the scatter C and of R. With
// B = R^(-1/2), they are B times the eigenvectors of B C B.
func leading(b *mat.Dense, c *mat.SymDense, k int) (*mat.Dense, error) {
	d := c.SymmetricDim()
	var half, both mat.Dense
	half.Mul(b, c)
	both.Mul(&half, b)
	square := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			square.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	_, vectors, err := eigen(square)
	if err != nil {
		return nil, err
	}
	first := mat.NewDense(d, k, nil)
	for j := range k { // gonum sorts eigenvalues upwards
		first.ColView(j).(*mat.VecDense).CopyVec(vectors.ColView(d - 1 - j))
	}
	var a mat.Dense
	a.Mul(b, first)
	return &a, nil
}

// largest is the most an entry of a map may be: no row whose entries are not
// larger themselves has an image, or a norm of it, that overflows.
const largest = 1e50

// Check refuses a map that cannot be applied, such as one that came from
// elsewhere: kernel.ErrShape, and kernel.ErrNonFinite, also for an entry beyond
// 1e50.
func (m *Map) Check() error {
	if m.A == nil || m.A.IsEmpty() {
		return fmt.Errorf("supervised: map: %w: no matrix", points.ErrShape)
	}
	if d, _ := m.A.Dims(); d != len(m.Mean) {
		return fmt.Errorf("supervised: map: %w: a mean of %d values and a matrix of %d rows", points.ErrShape, len(m.Mean), d)
	}
	d, k := m.A.Dims()
	for i := range d {
		for j := range k {
			if !(math.Abs(m.A.At(i, j)) <= largest) {
				return fmt.Errorf("supervised: map: %w", &points.NonFiniteError{What: "matrix", Row: i, Col: j})
			}
		}
		if !(math.Abs(m.Mean[i]) <= largest) {
			return fmt.Errorf("supervised: map: %w", &points.NonFiniteError{What: "mean", Col: i})
		}
	}
	return nil
}

// Apply returns the images of rows, unit rows. A row that the map takes to zero,
// as it does the mean, stays there: a client that failed for some queries, and
// sent nothing, would tell whoever made the map which ones. Errors:
// kernel.ErrShape when rows do not have the map's dimension, and
// kernel.ErrNonFinite, also where a row with entries beyond 1e50 overflows.
func (m *Map) Apply(rows blas64.General) (*mat.Dense, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := points.CheckFinite(rows); err != nil {
		return nil, fmt.Errorf("supervised: map: %w", err)
	}
	z, err := pca.Project(&pca.Components{Mean: m.Mean, Vectors: m.A}, rows)
	if err != nil {
		return nil, fmt.Errorf("supervised: map: %w", err)
	}
	n, _ := z.Dims()
	for i := range n {
		if norm := points.Normalize(z.RawRowView(i)); norm-norm != 0 {
			return nil, fmt.Errorf("supervised: map: %w", &points.NonFiniteError{What: "image", Row: i})
		}
	}
	return z, nil
}

// Affine returns the matrix M with (f - Mean) A = (f 1) M, of d+1 rows: the map in one
// piece, for others to use.
func (m *Map) Affine() *mat.Dense {
	d, k := m.A.Dims()
	out := mat.NewDense(d+1, k, nil)
	out.Slice(0, d, 0, k).(*mat.Dense).Copy(m.A)
	last := out.RowView(d).(*mat.VecDense)
	last.MulVec(m.A.T(), mat.NewVecDense(d, m.Mean))
	last.ScaleVec(-1, last)
	return out
}

// classRows returns the rows of each class of two or more, by label.
func classRows(labels []int32) (classes [][]int) {
	rows := make(map[int32][]int)
	for i, label := range labels {
		if label >= 0 {
			rows[label] = append(rows[label], i)
		}
	}
	names := make([]int32, 0, len(rows))
	for label := range rows {
		names = append(names, label)
	}
	slices.Sort(names)
	for _, label := range names {
		if len(rows[label]) > 1 {
			classes = append(classes, rows[label])
		}
	}
	return classes
}

func meanOf(x blas64.General, rows []int) []float64 {
	mean := make([]float64, x.Cols)
	for _, i := range rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			mean[j] += v
		}
	}
	for j := range mean {
		mean[j] /= float64(len(rows))
	}
	return mean
}

// addScatter adds the sum over rows of (x_i - mean)(x_i - mean)' to dst.
func addScatter(dst *mat.SymDense, x blas64.General, rows []int, mean []float64) {
	const atOnce = 256
	block := blas64.General{Cols: x.Cols, Stride: x.Cols, Data: make([]float64, min(atOnce, len(rows))*x.Cols)}
	for part := range slices.Chunk(rows, atOnce) {
		block.Rows = len(part)
		for at, i := range part {
			for j, v := range x.Data[i*x.Stride:][:x.Cols] {
				block.Data[at*block.Stride+j] = v - mean[j]
			}
		}
		blas64.Syrk(blas.Trans, 1, block, 1, dst.RawSymmetric())
	}
}

// inverseRoot returns the symmetric r^(-1/2) of a positive definite matrix.
func inverseRoot(r *mat.SymDense) (*mat.Dense, error) {
	values, vectors, err := eigen(r)
	if err != nil {
		return nil, err
	}
	var scaled, root mat.Dense
	scaled.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[j]) }, vectors)
	root.Mul(&scaled, vectors.T())
	return &root, nil
}

var errEigen = errors.New("supervised: map: eigenvalue iteration did not converge")

func eigen(s *mat.SymDense) (values []float64, vectors *mat.Dense, err error) {
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, errEigen
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, nil
}
