package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel/internal/grid"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// drawGrid makes the operator of hard points, tolerances and policies. It is nil
// where there are more cells than can be numbered, or so many that they blur.
func drawGrid(t *rapid.T, most int) (*grid.Grid, blas32.General, Bandwidth) {
	p := pointtest.Draw(t, most, []int{1, 2, 2, 3, 4})
	rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed"))
	b := Sigma(pointtest.TypicalDistance(p, rng) * math.Exp2(rapid.Float64Range(-8, 8).Draw(t, "octaves")))
	opt := &Options{
		Isolated:  rapid.SampledFrom([]IsolatedPolicy{Keep, Repair}).Draw(t, "policy"),
		Tolerance: math.Pow(10, rapid.Float64Range([]float64{-10, -9, -6, -3}[p.Cols-1], -0.5).Draw(t, "tolerance")),
	}
	op, err := as[*grid.Grid](openGrid(t.Context(), p, b, opt))
	if errors.Is(err, ErrOperator) || opt.Isolated == Repair && errors.Is(err, ErrTolerance) {
		return nil, p, b
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	return op, p, b
}

// The certificate of every row is searched for violations: degrees, step and
// objective against the exact operator.
func TestGridWithinItsCertificate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if op, p, b := drawGrid(t, 120); op != nil {
			checkAgainstDense(t, public(op), p, b)
		}
	})
}

// The same for the weights themselves: symmetric, zero on the diagonal, each within
// EntryAbs and each row within its bound.
func TestGridEntries(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		op, p, b := drawGrid(t, 40)
		if op == nil {
			return
		}
		cert := op.Certificate()
		got, want := pointtest.Entries(t, public(op).(Operator64)), pointtest.PlainWeights(pointtest.PermuteRows(p, op.Order()), b.Gamma())
		for i := range got {
			sum, degree := 0.0, 0.0
			for j, w := range got[i] {
				e := math.Abs(w - want[i][j])
				sum += e
				degree += w
				if i == j && math.Abs(w) > 1e-12 {
					t.Fatalf("diagonal entry %d is %g", i, w)
				}
				if math.Abs(w-got[j][i]) > 1e-12 {
					t.Fatalf("entries %d, %d: %g and %g", i, j, w, got[j][i])
				}
				if !op.Outside(i) && !op.Outside(j) && e > cert.EntryAbs+1e-12 {
					t.Fatalf("entry %d, %d is off by %g, bound %g", i, j, e, cert.EntryAbs)
				}
			}
			if eta := cert.Eta(i); !math.IsInf(eta, 1) && sum > eta*op.Degrees()[i]+1e-13 {
				t.Fatalf("row %d is off by %g, bound %g of %g", i, sum, eta, op.Degrees()[i])
			}
			if math.Abs(degree-op.Degrees()[i]) > 1e-12*(1+degree) {
				t.Fatalf("row %d sums to %g, degree %g", i, degree, op.Degrees()[i])
			}
		}
	})
}

// Cells with so many points that they are taken apart, and chunks of many cells.
func TestGridCrowds(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	p := pointtest.Make("uniform", lattice.MostPoints+500, 2, 7)
	for i := range lattice.MostPoints + 5 {
		p.Data[2*i], p.Data[2*i+1] = p.Data[2*i]*0.01, p.Data[2*i+1]*0.01
	}
	op, err := as[*grid.Grid](openGrid(t.Context(), p, Sigma(0.1), &Options{Tolerance: 1e-6, Workers: workers}))
	if err != nil {
		t.Fatal(err)
	}
	if op.Slots < 2 {
		t.Errorf("%d slots", op.Slots)
	}
	if cert := op.Certificate(); cert.RowMax > 1e-6 || cert.RowMax < 1e-9 {
		t.Errorf("%v", cert)
	}
	checkAgainstDense(t, public(op), p, Sigma(0.1))
}

// Larger sets meet the tolerance in 99 of 100 rows, and the rest by Repair.
func TestGridMeetsTheTolerance(t *testing.T) {
	t.Parallel()
	workers := par.New(2)
	defer workers.Close()
	for _, c := range []struct {
		kind      string
		n, d      int
		sigma     float64
		tolerance float64
	}{
		{"uniform", 1200, 1, 0.01, 1e-10},
		{"uniform", 1200, 2, 0.1, 1e-9},
		{"uniform", 1200, 2, 0.03, 1e-5},
		{"uniform", 1200, 2, 10, 1e-8},
		{"uniform", 1200, 3, 0.2, 1e-5},
		{"uniform", 1200, 4, 0.5, 1e-2},
		{"clustered", 1200, 2, 2, 1e-5},
		{"collinear", 1200, 2, 0.01, 1e-6},
		{"lattice", 1200, 2, 0.5, 1e-6},
		{"far away", 1200, 2, 0.2, 1e-5},
		{"one thin axis", 1200, 3, 0.1, 1e-5},
		{"identical", 1200, 3, 1, 1e-10},
	} {
		for _, policy := range []IsolatedPolicy{Keep, Repair} {
			t.Run(fmt.Sprintf("kind=%s/d=%d/sigma=%g/policy=%v", c.kind, c.d, c.sigma, policy), func(t *testing.T) {
				p := pointtest.Make(c.kind, c.n, c.d, 11)
				op, err := openGrid(t.Context(), p, Sigma(c.sigma), &Options{Workers: workers, Tolerance: c.tolerance, Isolated: policy})
				if err != nil {
					t.Fatal(err)
				}
				cert := op.Certificate()
				if cert.RowP99 > c.tolerance || policy == Repair && cert.RowMax > c.tolerance {
					t.Errorf("%v, asked for %g", cert, c.tolerance)
				}
				checkAgainstDense(t, op, p, Sigma(c.sigma))
			})
		}
	}
}

