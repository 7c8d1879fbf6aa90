package peers

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/kernel"
)

const (
	// nearestCount is how many nearest neighbours of every row are looked for.
	nearestCount = 10
	// mostNearestFeatures is the most rows in many dimensions, where peers compare all pairs.
	mostNearestFeatures = 20_000
)

// nearestSet names the rows of a case: synthetic points in few dimensions, or the features
// of a SearchSet in many.
type nearestSet struct {
	kind string
	d    int
	// most is how far a squared distance of a peer may be from ours, relative to ours: peers
	// with trees compute in float64, peers in many dimensions in float32 by products.
	most  float64
	suite string // of the peers
}

func nearestSets() (out []nearestSet) {
	for _, d := range []int{2, 3} {
		out = append(out, nearestSet{"uniform", d, 1e-6, "nearest"}, nearestSet{"clustered", d, 1e-6, "nearest"})
	}
	return append(out, nearestSet{"easy", 64, 1e-3, "nearest features"}, nearestSet{"hard", 64, 1e-3, "nearest features"})
}

func (s nearestSet) points(n int) (blas32.General, error) {
	if s.suite != "nearest" {
		return suites.SearchSet{Kind: s.kind, N: n, D: s.d}.Points()
	}
	x, _, err := suites.Synthetic(s.kind, n, s.d)
	return x, err
}

// nearest plays the search for the nearest neighbours of n rows, or of fewer in many
// dimensions.
func (c *contest) nearest(ctx context.Context, n int, work measure.Portion) error {
	sets := nearestSets()
	for i, s := range sets {
		rows := n
		if s.suite != "nearest" {
			rows = min(n, mostNearestFeatures)
		}
		matches := c.matches(record.Ratio{Suite: "nearest", N: rows, D: s.d, K: nearestCount}, func(w int) string {
			return fmt.Sprintf("kind=%s/n=%d/d=%d/k=%d/workers=%d", s.kind, rows, s.d, nearestCount, w)
		})
		if len(matches) == 0 {
			continue
		}
		if rows <= nearestCount {
			return fmt.Errorf("%d rows have fewer than %d neighbours", rows, nearestCount)
		}
		if err := c.nearestOf(ctx, s, rows, matches, work.Piece(i, len(sets))); err != nil {
			return err
		}
	}
	return nil
}

// nearestOf plays the matches of one set.
func (c *contest) nearestOf(ctx context.Context, s nearestSet, n int, matches []*match, work measure.Portion) error {
	defer debug.FreeOSMemory()
	x, err := s.points(n)
	if err != nil {
		return err
	}
	for _, m := range matches {
		workers := c.lab.Workers(m.ratio.Workers)
		dist2 := make([]float64, n*nearestCount)
		m.ratio.NNZ, m.most = int64(n)*nearestCount, s.most
		m.ours = func(ctx context.Context) (err error) {
			return kernel.EachNearest(ctx, x, nearestCount, &kernel.Options{Workers: workers}, func(row int, _ []uint32, near []float64) {
				copy(dist2[row*nearestCount:], near)
			})
		}
		m.differ = func(file string) (float64, error) {
			theirs, err := readFloats(file, len(dist2))
			return distanceDifference(dist2, theirs), err
		}
	}
	return c.playAll(ctx, s.suite, func(file string) error { return writePoints(file, &suites.PointSet{Points: x}) }, matches, work)
}

// distanceDifference returns the largest difference of two squared distances, relative to
// ours; +Inf where one is not a number, or ours is 0 and theirs is not.
func distanceDifference(ours []float64, theirs []float32) float64 {
	most := 0.0
	for i, v := range theirs {
		d := math.Abs(float64(v) - ours[i])
		if d == 0 {
			continue
		}
		if d /= ours[i]; !(d <= math.MaxFloat64) {
			return math.Inf(1)
		}
		most = max(most, d)
	}
	return most
}
