package server

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
	"github.com/seed-64e14a55/privatemail/simd"
)

// place gives rows their slots: by the centres of k-means, and then some rounds in which each
// centre moves to the mean of the rows that are in its cell, which for want of room need
// not be the nearest ones, and the rows take their places anew. It returns the row number of
// each slot and the representatives of the cells.
func place[M points.Matrix](ctx context.Context, x M, n, d int, s Settings, kernels *simd.Kernels) (ids []uint32, representatives []float32, err error) {
	rows, err := findCentres(ctx, x, n, d, s, kernels)
	if err != nil {
		return nil, nil, err
	}
	length, report := s.length(n), s.stage("layout")
	for round := range s.Rounds + 1 {
		var progress func(done, total int)
		if report != nil {
			progress = func(done, total int) { report(done+round*n, (s.Rounds+1)*n) }
		}
		cells, err := newLayout(ctx, x, n, newCentres(rows, 1, d, kernels), length, s.Workers, progress)
		if err != nil {
			return nil, nil, err
		}
		ids = namesOf(cells, s.Cells, length)
		count := 1
		if round == s.Rounds {
			count = s.Representatives
		}
		m := members[M]{x: x, d: d, length: length, ids: ids, seed: s.Seed}
		if rows, err = m.represent(ctx, rows, count, s.Workers, kernels); err != nil {
			return nil, nil, err
		}
	}
	return ids, rows, nil
}

// members are the rows of cells.
type members[M points.Matrix] struct {
	x      M
	d      int
	length int
	ids    []uint32 // by name
	seed   uint64
}

// represent returns so many representatives of each cell: the mean of its rows, or what k-means
// finds where there are several. A cell without rows keeps its centre, and one with fewer rows
// than representatives has some of them twice.
func (m *members[M]) represent(ctx context.Context, centres []float32, count int, workers *par.Workers, kernels *simd.Kernels) ([]float32, error) {
	cells := len(m.ids) / m.length
	out := make([]float32, cells*count*m.d)
	failed := make([]error, cells)
	if err := workers.Do(ctx, cells, par.Func(func(_, cell int) {
		to := out[cell*count*m.d : (cell+1)*count*m.d]
		found, err := m.find(ctx, cell, count, kernels)
		if err != nil {
			failed[cell] = fmt.Errorf("cell %d: %w", cell, err)
			return
		}
		if len(found) == 0 {
			found = centres[cell*m.d : (cell+1)*m.d]
		}
		for len(to) > 0 {
			to = to[copy(to, found):]
		}
	})); err != nil {
		return nil, err
	}
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// find returns the representatives of a cell, as many as it has rows at the most.
func (m *members[M]) find(ctx context.Context, cell, count int, kernels *simd.Kernels) ([]float32, error) {
	rows := blas32.General{Cols: m.d, Stride: m.d}
	row := make([]float64, m.d)
	for _, id := range m.ids[cell*m.length : (cell+1)*m.length] {
		if id == wire.Padding {
			break // the rows of a cell are in its first slots
		}
		points.ReadRow(row, m.x, int(id))
		for _, v := range row {
			rows.Data = append(rows.Data, float32(v))
		}
		rows.Rows++
	}
	if rows.Rows == 0 {
		return nil, nil
	}
	clusters, err := kmeans.Fit(ctx, rows, min(count, rows.Rows), kmeans.Settings{Seed: m.seed, Kernels: kernels})
	if err != nil {
		return nil, err
	}
	return single(clusters.Centres.RawMatrix().Data), nil
}

// single returns numbers as float32.
func single(numbers []float64) []float32 {
	out := make([]float32, len(numbers))
	for i, v := range numbers {
		out[i] = float32(v)
	}
	return out
}
