//go:build gc && !noasm && !purego

package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The loops wrap, and do not saturate, where they get all places of a deep panel at once.
// MulWords takes few at a time, so its sums of pieces stay small.
func TestMulWordsLoopsWrap(t *testing.T) {
	const depth = 1 << 17 // 2^17 * 128 * 255 is beyond 2^31
	r := rand.New(rand.NewPCG(55, 56))
	for _, l := range []struct {
		level Level
		run   func(sums []uint32, stride int, panel []int8, rows int, w *Words, deepest int)
	}{
		{AVX2, mulWordsOfAVX2.runDeep}, {AVX512, mulWordsOfAVX512.runDeep}, {AVX512VNNI, mulWordsOfAVX512VNNI.runDeep}, {AMX, mulWordsDeepAMX},
	} {
		if !slices.Contains(Levels(), l.level) {
			continue
		}
		for _, rows := range []int{16, 64} {
			for _, x := range []int8{math.MinInt8, math.MaxInt8} {
				c := newWordsCase(r, t, rows, 64, 1, 4)
				c.depth, c.a, c.words = depth, slices.Repeat([]int8{x}, rows*depth), slices.Repeat([]uint32{math.MaxUint32 - 1<<15}, depth)
				c.panel = c.a // the same bytes everywhere
				var w Words
				At(l.level).PackWords(&w, c.words, c.depth, c.width)
				got := slices.Clone(c.before)
				l.run(got, c.stride, c.panel, c.rows, &w, depth)
				if !slices.Equal(got, c.want()) {
					t.Errorf("%v, %d rows of %d: sums differ", l.level, rows, x)
				}
			}
		}
	}
}
