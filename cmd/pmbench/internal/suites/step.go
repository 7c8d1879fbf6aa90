package suites

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// stepCases measure the fused step and, next to it, the product alone.
func stepCases(l *measure.Lab) (out []measure.Case) {
	n := l.Size(1_000_000)
	for _, k := range SpmmColumns() {
		for _, w := range measure.WorkerCounts() {
			for _, op := range []string{"product", "step"} {
				out = append(out, measure.Case{
					Name: fmt.Sprintf("op=%s/n=%d/nnz=%d/k=%d/workers=%d", op, n, Neighbours, k, w), N: n, D: 2, K: k, Workers: w,
					Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
						if op == "step" {
							return stepSubject(ctx, l, n, k, w)
						}
						return productSubject(ctx, l, n, k, w)
					},
				})
			}
		}
	}
	return out
}

// ofOperator is a subject with the figures of an operator.
func ofOperator(op kernel.Truncated, k int) *measure.Subject {
	cost, cert := op.Cost(), op.Certificate()
	return &measure.Subject{NNZ: cost.NNZ, Madds: float64(cost.NNZ) * float64(k), Roof: measure.RoofRead, Eta: cert.RowMax, EtaP99: cert.RowP99}
}

func productSubject(ctx context.Context, l *measure.Lab, n, k, workers int) (*measure.Subject, error) {
	op, err := uniformGraph(ctx, l, n, 2, workers)
	if err != nil {
		return nil, err
	}
	x, dst := Block(n, k), Zeros(n, k)
	sub := ofOperator(op, k)
	sub.Bytes = spmmBytes(n, sub.NNZ, k)
	sub.Run = func(ctx context.Context) error { return op.Apply(ctx, dst, x) }
	return sub, nil
}

// stepBytes is the model of a fused step: the entries, x and the next iterate,
// and per row the pointer and the degree's share.
func stepBytes(n int, nnz int64, k int) int64 { return 8*nnz + int64(n)*(8*int64(k)+12) }

func stepSubject(ctx context.Context, l *measure.Lab, n, k, workers int) (*measure.Subject, error) {
	op, err := uniformGraph(ctx, l, n, 2, workers)
	if err != nil {
		return nil, err
	}
	labels, err := kernel.NewLabels(labelsOf(n), kernel.EqualTable(), false)
	if err != nil {
		return nil, err
	}
	x, dst := Block(n, k), Zeros(n, k)
	// The label term grows with the size of a class. Its sums go from step to step
	// below: with a larger coefficient they would grow until they overflow.
	st, step := new(kernel.Stats), &kernel.Step{Labels: labels, Coefficient: 0.1 / float64(n)}
	if err := st.Gather(x, labels); err != nil {
		return nil, err
	}
	sub := ofOperator(op, k)
	sub.Bytes = stepBytes(n, sub.NNZ, k)
	// The sums in st are those of the last iterate and not of x again; they do
	// not change the work.
	sub.Run = func(ctx context.Context) error {
		if err := op.Step(ctx, dst, x, step, st); err != nil {
			return err
		}
		if math.IsInf(st.MaxAbs, 1) {
			return errors.New("the iterate is not finite any more")
		}
		return nil
	}
	return sub, nil
}
