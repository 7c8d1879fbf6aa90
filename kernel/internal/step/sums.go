package step

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// AppendSums appends what the next step needs to know of the iterate that the last step made:
// Spread, Mean, and the sums of each class. Who stores them with that iterate can take the
// next step later: Gather would add in another order, and its last bits would differ.
func (st *Stats) AppendSums(to []float64) []float64 {
	to = append(to, st.Spread)
	to = append(to, st.Mean...)
	return append(to, st.ClassSums...)
}

// RestoreSums sets the sums to those that AppendSums has returned of the same iterate, after
// Gather of it. On an error they are as Gather has left them. The error is ErrShape for
// another number of sums, and ErrNonFinite for one that is no finite number or a Spread below
// 0.
func (st *Stats) RestoreSums(sums []float64) error {
	if want := 1 + len(st.Mean) + len(st.ClassSums); len(sums) != want {
		return fmt.Errorf("kernel: restore: %w: %d sums, want %d for %d columns and %d classes", base.ErrShape, len(sums), want, st.k, st.labels.classes())
	}
	for i, v := range sums {
		if math.IsNaN(v) || math.IsInf(v, 0) || i == 0 && v < 0 {
			return fmt.Errorf("kernel: restore: %w: sum %d", base.ErrNonFinite, i+1)
		}
	}
	st.Spread = sums[0]
	copy(st.ClassSums, sums[1+copy(st.Mean, sums[1:]):])
	return nil
}
