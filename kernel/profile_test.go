package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// Rows have as many neighbours as were asked for, also where nearly all distances are
// about the same and where only some of the rows are looked at.
func TestDegreeInAnyDimension(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, d   int
		degree float64
	}{
		{1500, 2, 20}, {1500, 3, 5}, {1500, 5, 20}, {1500, 8, 20}, {1500, 9, 20}, {1500, 16, 5},
		{1500, 32, 100}, {1500, 64, 5}, {1500, 64, 20}, {1000, 128, 20}, {1000, 256, 20}, {300, 1024, 20}, {260, 4096, 5}, {260, 4096, 20}, {260, 10_000, 20},
	} {
		t.Run(fmt.Sprintf("%dx%d,%g", c.n, c.d, c.degree), func(t *testing.T) {
			t.Parallel()
			p := pointtest.Make("uniform", c.n, c.d, 7)
			b, radius, err := bandwidthForDegree(t.Context(), p, c.degree, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			op, err := NewCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
			if err != nil {
				t.Fatal(err)
			}
			if got := op.MeanNeighbours(); math.Abs(got-c.degree) > 0.1*c.degree {
				t.Errorf("%.4g neighbours, %g were asked for", got, c.degree)
			}
		})
	}
}

// The counts of a profile are those of all distances of the sampled rows.
func TestProfileCountsDistances(t *testing.T) {
	t.Parallel()
	three := par.New(3)
	defer three.Close()
	for _, c := range []struct {
		kind string
		n, d int
	}{{"uniform", 300, 1500}, {"uniform", 400, 40}, {"clustered", 400, 200}, {"lattice", 300, 12}, {"far away", 300, 30}, {"uniform", 400, 7}} {
		p := mustPoints(t, pointtest.Make(c.kind, c.n, c.d, 3))
		o, err := (&Options{}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		pr, err := takeProfile(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		o.Workers = three
		again, err := takeProfile(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		q, err := newDistancer(t.Context(), p, nil, nil, simd.At(simd.Best()))
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		sampled := sampledRows(q, sampleRows(c.n, c.d))
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
			got, _ := pr.neighbours(r)
			if same, _ := again.neighbours(r); same != got {
				t.Errorf("%+v: %g neighbours, with three workers %g", c, got, same)
			}
			// A part of a bin is a thousandth to two thousandths of the squared distance.
			within := func(factor float64) float64 {
				count, _ := slices.BinarySearch(all, r*factor)
				return float64(count) / float64(len(sampled))
			}
			margin := 1.001
			if c.d <= maxDirect {
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
		p := mustPoints(t, pointtest.Make("uniform", 3000, d, 2))
		q, err := newDistancer(t.Context(), p, nil, nil, simd.At(simd.Best()))
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
		sorted := q.fromMiddle(rows.Spread(p.N, p.N))
		slices.Sort(sorted)
		distances := q.fromMiddle(sampled)
		slices.Sort(distances)
		for k, v := range distances {
			if lo, hi := sorted[k*p.N/count], sorted[(k+1)*p.N/count-1]; v < lo || v > hi {
				t.Errorf("d = %d: rank %d is at %g, want %g to %g", d, k, v, lo, hi)
			}
		}
	}
}

// Rows without a neighbour are foreseen where all distances are in one or two bins.
func TestIsolatedRowsAreForeseen(t *testing.T) {
	t.Parallel()
	p := pointtest.Make("uniform", 256, 1500, 4)
	pts, err := Open(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, degree := range []float64{0.5, 20} {
		b, radius, err := pts.BandwidthForDegree(t.Context(), degree, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		opt := &Options{CutoffRadius: radius, Calibration: new(Calibration)}
		op, err := NewCSR(t.Context(), p, b, opt)
		if err != nil {
			t.Fatal(err)
		}
		candidates, err := pts.Plan(t.Context(), b, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, want := candidates[0].Degrees.Isolated, float64(op.Certificate().Isolated)
		if math.Abs(got-want) > 0.15*float64(p.Rows) {
			t.Errorf("degree %g: %.4g isolated rows foreseen, there are %g", degree, got, want)
		}
	}
}
