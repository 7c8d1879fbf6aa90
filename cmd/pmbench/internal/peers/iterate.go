package peers

import (
	"context"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
)

// iterate plays the eigenvectors of a graph, and those of points.
func (c *contest) iterate(ctx context.Context, n int, work measure.Portion) error {
	if err := c.eigenvectors(ctx, min(n, mostEigenRows), work.Piece(0, 2)); err != nil {
		return err
	}
	return c.embeddings(ctx, n, work.Piece(1, 2))
}
