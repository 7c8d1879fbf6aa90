package par

import (
	"context"
	"slices"
	"sync/atomic"
	"unsafe"
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
	return Part(n, r.Rank(), r.Size()), Part(n, r.Rank()+1, r.Size())
}

// Bounds returns where the part of each rank begins, for n pieces, and the end.
func (r *Ranks) Bounds(n int) []int {
	bounds := make([]int, r.Size()+1)
	for rank := range bounds {
		bounds[rank] = Part(n, rank, r.Size())
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

// A Word is a number that ranks send each other.
type Word interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 | ~int | ~float32 | ~float64
}

// bytesOf returns the memory of s. All ranks have the same order of bytes.
func bytesOf[T Word](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// Gather gives every rank the data of all ranks: rank r has set
// data[bounds[r]:bounds[r+1]], and on return all of it is set on every rank. The bounds
// are the same on all ranks.
func Gather[T Word](ctx context.Context, r *Ranks, data []T, bounds []int) error {
	if r.Alone() {
		return nil
	}
	var one T
	size := int(unsafe.Sizeof(one))
	scaled := make([]int, len(bounds))
	for i, b := range bounds {
		scaled[i] = b * size
	}
	rank := r.Rank()
	r.gathered.Add(int64(scaled[len(scaled)-1] - scaled[0] - (scaled[rank+1] - scaled[rank])))
	return r.link.Gather(ctx, bytesOf(data), scaled)
}

// GatherEqual returns the words of all ranks, in the order of the ranks. All have the same
// number of words. A single process gets own itself.
func GatherEqual[T Word](ctx context.Context, r *Ranks, own []T) (all []T, err error) {
	if r.Alone() {
		return own, nil
	}
	all = make([]T, len(own)*r.Size())
	copy(all[len(own)*r.Rank():], own)
	return all, Gather(ctx, r, all, r.Bounds(len(all)))
}

// Any reports whether yes is true on any rank. All ranks call it.
func Any(ctx context.Context, r *Ranks, yes bool) (bool, error) {
	own := []uint8{0}
	if yes {
		own[0] = 1
	}
	all, err := GatherEqual(ctx, r, own)
	return slices.Contains(all, 1), err
}

// GatherAll returns the words of all ranks, in the order of the ranks, and where the part
// of each begins, and the end. Ranks may have any number of words.
func GatherAll[T Word](ctx context.Context, r *Ranks, own []T) (all []T, bounds []int, err error) {
	if r.Alone() {
		return own, []int{0, len(own)}, nil
	}
	lengths, err := GatherEqual(ctx, r, []int{len(own)})
	if err != nil {
		return nil, nil, err
	}
	bounds = make([]int, len(lengths)+1)
	for rank, n := range lengths {
		bounds[rank+1] = bounds[rank] + n
	}
	all = make([]T, bounds[len(lengths)])
	copy(all[bounds[r.Rank()]:], own)
	return all, bounds, Gather(ctx, r, all, bounds)
}

// Exchange begins to send out[s] to rank s and to receive in[s] from it, for every s; the
// lengths agree, and are 0 for the rank itself. The memory must not be used until wait has
// returned, and wait is called before any other call that ranks make together.
func Exchange[T Word](ctx context.Context, r *Ranks, out, in [][]T) (wait func(context.Context) error, err error) {
	if r.Alone() {
		return func(context.Context) error { return nil }, nil
	}
	sent, received := make([][]byte, len(out)), make([][]byte, len(in))
	for s := range out {
		sent[s], received[s] = bytesOf(out[s]), bytesOf(in[s])
		r.exchange.Add(int64(len(received[s])))
	}
	return r.link.Exchange(ctx, sent, received)
}
