package profile

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// The counts of a profile are those of all distances of the sampled rows.
func TestProfileCountsDistances(t *testing.T) {
	t.Parallel()
	three := par.New(3)
	defer three.Close()
	for _, c := range []struct {
		kind string
		n, d int
	}{{"uniform", 300, 1500}, {"uniform", 400, 40}, {"clustered", 400, 200}, {"lattice", 300, 12}, {"far away", 300, 30}, {"uniform", 400, 7}, {"clustered", 400, 2}} {
		p := pointtest.Open(pointtest.Make(c.kind, c.n, c.d, 3))
		o := &base.Options{}
		if err := o.SetDefaults(); err != nil {
			t.Fatal(err)
		}
		pr, err := Take(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Workers = three
		again, err := Take(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		q, err := distance.NewDistancer(t.Context(), p, nil, nil, simd.At(simd.Best()))
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		sampled := sampledRows(q, SampleRows(c.n, c.d))
		for i, bins := range pr.Rows {
			counted := 0.0
			for _, bin := range bins {
				counted += bin.count
			}
			if counted != float64(c.n-1) {
				t.Errorf("%+v: sampled row %d counts %g distances, want %d", c, i, counted, c.n-1)
			}
		}
		for _, i := range sampled {
			for j := range c.n {
				if i != j {
					all = append(all, math.Sqrt(p.Dist2(i, j)))
				}
			}
		}
		slices.Sort(all)
		for _, share := range []float64{0.01, 0.05, 0.2, 0.5, 0.9} {
			r := all[int(share*float64(len(all)))] * (1 + 1e-9)
			got, _ := pr.Neighbours(r)
			if same, _ := again.Neighbours(r); same != got {
				t.Errorf("%+v: %g neighbours, with three workers %g", c, got, same)
			}
			// A part of a bin is a thousandth to two thousandths of the squared distance.
			within := func(factor float64) float64 {
				count, _ := slices.BinarySearch(all, r*factor)
				return float64(count) / float64(len(sampled))
			}
			margin := 1.001
			if c.d <= base.MaxDirect {
				margin = 1.03
			}
			if low, high := within(1/margin), within(margin); got < low-1e-9 || got > high+1e-9 {
				t.Errorf("%+v: %g neighbours within %g, want %g to %g", c, got, r, low, high)
			}
		}
	}
}

// Parts of bins agree with bins, at any scale.
func TestPartsAreWithinBins(t *testing.T) {
	rng := pointtest.Rand(5)
	values := []float64{0, 0x1p-1074, 0x1p-300, 0x1p-250, 0x1p-249, 0.5, math.Nextafter(1, 0), 1}
	for range 10_000 {
		values = append(values, math.Exp2(-260*rng.Float64()))
	}
	for bin := range 200 {
		values = append(values, binEdge(bin), math.Nextafter(binEdge(bin), 0))
	}
	for _, v := range values {
		part := partOf(v)
		if part>>partBits != binOf(v) {
			t.Fatalf("%b is in part %d and in bin %d", v, part, binOf(v))
		}
		if bin := binOf(v); bin > 0 && v < 1 {
			lo, hi := binEdge(bin), binEdge(bin+1)
			if place := int((v - lo) / (hi - lo) * partsPerBin); place != part&(partsPerBin-1) {
				t.Fatalf("%b is in part %d of its bin, want %d", v, part&(partsPerBin-1), place)
			}
		}
	}
}

// Sampled rows are distinct, and near to the middle of all points or far from it as often
// as all rows are.
func TestSampledRowsAreEven(t *testing.T) {
	for _, d := range []int{2, 6, 40} {
		p := pointtest.Open(pointtest.Make("uniform", 3000, d, 2))
		q, err := distance.NewDistancer(t.Context(), p, nil, nil, simd.At(simd.Best()))
		if err != nil {
			t.Fatal(err)
		}
		const count = 200
		sampled := sampledRows(q, count)
		if len(sampled) != count || !slices.IsSorted(sampled) || len(slices.Compact(slices.Clone(sampled))) != count {
			t.Fatalf("d = %d: rows %v", d, sampled)
		}
		if d <= plainDimensions {
			continue
		}
		sorted := fromMiddle(q, rows.Spread(p.N, p.N))
		slices.Sort(sorted)
		distances := fromMiddle(q, sampled)
		slices.Sort(distances)
		for k, v := range distances {
			if lo, hi := sorted[k*p.N/count], sorted[(k+1)*p.N/count-1]; v < lo || v > hi {
				t.Errorf("d = %d: rank %d is at %g, want %g to %g", d, k, v, lo, hi)
			}
		}
	}
}
