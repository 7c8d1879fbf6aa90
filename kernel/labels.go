package kernel

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// Unlabelled marks a row without a label: a zero row and column of L_Y.
const Unlabelled = -1

// Labels is the label Laplacian L_Y of n rows under a table K. With N_c rows
// in class c and S_c the sum of their rows of X,
//
//	(L_Y X)_i = (K N)_c x_i - (K S)_c,   c the class of row i,
//
// which is exact (the diagonal of K cancels) and costs O(nk + C^2 k).
// Labels are immutable and safe for concurrent use.
type Labels struct {
	values []int32 // label value of each class, ascending
	own    step.Labels
}

// inner returns the labels as a step takes them; nil for nil.
func (l *Labels) inner() *step.Labels {
	if l == nil {
		return nil
	}
	return &l.own
}

// NewLabels makes the Laplacian of the given labels. A label is an integer >= 0; not
// every integer needs to occur. Unlabelled is accepted only when allowUnlabelled is set.
func NewLabels(y []int32, table Table, allowUnlabelled bool) (*Labels, error) {
	if len(y) == 0 {
		return nil, fmt.Errorf("kernel: labels: %w", ErrEmpty)
	}
	if table.build == nil {
		return nil, fmt.Errorf("kernel: labels: %w: no table given", base.ErrTable)
	}
	l, class := &Labels{}, make([]uint32, len(y))
	count := make(map[int32]int)
	for i, v := range y {
		switch {
		case v >= 0:
			count[v]++
		case v == Unlabelled && allowUnlabelled: // no class counts it
		case v == Unlabelled:
			return nil, fmt.Errorf("kernel: labels: %w: row %d has no label (-1), which this call does not allow", ErrLabels, i+1)
		default: // the number may be private
			return nil, fmt.Errorf("kernel: labels: %w: row %d has a negative label, want 0 or more", ErrLabels, i+1)
		}
	}
	for v := range count {
		l.values = append(l.values, v)
	}
	slices.Sort(l.values)
	index := make(map[int32]uint32, len(l.values))
	counts := make([]int, len(l.values))
	for c, v := range l.values {
		index[v], counts[c] = uint32(c), count[v]
	}
	for i, v := range y {
		class[i] = step.NoClass
		if v >= 0 {
			class[i] = index[v]
		}
	}
	weights, err := table.build(l.values, counts)
	if err != nil {
		return nil, err
	}
	l.own = step.NewLabels(class, counts, table.Name(), weights)
	return l, nil
}

// N returns the number of rows.
func (l *Labels) N() int { return len(l.own.Class) }

// Bytes returns the memory the labels and their table take.
func (l *Labels) Bytes() int64 {
	return 4*int64(len(l.own.Class)) + 8*int64(len(l.own.Weights.Val)+8*len(l.values))
}

// Classes returns the number of distinct labels.
func (l *Labels) Classes() int { return len(l.values) }

// Degree returns L_Y,ii; 0 when row i is unlabelled.
func (l *Labels) Degree(i int) float64 {
	if l.own.Class[i] == step.NoClass {
		return 0
	}
	return l.own.Degree[l.own.Class[i]]
}

// Class returns the class of row i; -1 when the row is unlabelled. Classes are numbered
// from 0 on in the order of their labels.
func (l *Labels) Class(i int) int {
	if l.own.Class[i] == step.NoClass {
		return -1
	}
	return int(l.own.Class[i])
}

// PullTo sets dst = K sums, where sums has a row of k values for each class. If these are
// the sums of x over the classes, row c of dst is what a row of class c is pulled towards.
// Both slices have Classes() k values; they must not overlap.
func (l *Labels) PullTo(dst, sums []float64, k int) error {
	if size := l.Classes() * k; k < 1 || len(dst) != size || len(sums) != size {
		return fmt.Errorf("kernel: pull: %w: %d and %d values for %d classes of %d columns", ErrShape, len(dst), len(sums), l.Classes(), k)
	}
	l.own.Weights.MulTo(dst, sums, make([]float64, k), k)
	return nil
}

// Permute returns the labels of rows order[0], order[1], and so on. If order is nil it
// returns l itself.
func (l *Labels) Permute(order []uint32) (*Labels, error) {
	if order == nil {
		return l, nil
	}
	if len(order) != len(l.own.Class) {
		return nil, fmt.Errorf("kernel: labels: %w: an order of %d for %d rows", ErrShape, len(order), len(l.own.Class))
	}
	p := *l
	p.own.Class = make([]uint32, len(order))
	for i, old := range order {
		if int64(old) >= int64(len(l.own.Class)) {
			return nil, fmt.Errorf("kernel: labels: %w: order[%d] = %d of %d rows", ErrShape, i, old, len(l.own.Class))
		}
		p.own.Class[i] = l.own.Class[old]
	}
	return &p, nil
}

// LaplacianTo64 sets to = L_Y from in float64 throughout.
func (l *Labels) LaplacianTo64(to, from blas64.General) error {
	dst, x := rows.View64(to), rows.View64(from)
	if err := base.CheckPair(l.N(), dst, x); err != nil {
		return err
	}
	k := x.Cols
	mean := make([]float64, k)
	for i := range x.Rows {
		for c, v := range x.Row(i) {
			mean[c] += v / float64(x.Rows)
		}
	}
	// L_Y 1 = 0: centring changes nothing but the rounding.
	sums := make([]float64, l.Classes()*k)
	for i := range x.Rows {
		if class := l.own.Class[i]; class != step.NoClass {
			s := sums[int(class)*k:][:k]
			for c, v := range x.Row(i) {
				s[c] += v - mean[c]
			}
		}
	}
	pull := make([]float64, len(sums))
	l.own.Weights.MulTo(pull, sums, make([]float64, k), k)
	for i := range x.Rows {
		out, in := dst.Row(i), x.Row(i)
		class := l.own.Class[i]
		if class == step.NoClass {
			clear(out)
			continue
		}
		for c, v := range in {
			out[c] = l.own.Weight[class]*(v-mean[c]) - pull[int(class)*k+c]
		}
	}
	return nil
}
