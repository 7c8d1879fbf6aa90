package nearest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
)

// ErrRefused reports that the caller has refused the memory for the neighbours found.
var ErrRefused = errors.New("no memory for the rows that were found")

// Neighbours are rows of a gallery that are near to queries. Those of query i are Rows[Ptr[i]]
// to Rows[Ptr[i+1]-1], in the order of their numbers. Squared has their squared distances.
type Neighbours struct {
	Ptr     []uint64
	Rows    []uint32
	Squared []float64
}

// NeighbourBytes is the memory of a neighbour during Near.
const NeighbourBytes = 3 * (4 + 8) // a growing list has spare room, and is copied at the end

// nearRows is how many rows of the gallery are compared between calls of reserve.
const nearRows = 64 * scanRows

// Near returns for each row of queries the rows of gallery whose distance, the square root of the
// squared one, is at most radius. It computes all distances, so it is for few queries. Whenever
// some thousand rows have been compared, it asks reserve whether the neighbours found may be
// kept.
//
// Errors: those of Rows, and ErrRefused.
func Near[M points.Matrix](ctx context.Context, queries, gallery M, radius float64, reserve func(neighbours int) bool, settings Settings) (*Neighbours, error) {
	s, err := newSearch(queries, gallery, 0)
	if err != nil {
		return nil, err
	}
	if uint64(len(s.galleryRows)) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d rows", points.ErrShape, len(s.galleryRows))
	}
	list, n := s.galleryRows, len(s.galleryRows)
	found := make([]near, len(s.queryRows))
	sc := newScan(s, settings)
	total := 0
	for lo := 0; lo < n; lo += nearRows {
		hi := min(lo+nearRows, n)
		s.galleryRows = list[lo:hi]
		parts := make([]near, split.Blocks(hi-lo, scanRows)*len(found)) // of each piece and query
		if err := sc.run(ctx, settings.Workers, func(_, _ int) float64 { return radius * radius }, func(_, piece, query int, found scanned) {
			parts[piece*len(s.queryRows)+query].take(lo, found, radius)
		}); err != nil {
			return nil, err
		}
		for _, p := range parts {
			total += len(p.rows)
		}
		if !reserve(total) {
			return nil, ErrRefused
		}
		for i, p := range parts {
			f := &found[i%len(found)]
			f.rows, f.squared = append(f.rows, p.rows...), append(f.squared, p.squared...)
		}
		if settings.Progress != nil {
			settings.Progress(hi, n)
		}
	}
	out := &Neighbours{Ptr: make([]uint64, 1, len(found)+1), Rows: make([]uint32, 0, total), Squared: make([]float64, 0, total)}
	for _, f := range found {
		out.Rows, out.Squared = append(out.Rows, f.rows...), append(out.Squared, f.squared...)
		out.Ptr = append(out.Ptr, uint64(len(out.Rows)))
	}
	return out, nil
}

// A near has rows that are near to a query, and their squared distances.
type near struct {
	rows    []uint32
	squared []float64
}

// take adds the rows that are near enough. Their places count from first on.
func (n *near) take(first int, found scanned, radius float64) {
	for j, at := range found.places {
		if v := found.squared[j]; math.Sqrt(v) <= radius {
			n.rows, n.squared = append(n.rows, uint32(first+at)), append(n.squared, v)
		}
	}
}
