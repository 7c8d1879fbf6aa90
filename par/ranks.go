package par

import (
	"context"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/split"
)

// A Link transfers bytes between the processes of a run. Package cluster has two: one
// over MPI, and one between goroutines. All ranks make the same calls in the same order.
// An error is final: a rank that gets one makes no further calls.
type Link interface {
	// Rank is the number of this process, from 0 to Size-1.
	Rank() int
	// Size is the number of processes.
	Size() int
	// Gather gives every rank the data of all ranks: rank r has set
	// data[bounds[r]:bounds[r+1]], and on return all of data[bounds[0]:bounds[Size]]
	// is set on every rank. All ranks call it with the same bounds.
	Gather(ctx context.Context, data []byte, bounds []int) error
	// Exchange begins to send out[r] to rank r and to receive in[r] from rank r, for every
	// r; the lengths agree, and are 0 for the rank itself. The memory must not be used
	// until wait has returned, and wait is called before the next call.
	Exchange(ctx context.Context, out, in [][]byte) (wait func(context.Context) error, err error)
}

// Ranks are the processes that share one run. The rule of this package holds for them as
// for workers: pieces depend only on the data, every rank does some of them, and sums are
// added in the order of the pieces. So the number of ranks changes no bit of a result.
// All ranks have the same data and make the same calls in the same order.
//
// The nil Ranks are a single process.
type Ranks struct {
	link               Link
	gathered, exchange atomic.Int64 // bytes received
}

// NewRanks returns the ranks that a link connects.
func NewRanks(link Link) *Ranks { return &Ranks{link: link} }

// Rank returns the number of this process.
func (r *Ranks) Rank() int {
	if r == nil {
		return 0
	}
	return r.link.Rank()
}

// Size returns the number of processes.
func (r *Ranks) Size() int {
	if r == nil {
		return 1
	}
	return r.link.Size()
}

// Alone reports whether this is the only process.
func (r *Ranks) Alone() bool { return r.Size() == 1 }

// Part returns the pieces lo to hi-1, of n pieces, that this rank does.
func (r *Ranks) Part(n int) (lo, hi int) {
	return split.Part(n, r.Rank(), r.Size()), split.Part(n, r.Rank()+1, r.Size())
}

// Bounds returns where the part of each rank begins, for n pieces, and the end.
func (r *Ranks) Bounds(n int) []int {
	bounds := make([]int, r.Size()+1)
	for rank := range bounds {
		bounds[rank] = split.Part(n, rank, r.Size())
	}
	return bounds
}

// Traffic returns how many bytes this rank has received by Gather and by Exchange.
func (r *Ranks) Traffic() (gathered, exchanged int64) {
	if r == nil {
		return 0, 0
	}
	return r.gathered.Load(), r.exchange.Load()
}

// Gather is the Gather of the link; a single process does nothing.
func (r *Ranks) Gather(ctx context.Context, data []byte, bounds []int) error {
	if r.Alone() {
		return nil
	}
	rank := r.Rank()
	r.gathered.Add(int64(bounds[len(bounds)-1] - bounds[0] - (bounds[rank+1] - bounds[rank])))
	return r.link.Gather(ctx, data, bounds)
}

// Exchange is the Exchange of the link; a single process does nothing.
func (r *Ranks) Exchange(ctx context.Context, out, in [][]byte) (wait func(context.Context) error, err error) {
	if r.Alone() {
		return func(context.Context) error { return nil }, nil
	}
	for _, received := range in {
		r.exchange.Add(int64(len(received)))
	}
	return r.link.Exchange(ctx, out, in)
}
