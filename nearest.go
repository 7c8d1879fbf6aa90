package privatemail

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Nearest finds the k nearest rows of the features for every row of queries, exactly: by
// Euclidean distance, computed in float64, and at equal distances by row number. Those of query i
// go to places i*k to i*k+k-1 of ids, nearest first, and their distances to the same places of
// distances. Either slice may be nil. The zero value of queries finds the neighbours of the
// features themselves; no row is its own neighbour.
//
// The bits are the same for any number of workers and at every level. The memory limit counts ids and
// distances, which share no memory with features and queries. On an error some of them may have
// been written. Errors: ErrClosed, kernel.ErrShape for sizes that do not fit and for more
// neighbours than there are, kernel.ErrEmpty, ErrNonFinite and ErrMemory, sparse.ErrAlias, and the
// error of ctx.
func (e *Engine) Nearest(ctx context.Context, features, queries blas32.General, k int, ids []int64, distances []float32) error {
	return findNearest(ctx, e, &nearestSearch{features: features, queries: queries, k: k}, 8, ids, distances)
}

// Nearest32 is Nearest with row numbers of 4 bytes, as in sparse matrices. More features than
// such numbers can count give kernel.ErrShape.
func (e *Engine) Nearest32(ctx context.Context, features, queries blas32.General, k int, ids []int32, distances []float32) error {
	if features.Rows > math.MaxInt32 {
		return fmt.Errorf("%w: %d rows are too many for row numbers of 4 bytes", kernel.ErrShape, features.Rows)
	}
	return findNearest(ctx, e, &nearestSearch{features: features, queries: queries, k: k}, 4, ids, distances)
}

// rowNumber is a type of row numbers.
type rowNumber interface{ int32 | int64 }

// findNearest is Nearest for row numbers of either type, of the given size in bytes.
func findNearest[T rowNumber](ctx context.Context, e *Engine, s *nearestSearch, size float64, ids []T, distances []float32) (err error) {
	c, err := e.begin(ctx, "nearest")
	if err != nil {
		return err
	}
	defer c.end(&err)
	if err := s.check(); err != nil {
		return err
	}
	answers := s.asked() * s.k // no overflow: check has ensured it
	if ids != nil && len(ids) != answers || distances != nil && len(distances) != answers {
		return fmt.Errorf("%w: %d ids and %d distances for %d neighbours of %d rows", kernel.ErrShape, len(ids), len(distances), s.k, s.asked())
	}
	for _, x := range []blas32.General{s.features, s.queries} {
		if mem.Overlap(ids, used(x)) || mem.Overlap(distances, used(x)) {
			return fmt.Errorf("%w: ids or distances share memory with the features or the queries", sparse.ErrAlias)
		}
	}
	least := size*float64(len(ids)) + 4*float64(len(distances))
	if !s.within() {
		least += s.bytes()
	}
	m, err := e.reserveInTurn(ctx, least, s.what())
	if err != nil {
		return err
	}
	defer m.release()
	for m.next(ctx, &err) {
		if s.within() {
			err = e.nearestWithin(ctx, m, s, func(row int, near []uint32, squared []float64) {
				writeNearest(ids, distances, row*s.k, near, squared)
			})
			continue
		}
		var index []int
		var squared []float64
		if index, squared, err = e.nearestAmong(ctx, s); err == nil {
			writeNearest(ids, distances, 0, index, squared)
		}
	}
	return err
}

// writeNearest writes neighbours to ids and distances, from place at on. Either slice may be
// nil.
func writeNearest[T rowNumber, R uint32 | int](ids []T, distances []float32, at int, near []R, squared []float64) {
	if ids != nil {
		for e, j := range near {
			ids[at+e] = T(j)
		}
	}
	if distances != nil {
		for e, v := range squared {
			distances[at+e] = float32(math.Sqrt(v))
		}
	}
}

// A nearestSearch holds the features, the queries and the number of neighbours.
// No queries means the features.
type nearestSearch struct {
	features, queries blas32.General
	k                 int
}

// within reports whether the queries are the features themselves.
func (s *nearestSearch) within() bool {
	return s.queries.Data == nil && s.queries.Rows == 0 && s.queries.Cols == 0
}

// asked is the number of queries.
func (s *nearestSearch) asked() int {
	if s.within() {
		return s.features.Rows
	}
	return s.queries.Rows
}

// check refuses sizes that do not fit.
func (s *nearestSearch) check() error {
	n, d, err := points.Dims(s.features)
	if err != nil {
		return fmt.Errorf("features: %w", err)
	}
	if n < 1 || d < 1 {
		return fmt.Errorf("features: %w (%d x %d)", kernel.ErrEmpty, n, d)
	}
	most, asked := n, n
	if s.within() {
		most--
	} else {
		var cols int
		if asked, cols, err = points.Dims(s.queries); err != nil {
			return fmt.Errorf("queries: %w", err)
		}
		if cols != d {
			return fmt.Errorf("%w: queries of %d columns, features of %d", kernel.ErrShape, cols, d)
		}
	}
	if s.k < 1 || s.k > most {
		return fmt.Errorf("%w: %d neighbours, want from 1 to %d", kernel.ErrShape, s.k, most)
	}
	if asked > math.MaxInt/s.k {
		return fmt.Errorf("%w: %d neighbours of %d rows", kernel.ErrShape, s.k, asked)
	}
	return nil
}

// bytes is the memory of a search among new rows, including its answers: images of
// the features and row numbers.
func (s *nearestSearch) bytes() float64 {
	n, q := float64(s.features.Rows), float64(s.queries.Rows)
	return n*(4*float64(s.features.Cols)+24) + 8*q + 16*q*float64(s.k)
}

// what names the search in errors.
func (s *nearestSearch) what() string {
	return fmt.Sprintf("%d nearest neighbours of %d rows", s.k, s.asked())
}

// nearestAmong looks up the queries. It returns rows of the features, and squared distances.
func (e *Engine) nearestAmong(ctx context.Context, s *nearestSearch) (index []int, squared []float64, err error) {
	settings := nearest.Settings{Workers: e.workers, Kernels: e.kernels}
	if report := e.report(ctx); report != nil {
		settings.Progress = func(done, total int) { report("find nearest neighbours", done, total) }
	}
	return nearest.Rows(ctx, s.queries, s.features, s.k, settings)
}

// nearestWithin searches the features among themselves. It passes each result to give
// immediately: in many dimensions results are not kept.
func (e *Engine) nearestWithin(ctx context.Context, m *share, s *nearestSearch, give func(row int, near []uint32, squared []float64)) error {
	return kernel.EachNearest(ctx, s.features, s.k, beside(&kernel.Options{
		MaxMemory: m.limit, Reserve: m.grow, Workers: e.workers, Kernels: e.kernels, Progress: e.report(ctx),
	}, m.least), give)
}
