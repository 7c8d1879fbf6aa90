package peers

import (
	"context"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// search plays the neighbour searches in many dimensions, of at most n points.
func (c *contest) search(ctx context.Context, n int, work measure.Portion) error {
	var sizes []int
	for _, size := range []int{20_000, 100_000} {
		if size <= n {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		sizes = []int{n}
	}
	sets, err := suites.SearchSets(sizes...)
	if err != nil {
		return err
	}
	for i, set := range sets {
		matches := c.matches(record.Ratio{Suite: "search", N: set.N, D: set.D}, set.Name)
		if len(matches) == 0 {
			continue
		}
		points, err := set.PointSet(ctx, c.lab)
		if err != nil {
			return err
		}
		// They decide in float32, by products: a few pairs next to the radius differ.
		if err := c.neighbours(ctx, points, matches, set.N/100, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}
