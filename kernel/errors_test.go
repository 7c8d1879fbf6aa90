package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// constructors build every operator of some rows by its own function.
var constructors = map[string]func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error){
	"dense": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(NewDense(ctx, general(p), b, o))
	},
	"poly": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(openPoly(ctx, general(p), b, o))
	},
	"grid": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(openGrid(ctx, narrow(general(p)), b, o))
	},
	"dense of unit rows": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(p.Dense(ctx, b, o))
	},
	"poly of unit rows": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(p.Poly(ctx, b, 3, o))
	},
	"background": func(ctx context.Context, p *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		return asOperator(p.Background(ctx, b, 1, b.Weight(2), o))
	},
}

func general(r *UnitRows) blas64.General {
	return blas64.General{Rows: r.N(), Cols: r.own.Dim(), Stride: r.own.Rows.Stride, Data: r.own.Rows.Data}
}

func narrow(m blas64.General) blas32.General {
	out := pointtest.Zeros32(m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = float32(v)
	}
	return out
}

// saysOnce checks that an error is of the wanted kind, and that its message names the
// package once, at its beginning.
func saysOnce(t *testing.T, what string, err, want error) {
	t.Helper()
	switch {
	case !errors.Is(err, want):
		t.Errorf("%s: err = %v, want %v", what, err, want)
	case !strings.HasPrefix(err.Error(), "kernel: ") || strings.Count(err.Error(), "kernel:") != 1:
		t.Errorf("%s: %v", what, err)
	}
}

func TestErrorsNameThePackageOnce(t *testing.T) {
	rows := unitRows(t, makeUnit("random", 60, 3, -1, 1))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, build := range constructors {
		_, err := build(t.Context(), rows, Sigma(3), &Options{MaxMemory: 100})
		saysOnce(t, name+", memory", err, ErrMemory)
		_, err = build(cancelled, rows, Sigma(3), nil)
		saysOnce(t, name+", cancelled", err, context.Canceled)
		_, err = build(t.Context(), rows, Sigma(3), &Options{CutoffRadius: 1})
		saysOnce(t, name+", cut", err, ErrOperator)
		_, err = build(t.Context(), rows, Bandwidth{}, nil)
		saysOnce(t, name+", no bandwidth", err, ErrBandwidth)
	}
	p := narrow(general(rows))
	_, err := openGrid(t.Context(), p, Sigma(1), &Options{Tolerance: 1e-14, Isolated: Fail})
	saysOnce(t, "grid, tolerance", err, ErrTolerance)
	_, err = openPoly(t.Context(), p, Sigma(0.01), nil)
	saysOnce(t, "poly, tolerance", err, ErrTolerance)
	_, err = rows.Poly(t.Context(), Sigma(0.1), 3, nil)
	saysOnce(t, "poly of unit rows, tolerance", err, ErrTolerance)
	_, err = planOf(cancelled, p, Sigma(1), nil)
	saysOnce(t, "plan, cancelled", err, context.Canceled)
	for _, name := range OperatorNames() {
		_, err = Build(cancelled, p, Sigma(1), &Options{Operator: name})
		saysOnce(t, "build "+name+", cancelled", err, context.Canceled)
	}
	for _, d := range []int{3, 20} {
		few := &Options{CutoffRadius: 1, MaxMemory: 5000}
		x := narrow(general(unitRows(t, makeUnit("random", 200, d, -1, 1))))
		_, err = openCSR(t.Context(), x, Sigma(1), few)
		saysOnce(t, "csr, memory", err, ErrMemory)
		if d <= base.MaxDirect {
			_, err = openPairs(t.Context(), x, Sigma(1), few)
			saysOnce(t, "pairs, memory", err, ErrMemory)
		}
	}
	_, _, err = bandwidthForDegree(cancelled, p, 3, 0, nil)
	saysOnce(t, "bandwidth, cancelled", err, context.Canceled)
	_, err = planOf(t.Context(), p, Sigma(1), &Options{Neighbours: -3})
	saysOnce(t, "negative neighbours", err, ErrOption)

	_, err = NewLabels([]int32{0, 1}, GaussianTable(Sigma(-1)), false)
	saysOnce(t, "table, bandwidth", err, ErrBandwidth)
	nan := TableFunc("nan", func(a, b int32) float64 { return math.NaN() })
	_, err = NewLabels([]int32{0, 1}, nan, false)
	saysOnce(t, "table, NaN", err, base.ErrTable)
	_, err = NewLabels([]int32{0, -77}, EqualTable(), false)
	saysOnce(t, "negative label", err, ErrLabels)
	if strings.Contains(err.Error(), "77") {
		t.Errorf("a label in an error: %v", err)
	}
}

