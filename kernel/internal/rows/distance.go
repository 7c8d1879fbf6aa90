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
