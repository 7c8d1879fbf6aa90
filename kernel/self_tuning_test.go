package kernel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
)

// plainTuned returns the weights of a graph that tunes itself, by its definition.
func plainTuned(p blas32.General, k int, gamma float64) [][]float64 {
	n, view := p.Rows, rows.View32(p)
	k = min(k, n-1)
	lists := make([][]int, n)
	scale, out := make([]float64, n), make([][]float64, n)
	d2 := func(i, j int) float64 { return rows.Dist2(view.Row(i), view.Row(j)) }
	for i := range n {
		out[i] = make([]float64, n)
		for j := range n {
			if j != i {
				lists[i] = append(lists[i], j)
			}
		}
		slices.SortStableFunc(lists[i], func(a, b int) int {
			if x, y := d2(i, a), d2(i, b); x != y {
				return map[bool]int{true: -1, false: 1}[x < y]
			}
			return a - b
		})
		lists[i] = lists[i][:k]
		for _, j := range lists[i][min(7, k)-1:] {
			if scale[i] == 0 {
				scale[i] = math.Sqrt(d2(i, j))
			}
		}
	}
	for i := range n {
		for _, j := range lists[i] {
			s, t := scale[i], scale[j]
			if s == 0 {
				s = t
			}
			if t == 0 {
				t = s
			}
			w := 1.0
			if d := d2(i, j); d > 0 {
				w = max(math.Exp(-gamma*d/(s*t)), 1e-3)
			}
			out[i][j], out[j][i] = w, w
		}
	}
	return out
}

// Weights, degrees and certificate are those of the definition, in few and in many
// dimensions, with equal points and points far out, for any number of workers.
func TestSelfTunedGraph(t *testing.T) {
	for _, c := range []struct {
		name  string
		n, d  int
		scale func(i int) float32
	}{
		{"few dimensions", 300, 2, oneIn(1, 1, 1)}, {"many dimensions", 300, 20, oneIn(1, 1, 1)},
		{"far out", 200, 3, oneIn(50, 1e4, 1e-3)}, {"equal points", 200, 2, oneIn(3, 1, 0)},
		{"all equal", 60, 2, oneIn(1, 0, 0)}, {"far out in many dimensions", 200, 30, oneIn(40, 1e6, 1)}, {"two points", 2, 2, oneIn(1, 1, 1)},
	} {
		rng := rand.New(rand.NewPCG(4, 4))
		p := blas32.General{Rows: c.n, Cols: c.d, Stride: c.d, Data: make([]float32, c.n*c.d)}
		for i := range p.Data {
			p.Data[i] = 3 + c.scale(i/c.d)*float32(rng.NormFloat64())
		}
		for _, k := range []int{1, 5, 12} {
			want := plainTuned(p, k, 1)
			for _, count := range []int{1, 3} {
				workers := par.New(count)
				op, err := as[*truncated.CSR](openCSR(t.Context(), p, Gamma(1), &Options{Neighbours: k, SelfTuned: true, Workers: workers}))
				workers.Close()
				if err != nil {
					t.Fatal(err)
				}
				compareTuned(t, c.name, op, want)
			}
		}
	}
}

func compareTuned(t *testing.T, name string, op *truncated.CSR, want [][]float64) {
	t.Helper()
	cert, order := op.Certificate(), orderOf(public(op))
	if cert.Kind != base.AsAsked || cert.Isolated != 0 || cert.RowMax > 1e-6 || certificateOf(cert).String()[:8] != "as asked" {
		t.Errorf("%s: certificate %v", name, cert)
	}
	for i := range op.N() {
		ind, val := op.Weights.Row(i, nil)
		got := make([]float64, op.N())
		for e, j := range ind {
			got[order[j]] = float64(val[e])
		}
		off, degree := 0.0, 0.0
		for j, w := range want[order[i]] {
			off += math.Abs(got[j] - w)
			degree += w
			if (got[j] != 0) != (w != 0) {
				t.Fatalf("%s: rows %d and %d: weight %g, want %g", name, order[i], j, got[j], w)
			}
		}
		if off > cert.Eta(i)*degree || math.Abs(op.Degrees()[i]-degree) > 1e-6*degree {
			t.Fatalf("%s: row %d is off by %g of %g, certified %g", name, order[i], off, degree, cert.Eta(i))
		}
	}
}

func TestSelfTunedNeedsNeighbours(t *testing.T) {
	p := pointtest.Make("uniform", 30, 2, 1)
	if _, err := openCSR(t.Context(), p, Gamma(1), &Options{SelfTuned: true}); !errors.Is(err, ErrOption) {
		t.Error(err)
	}
	if _, err := Build(t.Context(), p, Gamma(1), &Options{SelfTuned: true, Neighbours: 3, Operator: "dense"}); !errors.Is(err, ErrOperator) {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := openCSR(cancelled, p, Gamma(1), &Options{SelfTuned: true, Neighbours: 3}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := openCSR(t.Context(), p, Gamma(1), &Options{SelfTuned: true, Neighbours: 3, MaxMemory: 2000}); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
}

// Parts that no weight connects are counted, equal points included.
func TestComponents(t *testing.T) {
	p := blas32.General{Rows: 9, Cols: 1, Stride: 1, Data: []float32{0, 50, 1, 100, 50, 2, 51, 200, 50}}
	for _, operator := range []string{"csr", "pairs"} {
		op, err := Build(t.Context(), p, Sigma(0.5), &Options{CutoffRadius: 1.5, Operator: operator})
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := op.(interface {
			Components(context.Context) ([]int, error)
		}).Components(t.Context())
		if err != nil || !slices.Equal(sizes, []int{4, 3}) {
			t.Errorf("%s: parts of %v rows, %v", operator, sizes, err)
		}
	}
}