// Outliers that only see others by tiny weights: isolated, repaired or refused.
func TestGridOutliers(t *testing.T) {
	p := pointtest.Make("uniform", 2000, 2, 2)
	for i, x := range []float32{5, 9, -4, 30, 60} { // at sigma 1/2: weights down to exp(-7000)
		p.Data[2*i*100], p.Data[2*i*100+1] = x, 0.5
	}
	b, opt := Sigma(0.5), &Options{Tolerance: 1e-6}
	kept, err := openGrid(t.Context(), p, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if cert := kept.Certificate(); cert.Isolated != 5 || !math.IsInf(cert.RowMax, 1) || cert.RowP99 > 1e-6 {
		t.Errorf("kept: %v", cert)
	}
	checkAgainstDense(t, kept, p, b)
	opt.Isolated = Repair
	op, err := as[*grid.Grid](openGrid(t.Context(), p, b, opt))
	if err != nil {
		t.Fatal(err)
	}
	cert := op.Certificate()
	if cert.Isolated != 2 || cert.WorstConnected() > 1e-6 { // the last two have no weight above 1e-280
		t.Errorf("repaired: %v", cert)
	}
	out := 0
	for _, v := range op.Out {
		if v {
			out++
		}
	}
	if out != 5 || op.Cost().NNZ == 0 || op.Cost().NNZ > 2*5*2000 {
		t.Errorf("%d rows out of the grid with %d direct weights", out, op.Cost().NNZ)
	}
	if more := op.Cost().ResidentBytes - kept.Cost().ResidentBytes; more < 12*op.Cost().NNZ {
		t.Errorf("%d direct weights in %d bytes", op.Cost().NNZ, more)
	}
	checkAgainstDense(t, public(op), p, b)
	opt.Isolated = Fail
	if _, err := openGrid(t.Context(), p, b, opt); !errors.Is(err, ErrIsolated) {
		t.Errorf("fail: %v", err)
	}
	opt.Isolated, opt.MaxMemory = Repair, kept.Cost().PeakBytes+1000
	if _, err := openGrid(t.Context(), p, b, opt); !errors.Is(err, ErrMemory) {
		t.Errorf("repair without memory: %v", err)
	}
}

// A tiny sigma in a huge box: memory follows the points, not the box.
func TestGridInAHugeBox(t *testing.T) {
	p := pointtest.Make("clustered", 1200, 2, 4)
	p.Data[0], p.Data[1] = 1e6, -1e6
	b := Sigma(0.02)
	op, err := as[*grid.Grid](openGrid(t.Context(), p, b, &Options{Tolerance: 1e-4, MaxMemory: 256 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	if op.Cells.Count() > p.Rows || op.Lattice.Cells < 1e13 {
		t.Errorf("%d of %g cells kept", op.Cells.Count(), op.Lattice.Cells)
	}
	checkAgainstDense(t, public(op), p, b)
}

func TestGridRefuses(t *testing.T) {
	p := pointtest.Make("uniform", 1000, 2, 1)
	if _, err := openGrid(t.Context(), pointtest.Make("uniform", 10, 5, 1), Sigma(1), nil); !errors.Is(err, ErrOperator) {
		t.Errorf("five dimensions: %v", err)
	}
	if _, err := openGrid(t.Context(), p, Sigma(1), &Options{CutoffRadius: 1}); !errors.Is(err, ErrOperator) {
		t.Errorf("a cutoff: %v", err)
	}
	if _, err := openGrid(t.Context(), p, Sigma(1e-12), nil); !errors.Is(err, ErrOperator) {
		t.Errorf("more cells than numbers: %v", err)
	}
	if _, err := openGrid(t.Context(), p, Sigma(1), &Options{Tolerance: 1e-17, Isolated: Repair}); !errors.Is(err, ErrTolerance) {
		t.Errorf("beyond float64: %v", err)
	}
	if _, err := openGrid(t.Context(), p, Sigma(0.1), &Options{MaxMemory: 100_000}); !errors.Is(err, ErrMemory) {
		t.Errorf("limit: %v", err)
	}
	op, err := Build(t.Context(), p, Sigma(0.1), &Options{Operator: "grid"})
	if err != nil || op.Name() != "grid" {
		t.Errorf("forced: %v", err)
	}
	g := roomOf(op).(*grid.Grid)
	if p, rho, reach := g.Transfer.P, slices.Max(g.Lattice.Width[:])/2, g.Lattice.Radius; p < 2 || rho <= 0 || rho > 2 || reach < 3 {
		t.Errorf("%d nodes, half-width %g, reach %g", p, rho, reach)
	}
	if err := op.Close(); err != nil || roomOf(op).(*grid.Grid).Place[0] != nil {
		t.Errorf("close: %v", err)
	}
}
