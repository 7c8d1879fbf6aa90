package tree

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Nearest finds the k nearest neighbours of every point, of which there are more than k.
// Nearer neighbours come first; at the same distance by rows.Dist2, neighbours with lower
// given rows come first. Nearest does not use the radius of the request. Equal points are
// at distance 0 and count like any others.
func Nearest(ctx context.Context, k int, req *rows.Request) (*rows.Neighbours, error) {
	p := req.Points
	order := make([]uint32, p.N)
	for i := range order {
		order[i] = uint32(i)
	}
	t, err := build(ctx, p, order, req.Workers)
	if err != nil {
		return nil, err
	}
	out := &rows.Neighbours{
		K: k, Order: t.order, Place: make([]uint32, p.N*k), Dist2: make([]float64, p.N*k),
		Distance: func(i, j int) float64 { return rows.Dist2(t.row(i), t.row(j)) },
	}
	pieces := par.Blocks(p.N, placesPerPiece)
	progress := req.Stage("find nearest neighbours", pieces)
	err = req.Workers.Do(ctx, pieces, par.Func(func(_, piece int) {
		lo, hi := par.Block(piece, p.N, placesPerPiece)
		for i := lo; i < hi && (i%64 != 0 || ctx.Err() == nil); i++ {
			q := query{tree: t, self: i, x: t.row(i), place: out.Place[i*k:][:k], d2: out.Dist2[i*k:][:k], most: math.Inf(1)}
			q.visit(1)
		}
		progress.Add()
	}))
	if err == nil {
		err = ctx.Err() // a piece may have been left half done
	}
	return out, err
}

const placesPerPiece = 512

// Bytes is what a search of n points in d dimensions takes beside the neighbours: the
// order and the coordinates of the places, the boxes of the nodes, and what every search
// keeps of a row.
func Bytes(n, d int) int64 {
	nodes := 4*int64(n)/leafPoints + 4
	return int64(n)*int64(rows.RowBytes+4+4*d) + nodes*int64(2*4*d)
}

// row returns the coordinates of a place.
func (t *tree) row(i int) []float32 { return t.at[i*t.points.D:][:t.points.D] }

// A query is the search for the neighbours of one point.
type query struct {
	*tree
	self  int // place of the point
	x     []float32
	place []uint32  // of the neighbours so far, nearest first
	d2    []float64 // their squared distances
	count int       // of the neighbours so far
	most  float64   // squared distance that others must not exceed
}

// visit looks for neighbours among the points of a node, the nearer half first.
func (q *query) visit(node int) {
	if node >= 1<<q.levels {
		lo, hi := q.span(node)
		for j := lo; j < hi; j++ {
			if j == q.self {
				continue
			}
			if v := rows.Dist2(q.x, q.row(j)); v <= q.most {
				q.insert(j, v)
			}
		}
		return
	}
	near, far := 2*node, 2*node+1
	nearest, farthest := q.dist2(near), q.dist2(far)
	if farthest < nearest {
		near, far, nearest, farthest = far, near, farthest, nearest
	}
	// A neighbour as far as the last one may have a lower row.
	if nearest <= q.most {
		q.visit(near)
	}
	if farthest <= q.most {
		q.visit(far)
	}
}

// dist2 returns the squared distance of the point from the box of a node. It rounds as
// rows.Dist2 does, number by number, so it is not above that of any point in the box.
func (q *query) dist2(node int) float64 {
	least, largest := q.bounds(node)
	sum := 0.0
	for c, v := range q.x {
		e := float64(max(least[c], min(v, largest[c]))) - float64(v)
		sum += float64(e * e)
	}
	return sum
}

// insert makes the point at place j a neighbour. Where there are enough the last makes
// way, be it the new one.
func (q *query) insert(j int, v float64) {
	to := q.count
	for to > 0 && (q.d2[to-1] > v || q.d2[to-1] == v && q.order[q.place[to-1]] > q.order[j]) {
		to--
	}
	if to == len(q.d2) {
		return
	}
	if q.count < len(q.d2) {
		q.count++
	}
	copy(q.place[to+1:q.count], q.place[to:])
	copy(q.d2[to+1:q.count], q.d2[to:])
	q.place[to], q.d2[to] = uint32(j), v
	if q.count == len(q.d2) {
		q.most = q.d2[q.count-1]
	}
}
