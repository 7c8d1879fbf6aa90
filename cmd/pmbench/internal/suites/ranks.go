package suites

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// A rankGraph is a graph that ranks build and take steps of.
type rankGraph struct {
	name string // of the operator, and of the search where there are several
	d    int
	// strong is the number of rows of all ranks together, weak that of one rank; 0: not
	// measured so.
	strong, weak int
	build        func(ctx context.Context, l *measure.Lab, n, d int) (kernel.Operator, error)
	pairs        func(n int) int64 // that an operator without stored weights stands for
}

const (
	// RankColumns is the number of columns of the iterate in suite ranks.
	RankColumns = 2
	// RankRows is the number of rows of suite ranks, unless -n says otherwise.
	RankRows = DefaultRows
)

func rankGraphs(l *measure.Lab) []rankGraph {
	n := l.Size(cmp.Or(l.Rows, RankRows))
	return []rankGraph{
		{name: "cells", d: 2, strong: n, weak: max(n/2, 1), build: buildCells},
		{name: "cells", d: 3, strong: n, weak: max(n/2, 1), build: buildCells},
		{name: "codes", d: 64, strong: max(n/10, 1), build: buildCodes},
		{name: "poly", d: 64, strong: n, build: buildPoly, pairs: func(n int) int64 { return int64(n) * int64(n-1) }},
		{name: "grid", d: 2, strong: n, build: buildGrid, pairs: func(n int) int64 { return int64(n) * int64(n/10) }},
	}
}

// ranksCases build graphs and take steps on the ranks of the lab, each of which has one
// worker: with all rows shared by the ranks (scaling=strong), and with a number of rows for
// each rank (scaling=weak).
func ranksCases(l *measure.Lab) []measure.Case { return RankCases(l, l.Ranks.Size()) }

// RankCases are the cases of a number of ranks.
func RankCases(l *measure.Lab, ranks int) (out []measure.Case) {
	for _, g := range rankGraphs(l) {
		for _, scaling := range []struct {
			name string
			n    int
		}{{"strong", g.strong}, {"weak", g.weak * ranks}} {
			if scaling.name == "weak" && g.weak == 0 {
				continue
			}
			n := scaling.n
			for _, op := range []string{"build", "step"} {
				c := measure.Case{
					Name: fmt.Sprintf("op=%s/graph=%s/d=%d/k=%d/scaling=%s/n=%d/ranks=%d/workers=1", op, g.name, g.d, RankColumns, scaling.name, n, ranks),
					N:    n, D: g.d, K: RankColumns, Workers: 1,
					Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) { return g.buildSubject(l, n), nil },
				}
				if op == "step" {
					c.Setup = func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) { return g.stepSubject(ctx, l, n) }
				}
				out = append(out, c)
			}
		}
	}
	return out
}

// rankOptions are those of the operators of suite ranks.
func rankOptions(l *measure.Lab) kernel.Options {
	return kernel.Options{Workers: l.Workers(1), Ranks: l.Ranks, Columns: RankColumns, Steps: 1}
}

// buildCells builds the truncated graph of uniform points.
func buildCells(ctx context.Context, l *measure.Lab, n, d int) (kernel.Operator, error) {
	s, err := PointsOfKind(ctx, l, "uniform", n, d)
	if err != nil {
		return nil, err
	}
	return s.graphWith(ctx, rankOptions(l))
}

// buildCodes builds the truncated graph of features in classes.
func buildCodes(ctx context.Context, l *measure.Lab, n, d int) (kernel.Operator, error) {
	s, err := SearchSet{"easy", n, d}.PointSet(ctx, l)
	if err != nil {
		return nil, err
	}
	return s.graphWith(ctx, rankOptions(l))
}

// buildPoly builds the full kernel of unit features at a wide bandwidth.
func buildPoly(ctx context.Context, l *measure.Lab, n, d int) (kernel.Operator, error) {
	x, err := WideRows(l, n, d)
	if err != nil {
		return nil, err
	}
	o := rankOptions(l)
	o.Operator = "poly"
	return kernel.Build(ctx, x, kernel.Sigma(WideSigma), &o)
}

