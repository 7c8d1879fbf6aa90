package simd

import "math"

// RankPad is how many numbers must follow those that Ranks ranks, because it reads and
// writes whole vectors. Their values do not matter.
const RankPad = 32

// Ranks sets rank[i] to how many of the first n numbers of x are less than x[i]. It
// compares only the upper 32 bits: the exponent and 20 bits of the fraction. So the rank of
// a number is its place among the sorted numbers; numbers that share these bits all get the
// first of their places. If the ranks add up to n(n-1)/2, no two numbers share these bits.
// For up to some hundred numbers this takes less time than a sort.
//
// Numbers must not be negative, nor NaN. After them rank and x have RankPad more numbers;
// those of rank may be overwritten. Ranks panics where a slice is too short. It allocates
// nothing.
func (s *Kernels) Ranks(rank []uint32, x []float64, n int) {
	if n < 0 || len(rank)-RankPad < n || len(x)-RankPad < n {
		panic("simd: ranks: short slice")
	}
	if n == 0 {
		return
	}
	reads(x[:n])
	writes(rank[:n])
	s.ranks(rank, x, n)
}

// ranksGo is the reference.
func ranksGo(rank []uint32, x []float64, n int) {
	upper := func(v float64) int32 { return int32(math.Float64bits(v) >> 32) }
	for i, v := range x[:n] {
		own, less := upper(v), uint32(0)
		for _, w := range x[:n] {
			if upper(w) < own {
				less++
			}
		}
		rank[i] = less
	}
}
