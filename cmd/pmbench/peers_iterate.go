package main

import (
	"context"
)

// iterate plays the eigenvectors of a graph, and those of points.
func (c *contest) iterate(ctx context.Context, n int, work portion) error {
	if err := c.eigenvectors(ctx, min(n, mostEigenRows), work.piece(0, 2)); err != nil {
		return err
	}
	return c.embeddings(ctx, n, work.piece(1, 2))
}
