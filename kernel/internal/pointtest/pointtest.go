// Package pointtest makes points for the tests of package kernel and of the packages
// below it. Nothing but tests imports it.
package pointtest

import (
	"flag"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// kinds are the shapes of data that break neighbour searches.
var kinds = map[string]func(rng *rand.Rand, n, d int) []float32{
	"uniform": func(rng *rand.Rand, n, d int) []float32 {
		return Fill(n*d, func(int) float64 { return rng.Float64() })
	},
	"clustered": func(rng *rand.Rand, n, d int) []float32 {
		centre := Fill(4*d, func(int) float64 { return 100 * rng.Float64() })
		spread := []float64{1e-3, 1e-2, 1, 10}
		out := make([]float32, n*d)
		for i := range n {
			c := rng.IntN(4)
			for a := range d {
				out[i*d+a] = centre[c*d+a] + float32(spread[c]*rng.NormFloat64())
			}
		}
		return out
	},
	"lattice": func(rng *rand.Rand, n, d int) []float32 { // many equal distances and equal points
		return Fill(n*d, func(int) float64 { return float64(rng.IntN(5)) })
	},
	"collinear": func(rng *rand.Rand, n, d int) []float32 {
		out := make([]float32, n*d)
		for i := range n {
			t := rng.Float64()
			for a := range d {
				out[i*d+a] = float32(t * float64(a+1))
			}
		}
		return out
	},
	"identical": func(rng *rand.Rand, n, d int) []float32 {
		v := rng.NormFloat64()
		return Fill(n*d, func(int) float64 { return v })
	},
	"far away": func(rng *rand.Rand, n, d int) []float32 { // precision of the coordinates is 1/16
		return Fill(n*d, func(int) float64 { return 1e6 + rng.Float64() })
	},
	"outlier": func(rng *rand.Rand, n, d int) []float32 {
		out := Fill(n*d, func(int) float64 { return rng.NormFloat64() })
		for a := range d {
			out[a] = 1e7
		}
		return out
	},
	"one thin axis": func(rng *rand.Rand, n, d int) []float32 {
		return Fill(n*d, func(i int) float64 {
			if i%d == 0 {
				return 1e-6 * rng.Float64()
			}
			return rng.Float64()
		})
	},
}

// Kinds returns the names of the shapes of data that break neighbour searches.
func Kinds() (names []string) {
	for _, name := range []string{"uniform", "clustered", "lattice", "collinear", "identical", "far away", "outlier", "one thin axis"} {
		if kinds[name] == nil {
			panic("no kind " + name)
		}
		names = append(names, name)
	}
	return names
}

// Fill returns n numbers.
func Fill(n int, value func(i int) float64) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(value(i))
	}
	return out
}

// Rand returns random numbers, the same for the same seed.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Make returns n points of a kind in d dimensions.
func Make(kind string, n, d int, seed uint64) blas32.General {
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: kinds[kind](Rand(seed), n, d)}
}

// Fewer random cases than rapid's 100 are enough for go test; -rapid.checks is still free to ask
// for others.
func init() {
	if !longtest.Wanted() {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
}

// Draw draws a hard set of up to most points in the given dimensions.
func Draw(t *rapid.T, most int, dims []int) blas32.General {
	kind := rapid.SampledFrom(Kinds()).Draw(t, "kind")
	n := rapid.IntRange(1, most).Draw(t, "n")
	d := rapid.SampledFrom(dims).Draw(t, "d")
	return Make(kind, n, d, rapid.Uint64().Draw(t, "seed"))
}

// TypicalDistance is the distance of two random rows, 1 if they are equal.
func TypicalDistance(p blas32.General, rng *rand.Rand) float64 {
	for range 20 {
		if d2 := rows.Dist2(rows.View32(p).Row(rng.IntN(p.Rows)), rows.View32(p).Row(rng.IntN(p.Rows))); d2 > 0 {
			return math.Sqrt(d2)
		}
	}
	return 1
}

// Outliers returns uniform points and a radius within which a point of 4000 has some
// others: two are far away from all, and two more are neighbours of each other alone.
func Outliers(d int) (p blas32.General, radius float64) {
	p = Make("uniform", 4000, d, 8)
	radius = math.Pow(10.0/4000, 1/float64(d)) / 2
	for a := range d {
		p.Data[a], p.Data[d+a] = 1e12, -1e12
		// And two neighbours outside the grid.
		p.Data[2*d+a], p.Data[3*d+a] = -9, float32(-9-radius/float64(2*d))
	}
	return p, radius
}

// BlobRadius is a radius up to which cells of Blobs are too many to be listed.
const BlobRadius = 0.2

// Blobs returns 10,000 points in ten cubes of side 1 that are far from each other.
func Blobs(d int) blas32.General {
	const n, blobs = 10_000, 10
	rng := Rand(4)
	return blas32.General{Rows: n, Cols: d, Stride: d, Data: Fill(n*d, func(i int) float64 {
		blob := i / d % blobs
		return 1000*float64(blob*(7+i%d)%blobs) + rng.Float64()
	})}
}
