package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// Stats carry the sums that a step needs from the step before, and report what the step
// has seen. They also keep the scratch memory of the operator: a run uses one Stats from
// beginning to end, and concurrent runs use one each. The zero value is ready for Gather.
type Stats struct {
	// Objective is v of the step's input.
	Objective float64
	// Change is |dst - x|^2, summed over all entries.
	Change float64
	// Spread is the sum over all entries of (dst - Mean)^2.
	Spread float64
	// MaxAbs is the largest |dst|, +Inf if an entry is not finite.
	MaxAbs float64
	// Mean holds the column means of dst.
	Mean []float64

	own  step.Stats
	step step.Step // the last
}

// Gather sets the sums to those of x, the iterate that a run starts from.
func (st *Stats) Gather(x blas32.General, labels *Labels) error {
	defer st.publish()
	return step.Gather(&st.own, rows.View32(x), labels.inner())
}

// Gather64 is Gather for an iterate in float64.
func (st *Stats) Gather64(x blas64.General, labels *Labels) error {
	defer st.publish()
	return step.Gather(&st.own, rows.View64(x), labels.inner())
}

// Transform maps the sums to those of (x - shift) scale, for a caller who has mapped the
// iterate x so. shift has a value for each column. MaxAbs stays that of the step.
func (st *Stats) Transform(shift []float64, scale float64) error {
	defer st.publish()
	return st.own.Transform(shift, scale)
}

// AppendSums appends what the next step needs to know of the iterate that the last step made:
// Spread, Mean, and the sums of each class. Who stores them with that iterate can take the
// next step later: Gather would add in another order, and its last bits would differ.
func (st *Stats) AppendSums(to []float64) []float64 { return st.own.AppendSums(to) }

// RestoreSums sets the sums to those that AppendSums has returned of the same iterate, after
// Gather of it. On an error they are as Gather has left them. The error is ErrShape for
// another number of sums, and ErrNonFinite for one that is no finite number or a Spread below
// 0.
func (st *Stats) RestoreSums(sums []float64) error {
	defer st.publish()
	return st.own.RestoreSums(sums)
}

// take prepares a step: operators get what is in step and own.
func (st *Stats) take(s *Step) error {
	if s == nil || st == nil {
		return fmt.Errorf("kernel: step: %w: no Step or no Stats", ErrShape)
	}
	st.step = s.inner()
	return nil
}

// publish shows what a step has seen.
func (st *Stats) publish() {
	st.Objective, st.Change, st.Spread, st.MaxAbs, st.Mean = st.own.Objective, st.own.Change, st.own.Spread, st.own.MaxAbs, st.own.Mean
}
