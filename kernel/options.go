package kernel

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// IsolatedPolicy says what becomes of rows that the cutoff leaves without
// neighbours or, when it follows from a tolerance, with a bound that misses it.
type IsolatedPolicy int

// The policies.
const (
	// Keep leaves such rows as they are: the certificate counts and bounds them.
	Keep IsolatedPolicy = iota
	// Repair adds the weights these rows need to meet the tolerance, found by
	// direct sums over all points, to them and to their partners. With a
	// CutoffRadius or Neighbours only isolated rows are repaired: the others are as asked for.
	// Beyond help are rows so far out that weights below the smallest normal
	// float32, 1.2e-38, matter to them; they keep their bound and, without any
	// weight, stay isolated.
	Repair
	// Fail refuses to build: with ErrIsolated when a row is isolated, with
	// ErrTolerance when one misses the tolerance the cutoff follows from.
	Fail
)

func (p IsolatedPolicy) String() string {
	switch p {
	case Keep:
		return "keep"
	case Repair:
		return "repair"
	case Fail:
		return "fail"
	}
	return fmt.Sprintf("IsolatedPolicy(%d)", int(p))
}

// IsolatedByName returns the policy a command names.
func IsolatedByName(name string) (IsolatedPolicy, error) {
	for p := Keep; p <= Fail; p++ {
		if p.String() == name {
			return p, nil
		}
	}
	return 0, fmt.Errorf("kernel: %w: no policy %q; there are keep, repair and fail", ErrOption, name)
}

// Options steer Plan and Build. The zero value of each field, and a nil
// *Options, mean the default.
type Options struct {
	// Tolerance is the wanted eta, the error of a row's weights relative to its
	// degree. The cutoff is chosen so that 99 in 100 rows of a sample meet it;
	// the certificate has every row, and Isolated says what becomes of the rest.
	// Build takes another operator where more than 4 in 100 rows miss it after
	// all, unless one is forced. Default 1e-4; range (0, 1).
	Tolerance float64
	// CutoffRadius, if positive, fixes the radius of the truncated graph: the
	// graph within it is then what is wanted, only csr and pairs can serve, and the
	// certificate says how far it is from the full kernel. By default the
	// radius follows from Tolerance.
	CutoffRadius float64
	// Neighbours, if positive, asks for the graph of nearest neighbours in place of
	// one cut at a radius: two points have a weight if one is among so many nearest of
	// the other, by distance and, where distances are equal, by row. Only csr can
	// serve, and a CutoffRadius is not allowed beside it.
	Neighbours int
	// Isolated is the policy for rows that miss the tolerance. Default Keep.
	Isolated IsolatedPolicy
	// Operator names the operator to build. Default: the first Plan lists.
	Operator string
	// Steps and Columns say how the operator will be used, for the choice:
	// number of products and k. Defaults 5 and 2.
	Steps, Columns int
	// Layout says how csr keeps its weights. Default sparse.Plain, the fastest;
	// sparse.Compact takes 6 bytes a weight in place of 8, with the same bits, and
	// sparse.Compact16 takes 4, with an error of 2^-11 a weight that is part of
	// the certificate. Both fail with sparse.ErrRange if many points have
	// neighbours more than 65535 rows apart, as with millions of points in three
	// dimensions.
	Layout sparse.Layout
	// BudgetBytes is the memory that may be taken. Default: three quarters of
	// what the machine has available.
	BudgetBytes int64
	// Workers share the work. Default: the caller alone.
	Workers *par.Workers
	// Kernels do the inner loops; no bit of an operator depends on which, the float32
	// products of poly apart, but which operator is the fastest may. Default: the best
	// this machine has, or PM_SIMD allows.
	Kernels *simd.Kernels
	// Progress, if set, is told of long work: done out of total pieces of a
	// stage, the products of the dense operator included. It is called from the
	// workers, one call at a time, and should be quick.
	Progress func(stage string, done, total int)

	calibration *calibration // speed of the machine; nil when it is the one at hand
}

// withDefaults returns a copy with every default filled in.
func (opt *Options) withDefaults() (*Options, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-4
	}
	if !(o.Tolerance > 0 && o.Tolerance < 1) {
		return nil, fmt.Errorf("kernel: %w: tolerance %g, want a number between 0 and 1", ErrOption, o.Tolerance)
	}
	if !(o.CutoffRadius >= 0) || math.IsInf(o.CutoffRadius, 0) {
		return nil, fmt.Errorf("kernel: %w: cutoff radius %g, want a positive number", ErrOption, o.CutoffRadius)
	}
	if o.Neighbours < 0 {
		return nil, fmt.Errorf("kernel: %w: %d neighbours, want a positive number", ErrOption, o.Neighbours)
	}
	if o.Neighbours > 0 && o.CutoffRadius > 0 {
		return nil, fmt.Errorf("kernel: %w: %d neighbours and a cutoff radius of %g, want one of the two", ErrOption, o.Neighbours, o.CutoffRadius)
	}
	if o.Isolated < Keep || o.Isolated > Fail {
		return nil, fmt.Errorf("kernel: %w: %v", ErrOption, o.Isolated)
	}
	if o.Layout < sparse.Auto || o.Layout > sparse.Compact16 {
		return nil, fmt.Errorf("kernel: %w: %v", ErrOption, o.Layout)
	}
	if o.Steps < 0 || o.Columns < 0 || o.BudgetBytes < 0 {
		return nil, fmt.Errorf("kernel: %w: steps %d, columns %d and budget %d must not be negative", ErrOption, o.Steps, o.Columns, o.BudgetBytes)
	}
	if o.Steps == 0 {
		o.Steps = 5
	}
	if o.Columns == 0 {
		o.Columns = 2
	}
	if o.BudgetBytes == 0 {
		o.BudgetBytes = mem.Budget()
	}
	o.BudgetBytes = min(o.BudgetBytes, mem.AddressSpace-1) // from there on make panics
	if o.Kernels == nil {
		o.Kernels = simd.At(simd.Best())
	}
	return &o, nil
}

// fixed tells whether the graph is what is wanted, whatever the tolerance.
func (o *Options) fixed() bool { return o.CutoffRadius > 0 || o.Neighbours > 0 }

// refuseCut reports a cut graph asked of an operator that has every pair.
func (o *Options) refuseCut(name string) error {
	if o.fixed() {
		return fmt.Errorf("%w: %s", ErrOperator, refusedCut(name))
	}
	return nil
}

func refusedCut(name string) string {
	return fmt.Sprintf("the graph asked for is cut; %s has every pair", name)
}

// refuseIsolated reports isolated rows where the policy is Fail.
func (o *Options) refuseIsolated(isolated, n int, why string) error {
	if o.Isolated == Fail && isolated > 0 {
		return fmt.Errorf("%w: %d of %d rows %s", ErrIsolated, isolated, n, why)
	}
	return nil
}

// progress returns the progress of a stage.
func (o *Options) progress(stage string, total int) *rows.Progress {
	return rows.NewProgress(o.Progress, stage, total)
}
