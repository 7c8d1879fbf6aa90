//go:build gc && !noasm && !purego

package simd

// finishStepAVX512Loads is finishStepAVX512 for processors with slow gathers. One or two
// columns take the loops of AVX2, which load one number of a table after the other. The
// loop of AVX-512 for more columns gathers nothing.
func finishStepAVX512Loads(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	if packed(len(f.Mean)) {
		finishStepAVX2(f, dst, x, wx, degrees, slots)
		return
	}
	finishStepAVX512(f, dst, x, wx, degrees, slots)
}
