//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// finishArgs are the arguments of the generated functions, which load each when they
// need it.
type finishArgs struct {
	dst, x, wx                           *float32
	degrees                              *float64
	slots                                *uint32
	mean, weight, extra, target, classes *float64
	sums                                 *StepSums
	dstStride, stride                    uintptr // in bytes
	k, rows                              uintptr
	pull                                 float64
}

// finishParts returns how many rows the generated functions finish, and their arguments.
// Plain Go finishes the rest: less than a vector, or all rows where they have gaps.
func finishParts(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) (a finishArgs, rows int) {
	k := len(f.Mean)
	rows = len(slots)
	if packed(k) {
		if x.Stride != k || dst.Stride != k {
			return a, 0 // rows with gaps fill no vector
		}
		rows &^= finishLanes/k - 1
	}
	if rows == 0 {
		return a, 0
	}
	a = finishArgs{
		dst: &dst.Data[0], x: &x.Data[0], wx: &wx[0], degrees: &degrees[0], slots: &slots[0],
		mean: &f.Mean[0], weight: &f.Weight[0], extra: &f.Extra[0], target: &f.Target[0], classes: &f.Class[0], sums: &f.Sums,
		dstStride: 4 * uintptr(dst.Stride), stride: 4 * uintptr(x.Stride), k: uintptr(k), rows: uintptr(rows), pull: f.Pull,
	}
	return a, rows
}

// finishRest finishes the rows from the given one on in plain Go.
func finishRest(f *StepFinish, from int, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	if from < len(slots) {
		finishStepGo(f, dst.from(from), x.from(from), wx[from*len(f.Mean):], degrees[from:], slots[from:])
	}
}

func finishStepAVX2(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	a, rows := finishParts(f, dst, x, wx, degrees, slots)
	if rows > 0 {
		switch a.k {
		case 1:
			asm.FinishStep1F32AVX2(&a.dst)
		case 2:
			asm.FinishStep2F32AVX2(&a.dst)
		default:
			asm.FinishStepF32AVX2(&a.dst)
		}
	}
	finishRest(f, rows, dst, x, wx, degrees, slots)
}

func finishStepAVX512(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	a, rows := finishParts(f, dst, x, wx, degrees, slots)
	if rows > 0 {
		switch a.k {
		case 1:
			asm.FinishStep1F32AVX512(&a.dst)
		case 2:
			asm.FinishStep2F32AVX512(&a.dst)
		case 3, 4:
			asm.FinishStepF32AVX2(&a.dst) // no half-empty vector: a tenth less time
		default:
			asm.FinishStepF32AVX512(&a.dst)
		}
	}
	finishRest(f, rows, dst, x, wx, degrees, slots)
}

// finishStepAVX512Loads is finishStepAVX512 for processors with slow gathers. With one column
// it takes the loop of AVX2, and with two it loads the numbers of a table one by one. The
// loops for more columns do not gather.
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
	finishRest(f, rows, dst, x, wx, degrees, slots)
}
