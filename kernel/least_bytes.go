package kernel

import (
	"math"
)

// LeastBytes returns a lower bound of the memory that Build takes for n points in d
// dimensions. It looks at no point, so a graph that has no hope can be refused before one
// is read. What a graph takes beyond it depends on the points.
func (opt *Options) LeastBytes(n, d int) (int64, error) {
	o, err := opt.withDefaults()
	if err != nil {
		return 0, err
	}
	least := int64(math.MaxInt64)
	for _, m := range methods() {
		if (o.Operator == "" || o.Operator == m.name) && (m.truncates || !o.Fixed()) {
			least = min(least, m.with(m.least(n, d, m.options(o)), o))
		}
	}
	if least == math.MaxInt64 {
		return 0, nil // no operator can serve, which is for Build to say
	}
	return least, nil
}
