package privatemail

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// drawnColumns returns rows of standard normal numbers, with other numbers after each
// row.
func drawnColumns(n, cols int) blas32.General {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(cols)))
	v := blas32.General{Rows: n, Cols: cols, Stride: cols + 2, Data: make([]float32, n*(cols+2))}
	for i := range v.Data {
		v.Data[i] = float32(rng.NormFloat64())
	}
	return v
}

// checkProduct compares dst with a brute force, within the error of the
// certificate.
func checkProduct(t *testing.T, name string, k *Kernel, x, v, dst blas32.General) {
	t.Helper()
	b, certificate := k.Graph().Bandwidth, k.Graph().Certificate
	degrees := make([]float64, k.N()) // in the order of the rows
	for i, d := range k.op.Degrees() {
		if order := k.op.Order(); order != nil {
			i = int(order[i])
		}
		degrees[i] = d
	}
	largest := make([]float64, v.Cols)
	for i := range v.Rows {
		for c := range v.Cols {
			largest[c] = max(largest[c], math.Abs(float64(v.Data[i*v.Stride+c])))
		}
	}
	for i := range x.Rows {
		want := make([]float64, v.Cols)
		for j := range x.Rows {
			d := distance(x, i, j)
			w := b.Weight(d * d)
			for c := range want {
				want[c] += w * float64(v.Data[j*v.Stride+c])
			}
		}
		bound := certificate.Eta(i)*degrees[i] + (2*certificate.Rounding+0x1p-23)*(degrees[i]+1)
		for c := range want {
			got := float64(dst.Data[i*dst.Stride+c])
			if !(math.Abs(got-want[c]) <= bound*largest[c]) {
				t.Fatalf("%s: row %d, column %d: %g, want %g within %g", name, i, c, got, want[c], bound*largest[c])
			}
		}
	}
}

