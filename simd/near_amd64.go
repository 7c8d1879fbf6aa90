//go:build gc && !noasm && !purego

package simd

func nearAVX2(ind []uint32, d2 []float64, q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	kernel := nearF32AVX2
	switch len(q) {
	case 2:
		kernel = near2F32AVX2
	case 3:
		kernel = near3F32AVX2
	}
	return int(kernel(&ind[0], &d2[0], &q[0], uintptr(len(q)), &coords[0], uintptr(stride), &spans[0], uintptr(len(spans)/2), self, r2))
}

func countNearAVX2(q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	kernel := nearCountF32AVX2
	switch len(q) {
	case 2:
		kernel = nearCount2F32AVX2
	case 3:
		kernel = nearCount3F32AVX2
	}
	return int(kernel(&q[0], uintptr(len(q)), &coords[0], uintptr(stride), &spans[0], uintptr(len(spans)/2), self, r2))
}

func nearAVX512(ind []uint32, d2 []float64, q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	kernel := nearF32AVX512
	switch len(q) {
	case 2:
		kernel = near2F32AVX512
	case 3:
		kernel = near3F32AVX512
	}
	return int(kernel(&ind[0], &d2[0], &q[0], uintptr(len(q)), &coords[0], uintptr(stride), &spans[0], uintptr(len(spans)/2), self, r2))
}

func countNearAVX512(q []float64, coords []float32, stride int, spans []uint32, self uint32, r2 float64) int {
	kernel := nearCountF32AVX512
	switch len(q) {
	case 2:
		kernel = nearCount2F32AVX512
	case 3:
		kernel = nearCount3F32AVX512
	}
	return int(kernel(&q[0], uintptr(len(q)), &coords[0], uintptr(stride), &spans[0], uintptr(len(spans)/2), self, r2))
}
