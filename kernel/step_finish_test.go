package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

// Iterates of any size take the same step, and NaN or Inf shows in MaxAbs.
func TestStepsOfAnySize(t *testing.T) {
	p := pointtest.Make("uniform", 400, 2, 3)
	copy(p.Data[200:], p.Data[:40]) // equal points
	op, err := openCSR(t.Context(), p, Sigma(0.05), &Options{CutoffRadius: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	rng := pointtest.Rand(8)
	labels, err := NewLabels(pointtest.RandomLabels(rng, p.Rows, 3, true), EqualTable(), true)
	if err != nil {
		t.Fatal(err)
	}
	const k = 2
	unit := pointtest.RandomBlock(rng, p.Rows, k)
	run := func(scale float64) (blas32.General, *Stats) {
		x, dst := pointtest.Zeros32(p.Rows, k), pointtest.Zeros32(p.Rows, k)
		for i, v := range unit.Data {
			x.Data[i] = float32(float64(v) * scale)
		}
		st := new(Stats)
		if err := st.Gather(x, labels); err != nil {
			t.Fatal(err)
		}
		if err := op.Step(t.Context(), dst, x, &Step{Labels: labels, Coefficient: 0.01}, st); err != nil {
			t.Fatal(err)
		}
		return dst, st
	}
	want, stats := run(1)
	for _, exponent := range []int{-90, -60, 60, 90, 110} {
		scale := math.Ldexp(1, exponent)
		got, st := run(scale)
		for i, v := range want.Data {
			if e := math.Abs(float64(got.Data[i])/scale - float64(v)); e > 0x1p-20*(1+math.Abs(float64(v))) {
				t.Fatalf("2^%d: entry %d is off by %g of %g", exponent, i, e, v)
			}
		}
		for name, pair := range map[string][2]float64{
			"objective": {st.Objective / scale / scale, stats.Objective}, "change": {st.Change / scale / scale, stats.Change},
			"spread": {st.Spread / scale / scale, stats.Spread}, "largest": {st.MaxAbs / scale, stats.MaxAbs},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-5*math.Abs(pair[1]) {
				t.Errorf("2^%d: %s %g, want %g", exponent, name, pair[0], pair[1])
			}
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		x, dst, st := pointtest.Zeros32(p.Rows, k), pointtest.Zeros32(p.Rows, k), new(Stats)
		copy(x.Data, unit.Data)
		if err := st.Gather(x, labels); err != nil {
			t.Fatal(err)
		}
		x.Data[31] = float32(v)
		if err := op.Step(t.Context(), dst, x, &Step{Labels: labels, Coefficient: 0.01}, st); err != nil {
			t.Fatal(err)
		}
		if !math.IsInf(st.MaxAbs, 1) {
			t.Errorf("%v: the largest entry is %g", v, st.MaxAbs)
		}
		if err := op.Apply(t.Context(), dst, x); err == nil {
			t.Errorf("a product with %v", v)
		}
	}
}

// Weights near the end of the float32 range, whose products with x float32 would
// not have, pull as others do.
func TestFaintRows(t *testing.T) {
	const n, k = 40, 2
	p := pointtest.Zeros32(n, 1)
	for i := range n {
		p.Data[i] = float32(i)
	}
	for _, exponent := range []float64{40, 60, 87} { // of a weight between neighbours
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(1/math.Sqrt(2*exponent)), &Options{CutoffRadius: 1.5}))
		if err != nil {
			t.Fatal(err)
		}
		rng := pointtest.Rand(9)
		x, dst, st := pointtest.RandomBlock(rng, n, k), pointtest.Zeros32(n, k), new(Stats)
		for i := range x.Data {
			x.Data[i] *= 1e-3
		}
		if err := st.Gather(x, nil); err != nil {
			t.Fatal(err)
		}
		if err := public(op).Step(t.Context(), dst, x, &Step{}, st); err != nil {
			t.Fatal(err)
		}
		if exponent >= 60 != (len(op.Faint) == n) {
			t.Errorf("exponent %v: %d faint rows", exponent, len(op.Faint))
		}
		for i := 1; i < n-1; i++ {
			for c := range k {
				at := func(i int) float64 { return float64(x.Data[i*k+c]) }
				want := 0.5*at(i) + 0.25*(at(i-1)+at(i+1)) // the two weights are equal
				if got := float64(dst.Data[i*k+c]); math.Abs(got-want) > 1e-9 {
					t.Fatalf("exponent %v: row %d is %g, want %g", exponent, i, got, want)
				}
			}
		}
	}
}
