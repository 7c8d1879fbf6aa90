package rows

import (
	"context"
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
)

// Agree hands every rank the MemoryError of the first rank that has one: ranks go on together
// or not at all. What names what the memory is for, as MemoryError.What does. Any other error
// ends the run on all ranks, so this rank returns it at once. All ranks call Agree together.
func (r *Request) Agree(ctx context.Context, what string, err error) error {
	_, err = r.Largest(ctx, what, 0, err)
	return err
}

// Largest is Agree, and returns the largest of the numbers that the ranks have.
func (r *Request) Largest(ctx context.Context, what string, number int64, err error) (int64, error) {
	if r.Ranks.Alone() {
		return number, err
	}
	const (
		refused = iota
		denied
		need
		with
		words
	)
	e, ok := errors.AsType[*MemoryError](err)
	if err != nil && !ok {
		return 0, err
	}
	own := []int64{with: number}
	if e != nil {
		own[refused], own[need] = 1, e.Need
		if e.Denied {
			own[denied] = 1
		}
	}
	all, err := exchange.GatherEqual(ctx, r.Ranks, own)
	if err != nil {
		return 0, err
	}
	for at := 0; at < len(all); at += words {
		if all[at+refused] == 1 {
			return 0, &MemoryError{What: what, Need: all[at+need], Denied: all[at+denied] == 1}
		}
		number = max(number, all[at+with])
	}
	return number, nil
}

// Sum adds up, over the ranks that share the search, the numbers that each has, in place.
func (r *Request) Sum(ctx context.Context, own []int64) error {
	ranks := r.Sharing()
	if ranks.Alone() {
		return nil
	}
	all, err := exchange.GatherEqual(ctx, ranks, own)
	if err != nil {
		return err
	}
	clear(own)
	for i, n := range all {
		own[i%len(own)] += n
	}
	return nil
}
