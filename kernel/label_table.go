package kernel

import (
	"fmt"
	"math"
	"sort"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// A Table is a symmetric function K of two label values: the weight between
// two rows with these labels. The Laplacian L_Y of a table has -K(y_i, y_j)
// off its diagonal and rows that sum to zero.
type Table struct {
	name  string
	build func(values []int32, counts []int) (*step.ClassWeights, error)
}

// IsZero reports whether no table was chosen.
func (t Table) IsZero() bool { return t.build == nil }

// Name returns the table's name as the commands spell it.
func (t Table) Name() string { return t.name }

// EqualTable has weight 1 between equal labels and 0 between others. It does
// not depend on how the classes are numbered.
func EqualTable() Table {
	return Table{name: "equal", build: func(values []int32, _ []int) (*step.ClassWeights, error) {
		return diagonalWeights(0, len(values), func(int) float64 { return 1 }), nil
	}}
}

// DifferentTable has weight 1 between different labels and 0 between equal ones.
func DifferentTable() Table {
	return Table{name: "different", build: func(values []int32, _ []int) (*step.ClassWeights, error) {
		return diagonalWeights(1, len(values), func(int) float64 { return -1 }), nil
	}}
}

// BalancedTable has weight 1/(n_c - 1) inside a class of n_c rows and 0
// between classes: every labelled row has label degree 1 whatever the size of
// its class, and 0 in a class of its own. It is the table of form Attract.
func BalancedTable() Table {
	return Table{name: "balanced", build: func(_ []int32, counts []int) (*step.ClassWeights, error) {
		return diagonalWeights(0, len(counts), func(c int) float64 {
			if counts[c] < 2 {
				return 0
			}
			return 1 / float64(counts[c]-1)
		}), nil
	}}
}

// GaussianTable is the table of the paper: exp(-Gamma (a-b)^2) for labels a and b.
func GaussianTable(b Bandwidth) Table {
	return Table{name: "gaussian", build: func(values []int32, _ []int) (*step.ClassWeights, error) {
		if b.Check() != nil {
			return nil, fmt.Errorf("kernel: table gaussian: %w: want a positive finite number", ErrBandwidth)
		}
		weight := func(x, y int32) float64 {
			d := float64(x) - float64(y)
			return b.Weight(d * d)
		}
		// Where the exponential underflows the table is zero, exactly as if
		// every entry were kept: the values ascend, so each row is a band.
		return bandWeights("gaussian", values, func(c int) (lo, hi int) {
			lo = sort.Search(c, func(j int) bool { return weight(values[j], values[c]) > 0 })
			hi = c + sort.Search(len(values)-c, func(j int) bool { return weight(values[c+j], values[c]) == 0 })
			return lo, hi
		}, weight)
	}}
}

// centredTable is the table of the authors' program, for comparison: its
// Laplacian is L_Y = 1/2 J D J with D_ij = |y_i - y_j| and J = I - 11'/n over
// the labelled rows. Its weights have both signs and depend on all labels, so
// the objective may rise and no privacy bound covers it.
func centredTable() Table {
	return Table{name: "centred", build: func(values []int32, counts []int) (*step.ClassWeights, error) {
		if err := checkTableSize(len(values), int64(len(values))*int64(len(values))); err != nil {
			return nil, err // before the time is spent
		}
		// Row means of D by class, and the mean of all.
		n, grand := 0.0, 0.0
		mean := make([]float64, len(values))
		for b := range values {
			n += float64(counts[b])
		}
		for a := range values {
			for b := range values {
				mean[a] += float64(counts[b]) * math.Abs(float64(values[a])-float64(values[b]))
			}
			mean[a] /= n
			grand += float64(counts[a]) * mean[a] / n
		}
		index := make(map[int32]int, len(values))
		for c, v := range values {
			index[v] = c
		}
		return bandWeights("centred", values, func(int) (int, int) { return 0, len(values) }, func(x, y int32) float64 {
			return -0.5 * (math.Abs(float64(x)-float64(y)) - mean[index[x]] - mean[index[y]] + grand)
		})
	}}
}

// TableFunc makes a table of any symmetric finite function of two labels. The values
// K(a, a) are the weights inside a class. The commands have no such table: it is for
// callers with a table of their own.
func TableFunc(name string, weight func(a, b int32) float64) Table {
	if weight == nil {
		return Table{name: name} // refused by NewLabels
	}
	return Table{name: name, build: func(values []int32, _ []int) (*step.ClassWeights, error) {
		w, err := bandWeights(name, values, func(int) (int, int) { return 0, len(values) }, weight)
		if err != nil {
			return nil, err
		}
		for a := range values {
			for b := range a {
				if w.Row(a)[b] != w.Row(b)[a] {
					return nil, fmt.Errorf("kernel: table %s: %w: K(%d, %d) is not K(%d, %d)", name, base.ErrTable, values[a], values[b], values[b], values[a])
				}
			}
		}
		return w, nil
	}}
}

// TableByName returns the table of a name, as the commands spell it. Only the Gaussian
// table uses the bandwidth.
func TableByName(name string, b Bandwidth) (Table, error) {
	for _, t := range []Table{EqualTable(), DifferentTable(), BalancedTable(), GaussianTable(b), centredTable()} {
		if t.name == name {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("kernel: %w: no table %q; there are equal, different, balanced, gaussian and centred", base.ErrTable, name)
}

// maxTableEntries bounds a table to 4096 classes, each against each: 128 MiB.
const maxTableEntries = 1 << 24

// TableFits reports whether a Gaussian table of the bandwidth fits the memory that a table may take,
// whatever the labels of its classes are: for callers who must not learn it from the
// labels.
func (b Bandwidth) TableFits(classes int) bool {
	reach := sort.Search(classes, func(d int) bool { return b.Weight(float64(d)*float64(d)) == 0 })
	return float64(classes)*float64(min(classes, 2*reach-1)) <= maxTableEntries
}

func checkTableSize(classes int, entries int64) error {
	if entries <= maxTableEntries {
		return nil
	}
	err := base.Refused(fmt.Sprintf("label table of %d classes", classes), 8*int64(classes)*int64(classes), 8*maxTableEntries, false)
	base.Advise(err, "use the equal or balanced table, which need no memory per pair of classes")
	return err
}

func diagonalWeights(constant float64, classes int, diagonal func(c int) float64) *step.ClassWeights {
	w := &step.ClassWeights{Constant: constant, First: make([]int, classes), Ptr: make([]int, classes+1), Val: make([]float64, classes)}
	for c := range classes {
		w.First[c], w.Ptr[c+1], w.Val[c] = c, c+1, diagonal(c)
		w.Minimum = min(w.Minimum, constant+w.Val[c])
	}
	return w
}

func bandWeights(name string, values []int32, band func(c int) (lo, hi int), weight func(a, b int32) float64) (*step.ClassWeights, error) {
	w := &step.ClassWeights{First: make([]int, len(values)), Ptr: make([]int, len(values)+1)}
	for c := range values {
		lo, hi := band(c)
		w.First[c], w.Ptr[c+1] = lo, w.Ptr[c]+hi-lo
		if err := checkTableSize(len(values), int64(w.Ptr[c+1])); err != nil {
			return nil, err
		}
	}
	w.Val = make([]float64, w.Ptr[len(values)])
	for c := range values {
		for e := range w.Row(c) {
			v := weight(values[c], values[w.First[c]+e])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("kernel: table %s: %w: K(%d, %d) is not finite", name, base.ErrTable, values[c], values[w.First[c]+e])
			}
			w.Row(c)[e] = v
			w.Minimum = min(w.Minimum, v)
		}
	}
	return w, nil
}
