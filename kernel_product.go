package privatemail

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A Kernel stands for the n x n matrix K of the Gaussian kernel,
//
//	K_ij = exp(-Gamma |x_i - x_j|^2),   K_ii = 1,
//
// without forming it: it computes products with K. Its methods are safe for concurrent use.
type Kernel struct {
	engine *Engine
	graph  iterate.Graph
	n      int
	order  []uint32 // of the operator; nil for the order of the features

	mu sync.RWMutex // held for reading by products, for writing by Close
	op kernel.Operator
}

// KernelSettings are the settings of a Kernel.
type KernelSettings struct {
	Graph
	// The operator is chosen for that many Products with that many Columns. Defaults: 5 and 2.
	Products, Columns int
}

// Kernel prepares products with the kernel of the features, by the operator that is expected to
// take the least time within Tolerance. The features are not needed afterwards. Close releases
// the memory of the Kernel, which the memory limit counts during this call only.
//
// MeanNeighbours decides only the bandwidth. Settings that truncate the graph are ErrSettings.
// Errors: those of Embed.
func (e *Engine) Kernel(ctx context.Context, features blas32.General, settings *KernelSettings) (out *Kernel, err error) {
	c, err := e.begin(ctx, "kernel")
	if err != nil {
		return nil, err
	}
	defer c.end(&err)
	if err := e.alone(graphAlone); err != nil {
		return nil, err
	}
	s, err := settings.withDefaults(features)
	if err != nil {
		return nil, err
	}
	m, err := e.reserveGraph(ctx, features, &s, 0)
	if err != nil {
		return nil, err
	}
	defer m.release()
	for m.next(ctx, &err) {
		out, err = e.kernel(ctx, m, features, s)
	}
	return out, err
}

// withDefaults returns the settings of the graph with their defaults, and refuses a graph that
// is truncated.
func (k *KernelSettings) withDefaults(features blas32.General) (Settings, error) {
	if k == nil {
		return (*Settings)(nil).withDefaults(features)
	}
	if k.CutoffWeight != 0 || k.CutoffRadius != 0 || k.Neighbours != 0 {
		return Settings{}, fmt.Errorf("%w: a kernel has every pair: leave out the cutoff and the number of nearest neighbours", ErrSettings)
	}
	own := Settings{Graph: k.Graph, Steps: k.Products, Dim: k.Columns, full: true}
	return own.withDefaults(features)
}

func (e *Engine) kernel(ctx context.Context, m *share, features blas32.General, s Settings) (*Kernel, error) {
	ctx, built := e.reportUntil(ctx)
	defer built()
	g, err := e.build(ctx, m, features, nil, &s)
	if err != nil {
		return nil, err
	}
	return &Kernel{engine: e, graph: g.Graph, n: features.Rows, order: g.op.Order(), op: g.op}, nil
}

// reportUntil returns a context whose progress ends with a call of end: an operator that outlives
// its call must not report to that caller later.
func (e *Engine) reportUntil(ctx context.Context) (_ context.Context, end func()) {
	report := e.report(ctx)
	if report == nil {
		return ctx, func() {}
	}
	var ended atomic.Bool
	return ReportProgress(ctx, func(p Progress) {
		if !ended.Load() {
			report(p.Stage, p.Done, p.Total)
		}
	}), func() { ended.Store(true) }
}

// N returns the number of rows and columns.
func (k *Kernel) N() int { return k.n }

// Graph describes the operator. Its certificate bounds the error of the weights of each row
// relative to the degree, the sum of the weights without the diagonal, which is exact.
func (k *Kernel) Graph() iterate.Graph { return k.graph }

