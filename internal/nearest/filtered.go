package nearest

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// filtered answers queries with the help of a filter.
type filtered[M points.Matrix] struct {
	*filter[M]
	need     []float64 // of the rows of a gallery tile
	image    []float32 // of the queries of the tile
	products []float32
	row      []float64
	state    [tileQueries]state
}

// state is what is known about a query's neighbours. Rows are given by their places in
// the list of gallery rows.
type state struct {
	row          int // its own row
	norm, missed float64
	limit        limit
	uppers       nearestK // the k smallest upper bounds
	kept         []kept   // rows whose distances have to be computed
	best         nearestK // the nearest of the computed ones
}

type kept struct {
	at      int
	product float32
}

// room is how many rows a query keeps before some are computed or dropped.
func (f *filter[M]) room() int { return max(1024, 4*f.k) }

func newFiltered[M points.Matrix](f *filter[M]) *filtered[M] {
	t := &filtered[M]{
		filter:   f,
		need:     make([]float64, f.galleryTile),
		image:    make([]float32, tileQueries*f.d),
		products: make([]float32, tileQueries*f.galleryTile),
		row:      make([]float64, f.d),
	}
	for i := range t.state {
		t.state[i].uppers, t.state[i].best = make(nearestK, 0, f.k), make(nearestK, 0, f.k)
	}
	return t
}

func (t *filtered[M]) answer(ctx context.Context, first int) {
	rows := t.queryRows[first:min(first+tileQueries, len(t.queryRows))]
	for i, row := range rows {
		t.begin(i, row)
	}
	for lo := 0; lo < len(t.galleryRows); lo += t.galleryTile {
		if ctx.Err() != nil {
			return
		}
		hi := min(lo+t.galleryTile, len(t.galleryRows))
		t.multiply(len(rows), lo, hi)
		for i := range rows {
			if t.look(i, lo, hi); len(t.state[i].kept) > t.room() {
				t.makeRoom(i)
			}
		}
	}
	for i := range rows {
		if ctx.Err() != nil {
			return
		}
		s := &t.state[i]
		t.drop(s)
		t.compute(s)
		t.put(first+i, s.best)
	}
}

// begin prepares query i of the tile.
func (t *filtered[M]) begin(i, row int) {
	s := &t.state[i]
	points.ReadRow(t.row, t.queries, row)
	s.row = row
	s.norm, s.missed = t.round(t.image[i*t.d:][:t.d], t.row)
	s.limit = t.limitOf(s.norm, s.missed, math.Inf(1))
	s.uppers, s.kept, s.best = s.uppers[:0], s.kept[:0], s.best[:0]
}

// multiply computes the inner products of the queries with the gallery rows lo to hi-1.
func (t *filtered[M]) multiply(queries, lo, hi int) {
	t.kernels.Dots(simd.RowsOf(t.products, t.galleryTile), simd.RowsOf(t.image, t.d), simd.RowsOf(t.filter.image[lo*t.d:], t.d), queries, hi-lo, t.d)
	for i := lo; i < hi; i++ {
		t.need[i-lo] = t.filter.need(i)
	}
}

// look keeps those of the rows lo to hi-1 that query i may need.
func (t *filtered[M]) look(i, lo, hi int) {
	s := &t.state[i]
	products := t.products[i*t.galleryTile:][:hi-lo]
	need, missed := t.need[:len(products)], t.missed[lo:hi]
	for j, p := range products {
		if 2*float64(p) < s.limit.base+need[j]-s.limit.slope*missed[j] {
			continue // the row does not stay
		}
		at := lo + j
		if t.leaveOut && t.galleryRows[at] == s.row {
			continue
		}
		s.kept = append(s.kept, kept{at, p})
		upper := t.upper(s.norm, s.missed, at, p)
		if len(s.uppers) == t.k && upper >= s.uppers[0].squaredDistance {
			continue
		}
		s.uppers.offer(t.k, candidate{squaredDistance: upper, row: at})
		if len(s.uppers) == t.k {
			s.limit = t.limitOf(s.norm, s.missed, s.uppers[0].squaredDistance)
		}
	}
}

// drop removes the rows that the current limit excludes.
func (t *filtered[M]) drop(s *state) {
	left := s.kept[:0]
	for _, c := range s.kept {
		if t.stays(s.limit, c.at, c.product) {
			left = append(left, c)
		}
	}
	s.kept = left
}

// makeRoom drops rows of query i, and computes the others if there are still many: rows
// that are all at one distance cannot be dropped.
func (t *filtered[M]) makeRoom(i int) {
	s := &t.state[i]
	if t.drop(s); len(s.kept) > t.room()/2 {
		t.compute(s)
	}
}

// compute computes the distances of the kept rows, and removes them.
func (t *filtered[M]) compute(s *state) {
	points.ReadRow(t.row, t.queries, s.row)
	for from := 0; from < len(s.kept); from += panelRows {
		panel := s.kept[from:min(from+panelRows, len(s.kept))]
		var rows [panelRows]int
		for r := range rows {
			rows[r] = t.galleryRows[panel[min(r, len(panel)-1)].at]
		}
		squared := distancesTo(t.row, t.gallery, rows)
		for r := range panel {
			s.best.offer(t.k, candidate{squaredDistance: squared[r], row: rows[r]})
		}
	}
	s.kept = s.kept[:0]
}

// distancesTo returns the squared distances of a query from four rows of x.
func distancesTo[M points.Matrix](query []float64, x M, rows [panelRows]int) [panelRows]float64 {
	if single, ok := any(x).(blas32.General); ok {
		return fourDistances(query, single.Data, single.Stride, rows)
	}
	double := any(x).(blas64.General)
	return fourDistances(query, double.Data, double.Stride, rows)
}
