//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func findInBlocksAVX2(ind []uint32, d2 []float64, boxes *Candidates, coords Rows[float32], point int, r2 float64) int {
	kernel := forDimension(boxes.d/2, asm.FindInBlocksF32AVX2, asm.FindInBlocks2F32AVX2, asm.FindInBlocks3F32AVX2)
	return int(kernel(&ind[0], &d2[0], &boxes.at[0], uintptr(boxes.stride), &boxes.ind[0], &boxes.near[0], uintptr(boxes.padded()), &coords.Data[0], &coords.Data[point], uintptr(coords.Stride), uintptr(boxes.d/2), r2))
}

func findInBlocksAVX512(ind []uint32, d2 []float64, boxes *Candidates, coords Rows[float32], point int, r2 float64) int {
	kernel := forDimension(boxes.d/2, asm.FindInBlocksF32AVX512, asm.FindInBlocks2F32AVX512, asm.FindInBlocks3F32AVX512)
	return int(kernel(&ind[0], &d2[0], &boxes.at[0], uintptr(boxes.stride), &boxes.ind[0], &boxes.near[0], uintptr(boxes.padded()), &coords.Data[0], &coords.Data[point], uintptr(coords.Stride), uintptr(boxes.d/2), r2))
}
