package step

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Stats carry the sums that a step needs from the step before, and report what the step
// has seen. They also keep the scratch memory of the operator. Package kernel says what the
// fields mean.
type Stats struct {
	Objective float64
	Change    float64
	Spread    float64
	MaxAbs    float64
	Mean      []float64

	labels    *Labels
	n, k      int
	ClassSums []float64 // sums of dst by class, classes x k
	Finish    finish
	Partials  Partials
	product   any // of the last step, with the scratch memory of its operator
}

// Gather sets the sums to those of x.
func Gather[T rows.Float](st *Stats, x rows.View[T], labels *Labels) error {
	if err := base.CheckShape("x", x); err != nil {
		return err
	}
	if labels != nil && labels.N() != x.Rows {
		return fmt.Errorf("kernel: gather: %w: %d labels for %d rows", base.ErrLabels, labels.N(), x.Rows)
	}
	if err := base.CheckFinite("x", x); err != nil {
		return err
	}
	st.labels, st.n, st.k = labels, x.Rows, x.Cols
	st.Objective, st.Change = 0, 0
	st.Mean = resize(st.Mean, x.Cols)
	st.ClassSums = resize(st.ClassSums, labels.classes()*x.Cols)
	for i := range x.Rows {
		row := x.Row(i)
		for c, v := range row {
			st.Mean[c] += float64(v)
		}
		if labels != nil && labels.Class[i] != NoClass {
			sums := st.ClassSums[int(labels.Class[i])*x.Cols:]
			for c, v := range row {
				sums[c] += float64(v)
			}
		}
	}
	for c := range st.Mean {
		st.Mean[c] /= float64(x.Rows)
	}
	st.Spread, st.MaxAbs = 0, 0
	for i := range x.Rows {
		for c, v := range x.Row(i) {
			d := float64(v) - st.Mean[c]
			st.Spread += d * d
			st.MaxAbs = max(st.MaxAbs, math.Abs(float64(v)))
		}
	}
	return nil
}

// Transform maps the sums to those of (x - shift) scale, for a caller who has mapped the
// iterate x so. shift has a value for each column. MaxAbs stays that of the step.
func (st *Stats) Transform(shift []float64, scale float64) error {
	if len(shift) != st.k {
		return fmt.Errorf("kernel: transform: %w: a shift of %d for %d columns", base.ErrShape, len(shift), st.k)
	}
	for c := range st.Mean {
		st.Mean[c] = (st.Mean[c] - shift[c]) * scale
	}
	for class := range st.labels.classes() {
		count := float64(st.labels.counts[class])
		for c := range st.k {
			s := &st.ClassSums[class*st.k+c]
			*s = (*s - count*shift[c]) * scale
		}
	}
	st.Spread *= scale * scale
	return nil
}

// Begin prepares the finish and the partial sums of one step over rows split at
// bounds. It returns an error when st does not hold the sums of such an x.
func (st *Stats) Begin(s *Step, degrees []float64, bounds []int, k int) error {
	if err := s.Check(len(degrees)); err != nil {
		return err
	}
	if st.n != len(degrees) || st.k != k || st.labels != s.Labels {
		return fmt.Errorf("kernel: step: %w: Stats hold the sums of another iterate; call Gather first", base.ErrShape)
	}
	f := &st.Finish
	f.labels = s.Labels
	f.scale, f.pull, f.attract = 1, s.Coefficient, s.Form == Attract
	if f.attract {
		f.pull = -s.Coefficient
		if f.degreeSum == 0 || len(f.degrees) != len(degrees) || &f.degrees[0] != &degrees[0] {
			f.degreeSum = 0
			for _, d := range degrees {
				f.degreeSum += d
			}
		}
		f.scale = 0
		if f.degreeSum > 0 {
			f.scale = float64(len(degrees)) / f.degreeSum
		}
	}
	f.degrees = degrees
	f.Mean = append(f.Mean[:0], st.Mean...)
	f.sums = append(f.sums[:0], st.ClassSums...)
	f.target = resize(f.target, len(f.sums)+k)
	f.total = resize(f.total, k)
	if s.Labels != nil {
		for class, count := range s.Labels.counts {
			for c := range k {
				f.sums[class*k+c] -= float64(count) * f.Mean[c]
			}
		}
		s.Labels.Weights.MulTo(f.target, f.sums, f.total, k)
	}
	st.Partials.prepare(s.Labels, bounds, k)
	return nil
}

// End adds the partial sums in chunk order and publishes them.
func (st *Stats) End() {
	st.Objective, st.Change, st.Spread, st.MaxAbs = 0, 0, 0, 0
	clear(st.Mean)
	clear(st.ClassSums)
	for chunk := range st.Partials.Chunk {
		p := &st.Partials.Chunk[chunk]
		st.Objective += p.objective
		st.Change += p.change
		st.Spread += p.spread
		st.MaxAbs = max(st.MaxAbs, p.maxAbs)
		for c, v := range p.Sums {
			st.Mean[c] += v
		}
		for e, class := range p.classes {
			sums := st.ClassSums[int(class)*st.k:]
			for c, v := range p.Class[e*st.k:][:st.k] {
				sums[c] += v
			}
		}
	}
	// Spread was gathered about the mean of the input.
	for c := range st.Mean {
		st.Mean[c] /= float64(st.n)
		shift := st.Mean[c] - st.Finish.Mean[c]
		st.Spread -= float64(st.n) * shift * shift
	}
	st.Spread = max(st.Spread, 0)
	if math.IsNaN(st.MaxAbs) {
		st.MaxAbs = math.Inf(1)
	}
}

// resize returns a zeroed slice of n values, reusing s where it can.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}
