package kernel

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// LeastBytes returns a lower bound of the memory that Build takes for n points in d
// dimensions. It looks at no point, so a graph that has no hope can be refused before one
// is read. What a graph takes beyond it depends on the points.
func LeastBytes(n, d int, opt *Options) (int64, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return 0, err
	}
	least := int64(math.MaxInt64)
	for _, m := range methods() {
		if (o.Operator == "" || o.Operator == m.name) && (m.truncates || !o.fixed()) {
			least = min(least, m.with(m.least(n, d, m.options(o)), o))
		}
	}
	if least == math.MaxInt64 {
		return 0, nil // no operator can serve, which is for Build to say
	}
	return least, nil
}

func leastDense(n, d int, o *innerOptions) int64 { return denseCost(n, d, o).PeakBytes }

func leastCSR(n, d int, o *innerOptions) int64 {
	if o.Neighbours > 0 && n > 1 {
		return nearestNeed(n, d, o.Neighbours, o)
	}
	return searchBytes(n, d, o)
}

func leastPairs(n, d int, o *innerOptions) int64 {
	if d > maxDirect || o.Neighbours > 0 {
		return math.MaxInt64
	}
	return pairsHeld(n, d, o)
}

func leastBackground(n, d int, o *innerOptions) int64 {
	return mem.Saturate(8*float64(n)*float64(d) + float64(backgroundBytes(n, d, o)))
}

// A degree and a bound of each row, and what they are made of.
func leastPoly(n, _ int, _ *innerOptions) int64 { return mem.Saturate(16 * float64(n)) }

// The same, and the order and the place of each point.
func leastGrid(n, _ int, _ *innerOptions) int64 { return mem.Saturate(36 * float64(n)) }
