package tree

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// An Index answers questions about some rows of points, in any dimension. In many
// dimensions the boxes of the tree tell little, and a question is answered by the distances
// of most rows. Rows are known by their places in the list that the index was made of.
type Index struct {
	tree  *tree
	place []uint32 // of each row of the list, its place in the tree
	row   []uint32 // of each place in the tree, its row of the list
}

// leafPoints is the most points of a leaf of an index.
const leafPoints = 32

// NewIndex makes an index of the listed rows of p, each listed once, which are float32.
func NewIndex(ctx context.Context, p *rows.Points, list []uint32, workers *par.Workers) (*Index, error) {
	t, err := build(ctx, p, slices.Clone(list), leafPoints, workers)
	if err != nil {
		return nil, err
	}
	x := &Index{tree: t, place: make([]uint32, len(list)), row: make([]uint32, len(list))}
	of := make([]uint32, p.N) // the place in the list of each given row
	for i, given := range list {
		of[given] = uint32(i)
	}
	for place, given := range t.order {
		x.row[place], x.place[of[given]] = of[given], uint32(place)
	}
	return x, nil
}

// IndexBytes is what an index of at most n rows of n points in d dimensions takes.
func IndexBytes(n, d int) int64 {
	return buildBytes(n, d) + nodeBytes(n, d, leafPoints) + int64(n)*(4+4+4+4)
}

// Nearest returns the squared distance of row i from the nearest of the others, +Inf
// where there are none.
func (x *Index) Nearest(i int) float64 {
	var place [1]uint32
	d2 := [1]float64{math.Inf(1)}
	x.NearestOf(i, place[:], d2[:])
	return d2[0]
}

// NearestOf sets place to the rows nearest to row i, and d2 to their squared distances,
// nearest first. At the same distance lower given rows come first. It returns how many
// there are.
func (x *Index) NearestOf(i int, place []uint32, d2 []float64) int {
	at := int(x.place[i])
	q := query{tree: x.tree, self: at, x: x.tree.row(at), place: place, d2: d2, most: math.Inf(1)}
	q.visit(1)
	for e, j := range place[:q.count] {
		place[e] = x.row[j]
	}
	return q.count
}

// Within appends the other rows within the squared distance most of row i, in the order of
// the tree.
func (x *Index) Within(dst []uint32, i int, most float64) []uint32 {
	at := int(x.place[i])
	q := query{tree: x.tree, self: at, x: x.tree.row(at), most: most}
	return x.within(dst, &q, 1)
}

func (x *Index) within(dst []uint32, q *query, node int) []uint32 {
	if q.dist2(node) > q.most {
		return dst
	}
	if node < 1<<q.levels {
		return x.within(x.within(dst, q, 2*node), q, 2*node+1)
	}
	lo, hi := q.span(node)
	for j := lo; j < hi; j++ {
		if j != q.self && rows.Dist2(q.x, q.row(j)) <= q.most {
			dst = append(dst, x.row[j])
		}
	}
	return dst
}
