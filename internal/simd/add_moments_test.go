package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every level has the bits of the definition, and touches nothing beyond the slices or
// beyond the columns of a short block.
func TestAddMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, d := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 23, 24, 25, 31, 33, 40, 47, 56, 64, 67, 100} {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			for _, rows := range []int{0, 1, 2, 7, 64} {
				stride := d + r.IntN(4)
				y, w := misaligned(r, t, max(0, (rows-1)*stride+d)*min(rows, 1)), misaligned(r, t, rows)
				before := misaligned(r, t, MomentsSize(d))
				want := slices.Clone(before)
				at := 0
				for b := 0; b < d; b += 8 {
					for c := b; c < d; c++ {
						for l := range min(8, d-b) {
							for i, v := range w {
								want[at+l] = math.FMA(y[i*stride+c], float64(v*y[i*stride+b+l]), want[at+l])
							}
						}
						at += 8
					}
				}
				if at != MomentsSize(d) {
					t.Fatalf("MomentsSize is %d, want %d", MomentsSize(d), at)
				}
				for _, level := range Levels() {
					dst := guarded[float64](t, len(before))
					copy(dst, before)
					At(level).AddMoments(dst, RowsOf(y, stride), w, d)
					if !sameBits(dst, want) {
						t.Fatalf("%v, %d rows: %v, want %v", level, rows, dst, want)
					}
				}
			}
		})
	}
}

// The error is within the bound of the contract, by 200-bit arithmetic.
func TestAddMomentsError(t *testing.T) {
	const d, rows = 19, 300
	r := rand.New(rand.NewPCG(93, 94))
	y, w, dst := make([]float64, rows*d), make([]float64, rows), make([]float64, MomentsSize(d))
	for i := range y {
		y[i] = r.NormFloat64()
	}
	for i := range w {
		w[i] = r.NormFloat64()
	}
	At(Best()).AddMoments(dst, RowsOf(y, d), w, d)
	big200 := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	at := 0
	for b := 0; b < d; b += 8 {
		for c := b; c < d; c++ {
			for l := range min(8, d-b) {
				sum, size := big200(0), 0.0
				for i, v := range w {
					term := big200(v)
					term.Mul(term, big200(y[i*d+c])).Mul(term, big200(y[i*d+b+l]))
					sum.Add(sum, term)
					size += math.Abs(v * y[i*d+c] * y[i*d+b+l])
				}
				gap, _ := sum.Sub(sum, big200(dst[at+l])).Float64()
				if math.Abs(gap) > (rows+1)*0x1p-53*size {
					t.Fatalf("columns %d and %d: off by %g of %g", b+l, c, gap, size)
				}
			}
			at += 8
		}
	}
}

func TestAddMomentsPanics(t *testing.T) {
	y, w := make([]float64, 30), make([]float64, 3)
	for _, level := range Levels() {
		s := At(level)
		mustPanic(t, "negative", func() { s.AddMoments(nil, RowsOf(y, 10), w, -1) })
		mustPanic(t, "stride", func() { s.AddMoments(make([]float64, MomentsSize(11)), RowsOf(y, 10), w, 11) })
		mustPanic(t, "short destination", func() { s.AddMoments(make([]float64, MomentsSize(10)-1), RowsOf(y, 10), w, 10) })
		mustPanic(t, "short slice", func() { s.AddMoments(make([]float64, MomentsSize(10)), RowsOf(y[:29], 10), w, 10) })
		s.AddMoments(make([]float64, MomentsSize(10)), Rows[float64]{}, nil, 10)
	}
}
