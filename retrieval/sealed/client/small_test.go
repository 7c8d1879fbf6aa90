package client

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// subnormal reports whether a number is one that processors take longer for.
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

// Scores become distances without subnormal or infinite numbers, for every length of a row and
// every manifest that is accepted.
func TestRankNoSubnormalNumbers(t *testing.T) {
	const longest = 0x1p500 * 256 // of 2^16 numbers
	for _, scale := range []float64{1e-100, 1, 1e100} {
		for _, kappa := range []uint32{1, math.MaxInt32} {
			for _, length := range []float64{0, 0x1p-400, 0x1.8p-399, 1, longest} {
				for _, norm := range []int16{0, 1, math.MaxInt16} {
					c := &Client{manifest: wire.SealedManifest{Length: 1, Scale: scale, Kappa: kappa, NormUnit: 1}}
					for _, score := range []uint32{0, 1, ^uint32(0), math.MaxInt32, 1 << 31} {
						slots := c.rank(&queryRow{cells: []uint32{0}, length: length}, &version{norms: [][]int16{{norm}}}, []uint32{score})
						squared := sametime.Unorder(slots[0].Key)
						unit := length / float64(kappa)
						estimate := 2 * unit * float64(int32(score))
						for _, x := range []float64{squared, unit, estimate, float64(norm) / scale, float64(norm)/scale - estimate, (float64(norm)/scale - estimate) / scale, length * length} {
							if subnormal(x) || x-x != 0 {
								t.Fatalf("scale %g, kappa %d, length %g, norm %d, score %d: %g", scale, kappa, length, norm, int32(score), x)
							}
						}
					}
				}
			}
		}
	}
}
