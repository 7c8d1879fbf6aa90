// Package nearest finds the k nearest rows of a matrix, exactly.
//
//	index, squared, err := nearest.Rows(ctx, queries, gallery, 8, nearest.Settings{Workers: workers})
//
// The squared distance of two rows is the float64 sum of the squared differences of their
// coordinates, from the first to the last. Answers are ordered by it, and among equals by
// row number. The result is the same bit for bit, for any kernels and any number of
// workers.
//
// Computing all these sums takes long. So inner products in float32 (simd.Dots) with a bound of
// their error come first: rows that cannot be among the k nearest are left out, and the sums of
// the others decide. See filter.go for the bound. Where it cannot help, as with few columns,
// nearly as many neighbours as rows, or numbers beyond 1e140, all sums are computed. Products
// need a copy of the gallery, which is not worthwhile for few queries: they are compared with
// the stored rows (scan.go). So are the queries of Near, which finds the rows within a
// distance.
package nearest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// ErrRow reports a row number outside of the matrix, or a repeated one where rows must
// differ.
var ErrRow = errors.New("wrong row number")

// Settings say who does the work. The zero value uses the caller alone, with the best
// kernels of the machine.
type Settings struct {
	Workers *par.Workers
	Kernels *simd.Kernels
	// Progress, if not nil, gets the number of queries answered, which rises, and the
	// number of all. One goroutine at a time calls it.
	Progress func(done, total int)
}

// Rows returns for each row of queries the k nearest rows of gallery, k row numbers per
// query and their squared distances. It makes a copy of the gallery in float32.
//
// Errors: points.ErrShape if the dimensions differ or k is not in 1..gallery rows,
// *points.NonFiniteError, and that of ctx, which is checked every few milliseconds.
// They do not begin with the name of this package, since callers add theirs.
func Rows[M points.Matrix](ctx context.Context, queries, gallery M, k int, settings Settings) (index []int, squared []float64, err error) {
	s, err := newSearch(queries, gallery, k)
	if err != nil {
		return nil, nil, err
	}
	return s.run(ctx, settings)
}

// newSearch returns the search of all rows of queries among all rows of gallery.
func newSearch[M points.Matrix](queries, gallery M, k int) (*search[M], error) {
	nq, dq, err := points.Dims(queries)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	n, d, err := points.Dims(gallery)
	if err != nil {
		return nil, fmt.Errorf("gallery: %w", err)
	}
	if dq != d {
		return nil, fmt.Errorf("%w: queries have dimension %d, the gallery %d", points.ErrShape, dq, d)
	}
	if err := points.CheckFinite(queries); err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	if err := points.CheckFinite(gallery); err != nil {
		return nil, fmt.Errorf("gallery: %w", err)
	}
	return &search[M]{
		queries: queries, queryRows: upTo(nq),
		gallery: gallery, galleryRows: upTo(n),
		d: d, k: k,
	}, nil
}

// Within is Rows between rows of one matrix, given by their numbers: query i of the result
// is row queries[i] of x, and the answers are row numbers of x taken from gallery. A row
// is never its own answer. Gallery rows must differ, queries may repeat.
//
// Errors: those of Rows, where the query's own row does not count as a gallery row, and ErrRow.
func Within[M points.Matrix](ctx context.Context, x M, queries, gallery []int, k int, settings Settings) (index []int, squared []float64, err error) {
	n, d, err := points.Dims(x)
	if err != nil {
		return nil, nil, err
	}
	if err := points.CheckFinite(x); err != nil {
		return nil, nil, err
	}
	inGallery := make([]bool, n)
	for _, row := range gallery {
		if row < 0 || row >= n || inGallery[row] {
			return nil, nil, fmt.Errorf("gallery: %w: row %d of %d", ErrRow, row+1, n)
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
			return nil, nil, fmt.Errorf("queries: %w: row %d of %d", ErrRow, row+1, n)
		}
		if inGallery[row] {
			s.reserved = 1
		}
	}
	return s.run(ctx, settings)
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// tileQueries is the number of queries that one pass over the gallery serves.
const tileQueries = 64

// search is one call. Workers take tiles of queries and write to disjoint parts of the
// result; no two queries share a sum.
type search[M points.Matrix] struct {
	queries, gallery       M
	queryRows, galleryRows []int
	d, k                   int
	leaveOut               bool // a query's own row is not an answer
	reserved               int  // gallery rows some query cannot use

	index   []int
	squared []float64
}

// A tiler answers the queries of one tile, beginning with the given one. It stops when
// the context ends. Each worker has its own.
type tiler interface {
	answer(ctx context.Context, first int)
}

func (s *search[M]) run(ctx context.Context, settings Settings) ([]int, []float64, error) {
	if s.k < 1 || s.k > len(s.galleryRows)-s.reserved {
		return nil, nil, fmt.Errorf("%w: %d neighbours among %d rows", points.ErrShape, s.k, len(s.galleryRows)-s.reserved)
	}
	answers := len(s.queryRows) * s.k
	if answers/s.k != len(s.queryRows) {
		return nil, nil, fmt.Errorf("%w: %d neighbours of %d queries", points.ErrShape, s.k, len(s.queryRows))
	}
	s.index, s.squared = make([]int, answers), make([]float64, answers)
	if s.worthFiltering() && len(s.queryRows) >= filteredQueries {
		f, err := newFilter(ctx, s, settings)
		if err != nil {
			return nil, nil, err
		}
		if f != nil {
			return s.tiles(ctx, settings, func() tiler { return newFiltered(f) })
		}
	}
	if _, single := any(s.gallery).(blas32.General); len(s.queryRows) < fewQueries || single && s.worthFiltering() {
		return s.few(ctx, settings)
	}
	return s.tiles(ctx, settings, func() tiler { return newPlain(s) })
}

// filteredQueries is the number of queries from which a copy of the gallery is worthwhile.
const filteredQueries = 32

// worthFiltering reports whether float32 is likely to save time: sums of few columns are cheap
// anyway, and if a good part of the rows is requested most sums are needed.
func (s *search[M]) worthFiltering() bool {
	return s.d >= 16 && s.k <= min(len(s.galleryRows)/8, 4096)
}

// tiles answers all queries.
func (s *search[M]) tiles(ctx context.Context, settings Settings, newTiler func() tiler) ([]int, []float64, error) {
	queries := len(s.queryRows)
	tilers := make([]tiler, settings.Workers.Count())
	var mutex sync.Mutex
	done := 0
	err := settings.Workers.Do(ctx, split.Blocks(queries, tileQueries), par.Func(func(worker, tile int) {
		if tilers[worker] == nil {
			tilers[worker] = newTiler()
		}
		lo, hi := split.Block(tile, queries, tileQueries)
		tilers[worker].answer(ctx, lo)
		if settings.Progress != nil && ctx.Err() == nil {
			mutex.Lock()
			defer mutex.Unlock()
			done += hi - lo
			settings.Progress(done, queries)
		}
	}))
	if err == nil {
		err = ctx.Err() // a tile may be incomplete
	}
	if err != nil {
		return nil, nil, err
	}
	return s.index, s.squared, nil
}

// put writes the answers to a query.
func (s *search[M]) put(query int, best nearestK) {
	for j, c := range best.sorted() {
		s.index[query*s.k+j], s.squared[query*s.k+j] = c.row, c.squaredDistance
	}
}
