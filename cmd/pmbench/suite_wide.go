package main

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A wideSize is a set of unit features at a bandwidth that makes every pair a
// neighbour.
type wideSize struct {
	n, d int
	full bool
}

// wideSigma is the bandwidth of the paper.
const wideSigma = 6

const wideColumns = 2

func wideSizes(l *lab) []wideSize {
	return []wideSize{{l.size(1_000_000), 64, false}, {l.size(200_000), 512, false}, {l.size(1_000_000), 512, true}}
}

func wideName(s wideSize, workers int) string {
	return fmt.Sprintf("op=step/n=%d/d=%d/sigma=%d/k=%d/workers=%d", s.n, s.d, wideSigma, wideColumns, workers)
}

// wideCases take a step of the full kernel by its polynomial.
func wideCases(l *lab) (out []benchCase) {
	for _, s := range wideSizes(l) {
		for _, w := range workerCounts() {
			out = append(out, benchCase{
				name: wideName(s, w), n: s.n, d: s.d, k: wideColumns, workers: w, full: s.full,
				setup: func(ctx context.Context, l *lab) (*subject, error) { return wideSubject(ctx, l, s, w) },
			})
		}
	}
	return out
}

// wideRows returns unit rows in classes. Only one set is kept at a time: they are
// as large as the machine may be.
func (l *lab) wideRows(n, d int) (blas32.General, error) {
	type rows struct {
		n, d int
		x    blas32.General
	}
	if have, ok := l.made["wide"].(rows); ok && have.n == n && have.d == d {
		return have.x, nil
	}
	maps.DeleteFunc(l.made, func(key string, _ any) bool { return strings.HasPrefix(key, "wide") })
	made, _, err := synthetic("classes", n, d)
	if err != nil {
		return blas32.General{}, err
	}
	x := zeros(n, d) // in large pages, as the array the limit is measured with
	for i := range n {
		copy(x.Data[i*d:][:d], made.Data[i*made.Stride:])
	}
	l.made["wide"] = rows{n, d, x}
	return x, nil
}

func (l *lab) wideOperator(ctx context.Context, n, d, workers int) (kernel.Operator, error) {
	x, err := l.wideRows(n, d)
	if err != nil {
		return nil, err
	}
	return shared(l, fmt.Sprint("wide operator ", n, d, workers), func() (kernel.Operator, error) { return widePoly(ctx, l, x, workers) })
}

func widePoly(ctx context.Context, l *lab, x blas32.General, workers int) (kernel.Operator, error) {
	return kernel.Build(ctx, x, kernel.Sigma(wideSigma), &kernel.Options{Operator: "poly", Columns: wideColumns, Steps: 1, Workers: l.workers(workers)})
}

// wideBytes is the model: the features are read twice, x and three numbers of each row
// too, and the next iterate is written.
func wideBytes(n, d, k int) int64 { return int64(n) * (8*int64(d) + 12*int64(k) + 40) }

func wideSubject(ctx context.Context, l *lab, s wideSize, workers int) (*subject, error) {
	op, err := l.wideOperator(ctx, s.n, s.d, workers)
	if err != nil {
		return nil, err
	}
	step, err := newWideStep(op, s.n)
	if err != nil {
		return nil, err
	}
	cert := op.Certificate()
	return &subject{
		nnz: int64(s.n) * int64(s.n-1), pairs: true, // those it stands for
		bytes: wideBytes(s.n, s.d, wideColumns), madds: op.Cost().Flops / 2, roof: roofRead,
		eta: cert.RowMax, etaP99: cert.RowP99, run: step.run,
	}, nil
}

// wideStep takes the first step again and again.
type wideStep struct {
	op     kernel.Operator
	x, dst blas32.General
	st     kernel.Stats
}

func newWideStep(op kernel.Operator, n int) (*wideStep, error) {
	s := &wideStep{op: op, x: block(n, wideColumns), dst: zeros(n, wideColumns)}
	return s, s.st.Gather(s.x, nil)
}

func (s *wideStep) run(ctx context.Context) error {
	return s.op.Step(ctx, s.dst, s.x, &kernel.Step{}, &s.st)
}
