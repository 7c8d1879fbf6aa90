package formats

import "math"

// float16 returns the value of an IEEE 754 binary16 number. Every such number is a float32, so
// the result is exact; the payload of a NaN is kept in the upper bits.
func float16(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exp := uint32(h>>10) & 0x1f
	frac := uint32(h) & 0x3ff
	switch exp {
	case 0: // zero and subnormals: frac * 2^-24
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

// toFloat16 returns the binary16 number nearest to v, the even one of two at the same distance.
// From 65520 on, halfway between the largest number and the one that would follow, the result
// is infinity. A NaN keeps the upper bits of its payload.
func toFloat16(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b>>16) & 0x8000
	b &^= 1 << 31
	switch {
	case b > 0xff<<23: // NaN; a payload without upper bits must not make it an infinity
		return sign | 0x7c00 | max(uint16(b>>13)&0x3ff, 1)
	case b >= 0x477ff000: // 65520
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14: the last place of 1/2 + v is 2^-24, as in the result
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-math.Float32bits(0.5))
	}
	b += 0xfff + b>>13&1 // rounds; a carry out of the fraction rightly raises the exponent
	return sign | uint16((b-(127-15)<<23)>>13)
}
