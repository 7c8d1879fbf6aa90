package rows

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/par"
)

// Agree hands every rank the MemoryError of the first rank that has one: ranks go on together
// or not at all. What names what the memory is for, as MemoryError.What does. Any other error
// ends the run on all ranks, so this rank returns it at once. All ranks call Agree together.
func (r *Request) Agree(ctx context.Context, what string, err error) error {
	if r.Ranks.Alone() {
		return err
	}
	const (
		refused = iota
		denied
		need
		words
	)
	e, ok := errors.AsType[*MemoryError](err)
	if err != nil && !ok {
		return err
	}
	own := make([]int64, words)
	if e != nil {
		own[refused], own[need] = 1, e.Need
		if e.Denied {
			own[denied] = 1
		}
	}
	all, err := par.GatherEqual(ctx, r.Ranks, own)
	if err != nil {
		return err
	}
	for at := 0; at < len(all); at += words {
		if all[at+refused] == 1 {
			return &MemoryError{What: what, Need: all[at+need], Denied: all[at+denied] == 1}
		}
	}
	return nil
}

// Sum adds up, over the ranks that share the search, the numbers that each has, in place.
func (r *Request) Sum(ctx context.Context, own []int64) error {
	ranks := r.Sharing()
	if ranks.Alone() {
		return nil
	}
	all, err := par.GatherEqual(ctx, ranks, own)
	if err != nil {
		return err
	}
	clear(own)
	for i, n := range all {
		own[i%len(own)] += n
	}
	return nil
}

// Largest returns the largest of the numbers that the ranks have.
func (r *Request) Largest(ctx context.Context, own int64) (int64, error) {
	all, err := par.GatherEqual(ctx, r.Ranks, []int64{own})
	for _, n := range all {
		own = max(own, n)
	}
	return own, err
}
