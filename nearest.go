package privatemail

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/points"
)

// Nearest finds the k nearest rows of the features for every row of queries, exactly: by
// Euclidean distance, computed in float64, and among equals by row number. Those of query i go to
// places i*k to i*k+k-1 of ids, nearest first, and their distances to the same places of
// distances. Either may be nil, when nobody wants it. The zero value of queries asks for the
// neighbours of the features themselves, of which none is its own.
//
// The bits are the same for any number of workers and at every level. The budget counts ids and
// distances. On an error they may hold anything. Errors: ErrClosed, kernel.ErrShape for sizes
// that do not fit and for more neighbours than there are, kernel.ErrEmpty, ErrNonFinite and
// ErrMemory, and that of ctx.
func (e *Engine) Nearest(ctx context.Context, features, queries blas32.General, k int, ids []int64, distances []float32) error {
	_, err := call(ctx, e, "nearest", func() (struct{}, error) {
		s := &nearestSearch{features: features, queries: queries, k: k}
		if err := s.check(); err != nil {
			return struct{}{}, err
		}
		answers := s.asked() * k // no overflow: check has seen to that
		if ids != nil && len(ids) != answers || distances != nil && len(distances) != answers {
			return struct{}{}, fmt.Errorf("%w: %d ids and %d distances for %d neighbours of %d rows", kernel.ErrShape, len(ids), len(distances), k, s.asked())
		}
		// An answer takes as much memory while it is looked for as it takes in the end.
		s.place, s.dist2 = mem.View[uint32](distances), mem.View[float64](ids)
		return struct{}{}, e.nearest(ctx, s, 8*float64(len(ids))+4*float64(len(distances)), func(id func(at int) int, squared []float64) error {
			for at := range answers {
				row, far := id(at), squared[at] // both are read first: their memory may be that of the answers
				if ids != nil {
					ids[at] = int64(row)
				}
				if distances != nil {
					distances[at] = float32(math.Sqrt(far))
				}
			}
			return nil
		})
	})
	return err
}

// A nearestSearch is what is looked for where. No queries stand for the features.
type nearestSearch struct {
	features, queries blas32.General
	k                 int

	place []uint32  // memory for the rows that are found within the features; nil for memory of the search
	dist2 []float64 // and for their squared distances
}

// within tells whether the rows that ask are the features themselves.
func (s *nearestSearch) within() bool {
	return s.queries.Data == nil && s.queries.Rows == 0 && s.queries.Cols == 0
}

// asked is the number of rows that ask.
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

// bytes is what a search among rows that were not searched before takes, its answers
// included: images of the features and numbers of rows.
func (s *nearestSearch) bytes() float64 {
	n, q := float64(s.features.Rows), float64(s.queries.Rows)
	return n*(4*float64(s.features.Cols)+24) + 8*q + 16*q*float64(s.k)
}

// what names the search in errors.
func (s *nearestSearch) what() string {
	return fmt.Sprintf("%d nearest neighbours of %d rows", s.k, s.asked())
}

// nearest searches with a share of the budget, and hands on what it has found: the row at a place
// of the answers, and the squared distances. held is what the caller takes beside that.
func (e *Engine) nearest(ctx context.Context, s *nearestSearch, held float64, use func(id func(at int) int, squared []float64) error) error {
	least := held
	if !s.within() {
		least += s.bytes()
	}
	give, err := e.takeTurn(ctx, least, s.what())
	if err != nil {
		return err
	}
	defer give()
	_, err = within(ctx, e, least, s.what(), func(m *share) (struct{}, error) {
		if s.within() {
			return struct{}{}, e.nearestWithin(ctx, m, s, int64(held), use)
		}
		settings := nearest.Settings{Workers: e.workers, Kernels: e.kernels}
		if report := e.report(ctx); report != nil {
			settings.Progress = func(done, total int) { report("find nearest neighbours", done, total) }
		}
		index, squared, err := nearest.Rows(ctx, s.queries, s.features, s.k, settings)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, use(func(at int) int { return index[at] }, squared)
	})
	return err
}

// nearestWithin is the search of the features among themselves.
func (e *Engine) nearestWithin(ctx context.Context, m *share, s *nearestSearch, held int64, use func(id func(at int) int, squared []float64) error) error {
	o := beside(&kernel.Options{
		BudgetBytes: m.limit, Reserve: m.reserve, Workers: e.workers, Kernels: e.kernels, Progress: e.report(ctx),
	}, held)
	found := &kernel.Neighbours{K: s.k, Rows: s.place, Dist2: s.dist2}
	var err error
	if found.Rows != nil && found.Dist2 != nil {
		err = kernel.NearestInto(ctx, s.features, found, o)
	} else {
		found, err = kernel.Nearest(ctx, s.features, s.k, o)
	}
	if err != nil {
		return err
	}
	return use(func(at int) int { return int(found.Rows[at]) }, found.Dist2)
}
