package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
)

// What csr builds and computes has the same bits at every level, and stored
// weights are as near to the Gaussian as the certificate says.
func TestEveryLevelBuildsAndStepsTheSame(t *testing.T) {
	for _, kind := range []string{"uniform", "clustered", "lattice", "outlier", "far away"} {
		for _, d := range []int{1, 2, 3, 5, 8, 11} {
			t.Run(fmt.Sprintf("kind=%s/d=%d", kind, d), func(t *testing.T) {
				p := pointtest.Make(kind, 300, d, 5)
				if kind == "clustered" { // equal points, too
					copy(p.Data[100*d:], p.Data[:30*d])
				}
				radius := pointtest.TypicalDistance(p, pointtest.Rand(3)) / 2
				b := Sigma(radius / 3)
				var want *levelRun
				for _, kernels := range simd.All() {
					op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{CutoffRadius: radius, Kernels: kernels}))
					if err != nil {
						t.Fatal(err)
					}
					checkWeights(t, op, p, b)
					got := runLevel(t, op)
					if want == nil {
						want = got
					} else if !got.equals(want) {
						t.Errorf("%v differs from %v", kernels, simd.Generic)
					}
				}
			})
		}
	}
}

// checkWeights compares every stored weight with its definition.
func checkWeights(t *testing.T, op *truncated.CSR, p blas32.General, b Bandwidth) {
	t.Helper()
	order, points := orderOf(public(op)), mustPoints(t, p)
	for g := range op.Weights.Rows() {
		ind, val := op.Weights.Row(g, nil)
		for e, j := range ind {
			d2 := points.Dist2(int(order[op.First(g)]), int(order[op.First(int(j))]))
			want := b.Weight(d2)
			if math.Abs(float64(val[e])-want) > op.Cert.EntryRel*want {
				t.Fatalf("(%d, %d): weight %g, want %g", g, j, val[e], want)
			}
		}
	}
}

// levelRun is what an operator computes.
type levelRun struct {
	degrees []float64
	blocks  [][]float32
	stats   []float64
}

func runLevel(t *testing.T, op *truncated.CSR) *levelRun {
	t.Helper()
	run := &levelRun{degrees: op.Degrees(), blocks: [][]float32{op.Cert.Row}}
	rng := pointtest.Rand(4)
	labels, err := NewLabels(pointtest.RandomLabels(rng, op.N(), 7, true), EqualTable(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 2, 3, 8, 35} {
		x, dst := pointtest.RandomBlock(rng, op.N(), k), pointtest.Zeros32(op.N(), k)
		run.blocks = append(run.blocks, apply(t, public(op), x).Data)
		for _, s := range []Step{{Coefficient: 0.1, Labels: labels}, {Form: Attract, Coefficient: 2, Labels: labels}, {}} {
			var st Stats
			if err := st.Gather(x, s.Labels); err != nil {
				t.Fatal(err)
			}
			if err := public(op).Step(t.Context(), dst, x, &s, &st); err != nil {
				t.Fatal(err)
			}
			run.blocks = append(run.blocks, slices.Clone(dst.Data))
			run.stats = append(run.stats, st.Objective, st.Change, st.Spread, st.MaxAbs)
			run.stats = append(append(run.stats, st.Mean...), st.own.ClassSums...)
		}
	}
	return run
}

func (r *levelRun) equals(other *levelRun) bool {
	return slices.Equal(r.degrees, other.degrees) && slices.Equal(r.stats, other.stats) &&
		slices.EqualFunc(r.blocks, other.blocks, slices.Equal[[]float32])
}

// The tiles of a step are rows finished one by one: labelled, without a label
// and without neighbours, in both forms, with a coefficient and without. The last
// bit may differ.
func TestTilesEqualSingleRows(t *testing.T) {
	p := pointtest.Make("uniform", 300, 2, 9)
	op, err := as[*truncated.CSR](openCSR(t.Context(), p, Sigma(0.05), &Options{CutoffRadius: 0.06}))
	if err != nil {
		t.Fatal(err)
	}
	if op.Cert.Isolated == 0 || op.Cert.Isolated == p.Rows {
		t.Fatalf("%d isolated rows", op.Cert.Isolated)
	}
	rng := pointtest.Rand(2)
	labels, err := NewLabels(pointtest.RandomLabels(rng, p.Rows, 4, true), EqualTable(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 2, 5, 32} {
		x, dst := pointtest.RandomBlock(rng, p.Rows, k), pointtest.Zeros32(p.Rows, k)
		for _, s := range []Step{{}, {Coefficient: 0.1}, {Labels: labels}, {Labels: labels, Coefficient: -0.1}, {Labels: labels, Form: Attract, Coefficient: 3}} {
			var st, plain Stats
			for _, stats := range []*Stats{&st, &plain} {
				if err := stats.Gather(x, s.Labels); err != nil {
					t.Fatal(err)
				}
			}
			if err := public(op).Step(t.Context(), dst, x, &s, &st); err != nil {
				t.Fatal(err)
			}
			inner := s.inner()
			if err := plain.own.Begin(&inner, op.RowSums, op.Bounds, k); err != nil {
				t.Fatal(err)
			}
			product, wx, row := make([]float32, k), make([]float64, k), make([]float32, k)
			chunk := 0
			for i := range p.Rows {
				if i == op.Bounds[chunk+1] {
					chunk++
				}
				op.Weights.MulRows(op.Kernels, product, k, i, i+1, k, x.Data, k)
				for c, v := range product {
					wx[c] = float64(v)
				}
				step.FinishRow(&plain.own.Finish, &plain.own.Partials.Chunk[chunk], i, op.RowSums[i], wx, x.Data[i*k:][:k], row)
				for c, want := range row {
					if got := dst.Data[i*k+c]; math.Abs(float64(got-want)) > 0x1p-23*math.Abs(float64(want))+1e-12 {
						t.Fatalf("k=%d, %+v: row %d is %v, want %v", k, s, i, dst.Data[i*k:][:k], row)
					}
				}
			}
			plain.own.End()
			plain.publish()
			got := append([]float64{st.Objective, st.Change, st.Spread, st.MaxAbs}, append(st.Mean, st.own.ClassSums...)...)
			want := append([]float64{plain.Objective, plain.Change, plain.Spread, plain.MaxAbs}, append(plain.Mean, plain.own.ClassSums...)...)
			for e := range want {
				if math.Abs(got[e]-want[e]) > 1e-11*(1+math.Abs(want[e])) {
					t.Errorf("k=%d, %+v: sums %v, want %v", k, s, got, want)
					break
				}
			}
		}
	}
}

func TestRanked(t *testing.T) {
	t.Parallel()
	rng := pointtest.Rand(6)
	for range 50 {
		v := make([]float32, 1+rng.IntN(300))
		for i := range v {
			v[i] = float32(math.Exp2(10 * rng.NormFloat64()))
			switch rng.IntN(10) {
			case 0:
				v[i] = 0
			case 1:
				v[i] = float32(math.Inf(1))
			}
		}
		sorted := slices.Sorted(slices.Values(v))
		for place, want := range sorted {
			if got := base.Ranked(v, place); got != want {
				t.Fatalf("place %d of %v: %g, want %g", place, sorted, got, want)
			}
		}
	}
}
