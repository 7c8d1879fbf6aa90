package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Windows move as in the reference, and nothing is read beyond their ends.
func TestSlideWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, level := range Levels() {
		for trial := range 300 {
			t.Run(fmt.Sprintf("level=%v/%d", level, trial), func(t *testing.T) {
				step := uint32(1) << (2 * r.IntN(5))
				if trial%50 == 0 {
					step = 1 << 22
				}
				var begins []int
				numbers := guarded[uint32](t, 1+r.IntN(200))
				next := uint32(0)
				for i := range numbers {
					if i == 0 || r.IntN(20) == 0 { // another row
						next, begins = uint32(r.IntN(30)), append(begins, i)
					}
					numbers[i] = next
					next += 1 + r.Uint32N(step)
				}
				begins = append(begins, len(numbers))
				windows := guarded[Window](t, len(begins)-1)
				for i := range windows {
					windows[i] = Window{From: begins[i], To: begins[i], End: begins[i+1], Half: r.IntN(3 * int(step))}
				}
				want := slices.Clone(windows)
				lo := uint32(0)
				for range 12 {
					hi := lo + r.Uint32N(4)
					At(level).SlideWindows(windows, numbers, lo, hi)
					slideWindowsGo(want, numbers, lo, hi)
					if !slices.Equal(windows, want) {
						t.Fatalf("%v, want %v", windows, want)
					}
					lo = hi + r.Uint32N(4*step)
				}
				for _, far := range []int{0, math.MaxInt32, math.MaxInt / 2} {
					for _, at := range []uint32{lo, math.MaxUint32} {
						windows[0].Half, want[0].Half = far, far
						At(level).SlideWindows(windows, numbers, at, at)
						slideWindowsGo(want, numbers, at, at)
						if !slices.Equal(windows, want) {
							t.Fatalf("half %d: %v, want %v", far, windows, want)
						}
					}
				}
			})
		}
	}
	numbers := make([]uint32, 10)
	for name, w := range map[string]Window{"end": {End: 11}, "to": {To: 5, End: 4}, "from": {From: 3, To: 2, End: 5}, "negative": {From: -1, End: 2}, "half": {End: 2, Half: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			At(Best()).SlideWindows([]Window{w}, numbers, 0, 0)
		}()
	}
}
