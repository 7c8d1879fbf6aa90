package rows

import "math"

// Dist2 returns the squared distance of a and b, which every decision rests on. The
// conversion around the product keeps compilers from fusing the product into the sum, so
// that all architectures agree on every bit.
func Dist2[T Float](a, b []T) float64 {
	sum := 0.0
	b = b[:len(a)]
	for c, v := range a {
		e := float64(v) - float64(b[c])
		sum += float64(e * e)
	}
	return sum
}

// FourDist2 returns Dist2 of a and each of four others. An addition waits for the one before
// it in its sum, and four sums fill that time.
func FourDist2[T Float](a []T, b [4][]T) [4]float64 {
	var s0, s1, s2, s3 float64
	b0, b1, b2, b3 := b[0][:len(a)], b[1][:len(a)], b[2][:len(a)], b[3][:len(a)]
	for c, v := range a {
		x := float64(v)
		e := x - float64(b0[c])
		s0 += float64(e * e)
		e = x - float64(b1[c])
		s1 += float64(e * e)
		e = x - float64(b2[c])
		s2 += float64(e * e)
		e = x - float64(b3[c])
		s3 += float64(e * e)
	}
	return [4]float64{s0, s1, s2, s3}
}

// RadiusSquared returns the largest float64 whose square root is at most r. To compare a
// squared distance d2 with RadiusSquared(r) decides sqrt(d2) <= r exactly; to compare d2
// with r*r does not.
func RadiusSquared(r float64) float64 {
	r2 := r * r
	for math.Sqrt(r2) > r {
		r2 = math.Nextafter(r2, 0)
	}
	for {
		next := math.Nextafter(r2, math.Inf(1))
		if !(math.Sqrt(next) <= r) || math.IsInf(next, 1) { // also where r is not a number
			return r2
		}
		r2 = next
	}
}

// RoundUp returns the smallest float32 that is not below v >= 0.
func RoundUp(v float64) float32 {
	r := float32(v)
	bits := math.Float32bits(r)
	if float64(r) < v { // true every other time: an increment of the bits takes no branch
		bits++
	}
	return math.Float32frombits(bits)
}
