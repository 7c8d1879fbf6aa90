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

// Neighbours are the K nearest neighbours of every row, in the order of the rows. Those of
// row i are Rows[i*K] to Rows[i*K+K-1], nearest first; Dist2 has their squared distances.
type Neighbours struct {
	K     int
	Rows  []uint32
	Dist2 []float64
}

// Nearest finds the k nearest other rows of every row of points, exactly. Distances are sums
// of squared differences in float64. At the same distance lower rows come first. Rows that
// are equal are at distance 0 and count like any others. Few dimensions are searched by a
// tree, many by codes.
//
// Of the options it uses BudgetBytes, Reserve, Workers, Kernels and Progress, and the result
// has the same bits whatever they are. It refuses CutoffRadius and Neighbours, which are of
// graphs, and does not look at the others. What it needs beside the points is known from
// their shape, and is asked for before it is taken: 12 bytes a neighbour and what the search
// takes. Nobody may change the points until it returns. Errors: those of Open, ErrOption for
// a refused option and unless k is from 1 to one less than the rows, *MemoryError, and that
// of ctx.
func Nearest(ctx context.Context, points blas32.General, k int, opt *Options) (*Neighbours, error) {
	return nearest(ctx, points, &Neighbours{K: k}, opt)
}

// NearestInto is Nearest with answers that go to the memory of out: K of them for each row of
// points in Rows and in Dist2. That memory is not asked for. On an error it may hold anything.
// Errors: those of Nearest, and ErrShape for memory of another size.
func NearestInto(ctx context.Context, points blas32.General, out *Neighbours, opt *Options) error {
	if n := float64(points.Rows) * float64(out.K); float64(len(out.Rows)) != n || float64(len(out.Dist2)) != n {
		return fmt.Errorf("kernel: nearest: %w: memory for %d rows and %d distances, %d of each of %d rows", ErrShape, len(out.Rows), len(out.Dist2), out.K, points.Rows)
	}
	_, err := nearest(ctx, points, out, opt)
	return err
}

// nearest finds neighbours. Where into has memory for them they go there.
func nearest(ctx context.Context, points blas32.General, into *Neighbours, opt *Options) (_ *Neighbours, err error) {
	defer par.Catch(&err)
	k := into.K
	p, err := Open(points, opt)
	if err != nil {
		return nil, err
	}
	o, err := opt.withDefaults()
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
	need := float64(nearestSearchBytes(n, d, k, o))
	if into.Rows == nil {
		need += 12 * float64(n) * float64(k)
	}
	if err := o.take("nearest neighbours", mem.Saturate(need)); err != nil {
		err.(*MemoryError).instead = "fewer neighbours take less"
		return nil, err
	}
	search := codes.Nearest
	if d <= maxTree {
		search = tree.NearestByRow
	}
	req := o.request(p.rows, Bandwidth{}, math.Inf(1))
	req.Place, req.Dist2 = into.Rows, into.Dist2
	found, err := search(ctx, k, req)
	if err != nil {
		return nil, fmt.Errorf("kernel: nearest: %w", err)
	}
	inGivenOrder(found)
	return &Neighbours{K: k, Rows: found.Place, Dist2: found.Dist2}, nil
}

// inGivenOrder makes given rows of places. It moves neighbours along the cycles of the
// order, which takes no second copy of them.
func inGivenOrder(found *rows.Neighbours) {
	k, order := found.K, found.Order
	if order == nil {
		return
	}
	for e, j := range found.Place {
		found.Place[e] = order[j]
	}
	moved := make([]bool, len(order))
	place, d2 := make([]uint32, k), make([]float64, k)
	for first := range order {
		if moved[first] {
			continue
		}
		// What is at a place goes to its given row, and what is there goes on.
		at := first
		copy(place, found.Place[at*k:])
		copy(d2, found.Dist2[at*k:])
		for !moved[at] {
			moved[at] = true
			at = int(order[at])
			for e := range k {
				place[e], found.Place[at*k+e] = found.Place[at*k+e], place[e]
				d2[e], found.Dist2[at*k+e] = found.Dist2[at*k+e], d2[e]
			}
		}
	}
	found.Order = nil
}
