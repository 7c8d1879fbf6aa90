package main

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

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
	build        func(ctx context.Context, l *lab, n, d int) (kernel.Operator, error)
	pairs        func(n int) int64 // that an operator without stored weights stands for
}

const (
	// rankColumns is the number of columns of the iterate in suite ranks.
	rankColumns = 2
	// rankRows is the number of rows of suite ranks, unless -n says otherwise.
	rankRows = defaultRows
)

func rankGraphs(l *lab) []rankGraph {
	n := l.size(cmp.Or(l.rows, rankRows))
	return []rankGraph{
		{name: "cells", d: 2, strong: n, weak: max(n/2, 1), build: buildCells},
		{name: "cells", d: 3, strong: n, weak: max(n/2, 1), build: buildCells},
		{name: "codes", d: 64, strong: max(n/10, 1), build: buildCodes},
		{name: "poly", d: 64, strong: n, build: buildPoly, pairs: func(n int) int64 { return int64(n) * int64(n-1) }},
		{name: "grid", d: 2, strong: n, build: buildGrid, pairs: func(n int) int64 { return int64(n) * int64(n/10) }},
	}
}

// rankCases build graphs and take steps on the ranks of the lab, each of which has one
// worker: with all rows shared by the ranks (scaling=strong), and with a number of rows for
// each rank (scaling=weak).
func rankCases(l *lab) []benchCase { return rankCasesOf(l, l.ranks.Size()) }

// rankCasesOf are the cases of a number of ranks.
func rankCasesOf(l *lab, ranks int) (out []benchCase) {
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
				c := benchCase{
					name: fmt.Sprintf("op=%s/graph=%s/d=%d/k=%d/scaling=%s/n=%d/ranks=%d/workers=1", op, g.name, g.d, rankColumns, scaling.name, n, ranks),
					n:    n, d: g.d, k: rankColumns, workers: 1,
					setup: func(ctx context.Context, l *lab) (*subject, error) { return g.buildSubject(l, n), nil },
				}
				if op == "step" {
					c.setup = func(ctx context.Context, l *lab) (*subject, error) { return g.stepSubject(ctx, l, n) }
				}
				out = append(out, c)
			}
		}
	}
	return out
}

// rankOptions are those of the operators of suite ranks.
func rankOptions(l *lab) kernel.Options {
	return kernel.Options{Workers: l.workers(1), Ranks: l.ranks, Columns: rankColumns, Steps: 1}
}

// buildCells builds the truncated graph of uniform points.
func buildCells(ctx context.Context, l *lab, n, d int) (kernel.Operator, error) {
	s, err := l.pointSet(ctx, "uniform", n, d)
	if err != nil {
		return nil, err
	}
	return s.graphWith(ctx, rankOptions(l))
}

// buildCodes builds the truncated graph of features in classes.
func buildCodes(ctx context.Context, l *lab, n, d int) (kernel.Operator, error) {
	s, err := l.searchPoints(ctx, searchSet{"easy", n, d})
	if err != nil {
		return nil, err
	}
	return s.graphWith(ctx, rankOptions(l))
}

// buildPoly builds the full kernel of unit features at a wide bandwidth.
func buildPoly(ctx context.Context, l *lab, n, d int) (kernel.Operator, error) {
	x, err := l.wideRows(n, d)
	if err != nil {
		return nil, err
	}
	o := rankOptions(l)
	o.Operator = "poly"
	return kernel.Build(ctx, x, kernel.Sigma(wideSigma), &o)
}

// buildGrid builds the interpolated kernel of uniform points.
func buildGrid(ctx context.Context, l *lab, n, d int) (kernel.Operator, error) {
	x, err := shared(l, fmt.Sprint("grid points ", n, " ", d), func() (blas32.General, error) { return synth.Uniform(n, d, 1) })
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
func (g *rankGraph) subjectOf(sub *subject, op kernel.Operator, n int) {
	cost, cert := op.Cost(), op.Certificate()
	sub.nnz, sub.eta, sub.etaP99 = cost.NNZ, cert.RowMax, cert.RowP99
	if g.pairs != nil {
		sub.nnz = g.pairs(n)
	}
}

// buildSubject measures building the graph. The first operator is kept for the steps.
func (g *rankGraph) buildSubject(l *lab, n int) *subject {
	sub := &subject{pairs: true, roof: roofRead, memory: true, stores: g.pairs == nil, eta: math.NaN(), etaP99: math.NaN()}
	sub.run = func(ctx context.Context) error {
		var op kernel.Operator
		build := func() (err error) {
			op, err = g.build(ctx, l, n, g.d)
			return err
		}
		if sub.ranks != nil {
			if err := build(); err != nil {
				return err
			}
			return op.Close()
		}
		var err error
		if sub.ranks, err = countTraffic(ctx, l.ranks, build); err != nil {
			return err
		}
		g.subjectOf(sub, op, n)
		sub.bytes = 4*int64(n)*int64(g.d) + op.Cost().ResidentBytes
		if l.made[g.key(n)] == nil {
			l.made[g.key(n)] = op
			return nil
		}
		return op.Close()
	}
	return sub
}

// stepSubject measures a step.
func (g *rankGraph) stepSubject(ctx context.Context, l *lab, n int) (*subject, error) {
	op, err := shared(l, g.key(n), func() (kernel.Operator, error) { return g.build(ctx, l, n, g.d) })
	if err != nil {
		return nil, err
	}
	x, dst, st := block(n, rankColumns), zeros(n, rankColumns), new(kernel.Stats)
	if err := st.Gather(x, nil); err != nil {
		return nil, err
	}
	sub := &subject{roof: roofRead, pairs: g.pairs != nil, bytes: op.Cost().StreamedBytes}
	g.subjectOf(sub, op, n)
	sub.run = func(ctx context.Context) error { return op.Step(ctx, dst, x, &kernel.Step{}, st) }
	if sub.ranks, err = countTraffic(ctx, l.ranks, func() error { return sub.run(ctx) }); err != nil {
		return nil, err
	}
	sub.ranks.Allgatherv = 4 * int64(n) * rankColumns * int64(l.ranks.Size()-1)
	return sub, nil
}

// RankFigures are the bytes that ranks receive in one operation, all ranks together.
type RankFigures struct {
	Ranks int `json:"ranks"`
	// Exchanged are those of rows that one rank sends another, Gathered those of what
	// every rank gets from every other one.
	Exchanged int64 `json:"exchanged_bytes"`
	Gathered  int64 `json:"gathered_bytes"`
	// Allgatherv is what a step would take that gathers the whole iterate.
	Allgatherv int64 `json:"allgatherv_bytes,omitempty"`
	// MeasuredRounds are the rounds of the case, those included that are not told.
	MeasuredRounds int `json:"measured_rounds,omitempty"`
}

// countTraffic does an operation of all ranks and returns what they received.
func countTraffic(ctx context.Context, ranks *par.Ranks, operation func() error) (*RankFigures, error) {
	gathered, exchanged := ranks.Traffic()
	if err := operation(); err != nil {
		return nil, err
	}
	after, afterwards := ranks.Traffic()
	all, err := par.GatherEqual(ctx, ranks, []int64{after - gathered, afterwards - exchanged})
	if err != nil {
		return nil, err
	}
	f := &RankFigures{Ranks: ranks.Size()}
	for r := range f.Ranks {
		f.Gathered += all[2*r]
		f.Exchanged += all[2*r+1]
	}
	return f, nil
}
