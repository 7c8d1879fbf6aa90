package kernel

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pairwise"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// denseCase builds dense of rows of which one is a null record, or of points.
func denseCase(t *testing.T, n, d int, unit bool, opt *Options) (op *pairwise.Dense, p blas64.General, b Bandwidth) {
	t.Helper()
	var err error
	if b = Sigma(0.7); unit {
		r := unitRows(t, makeUnit("random", n, d, n-2, 3))
		p = general(r)
		op, err = as[*pairwise.Dense](r.Dense(t.Context(), b, opt))
	} else {
		p = pointtest.Widen(pointtest.Make("uniform", n, d, 3))
		op, err = as[*pairwise.Dense](NewDense(t.Context(), p, b, opt))
	}
	if err != nil {
		t.Fatal(err)
	}
	return op, p, b
}

// plainProduct returns W x and the degrees from the definition, pair by pair.
func plainProduct(p, x blas64.General, b Bandwidth, null int) (wx blas64.General, degrees []float64) {
	wx, degrees = pointtest.Zeros64(x.Rows, x.Cols), make([]float64, x.Rows)
	for i := range p.Rows {
		for j := range p.Rows {
			d2 := 1.0
			if i != null && j != null {
				d2 = 0
				for c := range p.Cols {
					e := p.Data[i*p.Stride+c] - p.Data[j*p.Stride+c]
					d2 += e * e
				}
			}
			if w := b.Weight(d2); i != j {
				degrees[i] += w
				for c := range x.Cols {
					wx.Data[i*x.Cols+c] += w * x.Data[j*x.Cols+c]
				}
			}
		}
	}
	return wx, degrees
}

// Products and degrees are those of the definition, with the same bits at every level and
// for any number of workers, whether blocks are full or not.
func TestDenseProducts(t *testing.T) {
	for _, unit := range []bool{true, false} {
		for _, size := range []struct{ n, d, k int }{{2, 1, 1}, {7, 9, 2}, {distance.BlockRows, 12, 1}, {2*distance.BlockRows + 5, 3, 4}, {2*distance.BlockRows + 77, 140, 3}, {distance.BlockRows + 8, 64, 7}} {
			t.Run(fmt.Sprintf("unit=%v/n=%d/d=%d/k=%d", unit, size.n, size.d, size.k), func(t *testing.T) {
				x := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(4), size.n, size.k))
				var first, firstDegrees []float64
				for _, level := range simd.Levels() {
					for _, count := range []int{1, 3} {
						workers := par.New(count)
						op, p, b := denseCase(t, size.n, size.d, unit, &Options{Kernels: simd.At(level), Workers: workers})
						got := pointtest.Zeros64(size.n, size.k)
						if err := op.Apply64(t.Context(), got, x); err != nil {
							t.Fatal(err)
						}
						if first == nil {
							first, firstDegrees = got.Data, slices.Clone(op.Degrees())
							null := -1
							if unit {
								null = size.n - 2
							}
							want, degrees := plainProduct(p, x, b, null)
							wantWithin(t, "degree", op.Degrees(), degrees, degrees, op.Cert.EntryRel+op.Cert.Rounding)
							size := make([]float64, len(got.Data))
							for i := range size {
								size[i] = 5 * degrees[i/x.Cols]
							}
							wantWithin(t, "product", got.Data, want.Data, size, op.Cert.EntryRel+op.Cert.Rounding)
						}
						if !slices.Equal(got.Data, first) || !slices.Equal(op.Degrees(), firstDegrees) {
							t.Errorf("%v, %d workers: other bits", level, count)
						}
						workers.Close()
					}
				}
			})
		}
	}
}

// wantWithin compares numbers up to a part of their size.
func wantWithin(t *testing.T, what string, got, want, size []float64, part float64) {
	t.Helper()
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= (2*part+1e-14)*size[i]) {
			t.Fatalf("%s %d: %v, want %v", what, i, got[i], v)
		}
	}
}

