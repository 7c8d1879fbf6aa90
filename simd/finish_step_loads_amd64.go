//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

// finishStepAVX512Loads is finishStepAVX512 for processors with slow gathers: loops for one
// or two columns load one number of a table after the other. The loop for more columns
// gathers nothing.
func finishStepAVX512Loads(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	a, rows := finishParts(f, dst, x, wx, degrees, slots)
	if rows > 0 {
		switch a.k {
		case 1:
			asm.FinishStep1F32AVX512Loads(&a.dst)
		case 2:
			asm.FinishStep2F32AVX512Loads(&a.dst)
		default:
			asm.FinishStepF32AVX512(&a.dst)
		}
	}
	if rows < len(slots) {
		finishStepGo(f, dst.from(rows), x.from(rows), wx[rows*len(f.Mean):], degrees[rows:], slots[rows:])
	}
}
