// Package random has the reproducible generator and the order of rows for the
// measurements of this project, and the entries of random starts. Generator and order are
// implemented here, not taken from a library, because every published figure depends on
// them: no release of Go can change their bits.
//
// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014);
// Durstenfeld, "Algorithm 235: Random permutation" (1964).
package random

import "math/bits"

// SplitMix64 is the generator of Steele, Lea and Flood: a counter that advances
// by the odd number nearest 2^64/golden ratio, mixed by two multiplications.
// The zero value is the generator of seed 0. It implements math/rand/v2.Source
// and is not for secrets.
type SplitMix64 struct {
	state uint64
}

// NewSplitMix64 returns the generator of the given seed. Seed 1 begins
// 10451216379200822465.
func NewSplitMix64(seed uint64) *SplitMix64 {
	return &SplitMix64{state: seed}
}

// Uint64 returns the next word and advances the generator.
func (s *SplitMix64) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Permutation returns the order of 0..n-1 that the measurements of this project
// use for a seed. With next the words of SplitMix64(seed):
//
//	for i = n-1, n-2, .., 1:
//		j = high word of next * (i+1)
//		swap p[i], p[j]
//
// The multiplication maps 64 bits to 0..i with a bias below (i+1)/2^64, which no
// experiment can detect, and uses exactly one word per step, which keeps the definition
// short. n < 1 gives an empty order.
func Permutation(n int, seed uint64) []int {
	p := make([]int, max(n, 0))
	for i := range p {
		p[i] = i
	}
	next := NewSplitMix64(seed)
	for i := n - 1; i >= 1; i-- {
		j, _ := bits.Mul64(next.Uint64(), uint64(i)+1)
		p[i], p[j] = p[j], p[i]
	}
	return p
}
