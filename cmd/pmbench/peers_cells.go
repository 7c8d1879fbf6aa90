package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// cells plays the neighbour searches.
func (c *contest) cells(ctx context.Context, n int) error {
	type set struct {
		kind string
		d    int
	}
	sets := []set{{"uniform", 2}, {"clustered", 2}, {"uniform", 3}, {"clustered", 3}}
	for i, s := range sets {
		var matches []*match
		for _, w := range workerCounts() {
			name := fmt.Sprintf("kind=%s/n=%d/d=%d/workers=%d", s.kind, n, s.d, w)
			if c.pattern == nil || c.pattern.MatchString(name) {
				matches = append(matches, &match{ratio: Ratio{Suite: "cells", Case: name, N: n, D: s.d, Workers: w, Level: level()}})
			}
		}
		if len(matches) == 0 {
			continue
		}
		points, err := c.lab.pointSet(ctx, s.kind, n, s.d)
		if err != nil {
			return err
		}
		data := filepath.Join(c.folder, "points")
		if err := writePoints(data, points); err != nil {
			return err
		}
		err = func() error {
			rivals, err := c.rivals(ctx, "cells", data)
			defer closeRivals(rivals)
			if err != nil {
				return err
			}
			print, nnz, err := fingerprint(ctx, c.lab, points)
			if err != nil {
				return err
			}
			for j, m := range matches {
				workers := c.lab.workers(m.ratio.Workers)
				m.ratio.NNZ = nnz
				m.ours = func(ctx context.Context) error {
					op, err := kernel.NewCSR(ctx, points.points, points.sigma, &kernel.Options{CutoffRadius: points.radius, Workers: workers})
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
				err := c.play(ctx, m, rivals, func(round int) float64 {
					return (float64(i) + (float64(j)+float64(round)/float64(c.rounds))/float64(len(matches))) / float64(len(sets))
				})
				if err != nil {
					return err
				}
			}
			return nil
		}()
		if err != nil {
			return err
		}
		debug.FreeOSMemory()
	}
	return nil
}

// fingerprint returns three numbers for each point, in their order, that
// identify its neighbours: how many there are and two sums of hashes of their
// numbers. It comes from a graph with the same radius whose weights are so near
// 1 that they round to it: a product with it is a sum over neighbours.
func fingerprint(ctx context.Context, l *lab, s *pointSet) ([]float32, int64, error) {
	workers := workerCounts()
	op, err := kernel.NewCSR(ctx, s.points, kernel.Gamma(1e-9/(s.radius*s.radius)), &kernel.Options{CutoffRadius: s.radius, Workers: l.workers(workers[len(workers)-1])})
	if err != nil {
		return nil, 0, err
	}
	defer op.Close()
	n := op.N()
	given := func(row int) uint32 {
		if order := op.Order(); order != nil {
			return order[row]
		}
		return uint32(row)
	}
	x, y := zeros(n, 3), zeros(n, 3)
	for row := range n {
		i := given(row)
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
			return nil, 0, fmt.Errorf("point %d has %g neighbours, too many to identify them", given(row), values[0])
		}
		nnz += int64(values[0])
		copy(out[3*int(given(row)):], values)
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
