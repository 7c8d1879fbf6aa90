package codes

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// Four leaders are on a line, with all points at their places. With the three reaches 0,
// then 1 or 2, then all 3 of the other leaders are within reach of a point.
func TestOverlapOfLeaders(t *testing.T) {
	const n, depth = 64, 64
	c := newCodes(n, depth, 1)
	for i := range n {
		c.row(i)[0] = int8(i % 4 * 10)
		c.measure(i)
	}
	for _, test := range []struct{ reach, want float64 }{{5, 0}, {12, 0.5}, {40, 1}} {
		l := &leaders{count: 4, reach: test.reach, codes: newCodes(mostLeaders, depth, 1)}
		for i := range l.count {
			copy(l.codes.row(i), c.row(i))
			l.codes.measure(i)
		}
		if got := l.overlap(c, simd.At(simd.Best())); got != test.want {
			t.Errorf("reach %g: overlap %g, want %g", test.reach, got, test.want)
		}
	}
}
