package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/graphstats"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// operator makes an Operator of one that a package below has built: Steps, Stats, certificates
// and costs become those of this package. The other methods are its own.
type operator struct{ step.Operator }

// Step sets dst to the iterate after x.
func (op *operator) Step(ctx context.Context, dst, x blas32.General, s *Step, st *Stats) error {
	if err := st.take(s); err != nil {
		return err
	}
	defer st.publish()
	return op.Operator.Step(ctx, dst, x, &st.step, &st.own)
}

// Certificate returns the error bound of the weights.
func (op *operator) Certificate() Certificate { return certificateOf(op.Operator.Certificate()) }

// Cost returns what the operator takes.
func (op *operator) Cost() Cost { return Cost(op.Operator.Cost()) }

// operator64 makes an Operator64.
type operator64 struct {
	operator
	wide step.Operator64
}

func (op *operator64) Apply64(ctx context.Context, dst, x blas64.General) error {
	return op.wide.Apply64(ctx, dst, x)
}

func (op *operator64) Step64(ctx context.Context, dst, x blas64.General, s *Step, st *Stats) error {
	if err := st.take(s); err != nil {
		return err
	}
	defer st.publish()
	return op.wide.Step64(ctx, dst, x, &st.step, &st.own)
}

func (op *operator64) Complete64(ctx context.Context, x blas64.General) error {
	return op.wide.Complete64(ctx, x)
}

// truncatedOperator makes a Truncated.
type truncatedOperator struct {
	operator
	cut step.Truncated
}

func (op *truncatedOperator) Radius() float64         { return op.cut.Radius() }
func (op *truncatedOperator) MeanNeighbours() float64 { return op.cut.MeanNeighbours() }

// SearchStats is for package graphstats.
func (op *truncatedOperator) SearchStats() graphstats.Search {
	s := op.cut.Search()
	return graphstats.Search{Depth: s.Depth, Pairs: s.Pairs, Compared: s.Compared, Measured: s.Measured, Found: s.Found}
}

// Components returns the sizes of the parts of the graph that no weight connects, the largest
// first. A point without neighbours and equals is no part.
func (op *truncatedOperator) Components(ctx context.Context) ([]int, error) {
	return op.cut.Components(ctx)
}

func (op *truncatedOperator) Matrix(ctx context.Context) (*sparse.CSR, error) {
	return op.cut.Matrix(ctx)
}

// public returns an operator of a package below as one of this package.
func public(op step.Operator) Operator {
	switch wide := op.(type) {
	case step.Truncated:
		return &truncatedOperator{operator{op}, wide}
	case step.Operator64:
		return &operator64{operator{op}, wide}
	}
	return &operator{op}
}

// publicOr is public for a constructor that returns an error as well.
func publicOr[I Operator, O step.Operator](op O, err error) (I, error) {
	if err != nil {
		var none I
		return none, err
	}
	return public(op).(I), nil
}
