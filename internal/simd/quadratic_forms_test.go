package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Every level has the bits of the definition, and touches nothing beyond the slices.
func TestQuadraticForms(t *testing.T) {
	r := rand.New(rand.NewPCG(95, 96))
	for _, d := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33, 41, 64, 67, 100} {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			for _, rows := range []int{0, 1, 3, 4, 5, 8, 9, 64} {
				stride := d + r.IntN(4)
				y := misaligned(r, t, max(0, (rows-1)*stride+d)*min(rows, 1))
				linear := misaligned(r, t, d)
				for _, m := range [][]float64{nil, misaligned(r, t, MomentsSize(d))} {
					want := make([]float64, rows)
					for i := range want {
						want[i] = quadraticForm(y[min(i*stride, len(y)):], linear, m)
					}
					for _, level := range Levels() {
						dst := misaligned(r, t, rows)
						At(level).QuadraticForms(dst, RowsOf(y, stride), linear, m)
						if !sameBits(dst, want) {
							t.Fatalf("%v, %d rows: %v, want %v", level, rows, dst, want)
						}
					}
				}
			}
		})
	}
}

// quadraticForm is the definition for one row.
func quadraticForm(y, linear, m []float64) float64 {
	var lanes [8]float64
	d, from := len(linear), 0
	for c, sum := range linear {
		b := c - c%8
		if c == b && c > 0 {
			from += 8 * (d - b + 8)
		}
		for t := b; t < d && m != nil; t++ {
			sum = math.FMA(m[from+8*(t-b)+c-b], y[t], sum)
		}
		lanes[c%8] = math.FMA(y[c], sum, lanes[c%8])
	}
	return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

// The error is within the bound of the contract, by 200-bit arithmetic.
func TestQuadraticFormsError(t *testing.T) {
	const d, rows = 53, 20
	r := rand.New(rand.NewPCG(97, 98))
	y, linear, m, dst := make([]float64, rows*d), make([]float64, d), make([]float64, MomentsSize(d)), make([]float64, rows)
	for _, s := range [][]float64{y, linear, m} {
		for i := range s {
			s[i] = r.NormFloat64()
		}
	}
	At(Best()).QuadraticForms(dst, RowsOf(y, d), linear, m)
	big200 := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	for i, got := range dst {
		row := y[i*d:][:d]
		sum, size, from := big200(0), 0.0, 0
		add := func(a, b, c float64) {
			term := big200(a)
			sum.Add(sum, term.Mul(term, big200(b)).Mul(term, big200(c)))
			size += math.Abs(a * b * c)
		}
		for c, v := range linear {
			add(v, row[c], 1)
			b := c - c%8
			if c == b && c > 0 {
				from += 8 * (d - b + 8)
			}
			for t := b; t < d; t++ {
				add(m[from+8*(t-b)+c-b], row[t], row[c])
			}
		}
		gap, _ := sum.Sub(sum, big200(got)).Float64()
		if math.Abs(gap) > (d+d/8+5)*0x1p-53*size {
			t.Errorf("row %d: off by %g of %g", i, gap, size)
		}
	}
}

func TestQuadraticFormsPanics(t *testing.T) {
	y, linear, dst := make([]float64, 30), make([]float64, 10), make([]float64, 3)
	for _, level := range Levels() {
		s := At(level)
		mustPanic(t, "stride", func() { s.QuadraticForms(dst, RowsOf(y, 9), linear, nil) })
		mustPanic(t, "short blocks", func() { s.QuadraticForms(dst, RowsOf(y, 10), linear, make([]float64, MomentsSize(10)-1)) })
		mustPanic(t, "short slice", func() { s.QuadraticForms(dst, RowsOf(y[:29], 10), linear, nil) })
		s.QuadraticForms(nil, Rows[float64]{}, linear, nil)
	}
}
