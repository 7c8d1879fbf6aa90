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
