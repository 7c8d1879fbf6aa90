package kernel

import (
	"context"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// A product makes dst = W x, or the step that follows from W x. It does what is the same
// for all operators and leaves the rest to a pass. Stats keep the product of a step for
// the next step.
type product[T rows.Float] struct {
	op     *base
	k      int
	pass   pass[T]
	dst, x rows.View[T]
	stats  *Stats // nil when dst is W x

	nonFinite atomic.Bool // the pass has seen a number in x that is not finite

	first int   // chunk of the pieces that workers share
	some  []int // chunks of these pieces, where they are not next to each other
}

// A pass makes the products of one operator. It keeps its scratch memory from one product
// to the next.
type pass[T rows.Float] interface {
	// prepare does what comes before the rows, such as sums over all rows of x.
	prepare(ctx context.Context) error
	// rows makes the rows of one chunk: those of W x in dst or, with stats, those of the
	// next iterate.
	rows(worker, chunk int)
}

// A thriftyPass can do without rows of x that other ranks have made. To other passes a
// product hands all rows of x.
type thriftyPass interface {
	// needsAll tells whether the pass needs all rows of x after all.
	needsAll() bool
}

// A fetchingPass fetches rows of other ranks, and can make some chunks meanwhile.
type fetchingPass interface {
	// fetching tells whether rows that prepare has asked for are still under way, and
	// which chunks of this rank can do without them, and which can not.
	fetching() (early, late []int, underway bool)
	// fetched waits for these rows.
	fetched(ctx context.Context) error
}

// newPass makes the pass of a product whose operator and number of columns are set.
type newPass[T rows.Float] func(p *product[T]) pass[T]

func newProduct[T rows.Float](op *base, k int, with newPass[T]) *product[T] {
	p := &product[T]{op: op, k: k}
	p.pass = with(p)
	return p
}

// run makes dst = W x, or the step that st has begun.
func (p *product[T]) run(ctx context.Context, dst, x rows.View[T], st *Stats) error {
	p.dst, p.x, p.stats = dst, x, st
	err := p.share(ctx)
	p.dst, p.x, p.stats = rows.View[T]{}, rows.View[T]{}, nil
	return err
}

// share makes the chunks of this rank, with what it takes from other ranks before, and what
// they take from each other afterwards: all of dst = W x, or the sums of a step.
func (p *product[T]) share(ctx context.Context) error {
	if thrifty, ok := p.pass.(thriftyPass); p.stats != nil && (!ok || thrifty.needsAll()) {
		if err := completeRows(ctx, p.op, p.x); err != nil {
			return err
		}
	}
	if err := p.pass.prepare(ctx); err != nil {
		return err
	}
	if err := p.makeChunks(ctx); err != nil {
		return err
	}
	if p.stats != nil {
		return p.stats.partials.gather(ctx, p.op)
	}
	return completeRows(ctx, p.op, p.dst)
}

// makeChunks makes the chunks of this rank. Those that need nothing from other ranks come
// first where the pass is still fetching.
func (p *product[T]) makeChunks(ctx context.Context) error {
	if pass, ok := p.pass.(fetchingPass); ok {
		if early, late, underway := pass.fetching(); underway {
			err := p.makeSome(ctx, early)
			// Others may write to memory of this rank until it has waited.
			if failed := pass.fetched(ctx); err == nil {
				err = failed
			}
			if err != nil {
				return err
			}
			return p.makeSome(ctx, late)
		}
	}
	from, to := p.op.ownChunks()
	p.first, p.some = from, nil
	return p.op.workers.Do(ctx, to-from, p)
}

// makeSome makes the chunks of a list.
func (p *product[T]) makeSome(ctx context.Context, chunks []int) error {
	p.some = chunks
	return p.op.workers.Do(ctx, len(chunks), p)
}

// Run makes one chunk of rows.
func (p *product[T]) Run(worker, piece int) {
	if p.some != nil {
		p.pass.rows(worker, p.some[piece])
		return
	}
	p.pass.rows(worker, p.first+piece)
}

// sawNonFinite tells whether the pass of any rank has seen a number in x that is not finite.
func (p *product[T]) sawNonFinite(ctx context.Context) (bool, error) {
	return exchange.Any(ctx, p.op.ranks, p.nonFinite.Load())
}

// put writes row i of dst, given row i of W x: the same or, with stats, the row of the next
// iterate.
func (p *product[T]) put(chunk, i int, wx []float64) {
	if p.stats != nil {
		finishRow(&p.stats.finish, &p.stats.partials.chunk[chunk], i, p.op.degrees[i], wx, p.x.Row(i), p.dst.Row(i))
		return
	}
	out := p.dst.Row(i)
	for c, v := range wx {
		out[c] = T(v)
	}
}

// putRows is put for the rows lo to hi-1 of a chunk.
func (p *product[T]) putRows(chunk, lo, hi int, wx []float64) {
	if p.stats != nil {
		x, dst := p.x, p.dst
		x.Data, dst.Data = x.Data[lo*x.Stride:], dst.Data[lo*dst.Stride:]
		finishRows(&p.stats.finish, &p.stats.partials.chunk[chunk], lo, p.op.degrees[lo:hi], wx, x, dst)
		return
	}
	for i := lo; i < hi; i++ {
		out := p.dst.Row(i)
		for c := range out {
			out[c] = T(wx[(i-lo)*p.k+c])
		}
	}
}

func runApply[T rows.Float](ctx context.Context, op *base, with newPass[T], dst, x rows.View[T]) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if !op.watches {
		if err := checkFinite("x", x); err != nil {
			return err
		}
	}
	p := newProduct(op, x.Cols, with)
	if err := p.run(ctx, dst, x, nil); err != nil {
		return productError(op.name, err)
	}
	if seen, err := p.sawNonFinite(ctx); err != nil || !seen {
		return productError(op.name, err)
	}
	return checkFinite("x", x)
}

func runStep[T rows.Float](ctx context.Context, op *base, with newPass[T], dst, x rows.View[T], s *Step, st *Stats) error {
	if err := checkPair(op.N(), dst, x); err != nil {
		return err
	}
	if err := st.begin(s, op.degrees, op.bounds, x.Cols); err != nil {
		return err
	}
	p, ok := st.product.(*product[T])
	if !ok || p.op != op || p.k != x.Cols {
		p = newProduct(op, x.Cols, with)
		st.product = p
	}
	if err := p.run(ctx, dst, x, st); err != nil {
		return productError(op.name, err)
	}
	st.end()
	return nil
}