// The degrees of unit rows come with the first product. Whoever asks for them before, or
// takes a step that begins with them, gets the same bits, and so do callers at the same
// time.
// Callers that ask for degrees at the same time all get them, also those that begin to sum
// them when another has just done so.
func TestConcurrentDegrees(t *testing.T) {
	op, _, _ := denseCase(t, 20, 3, true, nil)
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			if slices.Contains(op.Degrees(), 0) {
				t.Error("a degree of 0")
			}
		})
	}
	group.Wait()
	if err := op.SumDegrees(t.Context(), op.Workers, nil); err != nil {
		t.Error(err)
	}
}

func TestDegreesOfUnitRowsComeLate(t *testing.T) {
	const n, d = distance.BlockRows + 30, 20
	workers := par.New(2)
	defer workers.Close()
	build := func() *pairwise.Dense {
		var stages []string
		op, _, _ := denseCase(t, n, d, true, &Options{Workers: workers, Progress: func(stage string, _, _ int) { stages = append(stages, stage) }})
		if op.Known.Load() || len(stages) > 0 {
			t.Fatalf("the build has summed the degrees: %v", stages)
		}
		return op
	}
	q := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(4), n, 2))
	step := func(op *pairwise.Dense, form Form) []float64 {
		var st Stats
		dst := pointtest.Zeros64(n, 2)
		if err := st.Gather64(q, nil); err != nil {
			t.Error(err)
		}
		if err := public(op).(Operator64).Step64(t.Context(), dst, q, &Step{Form: form}, &st); err != nil {
			t.Error(err)
		}
		return append(dst.Data, st.Objective, st.Change)
	}
	for _, form := range []Form{Paper, Attract} {
		late, early, shared := build(), build(), build()
		want := slices.Clone(early.Degrees())
		if slices.Contains(want, 0) {
			t.Fatal("a degree of 0")
		}
		first := step(early, form)
		if got := step(late, form); !slices.Equal(got, first) || !slices.Equal(late.Degrees(), want) {
			t.Errorf("%v: a step that sums degrees has other bits", form)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if got := step(shared, form); !slices.Equal(got, first) {
					t.Errorf("%v: a step with others has other bits", form)
				}
				if !slices.Equal(shared.Degrees(), want) {
					t.Errorf("%v: other degrees", form)
				}
			})
		}
		group.Wait()
	}
	closed := par.New(2)
	op, _, _ := denseCase(t, n, d, true, &Options{Workers: closed})
	closed.Close()
	if !slices.Equal(op.Degrees(), build().Degrees()) {
		t.Error("workers that are closed have other degrees")
	}
}

// After its first step a run of dense allocates nothing.
func TestDenseStepsAllocateNothing(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	op, _, _ := denseCase(t, 40, 12, true, &Options{Workers: workers})
	step := &Step{}
	q, dst := pointtest.Widen(pointtest.RandomBlock(pointtest.Rand(4), 40, 2)), pointtest.Zeros64(40, 2)
	var st Stats
	if err := st.Gather64(q, nil); err != nil {
		t.Fatal(err)
	}
	wide := public(op).(Operator64)
	take := func() {
		if err := wide.Step64(t.Context(), dst, q, step, &st); err != nil {
			t.Fatal(err)
		}
	}
	take()
	if got := testing.AllocsPerRun(10, take); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// The weight of the null record is exp(-Gamma) to the bit, in its own row and in that of
// the other record, wherever it stands.
func TestNullWeightOfDense(t *testing.T) {
	for _, d := range []int{3, 30} {
		for _, null := range []int{0, 1} {
			for seed := range uint64(20) {
				b := Sigma(0.3 + 0.1*float64(seed))
				op, err := unitRows(t, makeUnit("random", 2, d, null, seed)).Dense(t.Context(), b, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := op.Degrees(); got[0] != b.Weight(1) || got[1] != b.Weight(1) {
					t.Errorf("d = %d, null record %d, %v: %v, want %v", d, null, b, got, b.Weight(1))
				}
			}
		}
	}
}
