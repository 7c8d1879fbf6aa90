package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// searchCases build the graph of features: the search, the weights, the certificate. In
// the long form pairs are compared with all distances, and there is a set too large for
// that. Sets of few dimensions are there because the search is chosen by its cost there.
func searchCases(l *lab) (out []benchCase) {
	sizes := []int{l.size(20_000)}
	if large := l.size(100_000); large > sizes[0] {
		sizes = append(sizes, large)
	}
	sets, err := searchSets(sizes...)
	if err != nil { // told when the case is set up
		sets = []searchSet{{filepath.Base(os.Getenv("PM_FEATURES")), 0, 0}}
	}
	add := func(s searchSet, w int, full bool) {
		out = append(out, benchCase{
			name: s.name(w), n: s.n, d: s.d, workers: w, full: full,
			setup: func(ctx context.Context, l *lab) (*subject, error) { return searchSubject(ctx, l, s, w) },
		})
	}
	for i, s := range sets {
		for _, w := range workerCounts() {
			add(s, w, i >= 3)
		}
	}
	for _, s := range sets[:min(3, len(sets))] {
		w := allWorkers()
		out = append(out, benchCase{
			name: fmt.Sprintf("op=equality/kind=%s/n=%d/d=%d/workers=%d", s.kind, s.n, s.d, w), n: s.n, d: s.d, workers: w, full: true,
			setup: func(ctx context.Context, l *lab) (*subject, error) { return equalitySubject(ctx, l, s, w) },
		})
	}
	if os.Getenv("PM_FEATURES") == "" {
		for _, s := range cliffSets(l.size(200_000)) {
			add(s, 1, false)
		}
		add(searchSet{"easy", l.size(1_000_000), 64}, allWorkers(), true)
	}
	return out
}

func searchSubject(ctx context.Context, l *lab, set searchSet, workers int) (*subject, error) {
	s, err := set.pointSet(ctx, l)
	if err != nil {
		return nil, err
	}
	return buildSubject(l, s, workers, ""), nil
}

// pointSet returns the points with a bandwidth and radius for searchDegree neighbours.
func (s searchSet) pointSet(ctx context.Context, l *lab) (*pointSet, error) {
	return shared(l, fmt.Sprint("search ", s), func() (*pointSet, error) {
		x, err := s.points()
		if err != nil {
			return nil, err
		}
		p := &pointSet{points: x}
		p.sigma, p.radius, err = bandwidthForDegree(ctx, x, searchDegree, &kernel.Options{Workers: l.workers(allWorkers())})
		return p, err
	})
}
