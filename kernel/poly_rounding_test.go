package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// polySums are the degrees and the products W x of UnitRows.Poly in 200-bit arithmetic, from
// the definition: pair by pair.
func polySums(rows *UnitRows, b Bandwidth, s poly.Series, x blas64.General) (degrees, products []*big.Float) {
	n, k := rows.N(), x.Cols
	degrees, products = make([]*big.Float, n), make([]*big.Float, n*k)
	for _, v := range [][]*big.Float{degrees, products} {
		for i := range v {
			v[i] = bigNew()
		}
	}
	reach, apart := bigOf(2*b.Gamma()), bigExp(bigOf(2*b.Gamma()))
	rho := bigExp(bigOf(b.Gamma()))
	u, term := bigNew(), bigNew()
	for i := range n {
		for j := range i {
			w := bigNew().Set(rho)
			if !rows.Null(i) && !rows.Null(j) {
				u.SetInt64(0)
				other := rows.own.Rows.Row(j)
				for c, v := range rows.own.Rows.Row(i) {
					u.Add(u, term.Mul(bigOf(v), bigOf(other[c])))
				}
				u.Mul(u, reach)
				w.SetInt64(0)
				for r := s.Order(); r >= 0; r-- {
					w.Add(w.Mul(w, u), bigOf(s.A[r]))
				}
				w.Mul(w, apart)
			}
			degrees[i].Add(degrees[i], w)
			degrees[j].Add(degrees[j], w)
			for c := range k {
				products[i*k+c].Add(products[i*k+c], term.Mul(w, bigOf(x.Data[j*k+c])))
				products[j*k+c].Add(products[j*k+c], term.Mul(w, bigOf(x.Data[i*k+c])))
			}
		}
	}
	return degrees, products
}

// Degrees and products of unit rows over several panels and chunks are within the rounding
// that UnitPolyError says, at every level of instructions, and have the same bits at every
// level and for any number of workers.
func TestUnitPolySumsByDefinition(t *testing.T) {
	for _, c := range []struct {
		n, d, order int
		sigma       float64
		kind        string
		null        bool
	}{
		{300, 24, 1, 20, "gaussian", false},
		{600, 17, 2, 6, "gaussian", true},
		{300, 8, 2, 3, "one side", false},
		{300, 16, 2, 6, "equal", false},
		{300, 9, 3, 2, "gaussian", false},
		{300, 3, 5, 1, "opposite", true},
		{300, 2, 12, .8, "gaussian", true},
	} {
		t.Run(fmt.Sprintf("n=%d/d=%d/order=%d/%s", c.n, c.d, c.order, c.kind), func(t *testing.T) {
			t.Parallel()
			rng := pointtest.Rand(uint64(c.n*c.d + c.order))
			rows := polyRoundingRows(t, rng, c.n, c.d, c.kind, c.null)
			x := pointtest.Zeros64(c.n, 2)
			for i := range x.Data { // the second column rounds the same way again and again
				x.Data[i] = []float64{rng.NormFloat64(), 1.0 / 3}[i%2]
			}
			b := Sigma(c.sigma)
			s, err := poly.UnitSeries(b.own, c.d, c.order)
			if err != nil {
				t.Fatal(err)
			}
			_, rounding, err := b.UnitPolyError(c.n, c.d, c.order)
			if err != nil {
				t.Fatal(err)
			}
			degrees, products := polySums(rows, b, s, x)
			var first []float64
			for _, level := range simd.Levels() {
				for _, workers := range []int{1, 3} {
					got := polyComputed(t, rows, b, c.order, x, level, workers)
					if first == nil {
						first = got
					}
					if !slices.Equal(got, first) {
						t.Errorf("%v, %d workers: other bits", level, workers)
					}
				}
			}
			t.Logf("largest part of the error accounted for: %.3g", polyPart(t, first, degrees, products, x, rounding))
		})
	}
}

