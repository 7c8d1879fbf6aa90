package main

import "context"

// search plays the neighbour searches in many dimensions, of at most n points.
func (c *contest) search(ctx context.Context, n int, work portion) error {
	var sizes []int
	for _, size := range []int{20_000, 100_000} {
		if size <= n {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		sizes = []int{n}
	}
	sets, err := searchSets(sizes...)
	if err != nil {
		return err
	}
	for i, set := range sets {
		matches := c.matches(Ratio{Suite: "search", N: set.n, D: set.d}, set.name)
		if len(matches) == 0 {
			continue
		}
		points, err := set.pointSet(ctx, c.lab)
		if err != nil {
			return err
		}
		// They decide in float32, by products: a few pairs next to the radius differ.
		if err := c.neighbours(ctx, points, matches, set.n/100, work.piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}
