package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Ranks are the places of a sort, for numbers of every count, with equal ones, zeros of
// both signs of the fraction's last bits, infinities and numbers of every size.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	odd := []float64{0, math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64, 1, math.Nextafter(1, 2), 1 + 0x1p-20}
	for _, level := range Levels() {
		for n := range 140 {
			for _, kinds := range []int{1, 4, 1000} {
				x, rank := guarded[float64](t, n+RankPad), guarded[uint32](t, n+RankPad)
				for i := range x {
					x[i] = math.Ldexp(float64(rng.IntN(kinds)), 3*rng.IntN(kinds)-1000)
					if kinds == 4 && rng.IntN(3) == 0 {
						x[i] = odd[rng.IntN(len(odd))]
					}
				}
				for i := range RankPad { // the values do not matter
					x[n+i] = -1
				}
				var sorted []uint64
				for _, v := range x[:n] {
					sorted = append(sorted, math.Float64bits(v)>>32)
				}
				slices.Sort(sorted)
				At(level).Ranks(rank, x, n)
				for i, v := range x[:n] {
					if want := slices.Index(sorted, math.Float64bits(v)>>32); int(rank[i]) != want {
						t.Fatalf("%v: rank %d of %g among %v, want %d", level, rank[i], v, x[:n], want)
					}
				}
			}
		}
	}
}

func TestRanksPanicsForShortSlices(t *testing.T) {
	for _, f := range []func(){
		func() { At(Best()).Ranks(make([]uint32, RankPad+2), make([]float64, RankPad+3), 3) },
		func() { At(Best()).Ranks(make([]uint32, RankPad+3), make([]float64, RankPad+2), 3) },
		func() { At(Best()).Ranks(make([]uint32, RankPad), make([]float64, RankPad), -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
}
