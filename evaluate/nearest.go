package evaluate

import (
	"context"
	"fmt"
	"runtime"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
)

// Matrix is the two types in which rows travel: features are blas32.General,
// embeddings the blas64.General of (*mat.Dense).RawMatrix.
type Matrix = points.Matrix

// Ranking holds the answers of a search, nearest first.
type Ranking struct {
	// K is the number of answers to a query.
	K int
	// Index holds the row numbers of the answers, K for each query in turn. A
	// negative number means that no row came back; the searches of this package
	// always fill all places, others may not.
	Index []int
	// SquaredDistance belongs to Index entry by entry; nil when the distances are not
	// known.
	SquaredDistance []float64
}

// Queries returns the number of queries answered.
func (r *Ranking) Queries() int {
	if r.K < 1 {
		return 0
	}
	return len(r.Index) / r.K
}

// Row returns the answers to query q, nearest first. The slice belongs to r.
func (r *Ranking) Row(q int) []int {
	return r.Index[q*r.K : (q+1)*r.K]
}

// SearchSettings changes how a search runs, not what it finds. A nil pointer and
// zero values mean the defaults.
type SearchSettings struct {
	// Workers is the number of goroutines, at most and by default GOMAXPROCS.
	Workers int
}

// Nearest returns for each row of queries the k nearest rows of gallery, by Euclidean
// distance and among equals by row number. The caller must leave the queries' own rows
// out of the gallery; NearestWithin does so itself.
//
// Errors: ErrShape when the dimensions differ or k is not in 1..gallery rows,
// ErrNonFinite for NaN and infinities, and the error of ctx, which is looked at
// every few milliseconds.
func Nearest[M Matrix](ctx context.Context, queries, gallery M, k int, settings *SearchSettings) (*Ranking, error) {
	nq, dq, err := points.Dims(queries)
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest: queries: %w", err)
	}
	n, d, err := points.Dims(gallery)
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest: gallery: %w", err)
	}
	if dq != d {
		return nil, fmt.Errorf("evaluate: nearest: %w: queries have dimension %d, the gallery %d", ErrShape, dq, d)
	}
	if err := points.CheckFinite(queries); err != nil {
		return nil, fmt.Errorf("evaluate: nearest: queries: %w", err)
	}
	if err := points.CheckFinite(gallery); err != nil {
		return nil, fmt.Errorf("evaluate: nearest: gallery: %w", err)
	}
	s := &search[M]{
		queries: queries, queryRows: upTo(nq),
		gallery: gallery, galleryRows: upTo(n),
		d: d, k: k,
	}
	r, err := s.run(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest: %w", err)
	}
	return r, nil
}

// NearestWithin is Nearest between rows of one matrix, given by their numbers: query i
// of the result is row queries[i] of x, and the answers are row numbers of x taken from
// gallery. A row never answers itself, so both lists may hold all rows, which is
// leave-one-out. Gallery rows must differ, queries may repeat.
//
// Errors: those of Nearest, where k must leave room for the row that is left out, and
// ErrRow.
func NearestWithin[M Matrix](ctx context.Context, x M, queries, gallery []int, k int, settings *SearchSettings) (*Ranking, error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest within: %w", err)
	}
	if err := points.CheckFinite(x); err != nil {
		return nil, fmt.Errorf("evaluate: nearest within: %w", err)
	}
	inGallery := make([]bool, n)
	for _, row := range gallery {
		if row < 0 || row >= n || inGallery[row] {
			return nil, fmt.Errorf("evaluate: nearest within: gallery: %w: %d of %d", ErrRow, row, n)
		}
		inGallery[row] = true
	}
	s := &search[M]{
		queries: x, queryRows: queries,
		gallery: x, galleryRows: gallery,
		d: d, k: k,
		leaveOut: true,
	}
	for _, row := range queries {
		if row < 0 || row >= n {
			return nil, fmt.Errorf("evaluate: nearest within: queries: %w: %d of %d", ErrRow, row, n)
		}
		if inGallery[row] {
			s.reserved = 1
		}
	}
	r, err := s.run(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest within: %w", err)
	}
	return r, nil
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// tileQueries is the number of queries that one pass over the gallery serves.
// Packing a panel costs as much as one query, so the overhead is 1/32; at
// d = 1280 a tile takes 320 KiB and stays in the second-level cache.
const tileQueries = 32

// panelsBetweenChecks is how many panels pass between two looks at the context.
const panelsBetweenChecks = 64

