//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// forDimension returns the kernel for points of d dimensions: the one for two, the one for
// three, or the one for any number.
func forDimension[F any](d int, any, two, three F) F {
	switch d {
	case 2:
		return two
	case 3:
		return three
	}
	return any
}

func collectAVX2(c *Candidates, coords Rows[float32], spans []uint32) {
	asm.CollectF32AVX2(&c.at[0], uintptr(c.stride), &c.ind[0], &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), &spans[0], uintptr(len(spans)/2))
}

func collectAVX512(c *Candidates, coords Rows[float32], spans []uint32) {
	asm.CollectF32AVX512(&c.at[0], uintptr(c.stride), &c.ind[0], &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), &spans[0], uintptr(len(spans)/2))
}

func findNearAVX2(ind []uint32, d2 []float64, counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	kernel := forDimension(c.d, asm.FindNearF32AVX2, asm.FindNear2F32AVX2, asm.FindNear3F32AVX2)
	return int(kernel(&ind[0], &d2[0], &counts[0], uintptr(len(counts)), &c.at[0], uintptr(c.stride), &c.ind[0], uintptr(c.padded()), &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), r2))
}

func findNearAVX512(ind []uint32, d2 []float64, counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	kernel := forDimension(c.d, asm.FindNearF32AVX512, asm.FindNear2F32AVX512, asm.FindNear3F32AVX512)
	return int(kernel(&ind[0], &d2[0], &counts[0], uintptr(len(counts)), &c.at[0], uintptr(c.stride), &c.ind[0], uintptr(c.padded()), &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), r2))
}

func countNearAVX2(counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	kernel := forDimension(c.d, asm.CountNearF32AVX2, asm.CountNear2F32AVX2, asm.CountNear3F32AVX2)
	return int(kernel(&counts[0], uintptr(len(counts)), &c.at[0], uintptr(c.stride), &c.ind[0], uintptr(c.padded()), &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), r2))
}

func countNearAVX512(counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int {
	kernel := forDimension(c.d, asm.CountNearF32AVX512, asm.CountNear2F32AVX512, asm.CountNear3F32AVX512)
	return int(kernel(&counts[0], uintptr(len(counts)), &c.at[0], uintptr(c.stride), &c.ind[0], uintptr(c.padded()), &coords.Data[0], uintptr(coords.Stride), uintptr(c.d), r2))
}
