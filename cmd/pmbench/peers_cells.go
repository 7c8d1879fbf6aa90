package main

import "context"

// cells plays the neighbour searches in few dimensions.
func (c *contest) cells(ctx context.Context, n int, work portion) error {
	sets := []struct {
		kind string
		d    int
	}{{"uniform", 2}, {"clustered", 2}, {"uniform", 3}, {"clustered", 3}}
	for i, s := range sets {
		matches := c.matches(Ratio{Suite: "cells", N: n, D: s.d}, func(w int) string { return cellsName(s.kind, n, s.d, w) })
		if len(matches) == 0 {
			continue
		}
		points, err := pointsOfKind(ctx, c.lab, s.kind, n, s.d)
		if err != nil {
			return err
		}
		if err := c.neighbours(ctx, points, matches, 0, work.piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}
