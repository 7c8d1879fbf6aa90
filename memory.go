package privatemail

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/budget"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Reserve runs work while that many bytes of the Engine's budget are reserved, for memory
// that work takes itself. It waits for the bytes as other calls do. Calls of the Engine
// with the context of work take their memory in addition and do not wait. Where other
// callers hold memory that such a call needs, the call returns an error, which work must
// return, and work runs again when that memory is free. So work must be able to start
// again, and its goroutines must have ended when it returns.
//
// A call with another context waits like any other, and for ever where it needs the memory
// reserved here. Work must not call Close, nor wait for a goroutine that does: it would wait for
// itself. A panic of work is passed on. Work
// that calls a second Engine holds memory of the first while it waits for the second:
// programs should call the two in the same order everywhere.
//
// Errors: those of work, unchanged, ErrSettings for bytes below 0 and for no work,
// ErrClosed, kernel.ErrMemory for more than the whole budget, and the error of
// ctx.
func (e *Engine) Reserve(ctx context.Context, bytes int64, work func(ctx context.Context) error) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.leave()
	switch {
	case work == nil:
		return fmt.Errorf("privatemail: reserve: %w: no work", ErrSettings)
	case bytes < 0:
		return fmt.Errorf("privatemail: reserve: %w: %d bytes, want 0 or more", ErrSettings, bytes)
	}
	_, err := hold(ctx, e, float64(bytes), "work of the caller", func(s *share) (struct{}, error) {
		return struct{}{}, work(context.WithValue(ctx, accountKey{e}, s.account))
	})
	return err
}

// An account is the memory that a call and the calls within it hold of the budget, in one
// run of its work.
type account struct {
	reservation *budget.Reservation
	whole       int64 // bytes of the budget

	mu     sync.Mutex
	used   int64 // bytes of the reservation in its shares
	denied int64 // the largest refused request, in bytes
	ended  bool
}

// accountKey is the key of an account of an Engine in a context.
type accountKey struct{ engine *Engine }

// accountOf returns the account of the call that ctx comes from, nil where there is none.
func accountOf(ctx context.Context, e *Engine) *account {
	a, _ := ctx.Value(accountKey{e}).(*account)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	return a
}

// A share is the part of an account that one call has.
type share struct {
	*account
	bytes int64
	limit int64           // largest value of bytes: without the memory that the account held for others when the call began
	steps float64         // bytes that are taken when the graph is built
	found *foundBandwidth // found by an earlier attempt; nil where it is not needed
}

// reserve makes the share as large as the given number of bytes, if it is smaller, and
// reports whether that was possible. It does not wait.
func (s *share) reserve(bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes <= s.bytes {
		return true
	}
	if s.ended { // a call that its work has not waited for
		return false
	}
	total := mem.Saturate(float64(s.used-s.bytes) + float64(bytes))
	if !s.reservation.Grow(total) {
		s.denied = max(s.denied, total)
		return false
	}
	s.used, s.bytes = total, bytes
	return true
}

// close gives the share back to its account.
func (s *share) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= s.bytes
	s.bytes = 0
}

// within is hold for work of the Engine: errors of missing memory name the whole
// budget.
func within[T any](ctx context.Context, e *Engine, least float64, what string, work func(s *share) (T, error)) (T, error) {
	whole := int64(0)
	out, err := hold(ctx, e, least, what, func(s *share) (T, error) {
		whole = s.account.whole
		return work(s)
	})
	return out, e.explain(err, whole)
}

// hold runs work with a share of the budget, least bytes at first; what names it in errors.
// Where work is refused memory that others hold, it gives everything back and runs again
// when that memory is free, unless it has spent privacy: no caller waits while it holds
// memory. Where work and the calls within it ask for more than the whole budget, waiting
// would not help. A call within another takes its share of the same account, and leaves
// waiting to the outer call.
func hold[T any](ctx context.Context, e *Engine, least float64, what string, work func(s *share) (T, error)) (out T, err error) {
	first := min(mem.Saturate(max(least, 0)), budget.All-1) // a huge size must not mean the whole
	if outer := accountOf(ctx, e); outer != nil {
		s := &share{account: outer, limit: outer.left()}
		defer s.close()
		if !s.reserve(first) {
			return out, &kernel.MemoryError{What: what, Need: outer.with(first), Budget: outer.whole}
		}
		return work(s)
	}
	reservation, err := e.pool.Reserve(ctx, first)
	if err != nil {
		return out, e.reserveError(err, what, first)
	}
	defer reservation.Release()
	for try := 0; ; try++ {
		a := &account{reservation: reservation, whole: e.pool.Whole(), used: first}
		out, err = runWith(a, work)
		if err == nil || a.denied == 0 || a.denied > a.whole || !errors.Is(err, kernel.ErrMemory) || errors.Is(err, mechanism.ErrSpent) {
			return out, err
		}
		next := a.denied
		if try > 0 {
			next = budget.All // its last request was not enough
		}
		switch failed := reservation.Exchange(ctx, next); {
		case errors.Is(failed, budget.ErrWhole):
			return out, err
		case failed != nil:
			return out, e.reserveError(failed, what, a.denied)
		}
	}
}

// runWith runs work with everything that a new account has used.
func runWith[T any](a *account, work func(s *share) (T, error)) (T, error) {
	defer a.end()
	return work(&share{account: a, bytes: a.used, limit: a.whole})
}

// left returns the rest of the whole budget after the shares.
func (a *account) left() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.whole-a.used, 0)
}

// with returns the sum of the shares and the given bytes.
func (a *account) with(bytes int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return mem.Saturate(float64(a.used) + float64(bytes))
}

// end closes the account: no call gets a share of it afterwards.
func (a *account) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// reserveError returns the error of a failed reservation of that many bytes.
func (e *Engine) reserveError(err error, what string, bytes int64) error {
	switch {
	case errors.Is(err, budget.ErrClosed):
		return ErrClosed
	case errors.Is(err, budget.ErrWhole):
		whole := e.pool.Whole()
		return e.explain(&kernel.MemoryError{What: what, Need: bytes, Budget: whole}, whole)
	}
	return fmt.Errorf("wait for memory: %w", err)
}

// explain makes an error of missing memory name the whole budget, where the failed work
// had only a part of it, and say how the budget was set.
func (e *Engine) explain(err error, whole int64) error {
	m, ok := errors.AsType[*kernel.MemoryError](err)
	if _, done := errors.AsType[*budgetError](err); done || !ok {
		return err
	}
	full := *m
	if rest := whole - m.Budget; rest > 0 {
		full.Budget, full.Need = whole, mem.Saturate(float64(m.Need)+float64(rest))
	}
	return &budgetError{&full, e.options.whoseBudget()}
}

// A budgetError is an error of missing memory that says where the budget comes from.
type budgetError struct {
	memory *kernel.MemoryError
	whose  string
}

// Error implements error.
func (e *budgetError) Error() string { return e.memory.Error() + "; the budget is " + e.whose }

// Unwrap returns the kernel.MemoryError.
func (e *budgetError) Unwrap() error { return e.memory }

// whoseBudget says where the budget comes from.
func (o *options) whoseBudget() string {
	switch {
	case o.budget > 0:
		return "the one that was set"
	case o.agreedBudget > 0:
		return "the smallest of all ranks: a share of three quarters of the available memory of a machine"
	}
	return "three quarters of the available memory"
}
