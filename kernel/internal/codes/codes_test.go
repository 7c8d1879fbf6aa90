package codes

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Codes of two points are no farther apart than the points and the slacks of the points,
// for coordinates and for directions that are anything but orthonormal.
func TestCodesAreNoFartherThanPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
		d := rapid.SampledFrom([]int{9, 64, 65, 130, 300}).Draw(t, "d")
		n := rapid.IntRange(2, 40).Draw(t, "n")
		p, _ := pointtest.Hard(rng, n, d)
		points := rows.View32(p)
		centre := slices.Clone(points.Row(0))
		pr := coordinates(centre)
		if d > 64 && rapid.Bool().Draw(t, "directions") {
			basis := mat.NewDense(63, d, nil)
			for i := range 63 {
				for c := range d {
					basis.Set(i, c, rng.NormFloat64())
				}
			}
			pr = along(centre, basis, 64, positive(pointtest.TypicalDistance(p, rng), 1)*math.Exp2(float64(rng.IntN(5)-3)))
		}
		req := &rows.Request{Kernels: simd.At(simd.Best())}
		if err := pr.fit(context.Background(), points.Row, n, req); err != nil {
			t.Fatal(err)
		}
		near, found, err := pr.sample(context.Background(), points.Row, n, 1, true, req)
		if err != nil {
			t.Fatal(err)
		}
		if found > near {
			t.Fatalf("%g of pairs are near and %g found", near, found)
		}
		c, err := pr.encode(context.Background(), points.Row, n, req)
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

// No pair of codes within reach of each other is lost, whatever the usual reach is.
func TestReachLosesNoPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const depth = 64
		c := newCodes(2, depth, 1)
		for i := range c.code {
			c.code[i] = int8(rapid.IntRange(-127, 127).Draw(t, "code"))
		}
		c.measure(0)
		c.measure(1)
		apart := math.Sqrt(float64(c.norm2[0]) + float64(c.norm2[1]) - 2*float64(dot8(c.row(0), c.row(1))))
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		a, b := share*apart, apart-share*apart
		if a+b < apart { // rounded
			b = math.Nextafter(b, math.Inf(1))
		}
		r := reach{usual: rapid.Float64Range(0, 2*apart+1).Draw(t, "usual"), most: b + rapid.Float64Range(0, 100).Draw(t, "more")}
		product := int64(0)
		for i, v := range c.row(0) {
			product += int64(v) * (int64(c.row(1)[i]) + 128)
		}
		if product+int64(r.bias(c.norm2[1], b)) < int64(r.threshold(c.norm2[0], c.sum[0], a)) {
			t.Fatalf("%g apart, reaches %g and %g, %+v: lost", apart, a, b, r)
		}
	})
}

// Reaches that are infinite or not a number count as a large number.
func TestReachesWithoutLimits(t *testing.T) {
	for _, v := range []float64{math.Inf(1), math.NaN(), 1e300} {
		if got := bounded(v); got != 1<<15 {
			t.Errorf("bounded(%g) = %g", v, got)
		}
	}
	r := reach{usual: bounded(math.Inf(1)), most: bounded(math.Inf(1))}
	if low, high := r.threshold(0, 0, 1<<15), r.bias(1<<26, 1<<15); low > -(1<<27) || high < 1<<28 {
		t.Errorf("threshold %d, bias %d", low, high)
	}
}

// permute moves each code, with all that belongs to it, to its place in the order: in orders
// of one cycle, of cycles of one, and of whatever cycles.
func TestPermute(t *testing.T) {
	const n, depth = 100, 64
	rng := pointtest.Rand(3)
	one, all := make([]int, n), make([]int, n)
	for i := range n {
		one[i], all[i] = i, (i+7)%n
	}
	for _, order := range [][]int{one, all, rng.Perm(n), rng.Perm(n), rng.Perm(n)} {
		c, from := newCodes(n, depth, 1), make([]uint32, n)
		for i := range n {
			for e := range depth {
				c.row(i)[e] = int8(i + e)
			}
			c.norm2[i], c.sum[i], c.slack[i], from[i] = int32(i), int32(2*i), float64(3*i), uint32(order[i])
		}
		c.permute(from)
		for i, was := range order {
			if c.norm2[i] != int32(was) || c.sum[i] != int32(2*was) || c.slack[i] != float64(3*was) {
				t.Fatalf("order %d: place %d has %d, %d, %g, want those of %d", order, i, c.norm2[i], c.sum[i], c.slack[i], was)
			}
			for e, v := range c.row(i) {
				if v != int8(was+e) {
					t.Fatalf("order %d: entry %d at place %d is not that of code %d", order, e, i, was)
				}
			}
		}
	}
}
