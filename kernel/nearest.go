package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/codes"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
	"github.com/seed-64e14a55/privatemail/par"
)

// EachNearest finds the k nearest other rows of every row of points, exactly, and gives them
// away row by row: give gets the k nearest other rows of a row, nearest first, and their
// squared distances. It is called once for each row, in no order, and by several workers at
// the same time. The two slices are its own to read until it returns. After an error some rows
// may have been given.
//
// Distances are sums of squared differences in float64. At the same distance lower rows come
// first. Rows that are equal are at distance 0 and count like any others. Few dimensions are
// searched by a tree, many by codes.
//
// Of the options it uses BudgetBytes, Reserve, Workers, Kernels and Progress, and give gets
// the same bits whatever they are. It refuses CutoffRadius and Neighbours, which are of
// graphs, and does not look at the others. What it needs beside the points is known from
// their shape, and is asked for before it is taken: what the search takes and, in few
// dimensions, 12 bytes a neighbour. In many dimensions it takes no memory for the neighbours,
// so that a caller who wants them in a form of its own has them once. Nobody may change the
// points until it returns. Errors: those of Open, ErrOption for a refused option and unless k
// is from 1 to one less than the rows, *MemoryError, and that of ctx.
func EachNearest(ctx context.Context, points blas32.General, k int, opt *Options, give func(row int, near []uint32, dist2 []float64)) (err error) {
	defer par.Catch(&err)
	n, err := newNearestRequest(ctx, points, k, opt)
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
func newNearestRequest(ctx context.Context, points blas32.General, k int, opt *Options) (*nearestRequest, error) {
	p, err := openShared(ctx, points, opt)
	if err != nil {
		return nil, err
	}
	o, err := opt.agreed(ctx)
	if err != nil {
		return nil, err
	}
	if o.fixed() {
		return nil, fmt.Errorf("kernel: nearest: %w: CutoffRadius and Neighbours are of graphs; the number of neighbours is k", ErrOption)
	}
	n, d := p.rows.N, p.rows.D
	if k < 1 || k >= n {
		return nil, fmt.Errorf("kernel: nearest: %w: %d neighbours of %d rows, want from 1 to one less than the rows", ErrOption, k, n)
	}
	out := &nearestRequest{requestOf(o, p.rows, innerBandwidth{}, math.Inf(1)), k}
	need := float64(nearestSearchBytes(n, d, k, o))
	if out.byTree() {
		need += 12 * float64(n) * float64(k) // the tree keeps the neighbours
	}
	if err := o.take("nearest neighbours", mem.Saturate(need)); err != nil {
		advise(err, "fewer neighbours take less")
		return nil, err
	}
	return out, nil
}

// byTree tells whether the tree finds the neighbours, and not codes.
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