// Products agree with a brute force within the certificate: for every operator, wide and narrow
// bandwidths, several columns, equal rows, rows cleared after the call, any number of workers.
func TestKernelEqualsBruteForce(t *testing.T) {
	space, err := synth.Uniform(400, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := synth.Clustered(300, 20, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []blas32.General{lattice(18, 2), space, wide} {
		for _, sigma := range []float64{0.3, 1.2, 30} {
			for _, operator := range []string{"", "csr", "poly", "grid", "dense", "pairs"} {
				name := fmt.Sprintf("%d columns, sigma %g, %q", x.Cols, sigma, operator)
				s := &KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(sigma), Operator: operator, Tolerance: 1e-3}}
				var first []float32
				for _, workers := range []int{1, 3} {
					rows := x
					rows.Data = slices.Clone(x.Data)
					k, err := engine(t, WithWorkers(workers)).Kernel(t.Context(), rows, s)
					if refused := operator != "" && (errors.Is(err, kernel.ErrOperator) || errors.Is(err, kernel.ErrTolerance)); refused {
						break // such as poly at a narrow bandwidth
					}
					if err != nil {
						t.Errorf("%s: %v", name, err)
						break
					}
					clear(rows.Data) // not needed by products
					v := drawnColumns(k.N(), 3)
					dst := blas32.General{Rows: k.N(), Cols: 3, Stride: 4, Data: make([]float32, 4*k.N())}
					if err := k.Apply(t.Context(), dst, v); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if workers == 1 {
						checkProduct(t, name, k, x, v, dst)
						first = dst.Data
					} else if !slices.Equal(first, dst.Data) {
						t.Errorf("%s: other bits with %d workers", name, workers)
					}
					if err := k.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// A mean number of neighbours decides the bandwidth, and truncates nothing.
func TestKernelOfMeanNeighbours(t *testing.T) {
	x, _ := classes(t, 300, 3)
	e := engine(t)
	k, err := e.Kernel(t.Context(), x, &KernelSettings{Graph: Graph{MeanNeighbours: 5, Tolerance: 1e-4}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	p, err := e.Plan(t.Context(), x, &Settings{Graph: Graph{MeanNeighbours: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if k.Graph().Bandwidth != p.Bandwidth || !(k.Graph().Certificate.RowP99 <= 1e-4) {
		t.Errorf("%+v, planned %+v", k.Graph(), p.Bandwidth)
	}
	v := drawnColumns(300, 1)
	dst := blas32.General{Rows: 300, Cols: 1, Stride: 1, Data: make([]float32, 300)}
	if err := k.Apply(t.Context(), dst, v); err != nil {
		t.Fatal(err)
	}
	checkProduct(t, "mean", k, x, v, dst)
}

func TestKernelRefusals(t *testing.T) {
	x, _ := classes(t, 50, 3)
	b := kernel.Sigma(1)
	for name, c := range map[string]struct {
		settings *KernelSettings
		limit    int64
		want     error
	}{
		"no settings": {nil, 1 << 30, kernel.ErrOption},
		"nothing":     {&KernelSettings{}, 1 << 30, kernel.ErrOption},
		"a radius":    {&KernelSettings{Graph: Graph{CutoffRadius: 1}}, 1 << 30, kernel.ErrOption},
		"a weight":    {&KernelSettings{Graph: Graph{Bandwidth: b, CutoffWeight: 0.1}}, 1 << 30, kernel.ErrOption},
		"neighbours":  {&KernelSettings{Graph: Graph{Neighbours: 3}}, 1 << 30, kernel.ErrOption},
		"a bandwidth": {&KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(-1)}}, 1 << 30, kernel.ErrBandwidth},
		"no operator": {&KernelSettings{Graph: Graph{Bandwidth: b, Operator: "best"}}, 1 << 30, kernel.ErrOperator},
		"no memory":   {&KernelSettings{Graph: Graph{Bandwidth: b}}, 500, kernel.ErrMemory},
	} {
		if _, err := engine(t, WithMaxMemory(c.limit)).Kernel(t.Context(), x, c.settings); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestKernelApplyRefusals(t *testing.T) {
	x := lattice(16, 2)
	x.Rows = 250
	e := engine(t, WithMaxMemory(4<<20))
	k, err := e.Kernel(t.Context(), x, &KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(0.4), Operator: "csr"}})
	if err != nil {
		t.Fatal(err)
	}
	if k.op.Order() == nil {
		t.Error("want an operator with an order of its own")
	}
	v, dst := drawnColumns(x.Rows, 2), drawnColumns(x.Rows, 2)
	fewer, narrow, bad := v, v, drawnColumns(x.Rows, 2)
	fewer.Rows--
	narrow.Cols--
	bad.Data[5*bad.Stride] = float32(math.NaN())
	many := drawnColumns(x.Rows, 3000)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct{ err, want error }{
		"fewer rows":     {k.Apply(t.Context(), dst, fewer), kernel.ErrShape},
		"fewer rows out": {k.Apply(t.Context(), fewer, dst), kernel.ErrShape},
		"fewer columns":  {k.Apply(t.Context(), narrow, dst), kernel.ErrShape},
		"not finite":     {k.Apply(t.Context(), dst, bad), kernel.ErrNonFinite},
		"shared":         {k.Apply(t.Context(), v, v), sparse.ErrAlias},
		"no memory":      {k.Apply(t.Context(), drawnColumns(x.Rows, 3000), many), kernel.ErrMemory},
		"cancelled":      {k.Apply(cancelled, dst, v), context.Canceled},
		"no columns":     {k.Apply(t.Context(), blas32.General{Rows: x.Rows, Stride: 1, Data: dst.Data}, blas32.General{Rows: x.Rows, Stride: 1, Data: v.Data}), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	for range 2 {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := k.Apply(t.Context(), dst, v); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The progress function of the call that made a Kernel is not called by its products.
func TestKernelProgress(t *testing.T) {
	x, _ := classes(t, 2000, 3)
	e := engine(t)
	told := 0
	ctx := ReportProgress(t.Context(), func(Progress) { told++ })
	k, err := e.Kernel(ctx, x, &KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(1), Operator: "dense"}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if told == 0 {
		t.Error("nobody was told of the build")
	}
	before := told
	v, dst := drawnColumns(2000, 1), drawnColumns(2000, 1)
	if err := k.Apply(ctx, dst, v); err != nil || told != before {
		t.Errorf("told %d times after the build: %v", told-before, err)
	}
}

// Close by a caller that holds memory does not wait for a product that waits for that
// memory.
func TestKernelCloseWithAWaitingProduct(t *testing.T) {
	x := lattice(16, 2)
	x.Rows = 250
	const limit = 4 << 20
	e := engine(t, WithMaxMemory(limit))
	k, err := e.Kernel(t.Context(), x, &KernelSettings{Graph: Graph{Bandwidth: kernel.Sigma(0.4), Operator: "csr"}})
	if err != nil {
		t.Fatal(err)
	}
	v, dst := drawnColumns(x.Rows, 2), drawnColumns(x.Rows, 2)
	product := make(chan error)
	if err := e.Reserve(t.Context(), limit, func(context.Context) error {
		waits := &noticed{Context: context.Background(), asked: make(chan struct{})}
		go func() { product <- k.Apply(waits, dst, v) }()
		<-waits.asked
		return k.Close()
	}); err != nil {
		t.Error(err)
	}
	if err := <-product; !errors.Is(err, ErrClosed) {
		t.Errorf("the product: %v", err)
	}
}

// noticed is a context that reports when its end is waited for the first time.
type noticed struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

// Done implements context.Context.
func (n *noticed) Done() <-chan struct{} {
	n.once.Do(func() { close(n.asked) })
	return n.Context.Done()
}
