package step

import (
	"context"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A Product makes dst = W x, or the step that follows from W x. It does what is the same
// for all operators and leaves the rest to a pass. Stats keep the product of a step for
// the next step.
type Product[T rows.Float] struct {
	Op     *Base
	K      int
	Pass   Pass[T]
	Dst, X rows.View[T]
	Stats  *Stats // nil when dst is W x

	NonFinite atomic.Bool // the pass has seen a number in x that is not finite

	first int   // chunk of the pieces that workers share
	some  []int // chunks of these pieces, where they are not next to each other
}

// A Pass makes the products of one operator. It keeps its scratch memory from one product
// to the next.
type Pass[T rows.Float] interface {
	// Prepare does what comes before the rows, such as sums over all rows of x.
	Prepare(ctx context.Context) error
	// MakeRows makes the rows of one chunk: those of W x in dst or, with stats, those of the
	// next iterate.
	MakeRows(worker, chunk int)
}

// A thriftyPass can do without rows of x that other ranks have made. To other passes a
// product hands all rows of x.
type thriftyPass interface {
	// NeedsAll reports whether the pass needs all rows of x after all.
	NeedsAll() bool
}

// A fetchingPass fetches rows of other ranks, and can make some chunks meanwhile.
type fetchingPass interface {
	// Fetching reports whether rows that Prepare has asked for are still under way, and
	// which chunks of this rank can do without them, and which can not.
	Fetching() (early, late []int, underway bool)
	// Fetched waits for these rows.
	Fetched(ctx context.Context) error
}

// newPass makes the pass of a product whose operator and number of columns are set.
type newPass[T rows.Float] func(p *Product[T]) Pass[T]

// NewProduct returns a product of k columns.
func NewProduct[T rows.Float](op *Base, k int, with newPass[T]) *Product[T] {
	p := &Product[T]{Op: op, K: k}
	p.Pass = with(p)
	return p
}

// Make makes dst = W x, or the step that st has begun.
func (p *Product[T]) Make(ctx context.Context, dst, x rows.View[T], st *Stats) error {
	p.Dst, p.X, p.Stats = dst, x, st
	err := p.share(ctx)
	p.Dst, p.X, p.Stats = rows.View[T]{}, rows.View[T]{}, nil
	return err
}

// share makes the chunks of this rank, with what it takes from other ranks before, and what
// they take from each other afterwards: all of dst = W x, or the sums of a step.
func (p *Product[T]) share(ctx context.Context) error {
	if thrifty, ok := p.Pass.(thriftyPass); p.Stats != nil && (!ok || thrifty.NeedsAll()) {
		if err := CompleteRows(ctx, p.Op, p.X); err != nil {
			return err
		}
	}
	if err := p.Pass.Prepare(ctx); err != nil {
		return err
	}
	if err := p.makeChunks(ctx); err != nil {
		return err
	}
	if p.Stats != nil {
		return p.Stats.Partials.gather(ctx, p.Op)
	}
	return CompleteRows(ctx, p.Op, p.Dst)
}

// makeChunks makes the chunks of this rank. Those that need nothing from other ranks come
// first where the pass is still fetching.
func (p *Product[T]) makeChunks(ctx context.Context) error {
	if pass, ok := p.Pass.(fetchingPass); ok {
		if early, late, underway := pass.Fetching(); underway {
			err := p.makeSome(ctx, early)
			// Others may write to memory of this rank until it has waited.
			if failed := pass.Fetched(ctx); err == nil {
				err = failed
			}
			if err != nil {
				return err
			}
			return p.makeSome(ctx, late)
		}
	}
	from, to := p.Op.OwnChunks()
	p.first, p.some = from, nil
	return p.Op.Workers.Do(ctx, to-from, p)
}

// makeSome makes the chunks of a list.
func (p *Product[T]) makeSome(ctx context.Context, chunks []int) error {
	p.some = chunks
	return p.Op.Workers.Do(ctx, len(chunks), p)
}

// Run makes one chunk of rows.
func (p *Product[T]) Run(worker, piece int) {
	if p.some != nil {
		p.Pass.MakeRows(worker, p.some[piece])
		return
	}
	p.Pass.MakeRows(worker, p.first+piece)
}

// sawNonFinite reports whether the pass of any rank has seen a number in x that is not finite.
func (p *Product[T]) sawNonFinite(ctx context.Context) (bool, error) {
	return exchange.Any(ctx, p.Op.Ranks, p.NonFinite.Load())
}

// Put writes row i of dst, given row i of W x: the same or, with stats, the row of the next
// iterate.
func (p *Product[T]) Put(chunk, i int, wx []float64) {
	if p.Stats != nil {
		FinishRow(&p.Stats.Finish, &p.Stats.Partials.Chunk[chunk], i, p.Op.RowSums[i], wx, p.X.Row(i), p.Dst.Row(i))
		return
	}
	out := p.Dst.Row(i)
	for c, v := range wx {
		out[c] = T(v)
	}
}

// PutRows is put for the rows lo to hi-1 of a chunk.
func (p *Product[T]) PutRows(chunk, lo, hi int, wx []float64) {
	if p.Stats != nil {
		x, dst := p.X, p.Dst
		x.Data, dst.Data = x.Data[lo*x.Stride:], dst.Data[lo*dst.Stride:]
		FinishRows(&p.Stats.Finish, &p.Stats.Partials.Chunk[chunk], lo, p.Op.RowSums[lo:hi], wx, x, dst)
		return
	}
	for i := lo; i < hi; i++ {
		out := p.Dst.Row(i)
		for c := range out {
			out[c] = T(wx[(i-lo)*p.K+c])
		}
	}
}

func runApply[T rows.Float](ctx context.Context, op *Base, with newPass[T], dst, x rows.View[T]) error {
	if err := base.CheckPair(op.N(), dst, x); err != nil {
		return err
	}
	if !op.Watches {
		if err := base.CheckFinite("x", x); err != nil {
			return err
		}
	}
	p := NewProduct(op, x.Cols, with)
	if err := p.Make(ctx, dst, x, nil); err != nil {
		return base.ProductError(op.Called, err)
	}
	if seen, err := p.sawNonFinite(ctx); err != nil || !seen {
		return base.ProductError(op.Called, err)
	}
	return base.CheckFinite("x", x)
}

func runStep[T rows.Float](ctx context.Context, op *Base, with newPass[T], dst, x rows.View[T], s *Step, st *Stats) error {
	if err := base.CheckPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := st.Begin(s, op.RowSums, op.Bounds, x.Cols); err != nil {
		return err
	}
	p, ok := st.product.(*Product[T])
	if !ok || p.Op != op || p.K != x.Cols {
		p = NewProduct(op, x.Cols, with)
		st.product = p
	}
	if err := p.Make(ctx, dst, x, st); err != nil {
		return base.ProductError(op.Called, err)
	}
	st.End()
	return nil
}
