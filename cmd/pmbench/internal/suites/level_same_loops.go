package suites

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/simd"
)

// differentLoops returns one setting of each loop that the settings run, the chosen one
// first, and for every setting which of them runs the same loop. A loop that were timed
// twice would be slower than itself by chance.
func differentLoops(chosen *simd.Kernels, settings []*simd.Kernels, same func(a, b *simd.Kernels) bool) (different []*simd.Kernels, at []int) {
	different = []*simd.Kernels{chosen}
	for _, s := range settings {
		i := slices.IndexFunc(different, func(d *simd.Kernels) bool { return d == s || same(d, s) })
		if i < 0 {
			i = len(different)
			different = append(different, s)
		}
		at = append(at, i)
	}
	return different, at
}
