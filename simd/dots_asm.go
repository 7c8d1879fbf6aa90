//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "unsafe"

// dotKernels are the functions of a level: a tile of tall rows of a and 4 of b,
// one row against 4, and one pair.
type dotKernels struct {
	tall            int
	tile, row, pair func(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)
}

func (t *dotKernels) run(dst []float32, dstStride int, a []float32, aStride, na int, b []float32, bStride, nb, d int) {
	for i := 0; i < na; {
		kernel, rows := t.tile, t.tall
		if na-i < t.tall {
			kernel, rows = t.row, 1
		}
		from := unsafe.SliceData(a[i*aStride:])
		j := 0
		for ; j+4 <= nb; j += 4 {
			kernel(&dst[i*dstStride+j], uintptr(dstStride), from, uintptr(aStride), unsafe.SliceData(b[j*bStride:]), uintptr(bStride), uintptr(d))
		}
		for ; j < nb; j++ {
			for r := i; r < i+rows; r++ {
				t.pair(&dst[r*dstStride+j], uintptr(dstStride), unsafe.SliceData(a[r*aStride:]), uintptr(aStride), unsafe.SliceData(b[j*bStride:]), uintptr(bStride), uintptr(d))
			}
		}
		i += rows
	}
}
