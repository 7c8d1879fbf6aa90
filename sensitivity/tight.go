package sensitivity

import (
	"container/heap"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Tight returns the bound of Theorem 1 for the query with the start Q, N x k: N
// counts all rows, including the private one. It is the largest over the rows
// that may be private. The operator chooses the form: Full, Background (Theorem
// 1 with the background as the smallest weight) or Floor (V1); the table
// ClassSize chooses Theorem 1s. The proofs are in theorem1.go, floor.go and
// class_size.go.
//
// H_s is exact for k = 1 and 2. First every row gets a cheap upper bound, in
// O(k): Theorem 1 with sqrt(n (S^2 + N d_s^2)) for H_s and similar bounds for
// the rest. Then rows are evaluated one by one, the largest cheap bound first,
// until no remaining cheap bound exceeds the best bound evaluated. No row left
// out can exceed it, so the result is the maximum. After 2^22/N rows, but no
// fewer than 64, Tight returns the largest remaining cheap bound instead, which
// is still an upper bound for every row. Time O(N k^2) and O(N log N) for each
// row evaluated; at N = 100,000, k = 2 well under a second for a random Q.
//
// Errors: ErrRelation, ErrQuery, ErrNoBound, ErrShape and ErrNonFinite.
func (query Query) Tight(relation Relation, q blas64.General, rows Rows) (Bound, error) {
	b, err := tight(relation, query, of(q), rows, 0)
	return b, named("tight", err)
}

// tight is Tight with a number of rows to evaluate one by one, 0 for the
// default.
func tight(relation Relation, query Query, m measurement, rows Rows, limit int) (Bound, error) {
	form, derivation, t, err := formOf(relation, query, m.rows)
	if err != nil {
		return Bound{}, err
	}
	start, err := m.start()
	if err != nil {
		return Bound{}, err
	}
	g := start.g
	if err := rows.check(g.rows); err != nil {
		return Bound{}, err
	}
	if limit == 0 {
		limit = max(minEvaluated, maxEvaluated/g.rows)
	}
	s := newSearch(g, rows)
	delta, row := s.largest(form, limit)
	return newBound(delta/2, g.exponent, Bound{
		relation: relation, query: query, derivation: derivation, of: g.identity(query, t), row: row, rows: rows.clone(),
	})
}

// maxEvaluated/N rows are evaluated one by one, but no fewer than minEvaluated.
const (
	minEvaluated = 64
	maxEvaluated = 1 << 22
)

// Scalar returns the bound of Theorem 1, V1, V2 or 1s from the norms of Q alone,
// for all rows released. It is never below that of Tight for a Q with these norms, and
// holds for every Q with norms at most these. Norms.Rows is N, all rows including the
// private one. Scalar is for planning before there is a Q; package mechanism does not
// calibrate to its bounds. Errors are those of Tight.
func (query Query) Scalar(relation Relation, norms Norms) (Bound, error) {
	b, err := scalar(relation, query, norms)
	return b, named("scalar", err)
}

func scalar(relation Relation, query Query, norms Norms) (Bound, error) {
	form, derivation, t, err := formOf(relation, query, norms.Rows)
	if err != nil {
		return Bound{}, err
	}
	if err := norms.check(); err != nil {
		return Bound{}, err
	}
	if derivation == byTheorem1 {
		derivation = byTheorem1Scalar
	}
	_, exponent := math.Frexp(norms.Frobenius)
	down := func(v float64) float64 { return math.Ldexp(v, -exponent) }
	q := overall{n: float64(norms.Rows - 1), frobenius: down(norms.Frobenius), spectral: down(norms.Spectral), radius: down(norms.Radius)}
	return newBound(both(form, shapeFromAbove(down(norms.Distance), q), q)/2, exponent, Bound{
		relation: relation, query: query, derivation: derivation, row: -1,
		of: identity{query: query.String(), table: t, rows: norms.Rows, frobenius: norms.Frobenius, spectral: norms.Spectral, radius: norms.Radius},
	})
}

// formOf checks everything except Q. It returns the constants of the theorem
// that covers the query, and the range of its table.
func formOf(relation Relation, query Query, rows int) (form, string, span, error) {
	if err := relation.check(); err != nil {
		return nil, "", span{}, err
	}
	t, err := query.check()
	if err != nil {
		return nil, "", span{}, err
	}
	if rows < 2 {
		return nil, "", span{}, refuse(ErrShape, "%d rows, want the private row and at least one more", rows)
	}
	n, derivation := float64(rows-1), byTheorem1
	switch o := query.Operator.(type) {
	case Floor:
		if err := o.check(); err != nil {
			return nil, "", span{}, err
		}
		if t.classSize {
			return nil, "", span{}, refuse(ErrNoBound, "class sizes that count the private row do not go with a degree floor")
		}
		return newFloorForm(relation, o, t, query.Alpha, n), byFloor, t, nil
	case Background:
		derivation = byBackground
	}
	lv, err := query.Operator.levels(query.Sigma)
	if err != nil {
		return nil, "", span{}, err
	}
	if t.classSize {
		derivation = byTheorem1s
	}
	return newTheorem1(relation, lv, t, query.Alpha, n), derivation, t, nil
}

// shapeFromAbove returns upper bounds for all numbers of a row, from its
// distance to the mean: |Z_s|_F exactly, |Z_s|_2^2 <= S^2 + N d^2, H_s <=
// sqrt(n) |Z_s|_2 and sum <= sqrt(n) |Z_s|_F by Cauchy and Schwarz, and the
// farthest row by the triangle inequality.
func shapeFromAbove(d float64, q overall) rowShape {
	far := math.Sqrt(q.n+1) * d
	r := rowShape{zFrob: math.Hypot(q.frobenius, far), farthest: d + q.radius, released: true, others: q.n}
	r.zSpec = math.Hypot(q.spectral, far)
	r.h = math.Sqrt(q.n) * r.zSpec
	r.sum = math.Sqrt(q.n) * r.zFrob
	r.zPart = r.zFrob
	return r
}

// search looks for the private row with the largest bound.
type search struct {
	g       *geometry
	q       overall
	private []int // nil: all

	released  []bool // nil: all
	count     int    // released rows
	partMean  []float64
	partFrob2 float64 // of the released rows about partMean

	scratch planar
}

func newSearch(g *geometry, rows Rows) *search {
	s := &search{g: g, private: rows.Private, q: overall{
		n: float64(g.rows - 1), frobenius: g.frobenius, spectral: g.spectral, radius: g.radius,
	}}
	if rows.Released == nil || len(rows.Released) == g.rows {
		return s
	}
	s.q.partial = true
	s.count = len(rows.Released)
	s.released = make([]bool, g.rows)
	s.partMean = make([]float64, g.columns)
	for _, i := range rows.Released {
		s.released[i] = true
	}
	for c := range s.partMean {
		var column accumulator
		for _, i := range rows.Released {
			column.add(g.row(i)[c])
		}
		s.partMean[c] = column.sum() / float64(s.count)
	}
	var total accumulator
	for _, i := range rows.Released {
		total.add(squaredDistance(g.row(i), s.partMean))
	}
	s.partFrob2 = total.sum()
	// The largest sum of distances from a released row, or a bound on it where
	// there are many.
	exact := s.count*g.columns <= maxSums/g.rows
	for _, i := range rows.Released {
		if exact {
			sum, _ := g.distances(i)
			s.q.sumPart = max(s.q.sumPart, sum)
		} else {
			s.q.sumPart = max(s.q.sumPart, math.Sqrt(s.q.n)*g.zFrobenius(i))
		}
	}
	return s
}

// maxSums limits the work for the sums of distances from released rows.
const maxSums = 1 << 27

func squaredDistance(a, b []float64) (d2 float64) {
	for i, v := range a {
		d := v - b[i]
		d2 += d * d
	}
	return d2
}

// fromAbove returns the shape of row i with upper bounds, in O(k).
func (s *search) fromAbove(i int) rowShape {
	r := shapeFromAbove(s.g.distance[i], s.q)
	if s.released == nil {
		return r
	}
	r.released = s.released[i]
	r.others = float64(s.count)
	if r.released {
		r.others--
	}
	// Row i itself adds nothing to the sum over released rows.
	r.zPart = 0
	if r.others > 0 {
		r.zPart = math.Sqrt(s.partFrob2+float64(s.count)*squaredDistance(s.g.row(i), s.partMean)) + 4*s.g.errorOf(s.count)
	}
	return r
}

// evaluate returns the shape of row i, H_s exact for one and two columns.
func (s *search) evaluate(i int) rowShape {
	r := s.fromAbove(i)
	r.zSpec = min(r.zSpec, s.g.zSpectral(i))
	r.sum, r.farthest = s.g.distances(i)
	r.h = min(r.sum, math.Sqrt(s.q.n)*r.zSpec)
	if s.g.columns == 2 {
		r.h = min(r.h, s.scratch.exactPlanar(s.g, i))
	}
	return r
}

// largest returns an upper bound of 2 Delta(s) for all private rows, the
// maximum unless more than limit rows have to be evaluated, and the row it
// belongs to.
//
// Proof: let a_i >= b_i be the two evaluations of row i (the form is
// non-decreasing in every field of the shape). Rows are taken in descending
// order of a_i. If the loop ends at row i because a_i <= best, all rows from i
// on have b <= a <= a_i <= best, and all before i have b <= best. If it ends at
// the limit, all rows from i on have b <= a_i, and the result is max(best, a_i).
func (s *search) largest(f form, limit int) (best float64, row int) {
	private := s.private
	if private == nil {
		private = make([]int, s.g.rows)
		for i := range private {
			private[i] = i
		}
	}
	order := make(candidates, len(private))
	for c, i := range private {
		above := both(f, s.fromAbove(i), s.q)
		if math.IsNaN(above) {
			above = math.Inf(1) // no number bounds the row, and a heap needs an order
		}
		order[c] = candidate{above, i}
	}
	heap.Init(&order)
	best, row = -1, -1
	for n := 0; len(order) > 0; n++ {
		c := order[0]
		if c.above <= best {
			break
		}
		if n == limit {
			return c.above, c.row
		}
		if v := both(f, s.evaluate(c.row), s.q); v > best {
			best, row = v, c.row
		}
		heap.Pop(&order)
	}
	return best, row
}

// A candidate is a row and its cheap bound.
type candidate struct {
	above float64
	row   int
}

// candidates is a heap: the first has the largest bound, and among equal bounds the first
// row. Only a few candidates are taken from it, so sorting them all would take longer.
type candidates []candidate

func (c candidates) Len() int { return len(c) }

func (c candidates) Less(i, j int) bool {
	return c[i].above > c[j].above || c[i].above == c[j].above && c[i].row < c[j].row
}

func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }

// Push is for heap.Interface; nothing is added.
func (c *candidates) Push(v any) { *c = append(*c, v.(candidate)) }

// Pop drops the last. Its result is not used.
func (c *candidates) Pop() any {
	*c = (*c)[:len(*c)-1]
	return nil
}

func (g *geometry) identity(query Query, t span) identity {
	up := func(v float64) float64 { return math.Ldexp(v, g.exponent) }
	return identity{
		query: query.String(), table: t, rows: g.rows, columns: g.columns, digest: g.digest,
		frobenius: up(g.frobenius), spectral: up(g.spectral), radius: up(g.radius),
	}
}
