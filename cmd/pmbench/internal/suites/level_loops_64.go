package suites

import (
	"fmt"
	"math/rand/v2"

	"github.com/seed-64e14a55/privatemail/simd"
)

// doubleLoops are those of private steps, in float64.
func doubleLoops() (out []levelLoop) {
	for _, d := range []int{64, 512} {
		out = append(out, levelLoop{fmt.Sprintf("Dots64/d=%d", d), func(r *rand.Rand) loopRun {
			const rows = 48
			dst, x := simd.RowsOf(make([]float64, rows*rows), rows), simd.RowsOf(loopNumbers[float64](r, rows*d), d)
			return loopRun{rows * rows * d, 8 * rows * d, func(s *simd.Kernels) { s.Dots64(dst, x, x, rows, rows, d) }}
		}})
	}
	out = append(out, pairLoops()...)
	return append(out, momentLoops()...)
}

// pairLoops follow the dot products of a block of rows against another.
func pairLoops() []levelLoop {
	const n, k = 64, 3
	block := func(method string, run func(s *simd.Kernels, w, x, dst simd.Rows[float64], norms, to []float64)) levelLoop {
		return levelLoop{fmt.Sprintf("%s/n=%d", method, n*n), func(r *rand.Rand) loopRun {
			w, x, dst := simd.RowsOf(loopNumbers[float64](r, n*n), n), simd.RowsOf(loopNumbers[float64](r, k*n), n), simd.RowsOf(make([]float64, k*n), n)
			norms, to := make([]float64, n*n), make([]float64, n*n)
			for i := range norms {
				norms[i] = 1
			}
			return loopRun{n * n, 8 * n * n, func(s *simd.Kernels) { run(s, w, x, dst, norms, to) }}
		}}
	}
	return []levelLoop{
		block("DotsToSqDists64", func(s *simd.Kernels, _, _, _ simd.Rows[float64], norms, to []float64) {
			clear(to)
			s.DotsToSqDists64(to, 1, norms)
		}),
		block("Weights64", func(s *simd.Kernels, w, _, _ simd.Rows[float64], _, to []float64) { s.Weights64(to, w.Data, 9, 0, 700) }),
		block("WeightedSums64", func(s *simd.Kernels, w, x, dst simd.Rows[float64], _, _ []float64) {
			s.WeightedSums64(dst, w, x, k, n, n)
		}),
		block("WeightedSumsTrans64", func(s *simd.Kernels, w, x, dst simd.Rows[float64], _, _ []float64) {
			s.WeightedSumsTrans64(dst, w, x, k, n, n)
		}),
	}
}

// momentLoops are those of polynomials of degree 2.
func momentLoops() (out []levelLoop) {
	const rows = 64
	for _, d := range []int{16, 64} {
		moments := func(method string, run func(s *simd.Kernels, y simd.Rows[float64], w, m, linear, dst []float64)) {
			out = append(out, levelLoop{fmt.Sprintf("%s/d=%d", method, d), func(r *rand.Rand) loopRun {
				y, w, linear := simd.RowsOf(loopNumbers[float64](r, rows*d), d), loopNumbers[float64](r, rows), loopNumbers[float64](r, d)
				m, dst := make([]float64, simd.MomentsSize(d)), make([]float64, rows)
				return loopRun{rows * d * (d + 1) / 2, 8 * (rows*d + len(m)), func(s *simd.Kernels) { run(s, y, w, m, linear, dst) }}
			}})
		}
		moments("AddMoments", func(s *simd.Kernels, y simd.Rows[float64], w, m, _, _ []float64) {
			clear(m)
			s.AddMoments(m, y, w, d)
		})
		moments("QuadraticForms", func(s *simd.Kernels, y simd.Rows[float64], _, m, linear, dst []float64) {
			s.QuadraticForms(dst, y, linear, m)
		})
	}
	return out
}
