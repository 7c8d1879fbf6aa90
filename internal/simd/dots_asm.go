//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "unsafe"

// dotKernels are the functions of a level: tile takes tall rows of a and 4 of b, row takes
// one and 4, and pair takes one of each.
type dotKernels[T float32 | uint32] struct {
	tall            int
	tile, row, pair func(dst *T, dstStride uintptr, a *T, aStride uintptr, b *T, bStride uintptr, d uintptr)
}

func (t *dotKernels[T]) run(dst, a, b Rows[T], na, nb, d int) {
	for i := 0; i < na; {
		kernel, rows := t.tile, t.tall
		if na-i < t.tall {
			kernel, rows = t.row, 1
		}
		from := unsafe.SliceData(a.Data[i*a.Stride:])
		j := 0
		for ; j+4 <= nb; j += 4 {
			kernel(&dst.Data[i*dst.Stride+j], uintptr(dst.Stride), from, uintptr(a.Stride), unsafe.SliceData(b.Data[j*b.Stride:]), uintptr(b.Stride), uintptr(d))
		}
		for ; j < nb; j++ {
			for r := i; r < i+rows; r++ {
				t.pair(&dst.Data[r*dst.Stride+j], uintptr(dst.Stride), unsafe.SliceData(a.Data[r*a.Stride:]), uintptr(a.Stride), unsafe.SliceData(b.Data[j*b.Stride:]), uintptr(b.Stride), uintptr(d))
			}
		}
		i += rows
	}
}

// runWords takes rows and columns as WordDots does.
func runWords(t *dotKernels[uint32], dst, a, b []uint32, depth int) {
	columns := len(b) / depth
	t.run(RowsOf(dst, columns), RowsOf(a, depth), RowsOf(b, depth), len(a)/depth, columns, depth)
}
