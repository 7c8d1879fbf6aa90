package peers

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// neighbours plays the search for all neighbours of points within their radius. Up to
// most rows of a result may differ from ours.
func (c *contest) neighbours(ctx context.Context, points *suites.PointSet, matches []*match, most int, work measure.Portion) error {
	defer debug.FreeOSMemory()
	print, nnz, err := fingerprint(ctx, c.lab, points)
	if err != nil {
		return err
	}
	for _, m := range matches {
		workers := c.lab.Workers(m.ratio.Workers)
		m.ratio.NNZ, m.most = nnz, float64(most)
		m.ours = func(ctx context.Context) error {
			op, err := points.Graph(ctx, workers)
			if err != nil {
				return err
			}
			return op.Close()
		}
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, len(print))
			if err != nil {
				return 0, err
			}
			return float64(rowsThatDiffer(print, theirs)), nil
		}
		m.recall = func(file string) (float64, error) {
			theirs, err := readFloats(file, len(print))
			found := 0.0
			for i := 0; i < len(theirs); i += 3 {
				found += float64(theirs[i])
			}
			return found / float64(max(nnz, 1)), err
		}
	}
	return c.playAll(ctx, matches[0].ratio.Suite, func(file string) error { return writePoints(file, points) }, matches, work)
}

// fingerprint returns three numbers for each point, in their order, that
// identify its neighbours: how many there are and two sums of hashes of their
// numbers. It comes from a graph with the same radius whose weights are so near
// 1 that they round to it: a product with it is a sum over neighbours.
func fingerprint(ctx context.Context, l *measure.Lab, s *suites.PointSet) ([]float32, int64, error) {
	op, err := suites.UnitGraph(ctx, s.Points, s.Radius, kernel.Options{Workers: l.Workers(measure.AllWorkers())})
	if err != nil {
		return nil, 0, err
	}
	defer op.Close()
	n := op.N()
	x, y := suites.Zeros(n, 3), suites.Zeros(n, 3)
	for row := range n {
		i := suites.Given(op, row)
		copy(x.Data[3*row:], []float32{1, float32((i * 2654435761) >> 20), float32((i * 2246822519) >> 20)})
	}
	if err := op.Apply(ctx, y, x); err != nil {
		return nil, 0, err
	}
	out := make([]float32, 3*n)
	nnz := int64(0)
	for row := range n {
		values := y.Data[3*row:][:3]
		if values[0] >= 4096 { // a sum of hashes of 12 bits would not be exact
			return nil, 0, fmt.Errorf("point %d has %g neighbours, too many to identify them", suites.Given(op, row)+1, values[0])
		}
		nnz += int64(values[0])
		copy(out[3*int(suites.Given(op, row)):], values)
	}
	return out, nnz, nil
}

func rowsThatDiffer(a, b []float32) (rows int) {
	for i := 0; i < len(a); i += 3 {
		if a[i] != b[i] || a[i+1] != b[i+1] || a[i+2] != b[i+2] {
			rows++
		}
	}
	return rows
}

// cells plays the neighbour searches in few dimensions.
func (c *contest) cells(ctx context.Context, n int, work measure.Portion) error {
	sets := []struct {
		kind string
		d    int
	}{{"uniform", 2}, {"clustered", 2}, {"uniform", 3}, {"clustered", 3}}
	for i, s := range sets {
		matches := c.matches(record.Ratio{Suite: "cells", N: n, D: s.d}, func(w int) string { return suites.CellsName(s.kind, n, s.d, w) })
		if len(matches) == 0 {
			continue
		}
		points, err := suites.PointsOfKind(ctx, c.lab, s.kind, n, s.d)
		if err != nil {
			return err
		}
		if err := c.neighbours(ctx, points, matches, 0, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}

// search plays the neighbour searches in many dimensions, of at most n points.
func (c *contest) search(ctx context.Context, n int, work measure.Portion) error {
	var sizes []int
	for _, size := range []int{20_000, 100_000} {
		if size <= n {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		sizes = []int{n}
	}
	sets, err := suites.SearchSets(sizes...)
	if err != nil {
		return err
	}
	for i, set := range sets {
		matches := c.matches(record.Ratio{Suite: "search", N: set.N, D: set.D}, set.Name)
		if len(matches) == 0 {
			continue
		}
		points, err := set.PointSet(ctx, c.lab)
		if err != nil {
			return err
		}
		// They decide in float32, by products: a few pairs next to the radius differ.
		if err := c.neighbours(ctx, points, matches, set.N/100, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}
