package graph

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
)

// EachNearest finds the k nearest other rows of every row and gives them away row by row.
func EachNearest(ctx context.Context, p *rows.Points, k int, o *base.Options, give func(row int, near []uint32, dist2 []float64)) error {
	n, err := newNearestRequest(p, k, o)
	if err != nil {
		return err
	}
	if !n.byTree() {
		return n.codes(ctx, give)
	}
	found, err := n.tree(ctx)
	if err != nil {
		return err
	}
	for i := range n.Points.N {
		give(i, found.Place[i*k:][:k], found.Dist2[i*k:][:k])
	}
	return nil
}

// A nearestRequest asks for the k nearest other rows of every row.
type nearestRequest struct {
	*rows.Request
	k int
}

// newNearestRequest checks what is asked for and takes the memory of it.
func newNearestRequest(p *rows.Points, k int, o *base.Options) (*nearestRequest, error) {
	if o.Fixed() {
		return nil, fmt.Errorf("kernel: nearest: %w: CutoffRadius and Neighbours are of graphs; the number of neighbours is k", base.ErrOption)
	}
	n, d := p.N, p.D
	if k < 1 || k >= n {
		return nil, fmt.Errorf("kernel: nearest: %w: %d neighbours of %d rows, want from 1 to one less than the rows", base.ErrOption, k, n)
	}
	out := &nearestRequest{RequestOf(o, p, base.Bandwidth{}, math.Inf(1)), k}
	need := float64(NearestSearchBytes(n, d, k, o))
	if out.byTree() {
		need += 12 * float64(n) * float64(k) // the tree keeps the neighbours
	}
	if err := o.Take("nearest neighbours", mem.Saturate(need)); err != nil {
		base.Advise(err, "fewer neighbours take less")
		return nil, err
	}
	return out, nil
}

// byTree reports whether the tree finds the neighbours, and not codes.
func (n *nearestRequest) byTree() bool { return n.Points.D <= maxTree }

// tree finds the neighbours by the tree, whose places are the given rows.
func (n *nearestRequest) tree(ctx context.Context) (*rows.Neighbours, error) {
	found, err := tree.NearestByRow(ctx, n.k, n.Request)
	if err != nil {
		return nil, fmt.Errorf("kernel: nearest: %w", err)
	}
	return found, nil
}

// codes finds the neighbours by codes and gives them away.
func (n *nearestRequest) codes(ctx context.Context, give func(row int, near []uint32, dist2 []float64)) error {
	if err := codes.NearestByRow(ctx, n.k, n.Request, give); err != nil {
		return fmt.Errorf("kernel: nearest: %w", err)
	}
	return nil
}
