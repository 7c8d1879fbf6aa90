package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
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
// Of the options it uses MaxMemory, Reserve, Workers, Kernels and Progress, and give gets
// the same bits whatever they are. It refuses CutoffRadius and Neighbours, which are of
// graphs, and does not look at the others. What it needs in addition to the points is known from
// their shape, and is asked for before it is taken: what the search takes and, in few
// dimensions, 12 bytes a neighbour. In many dimensions it takes no memory for the neighbours,
// so that a caller who wants them in a form of its own has them once. Nobody may change the
// points until it returns. Errors: those of Open, ErrOption for a refused option and unless k
// is from 1 to one less than the rows, *MemoryError, and that of ctx.
func EachNearest(ctx context.Context, points blas32.General, k int, opt *Options, give func(row int, near []uint32, dist2 []float64)) (err error) {
	defer par.Catch(&err)
	p, err := openShared(ctx, points, opt)
	if err != nil {
		return err
	}
	o, err := opt.agreed(ctx)
	if err != nil {
		return err
	}
	return graph.EachNearest(ctx, p.rows, k, o, give)
}
