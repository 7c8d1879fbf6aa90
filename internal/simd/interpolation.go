package simd

// NodeLanes is the number of chains in which PointsToNodes adds. The points of a call come
// in multiples of it.
const NodeLanes = 8

// LagrangeBasis evaluates the polynomials that are 1 in one node and 0 in the others. With
// m = len(t) points, for every node a and every point i,
//
//	dst[a m + i] = factor[a] prod over b != a of (t[i] - nodes[b])
//
// Where a is in the first half of the nodes, this is the product of the differences before
// a, from the first node on, times factor[a], times the product of those after a, from the
// last node on. In the second half the two products change places. In the middle of an odd
// number of nodes it is the product of both, times factor[a]. The bits are the same at
// every level.
//
// m must be a multiple of NodeLanes. LagrangeBasis panics where it is not or slices do not
// fit, and allocates nothing.
func (s *Kernels) LagrangeBasis(dst, t, nodes, factor []float64) {
	m, p := len(t), len(nodes)
	switch {
	case m%NodeLanes != 0:
		panic("simd: lagrange basis: points do not fill the lanes")
	case len(factor) < p || len(dst) < p*m:
		panic("simd: lagrange basis: short slice")
	case m == 0 || p == 0:
		return
	}
	reads(t)
	writes(dst[:p*m])
	s.lagrangeBasis(dst, t, nodes, factor)
}

// lagrangeBasisGo is the reference.
func lagrangeBasisGo(dst, t, nodes, factor []float64) {
	m, p := len(t), len(nodes)
	for i, at := range t {
		// The products from both ends are computed at once: neither waits for the other.
		left, right := 1.0, 1.0
		a, b := 0, p-1
		for ; a < b; a, b = a+1, b-1 {
			dst[a*m+i], dst[b*m+i] = left*factor[a], right*factor[b]
			left *= at - nodes[a]
			right *= at - nodes[b]
		}
		if a == b {
			dst[a*m+i] = left * right * factor[a]
			left, right = left*(at-nodes[a]), right*(at-nodes[a])
			a, b = a+1, b-1
		}
		for ; a < p; a, b = a+1, b-1 {
			dst[a*m+i] *= left
			dst[b*m+i] *= right
			left *= at - nodes[a]
			right *= at - nodes[b]
		}
	}
}

// PointsToNodes adds the numbers x of m = len(x) points to those of the nodes of a tensor
// grid, which has rows of p nodes. rows has m weights for every row of nodes, and last m
// weights for every node in a row, one after the other:
//
//	dst[r p + b] += sum over i of rows[r m + i] x[i] last[b m + i]
//
// Products are rounded from left to right and added in eight chains, point i in chain
// i mod 8. The sum is ((c0 + c4) + (c2 + c6)) + ((c1 + c5) + (c3 + c7)). So the result has
// the same bits at every level, and a point whose x is 0 adds nothing to it.
//
// m must be a multiple of NodeLanes, and len(last) a multiple of m. PointsToNodes panics where
// slices do not fit, and allocates nothing.
func (s *Kernels) PointsToNodes(dst, rows, last, x []float64) {
	m := len(x)
	if m == 0 {
		return
	}
	checkNodes(m, rows, last, dst)
	reads(rows)
	reads(last)
	reads(x)
	writes(dst)
	if len(dst) > 0 {
		s.pointsToNodes(dst, rows, last, x)
	}
}

// checkNodes panics where the weights of m points do not fit those of a grid.
func checkNodes(m int, rows, last, nodes []float64) {
	switch {
	case m%NodeLanes != 0:
		panic("simd: nodes: points do not fill the lanes")
	case len(rows)%m != 0 || len(last)%m != 0 || len(nodes) != len(rows)/m*(len(last)/m):
		panic("simd: nodes: weights do not fit")
	}
}

// pointsToNodesGo is the reference.
func pointsToNodesGo(dst, rows, last, x []float64) {
	m := len(x)
	p := len(last) / m
	for at := range dst {
		row, column := rows[at/p*m:][:m], last[at%p*m:][:m]
		var c0, c1, c2, c3, c4, c5, c6, c7 float64
		for i := 0; i < m; i += NodeLanes {
			r, v, l := (*[NodeLanes]float64)(row[i:]), (*[NodeLanes]float64)(x[i:]), (*[NodeLanes]float64)(column[i:])
			c0 += float64(float64(r[0]*v[0]) * l[0]) // conversions keep it from being fused
			c1 += float64(float64(r[1]*v[1]) * l[1])
			c2 += float64(float64(r[2]*v[2]) * l[2])
			c3 += float64(float64(r[3]*v[3]) * l[3])
			c4 += float64(float64(r[4]*v[4]) * l[4])
			c5 += float64(float64(r[5]*v[5]) * l[5])
			c6 += float64(float64(r[6]*v[6]) * l[6])
			c7 += float64(float64(r[7]*v[7]) * l[7])
		}
		dst[at] += ((c0 + c4) + (c2 + c6)) + ((c1 + c5) + (c3 + c7))
	}
}

// NodesToPoints interpolates in the other direction. For the first n of m = len(dst) points
//
//	dst[i] = sum over r of rows[r m + i] (sum over b of last[b m + i] nodes[r p + b])
//
// Both sums are in the order of the nodes, and products are rounded before they are added.
// The bits are the same at every level, except for the numbers of dst from n on. The
// conditions are those of PointsToNodes, and n must not exceed m.
func (s *Kernels) NodesToPoints(dst, rows, last, nodes []float64, n int) {
	m := len(dst)
	if n > m {
		panic("simd: nodes: short destination")
	}
	if n <= 0 {
		return
	}
	checkNodes(m, rows, last, nodes)
	reads(rows)
	reads(last)
	reads(nodes)
	writes(dst)
	if len(nodes) == 0 {
		clear(dst[:n])
		return
	}
	s.nodesToPoints(dst, rows, last, nodes, n)
}

// nodesToPointsGo is the reference.
func nodesToPointsGo(dst, rows, last, nodes []float64, n int) {
	m := len(dst)
	p := len(last) / m
	for i := range dst[:n] {
		sum := 0.0
		for r := range len(rows) / m {
			inner := 0.0
			for b, v := range nodes[r*p:][:p] {
				inner += float64(last[b*m+i] * v)
			}
			sum += float64(rows[r*m+i] * inner)
		}
		dst[i] = sum
	}
}
