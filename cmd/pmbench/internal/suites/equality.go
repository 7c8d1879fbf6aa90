package suites

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// equalityDegrees returns the mean numbers of neighbours at which the pairs of n points
// are compared.
func equalityDegrees(n int) (out []float64) {
	for _, degree := range []float64{8, 48, 200} {
		if 2*degree < float64(n) {
			out = append(out, degree)
		}
	}
	return out
}

// equalitySubject compares pairs once and measures the searches for all radii together.
func equalitySubject(ctx context.Context, l *measure.Lab, set SearchSet, workers int) (*measure.Subject, error) {
	x, err := set.Points()
	if err != nil {
		return nil, err
	}
	o := kernel.Options{Workers: l.Workers(workers)}
	degrees := equalityDegrees(x.Rows)
	if len(degrees) == 0 {
		return nil, fmt.Errorf("%d rows are too few to compare searches by", x.Rows)
	}
	// The radius of a mean degree is known from a sample: half as much again has room.
	_, most, err := bandwidthForDegree(ctx, x, min(1.5*degrees[len(degrees)-1], float64(x.Rows-1)), &o)
	if err != nil {
		return nil, err
	}
	pairs, err := closePairs(ctx, x, most, o.Workers, func(share float64) { l.Show("search: all distances in float64", share) })
	if err != nil {
		return nil, err
	}
	sub := &measure.Subject{Pairs: true, Roof: measure.RoofRead, Eta: math.NaN(), EtaP99: math.NaN()}
	for _, degree := range degrees {
		at := int(degree * float64(x.Rows) / 2)
		if at > len(pairs) {
			return nil, fmt.Errorf("%d pairs within %g, too few for %g neighbours on average", len(pairs), most, degree)
		}
		radius := pairs[at-1].distance
		if radius == 0 {
			return nil, fmt.Errorf("%d pairs of rows are equal: there is no radius for %g neighbours on average", at, degree)
		}
		within, _ := slices.BinarySearchFunc(pairs, math.Nextafter(radius, math.Inf(1)), func(p closePair, r float64) int { return cmp.Compare(p.distance, r) })
		found, err := foundPairs(ctx, x, radius, o)
		if err != nil {
			return nil, err
		}
		if missing, extra := comparePairs(pairs[:within], found); missing+extra > 0 {
			return nil, fmt.Errorf("the search within %v differs from the distances of all pairs: of %d pairs %d are missing, and %d are too many", radius, within, missing, extra)
		}
		sub.Equal = append(sub.Equal, record.Equality{Degree: 2 * float64(within) / float64(x.Rows), Radius: radius, Pairs: within})
	}
	sub.Run = func(ctx context.Context) error {
		sub.NNZ, sub.Bytes = 0, 0
		for _, e := range sub.Equal {
			op, err := UnitGraph(ctx, x, e.Radius, o)
			if err != nil {
				return err
			}
			nnz := op.Cost().NNZ
			sub.NNZ += nnz
			sub.Bytes += buildBytes(x, nnz)
			if err := op.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	return sub, nil
}
