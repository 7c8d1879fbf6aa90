package client

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// subnormal tells whether a number is one that processors take longer for.
func subnormal(x float64) bool { return x != 0 && math.Abs(x) < 0x1p-1022 }

// No row makes subnormal numbers, neither entry by entry nor in products, squares and quotients:
// how long they take would tell how small the row is.
func TestNoSubnormalNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		row := make([]float64, 1+r.IntN(20))
		lowest := -1074 + r.IntN(1500)
		for i := range row {
			row[i] = math.Ldexp(1-2*r.Float64(), lowest+r.IntN(500-lowest))
		}
		given := slices.Clone(row)
		keepFinite(row)
		for i, v := range row {
			centre := math.SmallestNonzeroFloat32 * (1 - 2*r.Float64())
			if small := math.Abs(given[i]) < 0x1p-400; small != (v == 0) || !small && v != given[i] || subnormal(v*centre) {
				t.Fatalf("%g becomes %g", given[i], v)
			}
		}
		kept := slices.Clone(row)
		length := normalize(row)
		var sum, exact float64
		for i, v := range row {
			sum += v * v
			exact = math.Hypot(exact, kept[i])
			if subnormal(v) || subnormal(v*v) || subnormal(kept[i]/0x1p500) {
				t.Fatalf("%g becomes %g", kept[i], v)
			}
		}
		if subnormal(length) || subnormal(length*length) || math.Abs(length-exact) > 1e-14*exact {
			t.Fatalf("length %g, want %g", length, exact)
		}
		if want := min(exact, 1); math.Abs(sum-math.Ceil(want)) > 1e-14 {
			t.Fatalf("the squared length is %g afterwards", sum)
		}
	}
}

func TestDropSmall(t *testing.T) {
	least := 0x1p-400
	for _, x := range []float64{0, 5e-324, 0x1p-1022, math.Nextafter(least, 0), least, math.Nextafter(least, 1), 1, 0x1p500, math.MaxFloat64} {
		for _, v := range []float64{x, -x} {
			want := v
			if math.Abs(v) < least {
				want = 0
			}
			if got := dropSmall(v, least); got != want || got == 0 && math.Signbit(got) {
				t.Errorf("%g becomes %g", v, got)
			}
		}
	}
}
