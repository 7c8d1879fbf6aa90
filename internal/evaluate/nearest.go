package evaluate

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
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
	// Workers share the work, such as those that an Engine lends; nil when the caller works
	// alone.
	Workers *par.Workers
}

// Nearest returns for each row of queries the k nearest rows of gallery, by Euclidean
// distance and among equals by row number. The caller must leave the queries' own rows
// out of the gallery; NearestWithin does so itself. It takes a copy of the gallery in float32
// beside the result.
//
// Errors: ErrShape when the dimensions differ or k is not in 1..gallery rows,
// ErrNonFinite for NaN and infinities, and the error of ctx, which is looked at
// every few milliseconds.
func Nearest[M Matrix](ctx context.Context, queries, gallery M, k int, settings *SearchSettings) (*Ranking, error) {
	index, squared, err := nearest.Rows(ctx, queries, gallery, k, settings.search())
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest: %w", err)
	}
	return &Ranking{K: k, Index: index, SquaredDistance: squared}, nil
}

// NearestWithin is Nearest between rows of one matrix, given by their numbers: query i
// of the result is row queries[i] of x, and the answers are row numbers of x taken from
// gallery. A row never answers itself, so both lists may hold all rows, which is
// leave-one-out. Gallery rows must differ, queries may repeat.
//
// Errors: those of Nearest, where k must leave room for the row that is left out, and
// ErrRow.
func NearestWithin[M Matrix](ctx context.Context, x M, queries, gallery []int, k int, settings *SearchSettings) (*Ranking, error) {
	index, squared, err := nearest.Within(ctx, x, queries, gallery, k, settings.search())
	if err != nil {
		return nil, fmt.Errorf("evaluate: nearest within: %w", err)
	}
	return &Ranking{K: k, Index: index, SquaredDistance: squared}, nil
}

func (s *SearchSettings) search() (out nearest.Settings) {
	if s != nil {
		out.Workers = s.Workers
	}
	return out
}
