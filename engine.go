package privatemail

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/budget"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// An Engine owns a fixed set of worker goroutines, from New to Close. Its
// methods are safe for concurrent use; concurrent calls share the workers. Lend hands them
// to other packages.
//
// Inner loops are written for several sets of processor instructions, the levels of
// package simd. An Engine runs at the highest one the machine has, or at the one the
// environment variable PM_SIMD or WithLevel lowers it to. Where a level has two forms of a
// loop, with the same bits, the faster one on this processor is used. What the level changes
// beside the time of a call is in the package comment.
type Engine struct {
	options options
	workers *par.Workers
	kernels *simd.Kernels

	pool      *budget.Pool // the memory that calls share
	large     largeCalls
	reporting callers // those inside the progress function
	calling   callers // those inside a method

	mu      sync.Mutex
	ended   sync.Cond // told when no call is running any more
	running int       // calls
	closed  bool
}

const maxWorkers = 4096

type options struct {
	workers     int
	lent        *par.Workers // nil when the Engine starts its own
	level       simd.Level
	budget      int64
	calibration *kernel.Calibration // nil when the machine is measured
	progress    func(Progress)
	ranks       *par.Ranks // nil for one process
	ranksHere   int        // on this machine; 0 where nobody has said
	// agreedBudget is that of all ranks, 0 for one process.
	agreedBudget int64
}

// An Option changes an Engine's defaults.
type Option func(*options) error

// WithWorkers sets the number of workers, from 1 to 4096; more than there are
// processors gain nothing. Default: GOMAXPROCS, which honours the limits of a
// container.
func WithWorkers(n int) Option {
	return func(o *options) error {
		if n < 1 || n > maxWorkers {
			return fmt.Errorf("privatemail: %w: %d workers, want 1 to %d", ErrSettings, n, maxWorkers)
		}
		o.workers = n
		return nil
	}
}

// WithLevel lowers the level of the inner loops: to the given one, or to the
// highest below it that the machine has and PM_SIMD allows. It never raises it.
// Default: simd.Best.
func WithLevel(level simd.Level) Option {
	return func(o *options) error {
		o.level = level
		return nil
	}
}

// WithBudget sets the bytes that all running calls together may take for what they build
// and return. A call reserves what it is going to take, and gives it back when it returns:
// what the caller keeps, features and results, is not counted from then on. Where other
// calls hold too much the call waits, behind those that came before it, until its context
// ends. A call that needs more than the whole budget is refused at once. Memory that Go has
// not collected yet comes on top; GOMEMLIMIT bounds that.
//
// Whatever the budget, calls of which it is known beforehand that they need 16 MiB or more take
// turns, too: as many of them run at a time as there are workers. Plans, Continue, Reserve and
// calls within Reserve take none.
//
// Default: three quarters of what the machine has available, measured when a call begins
// and no other holds memory. Only Linux says what that is; elsewhere the Go memory limit
// counts alone, and without one there is no limit.
func WithBudget(bytes int64) Option {
	return func(o *options) error {
		if bytes < 1 {
			return fmt.Errorf("privatemail: %w: a budget of %d bytes", ErrSettings, bytes)
		}
		o.budget = bytes
		return nil
	}
}

// WithCalibration sets the speed of the machine, for the choice of an operator.
// kernel.Calibrate measures it. Default: the first choice of a process measures it, in
// about 30 ms. A fixed calibration, such as the zero value, makes the same choice
// everywhere.
func WithCalibration(c kernel.Calibration) Option {
	return func(o *options) error {
		o.calibration = &c
		return nil
	}
}

// Progress says how far a stage of long work has come. While a graph is built,
// the stages are some of "profile", "find neighbours", "find nearest neighbours", "count neighbours", "fill
// weights", "repair rows", "list pairs", "degrees", "grid", "projection", "second
// moments" and "bounds"; then come "steps", or "eigenvectors" and perhaps "arrange", and, with the operator
// dense, "product" between them. Others may be added.
type Progress struct {
	Stage       string // the name of the stage
	Done, Total int    // pieces of it
}

// WithProgress sets a function that is told of long work. The workers call it, one
// at a time for each running call of the Engine, and it should be quick. It must not wait
// for the Engine: methods that it calls return ErrReentrant, those of an Engine that shares
// the workers may, and another goroutine that calls one is not to be waited for. It may
// call an Engine with workers of its own whose progress function does not call this one. A
// call that begins anew because others held memory tells its stages anew. ReportProgress sets
// the function of single calls. Default: nobody is told.
func WithProgress(report func(Progress)) Option {
	return func(o *options) error {
		o.progress = report
		return nil
	}
}

// New starts an Engine. Close it when done.
func New(opts ...Option) (*Engine, error) {
	e := &Engine{options: options{level: simd.Best()}}
	for _, opt := range opts {
		if err := opt(&e.options); err != nil {
			return nil, err
		}
	}
	err := e.options.agree(context.Background())
	if err != nil {
		return nil, err
	}
	if e.workers, err = e.options.startWorkers(); err != nil {
		return nil, err
	}
	e.ended.L = &e.mu
	e.pool = budget.New(e.measure)
	e.large = newLargeCalls(e.workers.Count())
	e.kernels = simd.At(e.options.level)
	return e, nil
}

// Workers returns the number of workers.
func (e *Engine) Workers() int { return e.workers.Count() }

// Level returns the level of the inner loops.
func (e *Engine) Level() simd.Level { return e.kernels.Level() }

// Close waits for running calls and stops the workers. Calls that wait for memory end with
// ErrClosed, as do calls made later. It is idempotent. Called from within a method of the
// Engine, such as by a progress function or by the work of Reserve, it returns ErrReentrant
// and closes nothing.
func (e *Engine) Close() error {
	if e.Reentrant() || e.calling.here() {
		return ErrReentrant
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		close(e.large.closed)
	}
	e.closed = true
	e.pool.Close()
	for e.running > 0 {
		e.ended.Wait()
	}
	e.workers.Close()
	return nil
}

// call is what the methods that work have in common: an Engine that stays open
// until they return, and errors that begin with their name. What work returns
// beside an error is passed on.
func call[T any](ctx context.Context, e *Engine, name string, work func() (T, error)) (T, error) {
	leave, err := e.enter(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer leave()
	out, err := caught(work)
	if err != nil && !errors.Is(err, ErrClosed) {
		err = fmt.Errorf("privatemail: %s: %w", name, err)
	}
	return out, err
}

// enter counts a call as running, until leave is called by the same goroutine.
func (e *Engine) enter(ctx context.Context) (leave func(), err error) {
	if e.Reentrant() {
		return nil, ErrReentrant
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	// A call within another one is a part of it, and Close waits for both.
	switch outermost := accountOf(ctx, e) == nil; {
	case e.closed && outermost:
		return nil, ErrClosed
	case e.running > 0 && outermost && !e.options.ranks.Alone(): // which of the two comes first would differ between ranks
		return nil, fmt.Errorf("privatemail: %w: an Engine that shares its work with other ranks takes one call at a time", ErrSettings)
	}
	e.running++
	end := e.calling.begin()
	return func() { end(); e.leave() }, nil
}

// leave counts a call as ended.
func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running == 0 {
		e.ended.Broadcast()
	}
}

// measure returns the bytes of the whole budget.
func (e *Engine) measure() int64 {
	if e.options.agreedBudget > 0 {
		return min(e.options.agreedBudget, mem.AddressSpace)
	}
	if e.options.budget > 0 {
		return min(e.options.budget, mem.AddressSpace)
	}
	return min(mem.Budget(), mem.AddressSpace)
}
