package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Features of searchClasses classes, and the mean number of neighbours a radius is
// chosen for.
const (
	searchClasses = 200
	searchDegree  = 48
)

// searchSet names points of many dimensions.
type searchSet struct {
	kind string // easy, hard, or the name of a folder
	n, d int
}

func (s searchSet) name(workers int) string {
	return fmt.Sprintf("kind=%s/n=%d/d=%d/degree=%d/workers=%d", s.kind, s.n, s.d, searchDegree, workers)
}

// searchSets lists the points: generated ones of n rows, or the features of the folder
// that PM_FEATURES names.
func searchSets(sizes ...int) (out []searchSet, err error) {
	if folder := os.Getenv("PM_FEATURES"); folder != "" {
		m, err := formats.ReadMatrix(filepath.Join(folder, "features.npy"))
		if err != nil {
			return nil, err
		}
		defer m.Close()
		return []searchSet{{filepath.Base(folder), m.Rows, m.Cols}}, nil
	}
	for _, n := range sizes {
		out = append(out, searchSet{"easy", n, 64}, searchSet{"easy", n, 512}, searchSet{"hard", n, 64})
	}
	return out, nil
}

// searchCases build the graph of features: the search, the weights, the certificate. In
// the long form pairs are compared with all distances, and there is a set too large for
// that.
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
		add(searchSet{"easy", l.size(1_000_000), 64}, allWorkers(), true)
	}
	return out
}

func searchSubject(ctx context.Context, l *lab, set searchSet, workers int) (*subject, error) {
	s, err := l.searchPoints(ctx, set)
	if err != nil {
		return nil, err
	}
	return buildSubject(l, s, workers, ""), nil
}

// searchPoints returns points with a bandwidth and radius for searchDegree neighbours.
func (l *lab) searchPoints(ctx context.Context, set searchSet) (*pointSet, error) {
	return shared(l, fmt.Sprint("search ", set), func() (*pointSet, error) {
		x, err := set.points()
		if err != nil {
			return nil, err
		}
		s := &pointSet{points: x}
		s.sigma, s.radius, err = bandwidthForDegree(ctx, x, searchDegree, &kernel.Options{Workers: l.workers(allWorkers())})
		return s, err
	})
}

// points makes or reads the points. Easy ones are normalise(centre + g/2), with
// centres of unit norm and g of that norm on average: classes are apart. Hard ones
// have a cosine of 1/2 within a class and of 3/10 between classes.
func (s searchSet) points() (blas32.General, error) {
	rng := rand.New(rand.NewPCG(uint64(s.n), uint64(s.d)))
	vector := func(norm float64) []float64 {
		v := make([]float64, s.d)
		for c := range v {
			v[c] = rng.NormFloat64() * norm / math.Sqrt(float64(s.d))
		}
		return v
	}
	centres := make([][]float64, searchClasses)
	noise := 0.5
	switch s.kind {
	case "easy":
		for k := range centres {
			centres[k] = normalised(vector(1))
		}
	case "hard":
		common := vector(math.Sqrt(0.3))
		for k := range centres {
			centres[k] = vector(math.Sqrt(0.2))
			for c, v := range common {
				centres[k][c] += v
			}
		}
		noise = math.Sqrt(0.5)
	default:
		return readFeatures(filepath.Join(os.Getenv("PM_FEATURES"), "features.npy"))
	}
	x := zeros(s.n, s.d)
	for i := range s.n {
		centre, v := centres[rng.IntN(searchClasses)], vector(noise)
		for c := range v {
			v[c] += centre[c]
		}
		for c, e := range normalised(v) {
			x.Data[i*s.d+c] = float32(e)
		}
	}
	return x, nil
}

func readFeatures(file string) (blas32.General, error) {
	m, err := formats.ReadMatrix(file)
	if err != nil {
		return blas32.General{}, err
	}
	defer m.Close()
	x := zeros(m.Rows, m.Cols)
	copy(x.Data, m.Data)
	return x, nil
}

func normalised(v []float64) []float64 {
	sum := 0.0
	for _, e := range v {
		sum += e * e
	}
	for c := range v {
		v[c] /= math.Sqrt(sum)
	}
	return v
}