// polyRoundingRows returns unit rows of a kind.
func polyRoundingRows(t *testing.T, rng *rand.Rand, n, d int, kind string, null bool) *UnitRows {
	t.Helper()
	p := pointtest.Zeros64(n, d)
	for i := range p.Data {
		v := rng.NormFloat64()
		switch kind {
		case "one side":
			v = math.Abs(v)
		case "equal":
			v = 1 + float64(i%d)/7
		case "opposite":
			v = (1 + float64(i%d)/7) * float64(1-2*(i/d%2))
		}
		p.Data[i] = v
	}
	if null {
		clear(p.Data[7*d:][:d])
	}
	rows, err := NewUnitRows(p, UnitOptions{Normalize: true, Nulls: 1})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// polyComputed returns the degrees and, behind them, W x.
func polyComputed(t *testing.T, rows *UnitRows, b Bandwidth, order int, x blas64.General, level simd.Level, workers int) []float64 {
	t.Helper()
	crew := par.New(workers)
	defer crew.Close()
	op, err := rows.Poly(t.Context(), b, order, &Options{Kernels: simd.At(level), Workers: crew})
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	product := pointtest.Zeros64(x.Rows, x.Cols)
	if err := op.Apply64(t.Context(), product, x); err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(op.Degrees()), product.Data...)
}

// polyPart returns the largest error as a part of the one accounted for, and fails where it
// is above.
func polyPart(t *testing.T, got []float64, degrees, products []*big.Float, x blas64.General, rounding float64) (part float64) {
	t.Helper()
	largest := 0.0
	for _, v := range x.Data {
		largest = max(largest, math.Abs(v))
	}
	for i, want := range append(slices.Clone(degrees), products...) {
		row, size := i, 1.0
		if i >= len(degrees) {
			row, size = (i-len(degrees))/x.Cols, largest
		}
		degree, _ := degrees[row].Float64()
		e, _ := bigNew().Sub(bigOf(got[i]), want).Float64()
		part = max(part, math.Abs(e)/(rounding*degree*size))
	}
	if !(part <= 1) {
		t.Errorf("the error is %g of what is accounted for", part)
	}
	return part
}

// The first step by poly, in 200-bit arithmetic with the weights of the kernel itself, is
// within what a private step accounts for: the error of the polynomial and that of rounding.
func TestPolyRoundingError(t *testing.T) {
	most := 0.0
	rapid.Check(t, func(t *rapid.T) {
		c := drawFirstStep(t, false)
		c.sigma = rapid.SampledFrom([]float64{1, 2, 6, 20}).Draw(t, "sigma of poly")
		n, d := c.rows.N(), c.rows.own.Dim()
		order := rapid.IntRange(0, min(6, MaxUnitPolyOrder(d))).Draw(t, "order")
		entry, rounding, err := Sigma(c.sigma).UnitPolyError(n, d, order)
		if errors.Is(err, ErrTolerance) {
			return
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		level := rapid.SampledFrom(simd.Levels()).Draw(t, "level")
		op, err := c.rows.Poly(t.Context(), Sigma(c.sigma), order, &Options{Kernels: simd.At(level)})
		if err != nil {
			t.Fatalf("%v", err)
		}
		table, _ := c.tables()
		f := firstStep64(t, op, c.q, c.labels, table, c.alpha)
		polynomial, err := c.query().EntryError(c.q, entry)
		if err != nil {
			t.Fatalf("%v", err)
		}
		computed, err := c.query().RoundingError(c.q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: d, Relative: rounding})
		if err != nil {
			t.Fatalf("%v", err)
		}
		off := 0.0
		for i, want := range c.exact() {
			e, _ := bigNew().Sub(bigOf(f.Data[i]-c.q.Data[i]), want).Float64()
			off = math.Hypot(off, e)
		}
		part := off / (polynomial.Value() + computed.Value())
		most = max(most, part)
		if !(part <= 1) {
			t.Fatalf("the error is %g of what is accounted for", part)
		}
	})
	t.Logf("largest part of the error accounted for: %.3g", most)
}
