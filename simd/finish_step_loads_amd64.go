//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

// finishStepAVX512Loads is finishStepAVX512 for processors with slow gathers. One column
// takes the loop of AVX2, and two columns one that loads one number of a table after the
// other. The loop of AVX-512 for more columns gathers nothing.
func finishStepAVX512Loads(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	switch len(f.Mean) {
	case 1:
		finishStepAVX2(f, dst, x, wx, degrees, slots)
		return
	case 2:
	default:
		finishStepAVX512(f, dst, x, wx, degrees, slots)
		return
	}
	a, rows := finishParts(f, dst, x, wx, degrees, slots)
	if rows > 0 {
		asm.FinishStep2F32AVX512Loads(&a.dst)
	}
	if rows < len(slots) {
		finishStepGo(f, dst.from(rows), x.from(rows), wx[2*rows:], degrees[rows:], slots[rows:])
	}
}
