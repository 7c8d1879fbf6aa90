package kernel

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// IsolatedPolicy says what becomes of rows that the cutoff leaves without neighbours. When
// the cutoff follows from a tolerance, it also says what becomes of rows whose bound
// misses the tolerance.
type IsolatedPolicy int

// The policies.
const (
	// Keep leaves such rows as they are: the certificate counts and bounds them.
	Keep IsolatedPolicy = IsolatedPolicy(base.Keep)
	// Repair gives these rows the weights they need to meet the tolerance, and adds each
	// weight to both rows of its pair. In a graph that is fixed by CutoffRadius it
	// mends isolated rows only, the others are as asked for: an isolated row gets weights
	// with the points nearest to it, as many as points have neighbours on average, at
	// least 1 and at most 8. Of points at equal distances those of lower rows count as
	// nearer. The certificate bounds what is left out, without a tolerance, and far from
	// sharply. Repair cannot help rows so far out that weights below the smallest normal
	// float32, 1.2e-38, matter to them: they keep their bound and, if they have no weight,
	// stay isolated. So do isolated rows of a graph of nearest neighbours.
	Repair IsolatedPolicy = IsolatedPolicy(base.Repair)
	// Fail refuses to build: with ErrIsolated when a row is isolated, and with
	// ErrTolerance when a row misses the tolerance that the cutoff follows from.
	Fail IsolatedPolicy = IsolatedPolicy(base.Fail)
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

// Options are the settings of a graph. The zero value of each field, and a nil
// *Options, mean the default.
type Options struct {
	// Tolerance is the eta that rows should meet: the error of a row's weights relative to
	// its degree. The cutoff is chosen so that 99 in 100 rows of a sample meet it. The
	// certificate has the eta of every row, and Isolated says what becomes of rows that
	// miss the tolerance. Where more than 4 in 100 rows miss it, Build takes another
	// operator, unless Operator names one. Default 1e-4; range (0, 1).
	Tolerance float64
	// CutoffRadius, if positive, fixes the graph: the caller wants it truncated at this
	// radius, whatever the tolerance. Only csr and pairs can serve, and the certificate
	// says how far the graph is from the kernel of every pair. By default the radius
	// follows from Tolerance.
	CutoffRadius float64
	// Neighbours, if positive, fixes the graph as that of the nearest neighbours: two
	// points have a weight if one of them is among the given number of points nearest to
	// the other. Of points at equal distances those of lower rows count as nearer. Only
	// csr can serve, and CutoffRadius must not be set as well.
	Neighbours int
	// SelfTuned gives every point a scale s_i of its own in a graph of nearest
	// neighbours: the distance of its 7th neighbour, or of the last where there are fewer.
	// The weight of two neighbours is exp(-Gamma d^2/(s_i s_j)), 1e-3 at least (Zelnik-Manor
	// and Perona 2004, without the least weight). Gamma(1) is the bandwidth of that paper.
	// No row is isolated, and the certificate is that of the graph as it was asked for:
	// AsAsked.
	SelfTuned bool
	// Isolated is the policy for isolated rows and rows that miss the tolerance.
	// Default Keep.
	Isolated IsolatedPolicy
	// Operator names the operator to build. Default: the first that Plan lists.
	Operator string
	// Steps and Columns say how the operator will be used: the number of steps, and of
	// columns of the iterate. Costs depend on them. Defaults 5 and 2.
	Steps, Columns int
	// Layout says how csr keeps its weights. Default sparse.Plain, the fastest;
	// sparse.Compact takes 6 bytes a weight in place of 8, with the same bits, and
	// sparse.Compact16 takes 4, with an error of 2^-11 a weight that is part of
	// the certificate. Both fail with sparse.ErrRange if many points have
	// neighbours more than 65535 rows apart, as with millions of points in three
	// dimensions.
	Layout sparse.Layout
	// MaxMemory is the memory that may be taken. Default: three quarters of
	// what the machine has available.
	MaxMemory int64
	// StepBytes is the memory that the caller will take in addition to the operator when it is
	// built: for iterates and results. Nobody holds it while csr and pairs are built, so
	// the larger of the two counts: what these take while they are built, or what they
	// keep and StepBytes. The other operators count both. Build, Plan and Options.LeastBytes
	// look at it. Default 0.
	StepBytes int64
	// Reserve, if set, is asked before memory is taken, with the bytes that the work at
	// hand will hold in all, at most MaxMemory. It must not wait. Where it answers false,
	// somebody else has the memory now: the call ends with a *MemoryError, and can be made
	// again when there is more. Default: all of MaxMemory may be taken at any time.
	Reserve func(bytes int64) bool
	// Workers share the work. Default: the caller alone.
	Workers *par.Workers
	// Ranks are the processes that share the work with this one. All have the same points,
	// options and labels, and make the same calls in the same order: Build, Apply, Step,
	// Complete. No bit of a result depends on how many there are. Of what may differ
	// between machines a build takes the least MaxMemory, the lowest level of Kernels and
	// the Calibration of rank 0. All have a Reserve or none has, and all have the same number
	// of Workers, or the error is ErrOption. Where Reserve refuses memory to one rank, all are
	// refused. Default: this process alone.
	Ranks *par.Ranks
	// Kernels do the inner loops. No bit of an operator depends on them, the float32
	// products of poly apart, but Plan's choice may. Default: the best that this machine
	// has and PM_SIMD allows.
	Kernels *simd.Kernels
	// Calibration is the speed of the machine, for the choice; nil when this machine
	// is to be measured, which the first choice of a process at a level does in about
	// 30 ms. A fixed calibration, such as the zero value, makes the same choice
	// everywhere.
	Calibration *Calibration
	// Progress, if set, is called as long work goes on, the products of dense included:
	// done of total pieces of a stage are finished. The workers call it, one call at a
	// time, so it should be quick.
	Progress func(stage string, done, total int)
}

// withDefaults returns the options as operators take them, with every default filled in.
func (opt *Options) withDefaults() (*base.Options, error) {
	var o Options
	if opt != nil {
		o = *opt
	}
	own := &base.Options{
		Tolerance: o.Tolerance, CutoffRadius: o.CutoffRadius, Neighbours: o.Neighbours, SelfTuned: o.SelfTuned,
		Isolated: base.IsolatedPolicy(o.Isolated), Operator: o.Operator, Steps: o.Steps, Columns: o.Columns, Layout: o.Layout,
		MaxMemory: o.MaxMemory, StepBytes: o.StepBytes, Reserve: o.Reserve,
		Workers: o.Workers, Ranks: o.Ranks, Kernels: o.Kernels, Progress: o.Progress,
	}
	return own, own.SetDefaults()
}

// agreed returns the options as all ranks have them.
func (opt *Options) agreed(ctx context.Context) (*base.Options, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	return o, o.Agree(ctx)
}

// calibration returns the calibration of the caller, nil for none.
func (opt *Options) calibration() *Calibration {
	if opt == nil {
		return nil
	}
	return opt.Calibration
}
