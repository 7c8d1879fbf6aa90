// Package exchange sends numbers between the ranks of a run, where par.Ranks sends bytes.
package exchange

import (
	"context"
	"slices"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/par"
)

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
func Gather[T Word](ctx context.Context, r *par.Ranks, data []T, bounds []int) error {
	if r.Alone() {
		return nil
	}
	var one T
	size := int(unsafe.Sizeof(one))
	scaled := make([]int, len(bounds))
	for i, b := range bounds {
		scaled[i] = b * size
	}
	return r.Gather(ctx, bytesOf(data), scaled)
}

// GatherEqual returns the words of all ranks, in the order of the ranks. All have the same
// number of words. A single process gets own itself.
func GatherEqual[T Word](ctx context.Context, r *par.Ranks, own []T) (all []T, err error) {
	if r.Alone() {
		return own, nil
	}
	all = make([]T, len(own)*r.Size())
	copy(all[len(own)*r.Rank():], own)
	return all, Gather(ctx, r, all, r.Bounds(len(all)))
}

// Any reports whether yes is true on any rank. All ranks call it.
func Any(ctx context.Context, r *par.Ranks, yes bool) (bool, error) {
	own := []uint8{0}
	if yes {
		own[0] = 1
	}
	all, err := GatherEqual(ctx, r, own)
	return slices.Contains(all, 1), err
}

// GatherAll returns the words of all ranks, in the order of the ranks, and where the part
// of each begins, and the end. Ranks may have any number of words.
func GatherAll[T Word](ctx context.Context, r *par.Ranks, own []T) (all []T, bounds []int, err error) {
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

// Begin begins to send out[s] to rank s and to receive in[s] from it, for every s; the
// lengths agree, and are 0 for the rank itself. The memory must not be used until wait has
// returned, and wait is called before any other call that ranks make together.
func Begin[T Word](ctx context.Context, r *par.Ranks, out, in [][]T) (wait func(context.Context) error, err error) {
	if r.Alone() {
		return func(context.Context) error { return nil }, nil
	}
	sent, received := make([][]byte, len(out)), make([][]byte, len(in))
	for s := range out {
		sent[s], received[s] = bytesOf(out[s]), bytesOf(in[s])
	}
	return r.Exchange(ctx, sent, received)
}
