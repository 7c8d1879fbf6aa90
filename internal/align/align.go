// Package align finds the similarity that takes the rows of one matrix nearest to those of another:
// a turn, a scale and a shift.
//
// References: Kabsch, "A solution for the best rotation to relate two sets of vectors" (1976);
// Umeyama, "Least-squares estimation of transformation parameters between two point patterns"
// (1991).
package align

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// ErrDegenerate reports anchors that do not determine an alignment; the error is a
// *DegenerateError.
var ErrDegenerate = errors.New("the anchors do not determine an alignment")

// A DegenerateError says what the anchors lack. It matches ErrDegenerate.
type DegenerateError struct {
	// Anchors is their number, Dimension that of the space.
	Anchors, Dimension int
	// Rank is how many directions the anchors of both sides share, Need how
	// many the alignment takes. Where Rank is not below Need, one side is nearly
	// the mirror image of the other: the best rotation is not unique, or the best
	// scale is zero.
	Rank, Need int
}

// Error implements error.
func (e *DegenerateError) Error() string {
	if e.Rank >= e.Need {
		return fmt.Sprintf("align: %v: %d anchors in %d dimensions are mirrored, and no rotation is the best",
			ErrDegenerate, e.Anchors, e.Dimension)
	}
	return fmt.Sprintf("align: %v: %d anchors share %d directions of %d, at least %d are needed",
		ErrDegenerate, e.Anchors, e.Rank, e.Dimension, e.Need)
}

// Unwrap returns ErrDegenerate.
func (e *DegenerateError) Unwrap() error { return ErrDegenerate }

// A Similarity maps a row p to Scale p Rotation + Translation.
type Similarity struct {
	Scale       float64
	Rotation    *mat.Dense // k x k, orthogonal
	Translation []float64
}

// Find returns the similarity that takes the rows of from nearest to those of
// to, row by row, in the sum of squares (Kabsch 1976, Umeyama 1991). With both
// centred and U S V' the singular values of from'to,
//
//	Rotation = U D V',   Scale = tr(D S) / |from|_F^2,   D = diag(1, .., 1, d),
//
// d = det(U V'), so that the determinant of the rotation is +1: space is turned,
// never mirrored.
//
// A rotation of k dimensions is determined by k - 1 of them: the last follows
// from the determinant, so collinear anchors will do in the plane. Where the best
// rotation has to give up the weakest direction (d = -1), that direction has to be
// the only weakest one. Otherwise, and where the best scale is zero, the error is
// a *DegenerateError; it is kernel.ErrShape where the sizes differ and
// kernel.ErrNonFinite for NaN and infinities. Ranks are counted above the rounding
// error of the sums.
func Find(from, to blas64.General) (*Similarity, error) {
	if err := checkAnchors(from, to); err != nil {
		return nil, fmt.Errorf("align: %w", err)
	}
	n, k := from.Rows, from.Cols
	need := max(k-1, 1) // one direction at least, for the scale
	degenerate := &DegenerateError{Anchors: n, Dimension: k, Need: need}
	p, q := newCloud(from), newCloud(to)
	if math.IsInf(p.norm, 0) || math.IsInf(q.norm, 0) {
		return nil, fmt.Errorf("align: %w: the anchors are too far apart", points.ErrNonFinite)
	}
	rounding := float64(n+k) * (p.rounding + q.rounding)
	if !(rounding < 1) { // coincident, or none
		return nil, degenerate
	}
	var covariance mat.Dense
	covariance.Mul(p.unit.T(), q.unit)
	var svd mat.SVD
	if !svd.Factorize(&covariance, mat.SVDFull) {
		return nil, fmt.Errorf("align: %w: no singular values", ErrDegenerate)
	}
	values := svd.Values(nil)
	for _, s := range values {
		if s > rounding {
			degenerate.Rank++
		}
	}
	if degenerate.Rank < need {
		return nil, degenerate
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	scale := 0.0
	for _, s := range values {
		scale += s
	}
	if mat.Det(&u)*mat.Det(&v) < 0 {
		last := values[k-1]
		if scale -= 2 * last; scale <= rounding || k > 1 && values[k-2]-last <= rounding {
			return nil, degenerate
		}
		for i := range k {
			u.Set(i, k-1, -u.At(i, k-1))
		}
	}
	out := &Similarity{Scale: scale * (q.norm / p.norm), Rotation: mat.NewDense(k, k, nil), Translation: q.mean}
	out.Rotation.Mul(&u, v.T())
	for j := range k {
		for i, m := range p.mean {
			out.Translation[j] -= out.Scale * m * out.Rotation.At(i, j)
		}
	}
	return out, nil
}

// checkAnchors refuses anchors that are not as many finite rows on both sides.
func checkAnchors(from, to blas64.General) error {
	n, k, err := points.Dims(from)
	if err != nil {
		return err
	}
	if m, l, err := points.Dims(to); err != nil {
		return err
	} else if m != n || l != k || k < 1 {
		return fmt.Errorf("%w: %d x %d anchors here, %d x %d there", points.ErrShape, n, k, m, l)
	}
	for _, x := range []blas64.General{from, to} {
		if err := points.CheckFinite(x); err != nil {
			return err
		}
	}
	return nil
}

// Apply returns the image of the rows of x, in new memory. The error is
// kernel.ErrShape when there are none, or they have another dimension.
func (s *Similarity) Apply(x blas64.General) (blas64.General, error) {
	n, k, err := points.Dims(x)
	if err != nil {
		return blas64.General{}, fmt.Errorf("align: %w", err)
	}
	if n < 1 || k != len(s.Translation) {
		return blas64.General{}, fmt.Errorf("align: %w: %d x %d rows, want some of %d dimensions", points.ErrShape, n, k, len(s.Translation))
	}
	rows := mat.NewDense(n, k, nil)
	var in mat.Dense
	in.SetRawMatrix(x)
	rows.Mul(&in, s.Rotation)
	out := rows.RawMatrix()
	for i := range out.Rows {
		row := out.Data[i*out.Stride:][:out.Cols]
		for j := range row {
			row[j] = s.Scale*row[j] + s.Translation[j]
		}
	}
	return out, nil
}

// A cloud is points about their mean: mean + norm unit, where unit has Frobenius
// norm 1, so that no product of two clouds underflows or overflows, however
// small an embedding is.
type cloud struct {
	mean     []float64
	norm     float64
	unit     *mat.Dense
	rounding float64 // of an entry of unit: large where the mean is large against norm
}

func newCloud(x blas64.General) *cloud {
	c := &cloud{mean: make([]float64, x.Cols)}
	largest := 0.0
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			c.mean[j] += v / float64(x.Rows)
			largest = max(largest, math.Abs(v))
		}
	}
	rows := make([]float64, 0, x.Rows*x.Cols)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			rows = append(rows, v-c.mean[j])
		}
	}
	c.norm = blas64.Nrm2(blas64.Vector{N: len(rows), Inc: 1, Data: rows})
	c.rounding = 0x1p-52 * (1 + largest/c.norm) // NaN where all is zero
	if !(c.norm > 0) {
		return c
	}
	for i := range rows {
		rows[i] /= c.norm
	}
	c.unit = mat.NewDense(x.Rows, x.Cols, rows)
	return c
}
