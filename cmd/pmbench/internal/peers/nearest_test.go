package peers

import (
	"math"
	"testing"
)

func TestDistanceDifference(t *testing.T) {
	ours := []float64{0, 1, 4}
	for _, c := range []struct {
		theirs []float32
		want   float64
	}{
		{[]float32{0, 1, 4}, 0},
		{[]float32{0, 1.5, 5}, 0.5},
		{[]float32{1, 1, 4}, math.Inf(1)},
		{[]float32{0, float32(math.NaN()), 4}, math.Inf(1)},
		{[]float32{0, 1, float32(math.Inf(1))}, math.Inf(1)},
	} {
		if got := distanceDifference(ours, c.theirs); got != c.want {
			t.Errorf("%v differs by %g, want %g", c.theirs, got, c.want)
		}
	}
}
