package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// stepCases measure the fused step and, beside it, the product alone.
func stepCases(l *lab) (out []benchCase) {
	n := l.size(1_000_000)
	for _, k := range spmmColumns() {
		for _, w := range workerCounts() {
			for _, op := range []string{"product", "step"} {
				out = append(out, benchCase{
					name: fmt.Sprintf("op=%s/n=%d/nnz=%d/k=%d/workers=%d", op, n, neighbours, k, w), n: n, d: 2, k: k, workers: w,
					setup: func(ctx context.Context, l *lab) (*subject, error) {
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
func ofOperator(op kernel.Truncated, k int) *subject {
	cost, cert := op.Cost(), op.Certificate()
	return &subject{nnz: cost.NNZ, madds: float64(cost.NNZ) * float64(k), roof: roofRead, eta: cert.RowMax, etaP99: cert.RowP99}
}

func productSubject(ctx context.Context, l *lab, n, k, workers int) (*subject, error) {
	op, err := uniformGraph(ctx, l, n, 2, workers)
	if err != nil {
		return nil, err
	}
	x, dst := block(n, k), zeros(n, k)
	sub := ofOperator(op, k)
	sub.bytes = spmmBytes(n, sub.nnz, k)
	sub.run = func(ctx context.Context) error { return op.Apply(ctx, dst, x) }
	return sub, nil
}

// stepBytes is the model of a fused step: the entries, x and the next iterate,
// and per row the pointer and the degree's share.
func stepBytes(n int, nnz int64, k int) int64 { return 8*nnz + int64(n)*(8*int64(k)+12) }

func stepSubject(ctx context.Context, l *lab, n, k, workers int) (*subject, error) {
	op, err := uniformGraph(ctx, l, n, 2, workers)
	if err != nil {
		return nil, err
	}
	labels, err := kernel.NewLabels(labelsOf(n), kernel.EqualTable(), false)
	if err != nil {
		return nil, err
	}
	x, dst := block(n, k), zeros(n, k)
	// The label term grows with the size of a class. Its sums go from step to step
	// below: with a larger coefficient they would grow until they overflow.
	st, step := new(kernel.Stats), &kernel.Step{Labels: labels, Coefficient: 0.1 / float64(n)}
	if err := st.Gather(x, labels); err != nil {
		return nil, err
	}
	sub := ofOperator(op, k)
	sub.bytes = stepBytes(n, sub.nnz, k)
	// The sums in st are those of the last iterate and not of x again; they do
	// not change the work.
	sub.run = func(ctx context.Context) error {
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
