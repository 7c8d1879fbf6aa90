package kernel

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// One product of the dense operator; ns/pair at d = 2 is the exponential with
// its loop, the slope in d the distance.
func BenchmarkDense(b *testing.B) {
	for _, d := range []int{2, 64, 512} {
		for _, k := range []int{1, 8} {
			b.Run(fmt.Sprintf("n=2048/d=%d/k=%d", d, k), func(b *testing.B) {
				p := pointtest.Make("uniform", 2048, d, 1)
				op, err := NewDense(b.Context(), p, Sigma(1), nil)
				if err != nil {
					b.Fatal(err)
				}
				x, dst := pointtest.RandomBlock(pointtest.Rand(1), 2048, k), pointtest.Zeros32(2048, k)
				for b.Loop() {
					if err := op.Apply(b.Context(), dst, x); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(2048*2047/2), "ns/pair")
			})
		}
	}
}

// A private first step by dense, from unit rows to the next iterate: ns/pair.
func BenchmarkFirstStepDense(b *testing.B) {
	for _, c := range []struct{ n, d int }{{2048, 64}, {1024, 1280}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/k=2", c.n, c.d), func(b *testing.B) {
			r, err := NewUnitRows(pointtest.Make("uniform", c.n, c.d, 1), UnitOptions{Normalize: true})
			if err != nil {
				b.Fatal(err)
			}
			q, dst := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(1), c.n, 2)), pointtest.Zeros64(c.n, 2)
			for b.Loop() {
				op, err := r.Dense(b.Context(), Sigma(1), nil)
				if err != nil {
					b.Fatal(err)
				}
				var st Stats
				if err := st.Gather64(q, nil); err != nil {
					b.Fatal(err)
				}
				if err := op.Step64(b.Context(), dst, q, &Step{}, &st); err != nil {
					b.Fatal(err)
				}
			}
			pairs := float64(c.n) * float64(c.n-1) / 2
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pairs, "ns/pair")
		})
	}
}

// Building the graph of uniform points with about 32 neighbours.
func BenchmarkBuildCSR(b *testing.B) {
	for _, d := range []int{2, 3, 5} {
		for _, kind := range []string{"uniform", "clustered"} {
			b.Run(fmt.Sprintf("n=100000/d=%d/kind=%s", d, kind), func(b *testing.B) {
				p := pointtest.Make(kind, 100_000, d, 1)
				sigma, radius, err := bandwidthForDegree(b.Context(), p, 32, 0, nil)
				if err != nil {
					b.Fatal(err)
				}
				nnz := 0
				for b.Loop() {
					op, err := as[*truncated.CSR](openCSR(b.Context(), p, sigma, &Options{CutoffRadius: radius}))
					if err != nil {
						b.Fatal(err)
					}
					nnz = op.Weights.NNZ()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nnz), "ns/nnz")
			})
		}
	}
}

// One fused step; ns/nnz.
func BenchmarkStepCSR(b *testing.B) {
	workers := par.New(1)
	defer workers.Close()
	p := pointtest.Make("uniform", 200_000, 2, 1)
	sigma, radius, err := bandwidthForDegree(b.Context(), p, 32, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	op, err := as[*truncated.CSR](openCSR(b.Context(), p, sigma, &Options{CutoffRadius: radius, Workers: workers}))
	if err != nil {
		b.Fatal(err)
	}
	labels, err := NewLabels(pointtest.RandomLabels(pointtest.Rand(1), p.Rows, 10, false), EqualTable(), false)
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []int{1, 2, 8, 32} {
		x, dst := pointtest.RandomBlock(pointtest.Rand(2), p.Rows, k), pointtest.Zeros32(p.Rows, k)
		b.Run(fmt.Sprintf("n=200000/k=%d", k), func(b *testing.B) {
			var st Stats
			if err := st.Gather(x, labels); err != nil {
				b.Fatal(err)
			}
			step := &Step{Labels: labels, Coefficient: 0.1}
			b.ReportAllocs()
			named := public(op)
			for b.Loop() {
				if err := named.Step(b.Context(), dst, x, step, &st); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(op.Weights.NNZ()), "ns/nnz")
		})
	}
}

// The profile of a sample, which every plan takes.
func BenchmarkProfile(b *testing.B) {
	for _, c := range []struct{ n, d int }{{1_000_000, 2}, {10_000, 512}} {
		b.Run(fmt.Sprintf("n=%d/d=%d", c.n, c.d), func(b *testing.B) {
			p := pointtest.Make("uniform", c.n, c.d, 1)
			for b.Loop() {
				if _, err := planOf(b.Context(), blas32.General(p), Sigma(0.01), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStepPairs makes weights again: time for each of them and for each distance
// taken, in addition to the share of distances within the radius.
func BenchmarkStepPairs(b *testing.B) {
	for _, c := range []struct {
		n, d       int
		neighbours float64
	}{{100_000, 2, 32}, {100_000, 2, 128}, {30_000, 2, 1000}, {20_000, 2, 10_000}, {100_000, 3, 32}, {100_000, 3, 128}, {30_000, 3, 1000}, {20_000, 5, 100}, {10_000, 8, 1000}, {100_000, 1, 100}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/nnz=%g", c.n, c.d, c.neighbours), func(b *testing.B) {
			p := pointtest.Make("uniform", c.n, c.d, 1)
			bandwidth, radius, err := bandwidthForDegree(b.Context(), p, c.neighbours, 0, nil)
			if err != nil {
				b.Fatal(err)
			}
			op, err := as[*truncated.Pairs](openPairs(b.Context(), p, bandwidth, &Options{CutoffRadius: radius}))
			if err != nil {
				b.Fatal(err)
			}
			x, dst := pointtest.RandomBlock(pointtest.Rand(1), c.n, 2), pointtest.Zeros32(c.n, 2)
			var st Stats
			if err := st.Gather(x, nil); err != nil {
				b.Fatal(err)
			}
			named := public(op)
			for b.Loop() {
				if err := named.Step(b.Context(), dst, x, &Step{}, &st); err != nil {
					b.Fatal(err)
				}
			}
			nnz, tested := op.MeanNeighbours()*float64(c.n), op.List.Tested()
			ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
			b.ReportMetric(ns/nnz, "ns/nnz")
			b.ReportMetric(ns/tested, "ns/test")
			b.ReportMetric(nnz/tested, "fill")
			b.ReportMetric(float64(op.List.Bytes())/nnz, "B/nnz")
		})
	}
}

func BenchmarkPolyStep(b *testing.B) {
	for _, c := range []struct {
		n, d  int
		sigma float64
	}{{200_000, 64, 6}, {50_000, 512, 6}, {20_000, 64, 2}} {
		b.Run(fmt.Sprintf("n=%d/d=%d/sigma=%g", c.n, c.d, c.sigma), func(b *testing.B) {
			op, err := as[*poly.Poly](openPoly(b.Context(), pointtest.ClusteredUnitRows(c.n, c.d, 20), Sigma(c.sigma), &Options{Tolerance: 1e-3}))
			if err != nil {
				b.Fatal(err)
			}
			x, dst := pointtest.RandomBlock(pointtest.Rand(1), c.n, 2), pointtest.Zeros32(c.n, 2)
			var st Stats
			if err := st.Gather(x, nil); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(8 * int64(c.n) * int64(c.d))
			named := public(op)
			for b.Loop() {
				if err := named.Step(b.Context(), dst, x, &Step{}, &st); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(op.Series.Order()), "degree")
		})
	}
}
