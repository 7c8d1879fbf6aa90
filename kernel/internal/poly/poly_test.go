package poly

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// exactly returns exp(u) - p(u) of the coefficients as they are, in 160 bits.
func exactly(s Series, u float64) float64 {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(160).SetFloat64(v) }
	x, sum, term := number(u), number(1), number(1)
	for r := 1; r < 90; r++ {
		term.Mul(term, x)
		term.Quo(term, number(float64(r)))
		sum.Add(sum, term)
	}
	value := number(0)
	for r := s.Order(); r >= 0; r-- {
		value.Mul(value, x)
		value.Add(value, number(s.A[r]))
	}
	e, _ := sum.Sub(sum, value).Float64()
	return e
}

// worst is the largest error on a fine grid and at the ends.
func worst(s Series) float64 {
	most := 0.0
	for i := range 61 {
		most = max(most, math.Abs(exactly(s, s.lo+(s.hi-s.lo)*float64(i)/60)))
	}
	return most
}

func TestSeriesWithinTheirBounds(t *testing.T) {
	t.Parallel()
	for _, span := range [][2]float64{{0, 0}, {-1e-15, 1e-15}, {0, 1e-13}, {-1e-9, 1e-9}, {-1e-3, 1e-3}, {-1. / 36, 1. / 36}, {0, .04}, {-.25, .25}, {-1, 1}, {0, 1}, {-4, 4}, {-16, 16}} {
		for order := range maxPolyOrder + 1 {
			for _, s := range []Series{taylorSeries(span[0], span[1], order), chebyshevSeries(span[0], span[1], order)} {
				name := fmt.Sprintf("%v, order %d, taylor %v", span, order, s.Taylor)
				if e := worst(s); e > s.Error() {
					t.Errorf("%s: error %g above its bound %g", name, e, s.Error())
				}
				for i := range 31 {
					u := span[0] + (span[1]-span[0])*float64(i)/30
					if v := s.At(u); v < s.least()*(1-1e-12)-1e-14 {
						t.Errorf("%s: p(%g) = %g below its bound %g", name, u, v, s.least())
					}
				}
			}
		}
	}
}

// The error of each order for unit rows, computed beforehand: f_i f_j e^u_hi = 1 at a
// cosine of 1. The bounds are the printed ones to their two digits; the errors that
// occur are below them, and near them.
func TestSeriesTable(t *testing.T) {
	for _, c := range []struct {
		sigma  float64
		lo     float64 // of the cosines
		taylor bool
		want   [5]float64
	}{
		{5, -1, true, [5]float64{4.0e-2, 8.0e-4, 1.1e-5, 1.1e-7, 8.5e-10}},
		{5, -1, false, [5]float64{4.0e-2, 4.0e-4, 2.7e-6, 1.3e-8, 5.3e-11}},
		{5, 0, false, [5]float64{2.0e-2, 1.0e-4, 3.3e-7, 8.3e-10, 1.7e-12}},
		{6, -1, false, [5]float64{2.8e-2, 1.9e-4, 8.9e-7, 3.1e-9, 8.6e-12}},
		{2, -1, false, [5]float64{.25, 1.6e-2, 6.5e-4, 2.0e-5, 5.1e-7}},
		{1, -1, false, [5]float64{1.0, .25, 4.2e-2, 5.2e-3, 5.2e-4}},
	} {
		top := 1 / (c.sigma * c.sigma)
		for order, want := range c.want {
			s := chebyshevSeries(c.lo*top, top, order)
			if c.taylor {
				s = taylorSeries(c.lo*top, top, order)
			}
			bound, worst := s.Error()*math.Exp(-top), worst(s)*math.Exp(-top)
			if math.Abs(bound-s.slack()-want) > 0.06*want {
				t.Errorf("sigma %g, order %d, taylor %v: bound %.3g, the table has %.3g", c.sigma, order, c.taylor, bound, want)
			}
			if worst > bound || worst < 0.3*bound {
				t.Errorf("sigma %g, order %d, taylor %v: error %.3g, bound %.3g", c.sigma, order, c.taylor, worst, bound)
			}
		}
	}
}

