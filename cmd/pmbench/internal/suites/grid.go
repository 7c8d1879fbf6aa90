package suites

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const (
	gridTolerance = 1e-5
	gridColumns   = 2
)

// gridCases measure the interpolated kernel of uniform points in the plane that have a
// tenth of all others as neighbours: building it, a step of it, and both in one. At
// 30,000 points csr stores the same graph, to compare.
func gridCases(l *measure.Lab) (out []measure.Case) {
	for _, size := range []int{100_000, 1_000_000, 10_000_000} {
		n := l.Size(size)
		for _, w := range measure.WorkerCounts() {
			for _, op := range []string{"build", "step", "both"} {
				out = append(out, measure.Case{
					Name: fmt.Sprintf("op=%s/operator=grid/n=%d/nnz=%d/d=2/k=%d/workers=%d", op, n, n/10, gridColumns, w), N: n, D: 2, K: gridColumns, Workers: w, Full: size == 10_000_000,
					Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
						return gridSubject(ctx, l, op, "grid", n, w)
					},
				})
			}
		}
	}
	n := l.Size(30_000)
	for _, operator := range []string{"grid", "csr"} {
		for _, w := range measure.WorkerCounts() {
			out = append(out, measure.Case{
				Name: fmt.Sprintf("op=compare/operator=%s/n=%d/nnz=%d/d=2/k=%d/workers=%d", operator, n, n/10, gridColumns, w), N: n, D: 2, K: gridColumns, Workers: w,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
					return gridSubject(ctx, l, "both", operator, n, w)
				},
			})
		}
	}
	return out
}

// gridSigma is the bandwidth at which a disc of a tenth of the unit square holds the
// weights of 1e-3 and more.
func gridSigma() kernel.Bandwidth {
	radius2 := 0.1 / math.Pi
	return kernel.Gamma(-math.Log(kernel.DegreeCutoff) / radius2)
}

// gridSubject measures building an operator, a step of it, or both.
func gridSubject(ctx context.Context, l *measure.Lab, what, operator string, n, workers int) (*measure.Subject, error) {
	p, err := synth.Uniform(n, 2, 1)
	if err != nil {
		return nil, err
	}
	points, err := kernel.Open(p, &kernel.Options{Workers: l.Workers(workers)})
	if err != nil {
		return nil, err
	}
	x, dst := Block(n, gridColumns), Zeros(n, gridColumns)
	sub := &measure.Subject{Pairs: true, NNZ: int64(n) * int64(n/10), Roof: measure.RoofRead, Memory: what != "step", Eta: math.NaN(), EtaP99: math.NaN()}
	build := func(ctx context.Context) (op kernel.Operator, err error) {
		opt := &kernel.Options{Tolerance: gridTolerance, Steps: 1, Columns: gridColumns, Workers: l.Workers(workers)}
		opt.Operator = operator
		if op, err = points.Build(ctx, gridSigma(), opt); err != nil {
			return nil, err
		}
		cert, cost := op.Certificate(), op.Cost()
		sub.Eta, sub.EtaP99 = cert.RowMax, cert.RowP99
		sub.Bytes, sub.Madds = cost.StreamedBytes, cost.Flops/2
		if what == "build" {
			sub.Bytes, sub.Madds = 8*int64(n)+cost.ResidentBytes, 0
		}
		return op, nil
	}
	step := func(ctx context.Context, op kernel.Operator, st *kernel.Stats) error {
		return op.Step(ctx, dst, x, &kernel.Step{}, st)
	}
	st := new(kernel.Stats)
	if err := st.Gather(x, nil); err != nil {
		return nil, err
	}
	if what == "step" {
		op, err := build(ctx)
		if err != nil {
			return nil, err
		}
		sub.Run = func(ctx context.Context) error { return step(ctx, op, st) }
		return sub, nil
	}
	sub.Run = func(ctx context.Context) error {
		op, err := build(ctx)
		if err != nil {
			return err
		}
		if what == "both" {
			if err := step(ctx, op, st); err != nil {
				return err
			}
		}
		return op.Close()
	}
	return sub, nil
}
