package peers

import (
	"context"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// cells plays the neighbour searches in few dimensions.
func (c *contest) cells(ctx context.Context, n int, work measure.Portion) error {
	sets := []struct {
		kind string
		d    int
	}{{"uniform", 2}, {"clustered", 2}, {"uniform", 3}, {"clustered", 3}}
	for i, s := range sets {
		matches := c.matches(record.Ratio{Suite: "cells", N: n, D: s.d}, func(w int) string { return suites.CellsName(s.kind, n, s.d, w) })
		if len(matches) == 0 {
			continue
		}
		points, err := suites.PointsOfKind(ctx, c.lab, s.kind, n, s.d)
		if err != nil {
			return err
		}
		if err := c.neighbours(ctx, points, matches, 0, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}
