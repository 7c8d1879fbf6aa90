package kernel

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// The search begins within a radius that is typical. Points far from all others have
// fewer neighbours in it than are wanted, and among equal points it is zero: both are
// found all the same.
func TestNearestOfUnevenPoints(t *testing.T) {
	t.Parallel()
	const n, d = 400, 24
	for _, c := range []struct {
		name   string
		centre func(i int) float32 // of row i
		scale  func(i int) float32
		balls  bool // are worth their while
	}{
		{"a few far out", nowhere, oneIn(50, 100, 0.01), false},
		{"a few between clumps", func(i int) float32 { return float32(i % 6) }, oneIn(40, 2, 1e-3), true},
		{"near and far alike", nowhere, func(i int) float32 { return []float32{1e-3, 1, 1e3}[i%3] }, false},
		{"most of them equal", nowhere, oneIn(10, 1, 0), false},
		{"all of them equal", nowhere, oneIn(1, 0, 0), false},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		p := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		for i := range n {
			for j := range d {
				p.Data[i*d+j] = c.centre(i) + c.scale(i)*float32(rng.NormFloat64())
			}
		}
		for _, k := range []int{1, 12, 90} {
			want := bruteNearest(p, k)
			for _, count := range []int{1, 3} {
				workers := par.New(count)
				op, err := as[*truncated.CSR](openCSR(t.Context(), p, Gamma(1e-9), &Options{Neighbours: k, Workers: workers}))
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				compareLists(t, c.name, graphNeighbours(op), want)
				if c.balls && !op.Found.Balls {
					t.Errorf("%s: no balls", c.name)
				}
			}
		}
	}
}

func nowhere(int) float32 { return 3 }

// oneIn returns a scale that is one value for every so-manieth row and another for others.
func oneIn(every int, this, others float32) func(i int) float32 {
	return func(i int) float32 {
		if i%every == 0 {
			return this
		}
		return others
	}
}

// The certificate of nearest neighbours bounds what they leave out.
func TestNearestCertificate(t *testing.T) {
	for _, d := range []int{2, 20, 100} {
		p, _ := pointtest.Hard(pointtest.Rand(uint64(d)), 300, d)
		b := Sigma(pointtest.TypicalDistance(p, pointtest.Rand(1)))
		op, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &Options{Neighbours: 6}))
		if err != nil {
			t.Fatal(err)
		}
		points, order := mustPoints(t, p), orderOf(public(op))
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
	if _, err := openCSR(t.Context(), pointtest.Make("uniform", 5, 3, 1), Sigma(1), &Options{Neighbours: 2, CutoffRadius: 1}); !errors.Is(err, ErrOption) {
		t.Errorf("err = %v", err)
	}
}
