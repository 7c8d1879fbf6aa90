package kernel

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// withEquals returns points of which some are equal to others far from them in the file.
func withEquals(n, d int) blas32.General {
	p := pointtest.Make("uniform", n, d, 3)
	for i := 0; i < n; i += 7 {
		copy(p.Data[i*d:][:d], p.Data[(n-1-i)*d:][:d])
	}
	copy(p.Data[:d], p.Data[5*d:])
	copy(p.Data[2*d:], p.Data[5*d:][:d])
	return p
}

// The matrix has the weights of a plain float64 loop over the points as they were given.
func TestMatrixIsInTheOrderOfThePoints(t *testing.T) {
	for _, c := range []struct {
		name    string
		n, d    int
		opt     Options
		entries float64 // relative error
	}{
		{"csr by cells", 240, 2, Options{CutoffRadius: 0.15}, 1e-6},
		{"csr by codes", 240, 12, Options{CutoffRadius: 1.1}, 1e-6},
		{"every pair", 60, 3, Options{CutoffRadius: 50}, 1e-6},
		{"16 bits", 240, 2, Options{CutoffRadius: 0.15, Layout: sparse.Compact16}, 1e-3},
		{"pairs", 240, 3, Options{CutoffRadius: 0.2, Operator: "pairs"}, 1e-6},
		{"one point", 1, 2, Options{CutoffRadius: 0.2}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := pointtest.Make("uniform", c.n, c.d, 3)
			if c.n > 1 {
				p = withEquals(c.n, c.d)
			}
			b := Sigma(0.3)
			var first *sparse.CSR
			for _, count := range []int{1, 3} {
				m := matrixOf(t, p, b, c.opt, count)
				if first == nil {
					first = m
				}
				compareMatrices(t, m, first)
			}
			compareWithPairs(t, first, p, b, c.opt.CutoffRadius, c.entries)
		})
	}
}

func matrixOf(t *testing.T, p blas32.General, b Bandwidth, opt Options, count int) *sparse.CSR {
	t.Helper()
	workers := par.New(count)
	defer workers.Close()
	opt.Workers = workers
	if opt.Operator == "" {
		opt.Operator = "csr"
	}
	op, err := Build(t.Context(), p, b, &opt)
	if err != nil {
		t.Fatal(err)
	}
	m, err := op.(Truncated).Matrix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]float64, op.N())
	for i, given := range op.Order() {
		sums[given] = op.Degrees()[i]
	}
	if op.Order() == nil {
		copy(sums, op.Degrees())
	}
	if err := op.Close(); err != nil { // the matrix stays
		t.Fatal(err)
	}
	for i, want := range sums {
		sum := 0.0
		_, val := m.Row(i, nil)
		for _, w := range val {
			sum += float64(w)
		}
		if math.Abs(sum-want) > 1e-6*want {
			t.Fatalf("the weights of row %d add up to %g, its degree is %g", i, sum, want)
		}
	}
	return m
}

// compareMatrices wants the same bits.
func compareMatrices(t *testing.T, a, b *sparse.CSR) {
	t.Helper()
	if a.Rows() != b.Rows() || a.NNZ() != b.NNZ() {
		t.Fatalf("%d x %d with %d entries, want %d x %d with %d", a.Rows(), a.Cols(), a.NNZ(), b.Rows(), b.Cols(), b.NNZ())
	}
	for i := range a.Rows() {
		ind, val := a.Row(i, nil)
		wantInd, wantVal := b.Row(i, nil)
		for e := range wantInd {
			if ind[e] != wantInd[e] || val[e] != wantVal[e] {
				t.Fatalf("row %d, entry %d: the matrix depends on the number of workers", i, e)
			}
		}
	}
}

func compareWithPairs(t *testing.T, m *sparse.CSR, p blas32.General, b Bandwidth, radius, rel float64) {
	t.Helper()
	entries := 0
	for i := range p.Rows {
		for j := range p.Rows {
			d2 := 0.0
			for c := range p.Cols {
				diff := float64(p.Data[i*p.Stride+c]) - float64(p.Data[j*p.Stride+c])
				d2 += diff * diff
			}
			want := 0.0
			if i != j && math.Sqrt(d2) <= radius {
				want = b.Weight(d2)
				entries++
			}
			if got := m.At(i, j); math.Abs(got-want) > rel*want {
				t.Fatalf("weight of %d and %d: %g, want %g", i, j, got, want)
			}
		}
	}
	if m.NNZ() != entries {
		t.Errorf("%d entries, want %d", m.NNZ(), entries)
	}
}

// A graph of nearest neighbours, and one with repaired rows, are in the caller's order too.
func TestMatrixOfNearestAndRepairedRows(t *testing.T) {
	p := withEquals(200, 9)
	m := matrixOf(t, p, Sigma(1), Options{Neighbours: 5}, 2)
	for i, list := range bruteNearest(p, 5) {
		ind, _ := m.Row(i, nil)
		if len(ind) != len(list) {
			t.Fatalf("row %d has %d neighbours, want %d", i, len(ind), len(list))
		}
		for e, j := range list {
			if int(ind[e]) != j {
				t.Fatalf("row %d misses its neighbour %d", i, j)
			}
		}
	}
	repaired := matrixOf(t, p, Sigma(0.2), Options{CutoffRadius: 0.3, Isolated: Repair}, 2)
	if !repaired.IsSymmetric() {
		t.Error("the repaired graph is not symmetric")
	}
	for i := range repaired.Rows() {
		if repaired.RowLen(i) == 0 {
			t.Fatalf("row %d has no neighbour after the repair", i)
		}
	}
}

func TestMatrixKeepsTheLimitAndTheContext(t *testing.T) {
	p := blas32.General{Rows: 3000, Cols: 2, Stride: 2, Data: make([]float32, 6000)} // all equal: 9 million weights
	op, err := openCSR(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1, MaxMemory: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Matrix(t.Context()); !errors.Is(err, ErrMemory) {
		t.Errorf("72 MB within 16: %v", err)
	}
	if _, err := op.Matrix(&pointtest.Patience{Context: t.Context(), Left: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
