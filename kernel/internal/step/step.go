// Package step makes products and steps: what is the same for every operator of package
// kernel, given a pass that makes rows of W x. It has the sums that one step hands to the next,
// the labels as a step takes them, and the interfaces of operators.
package step

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// An Form is one of the two ways in which labels enter a step.
type Form int

// The forms of the step; package kernel has their formulas.
const (
	Paper Form = iota
	Attract
)

// An Step says which step to take; package kernel says what its fields mean.
type Step struct {
	Form        Form
	Labels      *Labels
	Coefficient float64
}

// Check returns an error for a step that has no meaning for n rows.
func (s *Step) Check(n int) error {
	if math.IsNaN(s.Coefficient) || math.IsInf(s.Coefficient, 0) {
		return fmt.Errorf("kernel: step: coefficient: %w", base.ErrNonFinite)
	}
	if s.Form != Paper && s.Form != Attract {
		return fmt.Errorf("kernel: step: %w: Form(%d)", base.ErrOption, s.Form)
	}
	if s.Form == Attract && s.Coefficient < 0 {
		return fmt.Errorf("kernel: step: %w: form attract wants a coefficient of 0 or more, not %g", base.ErrOption, s.Coefficient)
	}
	if s.Labels == nil {
		return nil
	}
	if s.Labels.N() != n {
		return fmt.Errorf("kernel: step: %w: %d labels for %d rows", base.ErrLabels, s.Labels.N(), n)
	}
	if s.Form == Attract && s.Labels.signed() {
		return fmt.Errorf("kernel: step: %w: form attract divides by the label degree and cannot use the table %s, which has negative weights", base.ErrTable, s.Labels.table)
	}
	return nil
}

// finish turns a row of W x into a row of the next iterate. It is the same for
// every operator: they differ in how they get W x.
type finish struct {
	labels    *Labels
	degrees   []float64
	scale     float64   // of L_X: 1, or 1/dbar in form Attract
	degreeSum float64   // of degrees, once form Attract has asked for it
	pull      float64   // factor of l_i: alpha, or -beta
	attract   bool      // the label degree enters the diagonal
	Mean      []float64 // of the input
	sums      []float64 // centred class sums of the input
	target    []float64 // K times sums, and a row of zeros for rows without a label
	total     []float64 // scratch of k
}

// row returns what row i of a step takes in addition to (W x)_i, given its degree: the degree, 1
// for a row without neighbours; the diagonal of the scaled L_X; the factors of x_i - m_i
// and of the label term in the step; the factor of x_i in the label term; and the row of
// f.target. They are results and not a struct, which would be kept in memory.
//
// No d_i x_i is formed and subtracted from (W x)_i: x_i - m_i is small where
// the graph is smooth, and is computed as just that.
func (f *finish) row(i int, d float64) (degree, laplace, spring, tie, weight float64, target int) {
	laplace = d * f.scale
	pull, diagonal := 0.0, laplace // diagonal of the whole Laplacian
	if f.labels != nil {
		target = f.labels.classes() // the row of zeros
		if class := f.labels.Class[i]; class != NoClass && f.pull != 0 {
			target, weight, pull = int(class), f.labels.Weight[class], f.pull
			if f.attract {
				diagonal -= f.pull * f.labels.Degree[class]
			}
		}
	}
	// The two parts of the step, each divided by the diagonal before it is
	// multiplied: a tiny degree must not underflow or overflow on the way.
	if diagonal > 0 {
		spring, tie = 0.5*(laplace/diagonal), 0.5*(pull/diagonal)
	}
	degree = d
	if d == 0 {
		degree = 1 // W does not move it
	}
	return degree, laplace, spring, tie, weight, target
}

// FinishRow writes row i of the next iterate to dst, given (W x)_i in wx, and
// adds what it sees to the partial sums of its chunk, all in float64.
func FinishRow[T rows.Float](f *finish, p *Partial, i int, degree float64, wx []float64, x, dst []T) {
	k := len(x)
	FinishRows(f, p, i, []float64{degree}, wx, rows.NewView(1, k, k, x), rows.NewView(1, k, k, dst))
}

// FinishRows is FinishRow for some rows, from i on, of a chunk: x and dst begin with
// the first of them, and wx has rows without gaps.
func FinishRows[T rows.Float](f *finish, p *Partial, i int, degrees, wx []float64, x, dst rows.View[T]) {
	k := x.Cols
	mean, sums := f.Mean[:k], p.Sums[:k]
	// Sums in memory would have every row wait for the one before.
	objective, change, spread, maxAbs := p.objective, p.change, p.spread, p.maxAbs
	for j, d := range degrees {
		degree, laplace, spring, tie, weight, at := f.row(i+j, d)
		target, class := f.target[at*k:][:k], p.Class[int(p.slotOf(i+j))*k:][:k]
		in, out, product := x.Data[j*x.Stride:][:k], dst.Data[j*dst.Stride:][:k], wx[j*k:][:k]
		for c, v := range in {
			value := float64(v)
			centred := value - mean[c]
			away := value - product[c]/degree   // x_i - m_i
			label := weight*centred - target[c] // l_i
			rounded := T(value - spring*away + tie*label)
			out[c] = rounded
			moved := float64(rounded)
			objective += centred * (laplace*away - f.pull*label)
			change += (moved - value) * (moved - value)
			shifted := moved - mean[c]
			spread += shifted * shifted
			if size := math.Abs(moved); !(size <= maxAbs) { // also a NaN, which stays
				maxAbs = max(maxAbs, size)
			}
			sums[c] += moved
			class[c] += moved
		}
	}
	p.objective, p.change, p.spread, p.maxAbs = objective, change, spread, maxAbs
}
