package tree

import "github.com/seed-64e14a55/privatemail/kernel/internal/rows"

// A query is the search for the neighbours of one point of an index.
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
