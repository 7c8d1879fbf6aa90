package simd

import "math"

// Float16 returns the bits of the IEEE number of 16 bits that is nearest to v, ties to
// even. The number is within 2^-11 |v| of v where 2^-14 <= |v| < 65520, and within 2^-25
// where |v| is less; larger v becomes infinite.
func Float16(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, size := uint16(bits>>16&0x8000), bits&0x7fffffff
	switch {
	case size > 0x7f800000:
		return sign | 0x7e00 // NaN
	case size >= 0x477ff000: // 65520, halfway between the largest and 65536
		return sign | 0x7c00
	case size < 0x38800000: // 2^-14
		// Adding 1/2 leaves multiples of 2^-24, rounded to even, in the last
		// ten bits. A carry into the exponent of float16 is correct.
		return sign | uint16(math.Float32bits(math.Float32frombits(size)+0.5)-0x3f000000)
	}
	size += 0xfff + size>>13&1 // half a unit of the last place kept, less one for ties to even
	return sign | uint16((size-0x38000000)>>13)
}

// Float32 returns the number whose IEEE format of 16 bits is given.
func Float32(h uint16) float32 {
	sign, size := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case size >= 0x7c00:
		return math.Float32frombits(sign | 0x7f800000 | size<<13&0x7fffff)
	case size < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(size)*0x1p-24))
	}
	return math.Float32frombits(sign | (size<<13 + 0x38000000))
}

// Float32s sets dst[i] to Float32(half[i]). It panics where lengths differ, and allocates
// nothing.
func (s *Kernels) Float32s(dst []float32, half []uint16) {
	if len(dst) != len(half) {
		panic("simd: float32s: lengths differ")
	}
	reads(half)
	writes(dst)
	s.float32s(dst, half)
}

// float32sGo is the reference.
func float32sGo(dst []float32, half []uint16) {
	for e, h := range half {
		dst[e] = Float32(h)
	}
}
