package kernel

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// Codes of two points are no farther apart than the points and their slacks, for
// coordinates and for directions that are anything but orthonormal.
func TestCodesAreNoFartherThanPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rngOf(rapid.Uint64().Draw(t, "seed"))
		d := rapid.SampledFrom([]int{9, 64, 65, 130, 300}).Draw(t, "d")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		p, _ := exactSet(rng, n, d)
		points := rows.View32(p)
		centre := slices.Clone(points.Row(0))
		pr := codes.coordinates(centre)
		if d > 64 && rapid.Bool().Draw(t, "directions") {
			basis := mat.NewDense(63, d, nil)
			for i := range 63 {
				for c := range d {
					basis.Set(i, c, rng.NormFloat64())
				}
			}
			pr = codes.along(centre, basis, 64, codes.positive(typicalDistance(p, rng), 1)*math.Exp2(float64(rng.IntN(5)-3)))
		}
		o := &Options{Kernels: simd.At(simd.Best())}
		if err := pr.fit(context.Background(), points.Row, n, o); err != nil {
			t.Fatal(err)
		}
		near, found, err := pr.sample(context.Background(), points.Row, n, 1, true, o)
		if err != nil {
			t.Fatal(err)
		}
		if found > near {
			t.Fatalf("%g of pairs are near and %g found", near, found)
		}
		c, err := pr.encode(context.Background(), points.Row, n, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range i {
				apart := math.Sqrt(rows.Dist2(points.Row(i), points.Row(j))) / c.unit
				if got := c.distance(i, c.row(j)); got > (apart+c.slack[i]+c.slack[j])*(1+1e-12) && c.slack[i] < 1<<15 && c.slack[j] < 1<<15 {
					t.Fatalf("codes %d and %d are %g apart, points %g with slacks %g and %g", i, j, got, apart, c.slack[i], c.slack[j])
				}
			}
		}
	})
}

// No pair within reach of each other is lost, whatever reach is the usual one.
func TestReachLosesNoPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const depth = 64
		c := codes.newCodes(2, depth, 1)
		for i := range c.code {
			c.code[i] = int8(rapid.IntRange(-127, 127).Draw(t, "code"))
		}
		c.measure(0)
		c.measure(1)
		apart := math.Sqrt(float64(c.norm2[0]) + float64(c.norm2[1]) - 2*float64(codes.dot8(c.row(0), c.row(1))))
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		a, b := share*apart, apart-share*apart
		if a+b < apart { // rounded
			b = math.Nextafter(b, math.Inf(1))
		}
		r := codes.reach{usual: rapid.Float64Range(0, 2*apart+1).Draw(t, "usual"), most: b + rapid.Float64Range(0, 100).Draw(t, "more")}
		product := int64(0)
		for i, v := range c.row(0) {
			product += int64(v) * (int64(c.row(1)[i]) + 128)
		}
		if product+int64(r.bias(c.norm2[1], b)) < int64(r.threshold(c.norm2[0], c.sum[0], a)) {
			t.Fatalf("%g apart, reaches %g and %g, %+v: lost", apart, a, b, r)
		}
	})
}

func TestReachesWithoutLimits(t *testing.T) {
	for _, v := range []float64{math.Inf(1), math.NaN(), 1e300} {
		if got := codes.bounded(v); got != 1<<15 {
			t.Errorf("bounded(%g) = %g", v, got)
		}
	}
	r := codes.reach{usual: codes.bounded(math.Inf(1)), most: codes.bounded(math.Inf(1))}
	if low, high := r.threshold(0, 0, 1<<15), r.bias(1<<26, 1<<15); low > -(1<<27) || high < 1<<28 {
		t.Errorf("threshold %d, bias %d", low, high)
	}
}

// Memory is refused before it is taken, cancelled searches end with the context's
// error, and progress goes from little to all.
func TestSearchBudgetCancellationAndProgress(t *testing.T) {
	p, _ := exactSet(rngOf(11), 700, 40)
	radius := typicalDistance(p, rngOf(4))
	workers := par.New(2)
	defer workers.Close()
	for name, o := range map[string]Options{"radius": {CutoffRadius: radius}, "nearest": {Neighbours: 7}} {
		o.Workers = workers
		small := o
		small.BudgetBytes = 1000
		if _, err := NewCSR(t.Context(), p, Sigma(radius), &small); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: err = %v", name, err)
		}
		// Enough for the search, not for what it finds.
		small.BudgetBytes = searchBytes(p.Rows, p.Cols, &o) + 20_000
		if _, err := NewCSR(t.Context(), p, Sigma(radius), &small); !errors.Is(err, ErrMemory) {
			t.Errorf("%s: err = %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int64
		var reports []int
		o.Progress = func(_ string, d, total int) {
			if reports = append(reports, d); d > total {
				t.Errorf("%s: %d of %d", name, d, total)
			}
			if done.Add(1) == 2 {
				cancel()
			}
		}
		if _, err := NewCSR(ctx, p, Sigma(radius), &o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: err = %v", name, err)
		}
		if !slices.IsSorted(reports) || len(reports) < 2 {
			t.Errorf("%s: progress %v", name, reports)
		}
		cancel()
	}
}

// Workers change nothing.
func TestSearchIsTheSameForAnyWorkers(t *testing.T) {
	for _, d := range []int{30, 200} {
		p, _ := exactSet(rngOf(13), 900, d)
		radius := typicalDistance(p, rngOf(4)) / 1.2
		for _, o := range []Options{{CutoffRadius: radius}, {Neighbours: 5}} {
			one, err := NewCSR(t.Context(), p, Sigma(radius), &o)
			if err != nil {
				t.Fatal(err)
			}
			for _, count := range []int{2, 5} {
				workers := par.New(count)
				o.Workers = workers
				many, err := NewCSR(t.Context(), p, Sigma(radius), &o)
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				same := slices.Equal(one.order, many.order) && slices.Equal(one.degrees, many.degrees) && slices.Equal(one.cert.Row, many.cert.Row)
				for i := range one.weights.Rows() {
					a, v := one.weights.Row(i, nil)
					b, w := many.weights.Row(i, nil)
					same = same && slices.Equal(a, b) && slices.Equal(v, w)
				}
				if !same {
					t.Errorf("d=%d: %d workers change the graph", d, count)
				}
			}
		}
	}
}

// The certificate of nearest neighbours bounds what they leave out.
func TestNearestCertificate(t *testing.T) {
	for _, d := range []int{2, 20, 100} {
		p, _ := exactSet(rngOf(uint64(d)), 300, d)
		b := Sigma(typicalDistance(p, rngOf(1)))
		op, err := NewCSR(t.Context(), p, b, &Options{Neighbours: 6})
		if err != nil {
			t.Fatal(err)
		}
		points, order := mustPoints(t, p), orderOf(op)
		for i := range op.N() {
			full := 0.0
			for j := range op.N() {
				if j != i {
					full += b.Weight(points.Dist2(int(order[i]), int(order[j])))
				}
			}
			if left := full - op.Degrees()[i]; left > op.Certificate().Eta(i)*op.Degrees()[i]*(1+1e-6) {
				t.Fatalf("d=%d: row %d leaves out %g, certified %g", d, i, left, op.Certificate().Eta(i)*op.Degrees()[i])
			}
		}
		compareLists(t, "few dimensions", graphNeighbours(op), bruteNearest(p, 6))
	}
	if _, err := NewCSR(t.Context(), makePoints("uniform", 5, 3, 1), Sigma(1), &Options{Neighbours: 2, CutoffRadius: 1}); !errors.Is(err, ErrOption) {
		t.Errorf("err = %v", err)
	}
}
