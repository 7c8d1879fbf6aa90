//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/simd/internal/asm"

// A rows8 is an assembly function for a few rows against all columns of a panel.
type rows8 func(mask *uint64, a *int8, panel *uint8, depth, columns uintptr, bias, threshold *int32)

// blocks8 are the functions of a level by the number of rows they take, from one
// on.
type blocks8 []rows8

// run takes as many rows at a time as a level can.
func (b blocks8) run(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	words := len(bias) / 64
	for i := 0; i < len(threshold); {
		rows := min(len(b), len(threshold)-i)
		b[rows-1](&mask[i*words], &a[i*depth], &panel[0], uintptr(depth), uintptr(len(bias)), &bias[0], &threshold[i])
		i += rows
	}
}

var (
	above8OfAVX2       = blocks8{asm.Above8Rows1AVX2, asm.Above8Rows2AVX2}
	above8OfAVX512     = blocks8{asm.Above8Rows1AVX512, asm.Above8Rows2AVX512, asm.Above8Rows3AVX512, asm.Above8Rows4AVX512}
	above8OfAVX512VNNI = blocks8{asm.Above8Rows1AVX512VNNI, asm.Above8Rows2AVX512VNNI, asm.Above8Rows3AVX512VNNI, asm.Above8Rows4AVX512VNNI, asm.Above8Rows5AVX512VNNI, asm.Above8Rows6AVX512VNNI}
)

func above8AVX2(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	above8OfAVX2.run(mask, a, panel, depth, bias, threshold)
}

func above8AVX512(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	above8OfAVX512.run(mask, a, panel, depth, bias, threshold)
}

func above8AVX512VNNI(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	above8OfAVX512VNNI.run(mask, a, panel, depth, bias, threshold)
}

func above8AMX(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	asm.Above8TilesAMX(&mask[0], &a[0], &panel[0], uintptr(depth), uintptr(len(bias)), uintptr(len(threshold)), &bias[0], &threshold[0])
}
