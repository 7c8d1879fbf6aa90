package privatemail

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Reserve runs work while that many bytes of the Engine's memory limit are reserved, for memory
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
// ErrClosed, kernel.ErrMemory for more than the whole limit, and the error of
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
	m, err := e.reserve(ctx, float64(bytes), "work of the caller")
	if err != nil {
		return err
	}
	defer m.release()
	for m.again(ctx, &err) {
		err = work(context.WithValue(ctx, accountKey{e}, m.account))
	}
	return err
}

// An account is the memory that a call and the calls within it hold of the memory limit, in one
// run of its work.
type account struct {
	reservation *mem.Reservation
	whole       int64 // bytes of the memory limit

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

// A share is the memory of one call, from reserve to release.
//
//	m, err := e.reserve(ctx, least, "work")
//	if err != nil {
//		return err
//	}
//	defer m.release()
//	for m.next(ctx, &err) {
//		err = work(m) // takes more with m.grow
//	}
//
// Work that is refused memory that others hold gives everything back and runs again when that
// memory is free, unless it has spent privacy: no caller waits while it holds memory. A call
// within another takes its share of the same account, and leaves waiting to the outer call.
type share struct {
	*account // of this attempt, or of the outer call
	engine   *Engine
	what     string           // names the work in errors
	inner    bool             // a call within another
	turn     bool             // it has a turn of large calls
	reserved *mem.Reservation // nil for an inner call
	least    int64            // bytes at the beginning of an attempt
	attempts int

	bytes int64
	limit int64          // largest value of bytes: without the memory that the account held for others when the call began
	found foundBandwidth // by an earlier attempt
}

// reserve waits for the memory of a call, least bytes at first; what names it in errors.
func (e *Engine) reserve(ctx context.Context, least float64, what string) (*share, error) {
	m := &share{engine: e, what: what, least: min(mem.Saturate(max(least, 0)), mem.All-1)} // a huge size must not mean the whole
	if outer := accountOf(ctx, e); outer != nil {
		m.account, m.limit, m.inner = outer, outer.left(), true
		if !m.grow(m.least) {
			return nil, e.explain(&kernel.MemoryError{What: what, Need: outer.with(m.least), Limit: outer.whole}, outer.whole)
		}
		return m, nil
	}
	var err error
	if m.reserved, err = e.pool.Reserve(ctx, m.least); err != nil {
		return nil, e.reserveError(err, what, m.least)
	}
	return m, nil
}

// release gives everything back. Calls defer it.
func (m *share) release() {
	if m.inner {
		m.close()
		return
	}
	if m.account != nil {
		m.end()
	}
	m.reserved.Release()
	if m.turn {
		m.engine.large.give()
	}
}

// next reports whether the work of a method runs, for the first time or again, as again does. At
// the end an error of missing memory names the whole limit.
func (m *share) next(ctx context.Context, err *error) bool {
	if m.again(ctx, err) {
		return true
	}
	*err = m.engine.explain(*err, m.whole)
	return false
}

// again reports whether work runs, for the first time or again; err is the error of the last
// attempt. Where work and the calls within it ask for more than the whole limit, waiting would
// not help.
func (m *share) again(ctx context.Context, err *error) bool {
	m.attempts++
	switch {
	case m.attempts == 1 && m.inner:
		return true
	case m.inner:
		return false // the outer call waits
	case m.attempts > 1 && !m.exchange(ctx, err):
		return false
	}
	m.account = &account{reservation: m.reserved, whole: m.engine.pool.Whole(), used: m.least}
	m.bytes, m.limit = m.least, m.whole
	return true
}

// exchange ends an attempt. It waits for the memory that the attempt was refused, and reports
// whether it has it.
func (m *share) exchange(ctx context.Context, err *error) bool {
	m.end()
	if *err == nil || m.denied == 0 || m.denied > m.whole || !errors.Is(*err, kernel.ErrMemory) || errors.Is(*err, mechanism.ErrSpent) {
		return false
	}
	next := m.denied
	if m.attempts > 2 {
		next = mem.All // its last request was not enough
	}
	failed := m.reserved.Exchange(ctx, next)
	if failed != nil && !errors.Is(failed, mem.ErrWhole) {
		*err = m.engine.reserveError(failed, m.what, m.denied)
	}
	return failed == nil
}

// grow makes the share as large as the given number of bytes, if it is smaller, and reports
// whether that was possible. It does not wait.
func (m *share) grow(bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if bytes <= m.bytes {
		return true
	}
	if m.ended { // a call that its work has not waited for
		return false
	}
	total := mem.Saturate(float64(m.used-m.bytes) + float64(bytes))
	if !m.reservation.Grow(total) {
		m.denied = max(m.denied, total)
		return false
	}
	m.used, m.bytes = total, bytes
	return true
}

// close gives the share back to its account.
func (m *share) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= m.bytes
	m.bytes = 0
}

// left returns the rest of the whole limit after the shares.
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
	case errors.Is(err, mem.ErrClosed):
		return ErrClosed
	case errors.Is(err, mem.ErrWhole):
		whole := e.pool.Whole()
		return e.explain(&kernel.MemoryError{What: what, Need: bytes, Limit: whole}, whole)
	}
	return fmt.Errorf("wait for memory: %w", err)
}

// explain makes an error of missing memory name the whole limit, where the failed work
// had only a part of it, and say how the limit was set.
func (e *Engine) explain(err error, whole int64) error {
	m, ok := errors.AsType[*kernel.MemoryError](err)
	if _, done := errors.AsType[*limitError](err); done || !ok {
		return err
	}
	full := *m
	if rest := whole - m.Limit; rest > 0 {
		full.Limit, full.Need = whole, mem.Saturate(float64(m.Need)+float64(rest))
	}
	return &limitError{&full, e.options.whoseLimit()}
}

// A limitError is an error of missing memory that says where the limit comes from.
type limitError struct {
	memory *kernel.MemoryError
	whose  string
}

// Error implements error.
func (e *limitError) Error() string { return e.memory.Error() + "; the limit is " + e.whose }

// Unwrap returns the kernel.MemoryError.
func (e *limitError) Unwrap() error { return e.memory }

// whoseLimit says where the limit comes from.
func (o *options) whoseLimit() string {
	switch {
	case o.maxMemory > 0:
		return "the one that was set"
	case o.agreedMemory > 0:
		return "the smallest of all ranks: a share of three quarters of the available memory of a machine"
	}
	return "three quarters of the available memory"
}
