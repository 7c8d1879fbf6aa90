package suites

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A WideSize is a set of unit features at a bandwidth that makes every pair a
// neighbour.
type WideSize struct {
	N, D int
	Full bool
}

// WideSigma is the bandwidth of the paper.
const WideSigma = 6

// WideColumns is the number of columns of the iterate in suite wide.
const WideColumns = 2

// WideSizes lists the sets of suite wide.
func WideSizes(l *measure.Lab) []WideSize {
	return []WideSize{{l.Size(1_000_000), 64, false}, {l.Size(200_000), 512, false}, {l.Size(1_000_000), 512, true}}
}

// WideName is the name of a case of suite wide.
func WideName(s WideSize, workers int) string {
	return fmt.Sprintf("op=step/n=%d/d=%d/sigma=%d/k=%d/workers=%d", s.N, s.D, WideSigma, WideColumns, workers)
}

// wideCases take a step of the full kernel by its polynomial.
func wideCases(l *measure.Lab) (out []measure.Case) {
	for _, s := range WideSizes(l) {
		for _, w := range measure.WorkerCounts() {
			out = append(out, measure.Case{
				Name: WideName(s, w), N: s.N, D: s.D, K: WideColumns, Workers: w, Full: s.Full,
				Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) { return wideSubject(ctx, l, s, w) },
			})
		}
	}
	return out
}

// WideRows returns unit rows in classes. Only one set is kept at a time: they are
// as large as the machine may be.
func WideRows(l *measure.Lab, n, d int) (blas32.General, error) {
	key := fmt.Sprint("wide rows ", n, " ", d)
	if !l.Has(key) {
		l.Forget("wide ")
	}
	return measure.Shared(l, key, func() (blas32.General, error) {
		made, _, err := Synthetic("classes", n, d)
		if err != nil {
			return blas32.General{}, err
		}
		x := Zeros(n, d) // in large pages, as the array the limit is measured with
		for i := range n {
			copy(x.Data[i*d:][:d], made.Data[i*made.Stride:])
		}
		return x, nil
	})
}

// WideOperator returns the polynomial of these rows.
func WideOperator(ctx context.Context, l *measure.Lab, n, d, workers int) (kernel.Operator, error) {
	x, err := WideRows(l, n, d)
	if err != nil {
		return nil, err
	}
	return measure.Shared(l, fmt.Sprint("wide operator ", n, d, workers), func() (kernel.Operator, error) { return WidePoly(ctx, l, x, workers) })
}

// WidePoly returns the polynomial of rows.
func WidePoly(ctx context.Context, l *measure.Lab, x blas32.General, workers int) (kernel.Operator, error) {
	return kernel.Build(ctx, x, kernel.Sigma(WideSigma), &kernel.Options{Operator: "poly", Columns: WideColumns, Steps: 1, Workers: l.Workers(workers)})
}

// wideBytes is the model: the features are read twice, x and three numbers of each row
// too, and the next iterate is written.
func wideBytes(n, d, k int) int64 { return int64(n) * (8*int64(d) + 12*int64(k) + 40) }

func wideSubject(ctx context.Context, l *measure.Lab, s WideSize, workers int) (*measure.Subject, error) {
	op, err := WideOperator(ctx, l, s.N, s.D, workers)
	if err != nil {
		return nil, err
	}
	step, err := NewWideStep(op, s.N)
	if err != nil {
		return nil, err
	}
	cert := op.Certificate()
	return &measure.Subject{
		NNZ: int64(s.N) * int64(s.N-1), Pairs: true, // those it stands for
		Bytes: wideBytes(s.N, s.D, WideColumns), Madds: op.Cost().Flops / 2, Roof: measure.RoofRead,
		Eta: cert.RowMax, EtaP99: cert.RowP99, Run: step.Run,
	}, nil
}

// WideStep takes the first step again and again.
type WideStep struct {
	op  kernel.Operator
	x   blas32.General
	Dst blas32.General // the next iterate
	st  kernel.Stats
}

// NewWideStep returns the first step of an operator on n rows.
func NewWideStep(op kernel.Operator, n int) (*WideStep, error) {
	s := &WideStep{op: op, x: Block(n, WideColumns), Dst: Zeros(n, WideColumns)}
	return s, s.st.Gather(s.x, nil)
}

// Run takes the step.
func (s *WideStep) Run(ctx context.Context) error {
	return s.op.Step(ctx, s.Dst, s.x, &kernel.Step{}, &s.st)
}
