//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

func lagrangeBasisAVX2(dst, t, nodes, factor []float64) {
	asm.LagrangeBasisF64AVX2(&dst[0], &t[0], uintptr(len(t)), &nodes[0], &factor[0], uintptr(len(nodes)))
}

func lagrangeBasisAVX512(dst, t, nodes, factor []float64) {
	asm.LagrangeBasisF64AVX512(&dst[0], &t[0], uintptr(len(t)), &nodes[0], &factor[0], uintptr(len(nodes)))
}

func pointsToNodesAVX2(dst, rows, last, x []float64) {
	m := len(x)
	asm.PointsToNodesF64AVX2(&dst[0], &rows[0], uintptr(len(rows)/m), &last[0], uintptr(len(last)/m), &x[0], uintptr(m))
}

func pointsToNodesAVX512(dst, rows, last, x []float64) {
	m := len(x)
	asm.PointsToNodesF64AVX512(&dst[0], &rows[0], uintptr(len(rows)/m), &last[0], uintptr(len(last)/m), &x[0], uintptr(m))
}

func nodesToPointsAVX2(dst, rows, last, nodes []float64, n int) {
	m := len(dst)
	asm.NodesToPointsF64AVX2(&dst[0], uintptr(n), &rows[0], uintptr(len(rows)/m), &last[0], uintptr(len(last)/m), &nodes[0], uintptr(m))
}

func nodesToPointsAVX512(dst, rows, last, nodes []float64, n int) {
	m := len(dst)
	asm.NodesToPointsF64AVX512(&dst[0], uintptr(n), &rows[0], uintptr(len(rows)/m), &last[0], uintptr(len(last)/m), &nodes[0], uintptr(m))
}
