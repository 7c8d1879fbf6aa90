package kernel

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/cells"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// pairs has what csr stores: order, rows, weights bit by bit, certificate.
func TestPairsEqualsCSR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pointtest.Draw(t, 200, []int{1, 2, 3, 5, 8})
		rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of x"))
		scale := pointtest.TypicalDistance(p, rng)
		b := Sigma(scale * math.Exp2(rapid.Float64Range(-5, 2).Draw(t, "octaves")))
		opt := &Options{
			CutoffRadius: b.Sigma() * rapid.Float64Range(0.3, 5).Draw(t, "radius"),
			Isolated:     rapid.SampledFrom([]IsolatedPolicy{Keep, Repair}).Draw(t, "policy"),
		}
		pts := mustPoints(t, p)
		if opt.CutoffRadius >= pts.Farthest() {
			opt.CutoffRadius = pts.Farthest() / 2 // csr has another order where every pair is near
		}
		if opt.CutoffRadius == 0 {
			return // all points are equal
		}
		stored, err := as[*truncated.CSR](openCSR(t.Context(), p, b, opt))
		if err != nil {
			t.Fatalf("%v", err)
		}
		op, err := as[*truncated.Pairs](openPairs(t.Context(), p, b, opt))
		if err != nil {
			t.Fatalf("%v", err)
		}
		comparePairs(t, op, stored)
		checkAgainstDense(t, public(op), p, b)
	})
}

func comparePairs(t pointtest.Tester, op *truncated.Pairs, stored *truncated.CSR) {
	t.Helper()
	if !slices.Equal(op.Order(), stored.Order()) || op.Radius() != stored.Radius() || !slices.Equal(op.Group, stored.Group) {
		t.Fatalf("another order, radius or other groups")
	}
	if a, b := op.MeanNeighbours(), stored.MeanNeighbours(); math.Abs(a-b) > 1e-9*b {
		t.Fatalf("%g neighbours, csr has %g", a, b)
	}
	reader, buffer := op.Rows.Reader(1), sparse.RowBuffer{}
	for g := range stored.Weights.Rows() {
		ind, val := reader.Weights(g)
		wantInd, wantVal := stored.Weights.Row(g, &buffer)
		if !slices.Equal(ind, wantInd) || !slices.Equal(val, wantVal) {
			t.Fatalf("row %d: %v %v, csr has %v %v", g, ind, val, wantInd, wantVal)
		}
	}
	for i, d := range stored.Degrees() {
		if math.Abs(op.Degrees()[i]-d) > 1e-13*d {
			t.Fatalf("degree %d is %g, csr has %g", i, op.Degrees()[i], d)
		}
		a, b := op.Certificate().Eta(i), stored.Certificate().Eta(i)
		if a != b && math.Abs(a-b) > 1e-6*b {
			t.Fatalf("eta %d is %g, csr has %g", i, a, b)
		}
	}
}

// The same at sizes with several chunks and batches of candidates, any number of
// columns, equal points and rows of faint degree; and no bit depends on the workers
// or the level.
func TestPairsAtSize(t *testing.T) {
	t.Parallel()
	three := par.New(3)
	defer three.Close()
	for _, c := range []struct {
		kind   string
		n, d   int
		sigma  float64
		policy IsolatedPolicy
	}{
		{"uniform", 4000, 2, 0.01, Keep},
		{"uniform", 1500, 2, 0.2, Keep}, // most pairs, many batches
		{"uniform", 2000, 1, 0.003, Keep},
		{"uniform", 2000, 3, 0.05, Repair},
		{"clustered", 1500, 3, 0.02, Repair},
		{"lattice", 2000, 3, 0.4, Keep},
		{"collinear", 1500, 5, 0.01, Keep},
	} {
		p, b := pointtest.Make(c.kind, c.n, c.d, 5), Sigma(c.sigma)
		opt := Options{CutoffRadius: 3 * c.sigma, Isolated: c.policy}
		stored, err := as[*truncated.CSR](openCSR(t.Context(), p, b, &opt))
		if err != nil {
			t.Fatal(err)
		}
		var first *truncated.Pairs
		for _, workers := range []*par.Workers{nil, three} {
			for _, level := range simd.Levels() {
				if workers != nil && level != simd.Best() {
					continue
				}
				opt.Workers, opt.Kernels = workers, simd.At(level)
				op, err := as[*truncated.Pairs](openPairs(t.Context(), p, b, &opt))
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = op
					comparePairs(t, op, stored)
					checkAgainstDense(t, public(op), p, b)
					continue
				}
				if !slices.Equal(op.Degrees(), first.Degrees()) || !slices.Equal(op.Certificate().Row, first.Certificate().Row) {
					t.Fatalf("%+v: degrees or certificate depend on workers or level %v", c, level)
				}
				for _, k := range []int{1, 2, 5} {
					x := pointtest.RandomBlock(pointtest.Rand(uint64(k)), c.n, k)
					if !slices.Equal(apply(t, public(op), x).Data, apply(t, public(first), x).Data) {
						t.Fatalf("%+v: the product depends on workers or level %v", c, level)
					}
				}
			}
		}
	}
}

