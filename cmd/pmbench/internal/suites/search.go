package suites

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// searchCases build the graph of features: the search, the weights, the certificate. In
// the long form pairs are compared with all distances, and there is a set too large for
// that. Sets of few dimensions are there because the search is chosen by its cost there.
func searchCases(l *measure.Lab) (out []measure.Case) {
	sizes := []int{l.Size(20_000)}
	if large := l.Size(100_000); large > sizes[0] {
		sizes = append(sizes, large)
	}
	sets, err := SearchSets(sizes...)
	if err != nil { // reported when the case is set up
		sets = []SearchSet{{filepath.Base(os.Getenv("PM_FEATURES")), 0, 0}}
	}
	add := func(s SearchSet, w int, full bool) {
		out = append(out, measure.Case{
			Name: s.Name(w), N: s.N, D: s.D, Workers: w, Full: full,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
				return searchSubject(ctx, l, s, w)
			},
		})
	}
	for i, s := range sets {
		for _, w := range measure.WorkerCounts() {
			add(s, w, i >= 3)
		}
	}
	for _, s := range sets[:min(3, len(sets))] {
		w := measure.AllWorkers()
		out = append(out, measure.Case{
			Name: fmt.Sprintf("op=equality/kind=%s/n=%d/d=%d/workers=%d", s.Kind, s.N, s.D, w), N: s.N, D: s.D, Workers: w, Full: true,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
				return equalitySubject(ctx, l, s, w)
			},
		})
	}
	if os.Getenv("PM_FEATURES") == "" {
		for _, s := range cliffSets(l.Size(200_000)) {
			add(s, 1, false)
		}
		add(SearchSet{"easy", l.Size(1_000_000), 64}, measure.AllWorkers(), true)
	}
	return out
}

func searchSubject(ctx context.Context, l *measure.Lab, set SearchSet, workers int) (*measure.Subject, error) {
	s, err := set.PointSet(ctx, l)
	if err != nil {
		return nil, err
	}
	return buildSubject(l, s, workers, ""), nil
}

// PointSet returns the points with a bandwidth and radius for searchDegree neighbours.
func (s SearchSet) PointSet(ctx context.Context, l *measure.Lab) (*PointSet, error) {
	return measure.Shared(l, fmt.Sprint("search ", s), func() (*PointSet, error) {
		x, err := s.Points()
		if err != nil {
			return nil, err
		}
		p := &PointSet{Points: x}
		p.sigma, p.Radius, err = bandwidthForDegree(ctx, x, searchDegree, &kernel.Options{Workers: l.Workers(measure.AllWorkers())})
		return p, err
	})
}
