package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// An Operator is the weight matrix W of a Gaussian graph, or an approximation
// of it with a certificate. All rows are in the operator's own order. Only this package
// can make operators, because Step and Stats share sums that only it fills in.
//
// Operators are safe for concurrent use, those of ranks apart, which make one call after the
// other. Apply and Step check the context between
// chunks of work and return its error; dst is then undefined.
type Operator interface {
	// Name says which operator this is, as Options.Operator spells it.
	Name() string
	// N returns the number of points.
	N() int
	// Order returns, for each row of the operator, the row of the points that the
	// caller gave; nil when the two orders are the same. The caller must not change it.
	Order() []uint32
	// Degrees returns W 1, summed in float64. Apply to a column of ones returns the same
	// but for the rounding of Apply. The caller must not change it.
	Degrees() []float64
	// Apply sets dst = W x, n x k row-major, for any k. dst must not overlap x.
	Apply(ctx context.Context, dst, x blas32.General) error
	// Step sets dst to the next iterate after x. st must hold the sums of x
	// (Stats.Gather, or the previous Step that made x); on return it holds
	// v(x) and the sums of dst. After the first call with a given st, Step
	// allocates nothing with one process. Of ranks each needs the rows of its Part of x
	// alone, and has those of dst afterwards; a step may set the other rows of x to what
	// other ranks have. Apply needs all rows of x, and sets all of dst.
	Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error
	// Part returns the rows lo to hi-1 of the iterate that this rank makes: all rows where
	// Options.Ranks is nil.
	Part() (lo, hi int)
	// Complete sets the rows of x that other ranks have made: after Step each rank has the
	// rows of its Part alone. All ranks call it. Without Options.Ranks it does nothing.
	Complete(ctx context.Context, x blas32.General) error
	// Certificate returns the error bound of the weights.
	Certificate() Certificate
	// Cost returns what the operator takes.
	Cost() Cost
	// Close releases the operator's memory, which the next operator may use. No other
	// call may be under way, nor come afterwards.
	Close() error
}

// Operator64 is an Operator that also computes in float64 throughout, for
// callers to whom the rounding of float32 is an error to account for.
type Operator64 interface {
	Operator
	// Apply64 is Apply in float64 throughout.
	Apply64(ctx context.Context, dst, x blas64.General) error
	// Step64 is Step in float64 throughout.
	Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error
	// Complete64 is Complete for an iterate in float64.
	Complete64(ctx context.Context, x blas64.General) error
}

// Truncated is an Operator whose graph ends at a radius: csr or pairs.
type Truncated interface {
	Operator
	// Radius returns the cutoff, +Inf where every pair has a weight. Only weights that
	// Repair has added belong to pairs farther apart. In a graph of nearest neighbours it
	// is the largest distance of a neighbour.
	Radius() float64
	// MeanNeighbours returns the mean number of neighbours of a point, equal points
	// included.
	MeanNeighbours() float64
	// Matrix returns all weights as a matrix in the order of the points that the caller
	// gave, with no diagonal. Equal points have the weight 1 with each other. It is a copy
	// that outlives the operator. A *MemoryError says that it does not fit in
	// Options.MaxMemory in addition to the operator.
	Matrix(ctx context.Context) (*sparse.CSR, error)
}

// Cost is what an operator takes. Seconds are estimates for one worker on a
// current server core; their ratios matter more than their values.
type Cost struct {
	BuildSeconds, StepSeconds float64
	ResidentBytes             int64 // held between calls
	PeakBytes                 int64 // held at most while building, or afterwards with Options.StepBytes
	StreamedBytes             int64 // read and written by one step
	Flops                     float64
	NNZ                       int64 // stored weights; 0 when none are stored
}
