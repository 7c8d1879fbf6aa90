package rows_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

func TestRadiusSquaredDecidesLikeTheRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d2 := rapid.Float64Range(0, 1e12).Draw(t, "d2")
		r := math.Sqrt(d2)
		for _, radius := range []float64{math.Nextafter(r, 0), r, math.Nextafter(r, math.Inf(1))} {
			if got, want := d2 <= rows.RadiusSquared(radius), math.Sqrt(d2) <= radius; got != want {
				t.Fatalf("d2=%b radius=%b: %v, want %v", d2, radius, got, want)
			}
		}
	})
}

// Rows that change while they are read can make a radius that is not a number. It has an
// end, and nothing is within it.
func TestRadiusSquaredEnds(t *testing.T) {
	if r2 := rows.RadiusSquared(math.NaN()); 0 <= r2 {
		t.Errorf("the square of no number is %g", r2)
	}
	if r2 := rows.RadiusSquared(math.Inf(1)); !math.IsInf(r2, 1) {
		t.Errorf("the square of infinity is %g", r2)
	}
}