// buildGrid builds the interpolated kernel of uniform points.
func buildGrid(ctx context.Context, l *measure.Lab, n, d int) (kernel.Operator, error) {
	x, err := measure.Shared(l, fmt.Sprint("grid points ", n, " ", d), func() (blas32.General, error) { return synth.Uniform(n, d, 1) })
	if err != nil {
		return nil, err
	}
	o := rankOptions(l)
	o.Tolerance = gridTolerance
	o.Operator = "grid"
	return kernel.Build(ctx, x, gridSigma(), &o)
}

// key names the operator of a graph among what a lab has made.
func (g *rankGraph) key(n int) string { return fmt.Sprint("rank graph ", g.name, n, " ", g.d) }

// subjectOf is a subject with the figures of an operator.
func (g *rankGraph) subjectOf(sub *measure.Subject, op kernel.Operator, n int) {
	cost, cert := op.Cost(), op.Certificate()
	sub.NNZ, sub.Eta, sub.EtaP99 = cost.NNZ, cert.RowMax, cert.RowP99
	if g.pairs != nil {
		sub.NNZ = g.pairs(n)
	}
}

// buildSubject measures building the graph. The first operator is kept for the steps.
func (g *rankGraph) buildSubject(l *measure.Lab, n int) *measure.Subject {
	sub := &measure.Subject{Pairs: true, Roof: measure.RoofRead, Memory: true, Stores: g.pairs == nil, Eta: math.NaN(), EtaP99: math.NaN()}
	sub.Run = func(ctx context.Context) error {
		var op kernel.Operator
		build := func() (err error) {
			op, err = g.build(ctx, l, n, g.d)
			return err
		}
		if sub.Ranks != nil {
			if err := build(); err != nil {
				return err
			}
			return op.Close()
		}
		var err error
		if sub.Ranks, err = countTraffic(ctx, l.Ranks, build); err != nil {
			return err
		}
		g.subjectOf(sub, op, n)
		sub.Bytes = 4*int64(n)*int64(g.d) + op.Cost().ResidentBytes
		if l.Keep(g.key(n), op) {
			return nil
		}
		return op.Close()
	}
	return sub
}

// stepSubject measures a step.
func (g *rankGraph) stepSubject(ctx context.Context, l *measure.Lab, n int) (*measure.Subject, error) {
	op, err := measure.Shared(l, g.key(n), func() (kernel.Operator, error) { return g.build(ctx, l, n, g.d) })
	if err != nil {
		return nil, err
	}
	x, dst, st := Block(n, RankColumns), Zeros(n, RankColumns), new(kernel.Stats)
	if err := st.Gather(x, nil); err != nil {
		return nil, err
	}
	sub := &measure.Subject{Roof: measure.RoofRead, Pairs: g.pairs != nil, Bytes: op.Cost().StreamedBytes}
	g.subjectOf(sub, op, n)
	sub.Run = func(ctx context.Context) error { return op.Step(ctx, dst, x, &kernel.Step{}, st) }
	if sub.Ranks, err = countTraffic(ctx, l.Ranks, func() error { return sub.Run(ctx) }); err != nil {
		return nil, err
	}
	sub.Ranks.Allgatherv = 4 * int64(n) * RankColumns * int64(l.Ranks.Size()-1)
	return sub, nil
}

// countTraffic does an operation of all ranks and returns what they received.
func countTraffic(ctx context.Context, ranks *par.Ranks, operation func() error) (*record.RankFigures, error) {
	gathered, exchanged := ranks.Traffic()
	if err := operation(); err != nil {
		return nil, err
	}
	after, afterwards := ranks.Traffic()
	all, err := exchange.GatherEqual(ctx, ranks, []int64{after - gathered, afterwards - exchanged})
	if err != nil {
		return nil, err
	}
	f := &record.RankFigures{Ranks: ranks.Size()}
	for r := range f.Ranks {
		f.Gathered += all[2*r]
		f.Exchanged += all[2*r+1]
	}
	return f, nil
}