// The operators that are cut say it once, too, wherever the memory or the time ends.
func TestErrorsOfCutOperatorsNameThePackageOnce(t *testing.T) {
	build := map[string]func(ctx context.Context, p blas32.General, o *Options) (Operator, error){
		"csr": func(ctx context.Context, p blas32.General, o *Options) (Operator, error) {
			return asOperator(openCSR(ctx, p, Sigma(0.3), o))
		},
		"pairs": func(ctx context.Context, p blas32.General, o *Options) (Operator, error) {
			return asOperator(openPairs(ctx, p, Sigma(0.3), o))
		},
	}
	for _, c := range []struct {
		name       string
		d          int
		radius     float64
		neighbours int
		policy     IsolatedPolicy
	}{
		{"csr", 2, 0.2, 0, Keep},
		{"csr", 2, 0.01, 0, Repair},
		{"csr", 2, 10, 0, Keep},
		{"csr", 12, 0.8, 0, Keep},
		{"csr", 12, 0.5, 0, Repair},
		{"csr", 12, 0, 3, Keep},
		{"pairs", 2, 0.2, 0, Keep},
		{"pairs", 2, 0.01, 0, Repair},
	} {
		p := pointtest.Make("uniform", 300, c.d, 5)
		what := fmt.Sprintf("%+v", c)
		o := Options{CutoffRadius: c.radius, Neighbours: c.neighbours, Isolated: c.policy}
		op, err := build[c.name](t.Context(), p, &o)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		refused := 0
		for o.MaxMemory = op.Cost().PeakBytes; o.MaxMemory > 1000; o.MaxMemory = o.MaxMemory * 9 / 10 {
			if _, err := build[c.name](t.Context(), p, &o); err != nil {
				saysOnce(t, what+", memory", err, ErrMemory)
				refused++
			}
		}
		if refused < 2 {
			t.Errorf("%s: refused %d times", what, refused)
		}
		o.MaxMemory = 0
		for left := 0; ; left += 1 + left/4 {
			if _, err := build[c.name](&pointtest.Patience{Context: t.Context(), Left: left}, p, &o); err == nil {
				break
			} else if saysOnce(t, what+", cancelled", err, context.Canceled); t.Failed() {
				break
			}
		}
	}
}

// A row without another is isolated whatever the operator, and has a certificate made of
// numbers.
func TestPolicyOfOneRow(t *testing.T) {
	rows := unitRows(t, makeUnit("random", 1, 3, -1, 1))
	for name, build := range constructors {
		op, err := build(t.Context(), rows, Sigma(3), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c := op.Certificate(); c.Isolated != 1 || !math.IsInf(c.RowMax, 1) || !(c.Rounding >= 0 && c.Rounding < 1e-3) {
			t.Errorf("%s: %+v", name, c)
		}
		_, err = build(t.Context(), rows, Sigma(3), &Options{Isolated: Fail})
		saysOnce(t, name+", policy fail", err, ErrIsolated)
	}
	for _, name := range OperatorNames() {
		_, err := Build(t.Context(), narrow(general(rows)), Sigma(3), &Options{Operator: name, Isolated: Fail})
		saysOnce(t, "build "+name+", policy fail", err, ErrIsolated)
	}
}

// A background that Plan has chosen may miss the tolerance in a row in a hundred, which
// the policies fail and repair do not allow.
func TestPolicyOfBackground(t *testing.T) {
	p := narrow(general(unitRows(t, makeUnit("random", 400, 6, -1, 3))))
	opt := Options{Operator: "background", Tolerance: 1e-2}
	op, err := Build(t.Context(), p, Sigma(0.6), &opt)
	if err != nil {
		t.Fatal(err)
	}
	if c := op.Certificate(); !(c.RowMax > opt.Tolerance && c.RowP99 <= opt.Tolerance) {
		t.Fatalf("RowMax %g, RowP99 %g: no row to be strict about", c.RowMax, c.RowP99)
	}
	for _, opt.Isolated = range []IsolatedPolicy{Repair, Fail} {
		_, err := Build(t.Context(), p, Sigma(0.6), &opt)
		saysOnce(t, opt.Isolated.String(), err, ErrTolerance)
		opt.Operator = ""
		if op, err := Build(t.Context(), p, Sigma(0.6), &opt); err != nil || op.Certificate().RowMax > opt.Tolerance {
			t.Errorf("%v: %v, %v", opt.Isolated, op, err)
		}
		opt.Operator = "background"
	}
}

// Whenever a build is cancelled, it says so and hands out nothing.
func TestCancelledAtAnyPoint(t *testing.T) {
	rows := unitRows(t, makeUnit("random", 12, 3, -1, 1))
	p := narrow(general(rows))
	all := maps.Clone(constructors)
	for _, name := range OperatorNames() {
		all["build "+name] = func(ctx context.Context, _ *UnitRows, b Bandwidth, o *Options) (Operator, error) {
			return Build(ctx, p, b, &Options{Operator: name})
		}
	}
	all["dense of unit rows"] = func(ctx context.Context, r *UnitRows, b Bandwidth, o *Options) (Operator, error) {
		op, err := r.Dense(ctx, b, o)
		if err == nil { // the first product measures the pairs
			err = op.Apply64(ctx, pointtest.Zeros64(r.N(), 1), pointtest.Zeros64(r.N(), 1))
		}
		return asOperator(op, err)
	}
	for name, build := range all {
		cancelled := 0
		for {
			op, err := build(&pointtest.Patience{Context: t.Context(), Left: cancelled}, rows, Sigma(1), nil)
			if err == nil {
				break
			}
			if saysOnce(t, name, err, context.Canceled); op != nil || t.Failed() {
				t.Fatalf("%s: %v after %d questions", name, op, cancelled)
			}
			cancelled++
		}
		if cancelled < 2 {
			t.Errorf("%s: the context was asked %d times", name, cancelled)
		}
	}
}
