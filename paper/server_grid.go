package paper

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
)

// A grid finds the nearest of many points in a few dimensions, exactly. Space is
// cut into equal boxes along the first one, two or three coordinates, about
// pointsPerCell points in each; points beyond the edge belong to the cell at
// the edge. A search looks at rings of cells around the query until the next
// ring is farther away than the last of the points found. Whatever the points
// are like the answer is right; where nearly all of them share a cell it takes
// the time of looking at all of them.
//
// It is immutable and safe for concurrent use.
type grid struct {
	points blas64.General
	axes   []axis
	first  []int32 // where the points of a cell begin in rows, and an end
	rows   []int32 // by cell, ascending within one
}

// An axis cuts one coordinate into count intervals. The outer ones are open.
type axis struct {
	low, side float64
	count     int
}

const (
	maxAxes       = 3
	pointsPerCell = 4
	// trim is the share of points beyond the edge at either end of an axis: a
	// few far away must not make all cells large.
	trim = 0.01
)

// at returns the interval of a coordinate.
func (a axis) at(v float64) int {
	if t := (v - a.low) / a.side; t > 0 { // false where side is 0
		return int(min(t, float64(a.count-1)))
	}
	return 0
}

// newGrid takes finite points, at least one and at most 2^31, and keeps them.
func newGrid(x blas64.General) *grid {
	g := &grid{points: x, axes: make([]axis, min(x.Cols, maxAxes)), rows: make([]int32, x.Rows)}
	count := max(1, int(math.Pow(float64(x.Rows)/pointsPerCell, 1/float64(len(g.axes)))))
	sorted := make([]float64, x.Rows)
	cells := 1
	for c := range g.axes {
		for i := range sorted {
			sorted[i] = x.Data[i*x.Stride+c]
		}
		slices.Sort(sorted)
		cut := int(trim * float64(x.Rows))
		low, high := sorted[cut], sorted[x.Rows-1-cut]
		g.axes[c] = axis{low: low, side: (high - low) / float64(count), count: count}
		if s := g.axes[c].side; !(s > 0) || math.IsInf(s, 1) {
			g.axes[c] = axis{count: 1}
		}
		cells *= g.axes[c].count
	}
	// A counting sort by cell keeps the rows of each in order.
	g.first = make([]int32, cells+1)
	of := make([]int32, x.Rows)
	for i := range of {
		of[i] = int32(g.cell(g.row(i)))
		g.first[of[i]+1]++
	}
	for c := range cells {
		g.first[c+1] += g.first[c]
	}
	next := slices.Clone(g.first)
	for i, c := range of {
		g.rows[next[c]] = int32(i)
		next[c]++
	}
	return g
}

func (g *grid) row(i int) []float64 { return g.points.Data[i*g.points.Stride:][:g.points.Cols] }

func (g *grid) cell(x []float64) int {
	cell := 0
	for c, a := range g.axes {
		cell = cell*a.count + a.at(x[c])
	}
	return cell
}

// A candidate is a point at its distance from a query. Candidates are ordered by
// distance and among equals by row, a total order: what is found does not
// depend on the order of the search.
type candidate struct {
	squaredDistance float64
	row             int
}

func (c candidate) compare(o candidate) int {
	return cmp.Or(cmp.Compare(c.squaredDistance, o.squaredDistance), cmp.Compare(c.row, o.row))
}

// nearest returns the k points nearest to the finite query, nearest first; all
// of them where there are fewer.
func (g *grid) nearest(query []float64, k int) []candidate {
	s := search{grid: g, query: query, k: min(k, g.points.Rows)}
	s.best = make([]candidate, 0, s.k+1)
	for c, a := range g.axes {
		s.centre[c] = a.at(query[c])
	}
	for ring := 0; ; ring++ {
		gap := s.gap(ring)
		if math.IsInf(gap, 1) || len(s.best) == s.k && gap*gap > s.best[s.k-1].squaredDistance {
			return s.best
		}
		s.visit(0, 0, ring, ring == 0)
	}
}

// A search is one query under way.
type search struct {
	*grid
	query  []float64
	centre [maxAxes]int
	k      int
	best   []candidate // sorted
}

// gap returns a distance that no point in the given ring or a later one is
// nearer than: along some axis there are ring-1 whole intervals in between. It
// is infinite when there are no such points. The factor is for the rounding of
// intervals, of which there are too few for it to matter more.
func (s *search) gap(ring int) float64 {
	gap := math.Inf(1)
	for c, a := range s.axes {
		if ring <= max(s.centre[c], a.count-1-s.centre[c]) {
			gap = min(gap, float64(max(ring-1, 0))*a.side*(1-1e-9))
		}
	}
	return gap
}

// visit offers the points of all cells of a ring: those that are ring intervals
// from the centre along one axis and no more along the others. cell is the part
// of the cell's number that the axes before c make, edge whether one of them is
// at the full distance.
func (s *search) visit(c, cell, ring int, edge bool) {
	if c == len(s.axes) {
		if edge {
			for _, row := range s.rows[s.first[cell]:s.first[cell+1]] {
				s.offer(int(row))
			}
		}
		return
	}
	a, last := s.axes[c], c == len(s.axes)-1
	lo, hi := s.centre[c]-ring, s.centre[c]+ring
	for i := max(lo, 0); i <= min(hi, a.count-1); i++ {
		if last && !edge && i > lo && i < hi {
			// Only the two ends are in the ring.
			if hi >= a.count {
				break
			}
			i = hi
		}
		s.visit(c+1, cell*a.count+i, ring, edge || i == lo || i == hi)
	}
}

func (s *search) offer(row int) {
	sum := 0.0
	for j, v := range s.row(row) {
		t := s.query[j] - v
		sum += float64(t * t)
	}
	c := candidate{sum, row}
	if len(s.best) == s.k && c.compare(s.best[s.k-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.best, c, candidate.compare)
	s.best = slices.Insert(s.best, at, c)
	s.best = s.best[:min(len(s.best), s.k)]
}
