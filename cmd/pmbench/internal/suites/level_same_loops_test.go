package suites

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/simd"
)

// Each loop is timed once, as the chosen setting where that runs it.
func TestDifferentLoops(t *testing.T) {
	a, b, c, d := new(simd.Kernels), new(simd.Kernels), new(simd.Kernels), new(simd.Kernels)
	loop := map[*simd.Kernels]int{a: 1, b: 2, c: 1, d: 3}
	same := func(x, y *simd.Kernels) bool { return loop[x] == loop[y] }
	different, at := differentLoops(c, []*simd.Kernels{a, b, c, d}, same)
	if !slices.Equal(different, []*simd.Kernels{c, b, d}) || !slices.Equal(at, []int{0, 1, 0, 2}) {
		t.Errorf("%p, %v", different, at)
	}
	none := func(x, y *simd.Kernels) bool { return false }
	if different, at := differentLoops(b, []*simd.Kernels{a, b}, none); !slices.Equal(different, []*simd.Kernels{b, a}) || !slices.Equal(at, []int{1, 0}) {
		t.Errorf("%p, %v", different, at)
	}
}

// Settings that run the same loop have the same time, and none of them is better than the
// chosen one.
func TestSameLoopsHaveOneTime(t *testing.T) {
	chosen := simd.At(simd.Best())
	for _, loop := range levelLoops() {
		method, _, _ := strings.Cut(loop.name, "/")
		if method != "Finite" && method != "Ranks" && method != "ByteDotsAbove" {
			continue
		}
		sub, err := levelSubject(t.Context(), suitesLab(t), loop)
		if err != nil {
			t.Fatal(err)
		}
		own := sub.Settings.Seconds[chosen.String()]
		if sub.Settings.Pick != chosen.String() || own <= 0 || len(sub.Settings.Seconds) != len(simd.All()) {
			t.Errorf("%s: %+v", loop.name, sub.Settings)
		}
		for _, s := range simd.All() {
			if s.SameLoop(chosen, method) && (sub.Settings.Seconds[s.String()] != own || s != chosen && sub.Settings.Best == s.String()) {
				t.Errorf("%s: %+v", loop.name, sub.Settings)
			}
		}
	}
}
