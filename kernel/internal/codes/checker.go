package codes

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A checker decides whether two points are within a radius of each other.
type checker struct {
	radius2 float64 // square of the radius, by rows.RadiusSquared
	band    float64 // rows.Dist2 decides where simd.SqDists64 is at most this far from radius2
	limit   float32 // pairs with a larger squared distance by simd.SqDists are beyond the radius
}

// newChecker returns the checker of a radius in d dimensions.
func newChecker(radius float64, d int) checker {
	r2 := rows.RadiusSquared(radius)
	// simd.SqDists is off by (d/64 + 10) 2^-24, and by d 2^-149 where squares are too small
	// for float32. rows.Dist2, which decides, is off by (d + 2) 2^-53.
	limit := r2*(1+float64(d/64+12)*0x1p-24) + float64(d)*0x1p-148
	c := checker{radius2: r2, band: r2 * float64(2*d+16) * 0x1p-53, limit: float32(math.Inf(1))}
	if limit < math.MaxFloat32 {
		c.limit = rows.RoundUp(limit)
	}
	return c
}
