package server

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// place gives rows their slots: by the centres of k-means, and then some rounds in which each
// centre moves to the mean of the rows that are in its cell, which for want of room need
// not be the nearest ones, and the rows take their places again. It returns the row number of
// each slot and the means of the rows that are in the cells at the end.
func place[M points.Matrix](ctx context.Context, x M, n, d int, s Settings, kernels *simd.Kernels) (ids []uint32, centres []float32, err error) {
	if centres, err = findCentres(ctx, x, n, d, s, kernels); err != nil {
		return nil, nil, err
	}
	length, report := s.length(n), s.stage("layout")
	for round := range s.Rounds + 1 {
		var progress func(done, total int)
		if report != nil {
			progress = func(done, total int) { report(done+round*n, (s.Rounds+1)*n) }
		}
		cells, err := newLayout(ctx, x, n, newCentres(centres, d, kernels), length, s.Workers, progress)
		if err != nil {
			return nil, nil, err
		}
		ids = namesOf(cells, s.Cells, length)
		if err := moveCentres(ctx, centres, x, d, ids, length, s.Workers); err != nil {
			return nil, nil, err
		}
	}
	return ids, centres, nil
}

// moveCentres sets centres to the means of the rows that are in their cells, added up in their
// order. A centre without rows stays where it is.
func moveCentres[M points.Matrix](ctx context.Context, centres []float32, x M, d int, ids []uint32, length int, workers *par.Workers) error {
	return workers.Do(ctx, len(centres)/d, par.Func(func(_, cell int) {
		sum, row, count := make([]float64, d), make([]float64, d), 0
		for _, id := range ids[cell*length : (cell+1)*length] {
			if id == wire.Padding {
				break // the rows of a cell are in its first slots
			}
			points.ReadRow(row, x, int(id))
			for j, v := range row {
				sum[j] += v
			}
			count++
		}
		if count == 0 {
			return
		}
		for j, v := range sum {
			centres[cell*d+j] = float32(v / float64(count))
		}
	}))
}
