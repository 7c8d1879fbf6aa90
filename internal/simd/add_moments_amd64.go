//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// A momentsKernel is a generated function, which takes some columns and a block.
type momentsKernel struct {
	columns int
	add     func(dst, y, block *float64, stride uintptr, w *float64, rows, width uintptr)
}

// momentsKernels are the functions of a level for whole blocks and for a block of fewer
// than 8 columns. The function for the most columns comes first.
type momentsKernels struct{ whole, short []momentsKernel }

var (
	momentsOfAVX2 = momentsKernels{
		whole: []momentsKernel{{6, asm.AddMoments6F64AVX2}, {4, asm.AddMoments4F64AVX2}, {2, asm.AddMoments2F64AVX2}, {1, asm.AddMoments1F64AVX2}},
		short: []momentsKernel{{4, asm.AddMoments4ShortF64AVX2}, {2, asm.AddMoments2ShortF64AVX2}, {1, asm.AddMoments1ShortF64AVX2}},
	}
	momentsOfAVX512 = momentsKernels{
		whole: []momentsKernel{
			{24, asm.AddMoments24F64AVX512}, {16, asm.AddMoments16F64AVX512}, {8, asm.AddMoments8F64AVX512},
			{4, asm.AddMoments4F64AVX512}, {2, asm.AddMoments2F64AVX512}, {1, asm.AddMoments1F64AVX512},
		},
		short: []momentsKernel{{4, asm.AddMoments4F64AVX512}, {2, asm.AddMoments2F64AVX512}, {1, asm.AddMoments1F64AVX512}},
	}
)

func (m *momentsKernels) run(dst []float64, y Rows[float64], w []float64, d int) {
	for b := 0; b < d; b += momentColumns {
		kernels, width := m.whole, min(momentColumns, d-b)
		if width < momentColumns {
			kernels = m.short
		}
		for t := b; t < d; {
			for d-t < kernels[0].columns {
				kernels = kernels[1:]
			}
			kernels[0].add(&dst[0], &y.Data[t], &y.Data[b], uintptr(y.Stride), &w[0], uintptr(len(w)), uintptr(width))
			dst = dst[momentColumns*kernels[0].columns:]
			t += kernels[0].columns
		}
	}
}

func addMomentsAVX2(dst []float64, y Rows[float64], w []float64, d int) {
	momentsOfAVX2.run(dst, y, w, d)
}

func addMomentsAVX512(dst []float64, y Rows[float64], w []float64, d int) {
	momentsOfAVX512.run(dst, y, w, d)
}
