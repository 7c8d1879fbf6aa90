package tree

import (
	"context"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// An Index answers questions about some rows of points, in any dimension. In many
// dimensions the boxes of the tree tell little, and a question is answered by the distances
// of most rows. Rows are known by their places in the list that the index was made of.
type Index struct {
	tree  *tree
	place []uint32 // of each row of the list, its place in the tree
}

// NewIndex makes an index of the listed rows of p, which are float32.
func NewIndex(ctx context.Context, p *rows.Points, list []uint32, workers *par.Workers) (*Index, error) {
	own := &rows.Points{N: len(list), D: p.D, Single: rows.NewView(len(list), p.D, p.D, make([]float32, len(list)*p.D))}
	for i, row := range list {
		copy(own.Single.Row(i), p.Single.Row(int(row)))
	}
	t, err := build(ctx, own, workers)
	if err != nil {
		return nil, err
	}
	x := &Index{tree: t, place: make([]uint32, len(list))}
	for place, row := range t.order {
		x.place[row] = uint32(place)
	}
	return x, nil
}

// IndexBytes is what an index of n rows in d dimensions takes.
func IndexBytes(n, d int) int64 { return Bytes(n, d) + int64(n)*int64(4+4*d) }

// Nearest returns the squared distance of row i from the nearest of the others, +Inf
// where there are none.
func (x *Index) Nearest(i int) float64 {
	var place [1]uint32
	d2 := [1]float64{math.Inf(1)}
	at := int(x.place[i])
	q := query{tree: x.tree, self: at, x: x.tree.row(at), place: place[:], d2: d2[:], most: math.Inf(1)}
	q.visit(1)
	return d2[0]
}

// Within appends the other rows within the squared distance most of row i, in the order of
// the tree.
func (x *Index) Within(dst []uint32, i int, most float64) []uint32 {
	at := int(x.place[i])
	q := query{tree: x.tree, self: at, x: x.tree.row(at), most: most}
	return q.within(dst, 1)
}

func (q *query) within(dst []uint32, node int) []uint32 {
	if q.dist2(node) > q.most {
		return dst
	}
	if node < 1<<q.levels {
		return q.within(q.within(dst, 2*node), 2*node+1)
	}
	lo, hi := q.span(node)
	for j := lo; j < hi; j++ {
		if j != q.self && rows.Dist2(q.x, q.row(j)) <= q.most {
			dst = append(dst, q.order[j])
		}
	}
	return dst
}
