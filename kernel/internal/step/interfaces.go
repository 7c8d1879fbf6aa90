package step

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// An Operator is an operator of package kernel, which says what its methods do.
type Operator interface {
	Name() string
	N() int
	Order() []uint32
	Degrees() []float64
	Apply(ctx context.Context, dst, x blas32.General) error
	Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error
	Part() (lo, hi int)
	Complete(ctx context.Context, x blas32.General) error
	Certificate() base.Certificate
	Cost() base.Cost
	Close() error
	// Traffic returns what this rank receives in a step of k columns in float32.
	Traffic(k int) graphstats.Traffic
}

// Operator64 is an operator that also computes in float64 throughout.
type Operator64 interface {
	Operator
	Apply64(ctx context.Context, dst, x blas64.General) error
	Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error
	Complete64(ctx context.Context, x blas64.General) error
}

// Truncated is an operator whose graph ends at a radius.
type Truncated interface {
	Operator
	Radius() float64
	MeanNeighbours() float64
	Search() rows.Stats
	Components(ctx context.Context) ([]int, error)
	Matrix(ctx context.Context) (*sparse.CSR, error)
}

// An Candidate is what a plan expects of an operator.
type Candidate struct {
	Cost                   base.Cost
	Eta                    float64 // expected for 99 in 100 rows, isolated ones aside
	Radius, MeanNeighbours float64
	Feasible               bool
	Reason                 string // why it is not feasible, or what speaks for it
	// Build builds the operator; nil where it is not feasible.
	Build func(ctx context.Context, o *base.Options) (Operator, error)
}

// EveryPair returns the candidate of an operator that has a weight for every pair of n points.
// It is not feasible until something is known that speaks for it.
func EveryPair(n int) Candidate {
	return Candidate{Radius: math.Inf(1), MeanNeighbours: float64(n - 1)}
}

// MissedShare is the share of rows that may miss the tolerance. 99 in 100 rows should meet
// it, and a sample of some hundred rows cannot tell 1 in 100 from 4 in 100.
const MissedShare = 0.04

// Shortfall reports whether more rows than MissedShare miss the tolerance, and returns the
// error that 99 in 100 rows do not exceed. Isolated rows, and rows whose weights are below
// the range of float32, do not count.
func Shortfall(op Operator, tolerance float64) (missed bool, eta float64) {
	cert := op.Certificate()
	if cert.Row == nil {
		return cert.RowMax > tolerance, cert.RowMax
	}
	least := base.UnderflowDegree(op.N(), tolerance)
	var connected []float32
	above := 0
	for i, d := range op.Degrees() {
		if d < least {
			continue
		}
		connected = append(connected, cert.Row[i])
		if float64(cert.Row[i]) > tolerance*(1+0x1p-23) {
			above++
		}
	}
	if len(connected) == 0 {
		return false, 0
	}
	return float64(above) > MissedShare*float64(len(connected)), float64(base.Ranked(connected, split.Part(len(connected)-1, 99, 100)))
}
