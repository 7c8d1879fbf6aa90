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

// Reserve runs work while so many bytes of the Engine's budget are reserved for it: for
// memory that work takes itself. It waits for them as other calls do. Calls of the Engine
// with the context that work is given take their memory beside it and do not wait. Where
// other callers hold memory that they need, work is ended by an error of such a call, which
// it must return, and run anew when that memory is free. So work must be able to begin
// again, and its goroutines must have ended when it returns.
//
// A call with another context waits like those of strangers, and for ever where it needs the
// memory that is reserved here. Close within work is ErrReentrant. A panic of work is passed
// on. Work that calls a second Engine holds memory of the first while it waits for that of
// the second: programs should call the two in the same order everywhere.
//
// Errors: those of work, as they are, ErrSettings for bytes below 0 and for no work,
// ErrClosed, ErrReentrant, kernel.ErrMemory for more than the whole budget, and that of ctx.
func (e *Engine) Reserve(ctx context.Context, bytes int64, work func(ctx context.Context) error) error {
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	switch {
	case work == nil:
		return fmt.Errorf("privatemail: reserve: %w: no work", ErrSettings)
	case bytes < 0:
		return fmt.Errorf("privatemail: reserve: %w: %d bytes", ErrSettings, bytes)
	}
	_, err = hold(ctx, e, float64(bytes), "work of the caller", func(s *share) (struct{}, error) {
		return struct{}{}, work(context.WithValue(ctx, accountKey{e}, s.account))
	})
	return err
}

// An account is what a call and the calls within it hold of the budget, in one run of its
// work.
type account struct {
	reservation *budget.Reservation
	whole       int64 // bytes of the budget

	mu     sync.Mutex
	used   int64 // bytes of the reservation that its shares have
	denied int64 // the most bytes that were asked for in vain
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

// A share is what one call has of its account.
type share struct {
	*account
	bytes int64
	limit int64           // the most that bytes may become: what the account held for others when the call began is not for it
	steps float64         // bytes that are taken when the graph is built
	found *foundBandwidth // what an attempt before this one has found; nil where nobody looks for it
}

// reserve makes the share as large as the given number of bytes, if it is smaller, and
// tells whether that was possible. It does not wait.
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

// within is hold for work of the Engine's own: errors of missing memory name the whole
// budget.
func within[T any](ctx context.Context, e *Engine, least float64, what string, work func(s *share) (T, error)) (T, error) {
	whole := int64(0)
	out, err := hold(ctx, e, least, what, func(s *share) (T, error) {
		whole = s.account.whole
		return work(s)
	})
	return out, e.explain(err, whole)
}

// hold runs work with a share of the budget, least bytes at first, which what names.
// Where work is refused memory that others hold, all is given back, and work is run anew
// when that memory is free, unless it has spent privacy: nobody waits who holds some. Where
// work and the calls within it ask for more than the whole budget, waiting would not help.
// A call within another one takes its share of the same account, and leaves waiting to the
// outer one.
func hold[T any](ctx context.Context, e *Engine, least float64, what string, work func(s *share) (T, error)) (out T, err error) {
	first := min(mem.Saturate(max(least, 0)), budget.All-1) // an absurd size does not stand for the whole
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
			next = budget.All // what it asked for was not enough before
		}
		switch failed := reservation.Exchange(ctx, next); {
		case errors.Is(failed, budget.ErrWhole):
			return out, err
		case failed != nil:
			return out, e.reserveError(failed, what, a.denied)
		}
	}
}

// runWith runs work with all that a new account has used.
func runWith[T any](a *account, work func(s *share) (T, error)) (T, error) {
	defer a.end()
	return work(&share{account: a, bytes: a.used, limit: a.whole})
}

// left returns what the shares leave of the whole budget.
func (a *account) left() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.whole-a.used, 0)
}

// with returns what the shares and so many bytes more come to.
func (a *account) with(bytes int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return mem.Saturate(float64(a.used) + float64(bytes))
}

// end closes the account: nobody gets a share of it any more.
func (a *account) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
}

// reserveError returns the error of a reservation of so many bytes that failed.
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

// explain makes an error of missing memory name the whole budget, where a part of it was
// left to the work that failed, and say who has set it.
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
		return "that of the rank with the least: its share of three quarters of the memory that is available on its machine"
	}
	return "three quarters of the memory that is available"
}