// The moments against the definition: entry by entry, of a given order.
func TestPolyEqualsTheDefinition(t *testing.T) {
	for _, d := range []int{1, 2, 3, 5, 8, 9, 17} {
		for order := range 6 {
			p := pointtest.Make("uniform", 70, d, uint64(order))
			pts := pointtest.Open(p)
			o := new(base.Options)
			if err := o.SetDefaults(); err != nil {
				t.Fatal(err)
			}
			fr, err := newPolyFrame(t.Context(), pts, base.BandwidthOf(0.5), false, o)
			if err != nil {
				t.Fatal(err)
			}
			s := Series{lo: -fr.radius * fr.radius, hi: fr.radius * fr.radius, A: []float64{1, .7, .4, -.3, .2, .1}[:order+1]}
			op := assemblePoly(fr, polyChoice{series: s, terms: polyTerms(d, order) + 1}, o)
			if n := nonZeros(op.Nest.coefficients); n != polyTerms(d, order) {
				t.Fatalf("d = %d, order %d: %d coefficients of %d", d, order, n, polyTerms(d, order))
			}
			if most := polyBlockNumbers * float64(polyTerms(d, order)); float64(op.Nest.Size()) > most {
				t.Fatalf("d = %d, order %d: %d numbers, above %g", d, order, op.Nest.Size(), most)
			}
			for i, v := range fr.norm2 {
				op.Factor[i] = math.Exp(-v / 2)
				op.self[i] = op.Factor[i] * op.Factor[i] * s.At(v)
			}
			if err := op.sumDegrees(t.Context()); err != nil {
				t.Fatal(err)
			}
			x, got := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(7), p.Rows, 3)), pointtest.Zeros64(p.Rows, 3)
			if err := op.Apply64(t.Context(), got, x); err != nil {
				t.Fatal(err)
			}
			y := make([]float64, p.Rows*d)
			fr.Load64(y, 0, p.Rows)
			w := make([][]float64, p.Rows)
			for i := range w {
				w[i] = make([]float64, p.Rows)
				for j := range w[i] {
					u := 0.0
					for c := range d {
						u += y[i*d+c] * y[j*d+c]
					}
					if i != j {
						w[i][j] = op.Factor[i] * op.Factor[j] * s.At(u)
					}
				}
			}
			for i, v := range pointtest.PlainMul(w, x).Data {
				if math.Abs(v-got.Data[i]) > 1e-12*float64(p.Rows) {
					t.Fatalf("d = %d, order %d: row %d is %g, want %g", d, order, i/3, got.Data[i], v)
				}
			}
		}
	}
}

func nonZeros(v []float64) (n int) {
	for _, e := range v {
		if e != 0 {
			n++
		}
	}
	return n
}

// The coefficients in float64 are those in float32, in another order.
func TestPolyNest(t *testing.T) {
	o := new(base.Options)
	if err := o.SetDefaults(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []int{1, 3, 7, 8, 11, 20} {
		for order := 1; order < 6; order++ {
			pts := pointtest.Open(pointtest.Make("uniform", 3, d, 1))
			s := Series{A: []float64{1, .7, .4, -.3, .2, .1}[:order+1]}
			op := assemblePoly(&polyFrame{p: pts, kernels: o.Kernels}, polyChoice{series: s, single: true, terms: polyTerms(d, order) + 1}, o)
			want, got := slices.Clone(op.coefficients), slices.DeleteFunc(slices.Clone(op.Nest.coefficients), func(v float64) bool { return v == 0 })
			slices.Sort(want)
			slices.Sort(got)
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Abs(b) }) {
				t.Fatalf("d = %d, order %d: other coefficients", d, order)
			}
			sum := 0
			for _, width := range op.Nest.widths {
				sum += width
			}
			if sum != op.Nest.Size() {
				t.Fatalf("d = %d, order %d: segments of %d numbers, want %d", d, order, sum, op.Nest.Size())
			}
		}
	}
}

// A number of terms that is beyond an int of 32 bits must not come out small: on such
// machines poly was chosen for it, and failed to make room.
func TestTooManyTerms(t *testing.T) {
	for _, d := range []int{1, 8, 1000, 100_000, 1 << 30} {
		for order := range maxPolyOrder + 1 {
			if few, more := polyTerms(d, order), int32(polyTerms(d, order+1)); few < order || int(more) < few || more+1 < 0 {
				t.Fatalf("%d dimensions: %d terms of order %d, then %d", d, few, order, more)
			}
		}
	}
}
