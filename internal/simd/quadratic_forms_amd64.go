//go:build gc && !noasm && !purego

package simd

import (
	"unsafe"

	"github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"
)

// A formsKernel is a generated function for a fixed number of rows.
type formsKernel = func(dst, y *float64, stride uintptr, linear, m *float64, d uintptr)

// runForms takes some rows together, and then one.
func runForms(dst []float64, y Rows[float64], linear, m []float64, together int, many, one formsKernel) {
	from := unsafe.SliceData(m)
	if len(m) == 0 {
		from = nil
	}
	r := 0
	for ; r+together <= len(dst); r += together {
		many(&dst[r], &y.Data[r*y.Stride], uintptr(y.Stride), &linear[0], from, uintptr(len(linear)))
	}
	for ; r < len(dst); r++ {
		one(&dst[r], &y.Data[r*y.Stride], uintptr(y.Stride), &linear[0], from, uintptr(len(linear)))
	}
}

func quadraticFormsAVX2(dst []float64, y Rows[float64], linear, m []float64) {
	runForms(dst, y, linear, m, 4, asm.QuadraticForms4F64AVX2, asm.QuadraticForms1F64AVX2)
}

func quadraticFormsAVX512(dst []float64, y Rows[float64], linear, m []float64) {
	runForms(dst, y, linear, m, 8, asm.QuadraticForms8F64AVX512, asm.QuadraticForms1F64AVX512)
}
