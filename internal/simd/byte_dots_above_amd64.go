//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// A byteDotsKernel is an assembly function that takes a few rows and all columns of a
// panel.
type byteDotsKernel func(mask *uint64, a *int8, panel *uint8, depth, columns uintptr, bias, threshold *int32)

// byteDotsKernels are the functions of a level: entry i takes i+1 rows.
type byteDotsKernels []byteDotsKernel

// run takes as many rows at a time as a level can.
func (b byteDotsKernels) run(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	words := len(bias) / 64
	for i := 0; i < len(threshold); {
		rows := min(len(b), len(threshold)-i)
		b[rows-1](&mask[i*words], &a[i*depth], &panel[0], uintptr(depth), uintptr(len(bias)), &bias[0], &threshold[i])
		i += rows
	}
}

var (
	byteDotsAboveOfAVX2       = byteDotsKernels{asm.ByteDotsAbove1AVX2, asm.ByteDotsAbove2AVX2}
	byteDotsAboveOfAVX512     = byteDotsKernels{asm.ByteDotsAbove1AVX512, asm.ByteDotsAbove2AVX512, asm.ByteDotsAbove3AVX512, asm.ByteDotsAbove4AVX512}
	byteDotsAboveOfAVX512VNNI = byteDotsKernels{asm.ByteDotsAbove1AVX512VNNI, asm.ByteDotsAbove2AVX512VNNI, asm.ByteDotsAbove3AVX512VNNI, asm.ByteDotsAbove4AVX512VNNI, asm.ByteDotsAbove5AVX512VNNI, asm.ByteDotsAbove6AVX512VNNI}
)

func byteDotsAboveAVX2(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	byteDotsAboveOfAVX2.run(mask, a, panel, depth, bias, threshold)
}

func byteDotsAboveAVX512(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	byteDotsAboveOfAVX512.run(mask, a, panel, depth, bias, threshold)
}

func byteDotsAboveAVX512VNNI(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	byteDotsAboveOfAVX512VNNI.run(mask, a, panel, depth, bias, threshold)
}

func byteDotsAboveAMX(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	asm.ByteDotsAboveAMX(&mask[0], &a[0], &panel[0], uintptr(depth), uintptr(len(bias)), uintptr(len(threshold)), &bias[0], &threshold[0])
}