// Apply sets dst = K v for n rows of any number of columns, in the order of the features. dst must
// not overlap v. The memory limit counts the other memory of the product. The error of row i is at most
//
//	(eta_i d_i + (2 Rounding + 2^-23) (d_i + 1)) max_j |v_j|,
//
// column by column, with d_i the degree of the row and eta_i and Rounding from the certificate. For
// rows without neighbours nothing is certified. Products report no progress. On an error the
// contents of dst are arbitrary. Errors: ErrClosed when the Kernel or its Engine is closed,
// kernel.ErrShape, ErrNonFinite and ErrMemory, sparse.ErrAlias, and the error of ctx.
func (k *Kernel) Apply(ctx context.Context, dst, v blas32.General) (err error) {
	c, err := k.engine.begin(ctx, "product")
	if err != nil {
		return err
	}
	defer c.end(&err)
	if err := k.check(dst, v); err != nil {
		return err
	}
	least := 0.0
	if k.order != nil {
		least = 8 * float64(k.n) * float64(v.Cols)
	}
	m, err := k.engine.reserve(ctx, least, fmt.Sprintf("a product with %d columns", v.Cols))
	if err != nil {
		return err
	}
	defer m.release()
	for m.next(ctx, &err) {
		err = k.applyOpen(ctx, dst, v)
	}
	return err
}

// applyOpen is apply of a Kernel that stays open meanwhile. It is called with the memory in hand:
// a caller that waits in Close may hold it.
func (k *Kernel) applyOpen(ctx context.Context, dst, v blas32.General) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.op == nil {
		return fmt.Errorf("the kernel: %w", ErrClosed)
	}
	if v.Cols == 0 {
		return nil
	}
	return k.apply(ctx, dst, v)
}

func (k *Kernel) check(dst, v blas32.General) error {
	if err := points.CheckSize(v, k.n, v.Cols); err != nil {
		return fmt.Errorf("v: %w", err)
	}
	if err := points.CheckSize(dst, k.n, v.Cols); err != nil {
		return fmt.Errorf("dst: %w", err)
	}
	if mem.Overlap(used(dst), used(v)) {
		return fmt.Errorf("dst: %w: it shares memory with v", sparse.ErrAlias)
	}
	if err := points.CheckFinite(v); err != nil {
		return fmt.Errorf("v: %w", err)
	}
	return nil
}

// apply multiplies in the order of the operator, and adds the diagonal.
func (k *Kernel) apply(ctx context.Context, dst, v blas32.General) error {
	from, to, order := v, dst, k.order
	if order != nil {
		both := make([]float32, 2*k.n*v.Cols)
		from = blas32.General{Rows: k.n, Cols: v.Cols, Stride: v.Cols, Data: both[:k.n*v.Cols]}
		to = blas32.General{Rows: k.n, Cols: v.Cols, Stride: v.Cols, Data: both[k.n*v.Cols:]}
		if err := k.eachRow(ctx, func(i int) {
			copy(from.Data[i*from.Stride:][:from.Cols], v.Data[int(order[i])*v.Stride:])
		}); err != nil {
			return err
		}
	}
	if err := k.op.Apply(ctx, to, from); err != nil {
		return err
	}
	return k.eachRow(ctx, func(i int) {
		given := i
		if order != nil {
			given = int(order[i])
		}
		product, own := to.Data[i*to.Stride:][:v.Cols], v.Data[given*v.Stride:]
		out := dst.Data[given*dst.Stride:]
		for c, w := range product {
			out[c] = w + own[c]
		}
	})
}

// eachRow lets the workers call do for every row.
func (k *Kernel) eachRow(ctx context.Context, do func(i int)) error {
	const rows = 1024
	return k.engine.workers.Do(ctx, split.Blocks(k.n, rows), par.Func(func(_, block int) {
		lo, hi := split.Block(block, k.n, rows)
		for i := lo; i < hi; i++ {
			do(i)
		}
	}))
}

// Close waits for running products and releases the memory of the Kernel. It is idempotent. A
// progress function must not call it: a running product may wait for that function.
func (k *Kernel) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.op == nil {
		return nil
	}
	op := k.op
	k.op = nil
	return op.Close()
}
