package privatemail

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// An Engine owns a fixed set of worker goroutines, from New to Close. Its methods are safe
// for concurrent use; concurrent calls share the workers. Lend lends them to other
// packages.
//
// Inner loops are written for several sets of processor instructions, the levels of package
// simd. An Engine runs at the highest level of the machine, or at a lower one set by the
// environment variable PM_SIMD or by WithLevel. Where a level has two forms of a loop, with
// the same bits, the faster one on this processor is used. The package comment says which
// results the level can change.
type Engine struct {
	options options
	workers *par.Workers
	kernels *simd.Kernels

	pool  *mem.Pool // the memory that calls share
	large largeCalls

	mu      sync.Mutex
	ended   sync.Cond // signalled when the last running call ends
	running int       // calls
	closed  bool
}

const maxWorkers = 4096

type options struct {
	workers     int
	lent        *par.Workers // nil when the Engine starts its own
	level       simd.Level
	maxMemory   int64
	calibration *kernel.Calibration // nil: measure the machine
	progress    func(Progress)
	ranks       *par.Ranks // nil for one process
	ranksHere   int        // on this machine; 0 for unknown
	// agreedMemory is the memory limit of all ranks, 0 for one process.
	agreedMemory int64
}

// An Option changes an Engine's defaults.
type Option func(*options) error

// WithWorkers sets the number of workers, from 1 to 4096; more workers than
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

// WithMaxMemory sets the bytes that all running calls together may take for what they build
// and return. A call reserves its memory first, and gives it back when it returns: the
// caller's features and results are not counted afterwards. Where other calls hold too
// much, the call waits, behind earlier calls, until its context ends. A call that needs
// more than the whole limit is refused immediately. Memory that Go has not yet collected
// is not counted; GOMEMLIMIT bounds it.
//
// With any limit, calls that are known beforehand to need 16 MiB or more also take turns: as
// many of them run at a time as there are workers. Plans, Continue, Reserve and calls within
// Reserve take no turns.
//
// Default: three quarters of the available memory, measured when a call begins and no
// other holds memory. Only Linux reports the available memory; elsewhere only the Go
// memory limit counts, and without one there is no limit.
func WithMaxMemory(bytes int64) Option {
	return func(o *options) error {
		if bytes < 1 {
			return fmt.Errorf("privatemail: %w: %d bytes of memory, want at least 1", ErrSettings, bytes)
		}
		o.maxMemory = bytes
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

// Progress is the progress of a stage of long work. While a graph is built,
// the stages are some of "profile", "find neighbours", "find nearest neighbours", "count neighbours", "fill
// weights", "repair rows", "list pairs", "degrees", "grid", "projection", "second
// moments" and "bounds"; then come "steps", or "eigenvectors" and perhaps "arrange", and, with the operator
// dense, "product" between them. Others may be added.
type Progress struct {
	Stage       string // the name of the stage
	Done, Total int    // pieces of it
}

// WithProgress sets a function that is called during long work. The workers call it, one at a
// time for each running call of the Engine, and it should be quick. It must not call methods of
// the Engine that do work, Close, or those of an Engine that shares the workers, nor wait for a
// goroutine that does: it would wait for itself. It may call an Engine with separate workers
// whose progress function does not call this one. A call that starts again because others held
// memory reports its stages again.
// ReportProgress sets the function of single calls. Default: none.
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
	e.pool = mem.NewPool(e.measure)
	e.large = newLargeCalls(e.workers.Count())
	e.kernels = simd.At(e.options.level)
	return e, nil
}

// Workers returns the number of workers.
func (e *Engine) Workers() int { return e.workers.Count() }

// Level returns the level of the inner loops.
func (e *Engine) Level() simd.Level { return e.kernels.Level() }

// Close waits for running calls and stops the workers. Calls that wait for memory end with
// ErrClosed, as do later calls. It is idempotent. A function that a method of the Engine calls,
// such as a progress function or the work of Reserve, must not call it: it would wait for
// itself.
func (e *Engine) Close() error {
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

// enter counts a call as running, until leave.
func (e *Engine) enter(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	// A call within another one is a part of it, and Close waits for both.
	switch outermost := accountOf(ctx, e) == nil; {
	case e.closed && outermost:
		return ErrClosed
	case e.running > 0 && outermost && !e.options.ranks.Alone(): // their order could differ between ranks
		return fmt.Errorf("privatemail: %w: an Engine that shares its work with other ranks takes one call at a time", ErrSettings)
	}
	e.running++
	return nil
}

// leave counts a call as ended.
func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running--; e.running == 0 {
		e.ended.Broadcast()
	}
}

// measure returns the bytes of the whole limit.
func (e *Engine) measure() int64 {
	if e.options.agreedMemory > 0 {
		return min(e.options.agreedMemory, mem.AddressSpace)
	}
	if e.options.maxMemory > 0 {
		return min(e.options.maxMemory, mem.AddressSpace)
	}
	return min(mem.DefaultLimit(), mem.AddressSpace)
}
