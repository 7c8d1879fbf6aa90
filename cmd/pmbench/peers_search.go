package main

import (
	"context"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// search plays the neighbour searches in many dimensions, of at most n points.
func (c *contest) search(ctx context.Context, n int) error {
	var sizes []int
	for _, size := range []int{20_000, 100_000} {
		if size <= n {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		sizes = []int{n}
	}
	sets, err := searchSets(sizes...)
	if err != nil {
		return err
	}
	for i, set := range sets {
		if err := c.searchSet(ctx, set, func(share float64) float64 { return (float64(i) + share) / float64(len(sets)) }); err != nil {
			return err
		}
		debug.FreeOSMemory()
	}
	return nil
}

func (c *contest) searchSet(ctx context.Context, set searchSet, share func(float64) float64) error {
	var matches []*match
	for _, w := range workerCounts() {
		if name := set.name(w); c.pattern == nil || c.pattern.MatchString(name) {
			matches = append(matches, &match{ratio: Ratio{Suite: "search", Case: name, N: set.n, D: set.d, Workers: w, Level: level()}})
		}
	}
	if len(matches) == 0 {
		return nil
	}
	points, err := c.lab.searchPoints(ctx, set)
	if err != nil {
		return err
	}
	data := filepath.Join(c.folder, "features")
	if err := writePoints(data, points); err != nil {
		return err
	}
	rivals, err := c.rivals(ctx, "search", data)
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
		// They decide in float32, by products: a few pairs next to the radius differ.
		m.most = float64(set.n) / 100
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
		m.recall = func(file string) (float64, error) {
			theirs, err := readFloats(file, len(print))
			found := 0.0
			for i := 0; i < len(theirs); i += 3 {
				found += float64(theirs[i])
			}
			return found / float64(max(nnz, 1)), err
		}
		err := c.play(ctx, m, rivals, func(round int) float64 {
			return share((float64(j) + float64(round)/float64(c.rounds)) / float64(len(matches)))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