// search is one request. Workers take tiles of queries and write to disjoint
// parts of the result; no two queries share a sum.
type search[M Matrix] struct {
	queries, gallery       M
	queryRows, galleryRows []int
	d, k                   int
	leaveOut               bool // a query's own row is no answer
	reserved               int  // gallery rows some query cannot use
}

func (s *search[M]) run(ctx context.Context, settings *SearchSettings) (*Ranking, error) {
	if s.k < 1 || s.k > len(s.galleryRows)-s.reserved {
		return nil, fmt.Errorf("%w: %d neighbours among %d rows", ErrShape, s.k, len(s.galleryRows)-s.reserved)
	}
	answers := len(s.queryRows) * s.k
	if answers/s.k != len(s.queryRows) {
		return nil, fmt.Errorf("%w: %d neighbours of %d queries", ErrShape, s.k, len(s.queryRows))
	}
	r := &Ranking{K: s.k, Index: make([]int, answers), SquaredDistance: make([]float64, answers)}
	tiles := (len(s.queryRows) + tileQueries - 1) / tileQueries
	most := runtime.GOMAXPROCS(0)
	if settings != nil && settings.Workers > 0 {
		most = min(most, settings.Workers)
	}
	workers := par.New(min(most, max(tiles, 1)))
	defer workers.Close()
	memory := make([]*worker[M], workers.Count())
	err := workers.Do(ctx, tiles, par.Func(func(w, tile int) {
		if memory[w] == nil {
			memory[w] = newWorker(s)
		}
		memory[w].answer(ctx, r, tile*tileQueries)
	}))
	if err == nil {
		err = ctx.Err() // a tile may have been left half done
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// worker is the memory of one goroutine.
type worker[M Matrix] struct {
	*search[M]
	tile  []float64 // tileQueries rows
	panel []float64 // panelRows gallery rows, interleaved
	row   []float64
	best  []nearestK // one a query of the tile
}

func newWorker[M Matrix](s *search[M]) *worker[M] {
	w := &worker[M]{
		search: s,
		tile:   make([]float64, tileQueries*s.d),
		panel:  make([]float64, panelRows*s.d),
		row:    make([]float64, s.d),
		best:   make([]nearestK, tileQueries),
	}
	for i := range w.best {
		w.best[i] = make(nearestK, 0, s.k)
	}
	return w
}

// answer searches for the queries of one tile, beginning with the given one. It
// gives up when the context ends.
func (w *worker[M]) answer(ctx context.Context, r *Ranking, first int) {
	rows := w.queryRows[first:min(first+tileQueries, len(w.queryRows))]
	for i, row := range rows {
		points.ReadRow(w.tile[i*w.d:(i+1)*w.d], w.queries, row)
		w.best[i] = w.best[i][:0]
	}
	for g := 0; g < len(w.galleryRows); g += panelRows {
		if g%(panelRows*panelsBetweenChecks) == 0 && ctx.Err() != nil {
			return
		}
		panel := w.galleryRows[g:min(g+panelRows, len(w.galleryRows))]
		w.pack(panel)
		for i := 0; i < len(rows); i += 2 {
			// The last of an odd number of queries is computed twice.
			other := min(i+1, len(rows)-1)
			s := squaredDistances(w.query(i), w.query(other), w.panel)
			w.offer(i, rows[i], panel, s[:panelRows])
			if other != i {
				w.offer(other, rows[other], panel, s[panelRows:])
			}
		}
	}
	for i := range rows {
		at := (first + i) * w.k
		for j, c := range w.best[i].sorted() {
			r.Index[at+j] = c.row
			r.SquaredDistance[at+j] = c.squaredDistance
		}
	}
}

func (w *worker[M]) query(i int) []float64 { return w.tile[i*w.d : (i+1)*w.d] }

// pack interleaves the rows of a panel: coordinate j of row r goes to
// panel[panelRows*j+r]. Missing rows keep what is there and are not looked at.
func (w *worker[M]) pack(rows []int) {
	for r, row := range rows {
		points.ReadRow(w.row, w.gallery, row)
		for j, v := range w.row {
			w.panel[panelRows*j+r] = v
		}
	}
}

func (w *worker[M]) offer(i, queryRow int, panel []int, distances []float64) {
	for r, row := range panel {
		if !w.leaveOut || row != queryRow {
			w.best[i].offer(w.k, candidate{squaredDistance: distances[r], row: row})
		}
	}
}