// Where no cluster has more candidates than a batch, products are those of csr.
func TestPairsProductIsThatOfCSR(t *testing.T) {
	p := pointtest.Make("uniform", 5000, 2, 3)
	opt := &Options{CutoffRadius: 0.03}
	stored, err := openCSR(t.Context(), p, Sigma(0.01), opt)
	if err != nil {
		t.Fatal(err)
	}
	op, err := as[*truncated.Pairs](openPairs(t.Context(), p, Sigma(0.01), opt))
	if err != nil {
		t.Fatal(err)
	}
	x := pointtest.RandomBlock(pointtest.Rand(1), p.Rows, 3)
	if !slices.Equal(apply(t, public(op), x).Data, apply(t, stored, x).Data) {
		t.Error("products differ")
	}
	if sweeps(op.List.Cl) {
		t.Error("pairs keeps what no product reads")
	}
	if op.Cost().ResidentBytes > stored.Cost().ResidentBytes/2 || op.Cost().NNZ != 0 {
		t.Errorf("pairs keeps %d bytes, csr %d", op.Cost().ResidentBytes, stored.Cost().ResidentBytes)
	}
}

// sweeps reports whether a cell list has the cells that a search sweeps over; one that has
// forgotten them panics.
func sweeps(cl *cells.List) (ok bool) {
	defer func() { ok = recover() == nil }()
	cl.Sweep(simd.At(simd.Best())).Clusters(0, 1, func(int) bool { return true })
	return true
}

func TestPairsRefuses(t *testing.T) {
	p := pointtest.Make("uniform", 2000, 2, 3)
	if _, err := openPairs(t.Context(), pointtest.Make("uniform", 50, base.MaxDirect+1, 1), Sigma(1), nil); !errors.Is(err, ErrOperator) {
		t.Errorf("many dimensions: %v", err)
	}
	if _, err := openPairs(t.Context(), p, Sigma(0.1), &Options{MaxMemory: 1 << 16}); !errors.Is(err, ErrMemory) {
		t.Errorf("little memory: %v", err)
	}
	held := graph.SearchBytes(p.Rows, 2, &base.Options{}) + truncated.PairReaderBytes(2)
	full, err := as[*truncated.Pairs](openPairs(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.05, Columns: 2}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = openPairs(t.Context(), p, Sigma(0.01), &Options{MaxMemory: held + 100, CutoffRadius: 0.05, Columns: 2})
	if m, ok := errors.AsType[*MemoryError](err); !ok || m.Need < held+full.List.Bytes()*9/10 || m.Need > held+2*full.List.Bytes() {
		t.Errorf("no memory for the list of %d bytes: %v", full.List.Bytes(), err)
	}
	op, err := openPairs(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openPairs(t.Context(), p, Sigma(0.01), &Options{CutoffRadius: 0.02, Isolated: Repair, MaxMemory: op.Cost().PeakBytes}); !errors.Is(err, ErrMemory) || strings.Contains(err.Error(), "csr") {
		t.Errorf("no memory for repaired rows: %v", err)
	}
	if _, err := openPairs(t.Context(), p, Sigma(1e-4), &Options{Isolated: Fail, CutoffRadius: 1e-3}); !errors.Is(err, ErrIsolated) {
		t.Errorf("isolated rows: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openPairs(ctx, p, Sigma(0.1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
