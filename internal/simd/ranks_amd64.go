//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func ranksAVX2(rank []uint32, x []float64, n int) {
	asm.RanksF64AVX2(&rank[0], &x[0], uintptr(n))
}

func ranksAVX512(rank []uint32, x []float64, n int) {
	asm.RanksF64AVX512(&rank[0], &x[0], uintptr(n))
}
