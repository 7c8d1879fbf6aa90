package par

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Task is work split into pieces. Run does one piece; it is called once for each piece in
// [0, pieces), by worker in [0, Count()). Run must not call Do or Close of the same Workers,
// or of Workers that share their goroutines by Lend, nor wait for a goroutine that does: it
// would wait for itself.
//
// Task is an interface and not a function so that a caller can start one task
// value many times without allocating a closure.
type Task interface {
	Run(worker, piece int)
}

// Func adapts a function to Task.
type Func func(worker, piece int)

// Run calls f.
func (f Func) Run(worker, piece int) { f(worker, piece) }

// Workers are a fixed number of goroutines that share work. The caller of Do is one
// of them. Concurrent calls of Do take turns. The nil Workers and the zero Workers
// run everything in the caller.
type Workers struct {
	crew *crew
	lent bool // Close does nothing
}

// crew is the goroutines, which lent Workers share with their owner.
type crew struct {
	wake    []chan struct{} // one per goroutine, capacity 1
	stopped sync.WaitGroup

	turn   chan struct{} // holds one token for the Do whose turn it is
	closed bool          // guarded by turn
	job    job
}

// job is the state of the running Do; it is reused so that Do allocates nothing.
type job struct {
	ctx    context.Context
	task   Task
	pieces int64
	next   atomic.Int64
	failed atomic.Pointer[PanicError]
	active sync.WaitGroup
}

// A PanicError reports a panic inside a task, or one that Catch has caught. The panic is
// turned into an error so that a worker never takes the host process down.
type PanicError struct {
	Value any    // what was passed to panic
	Stack []byte // of the goroutine, for a debug log
}

func (e *PanicError) Error() string { return fmt.Sprintf("par: panic: %v", e.Value) }

// New returns the given number of workers; 0 means GOMAXPROCS.
func New(workers int) *Workers {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	c := &crew{wake: make([]chan struct{}, workers-1), turn: make(chan struct{}, 1)}
	c.stopped.Add(workers - 1)
	for i := range c.wake {
		c.wake[i] = make(chan struct{}, 1)
		go c.serve(i+1, c.wake[i])
	}
	return &Workers{crew: c}
}

// Lend returns Workers with the same goroutines for a borrower. Both take turns, and Close
// of the lent Workers does nothing: only the owner stops the goroutines. After that the lent
// Workers run everything in their caller.
func (w *Workers) Lend() *Workers {
	if w == nil {
		return nil
	}
	return &Workers{crew: w.crew, lent: true}
}

// Count returns the number of workers, 1 for the nil Workers.
func (w *Workers) Count() int {
	if w == nil || w.crew == nil {
		return 1
	}
	return len(w.crew.wake) + 1
}

// Close stops the goroutines and waits for them. It is idempotent and waits for a running Do,
// so a task must not call it. After Close, Workers run everything in the caller. On lent
// Workers Close does nothing.
func (w *Workers) Close() {
	if w == nil || w.crew == nil || w.lent {
		return
	}
	c := w.crew
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	if c.closed {
		return
	}
	c.closed = true
	for _, wake := range c.wake {
		close(wake)
	}
	c.stopped.Wait()
}

// Do runs task for every piece in [0, pieces) and returns when all are done.
// The context is checked while waiting for the turn and before each piece; after a
// cancellation the remaining pieces are left out and the context's error is returned. A
// panic in the task is returned as a *PanicError.
func (w *Workers) Do(ctx context.Context, pieces int, task Task) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if pieces <= 0 {
		return nil
	}
	if w == nil || w.crew == nil {
		j := job{ctx: ctx, task: task, pieces: int64(pieces)}
		j.work(0)
		return j.err()
	}
	return w.crew.do(ctx, pieces, task)
}

func (c *crew) do(ctx context.Context, pieces int, task Task) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	j := &c.job
	defer func() { // also when the task ends this goroutine
		j.active.Wait()
		j.ctx, j.task = nil, nil
		<-c.turn
	}()
	j.ctx, j.task, j.pieces = ctx, task, int64(pieces)
	j.next.Store(0)
	j.failed.Store(nil)
	if !c.closed {
		helpers := min(len(c.wake), pieces-1)
		j.active.Add(helpers)
		for _, wake := range c.wake[:helpers] {
			wake <- struct{}{}
		}
	}
	j.work(0)
	j.active.Wait()
	return j.err()
}

func (c *crew) serve(worker int, wake <-chan struct{}) {
	stopping := false
	defer func() {
		if stopping {
			c.stopped.Done()
			return
		}
		// The task ended this goroutine (runtime.Goexit): replace it.
		c.job.active.Done()
		go c.serve(worker, wake)
	}()
	for range wake {
		c.job.work(worker)
		c.job.active.Done()
	}
	stopping = true
}

// work does pieces of the job as the given worker.
func (j *job) work(worker int) {
	// Rows may be in a mapped file, which another program truncates.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	returned := false
	defer func() {
		v := recover()
		if returned {
			return
		}
		if v == nil {
			v = "the task ended its goroutine"
		}
		j.failed.CompareAndSwap(nil, &PanicError{Value: v, Stack: debug.Stack()})
		j.next.Store(j.pieces) // no other piece has to begin
	}()
	for j.ctx.Err() == nil {
		piece := j.next.Add(1) - 1
		if piece >= j.pieces {
			break
		}
		j.task.Run(worker, int(piece))
	}
	returned = true
}

func (j *job) err() error {
	if p := j.failed.Load(); p != nil {
		return p
	}
	// A cancellation after the last piece has begun leaves nothing out.
	if j.next.Load() >= j.pieces {
		return nil
	}
	return j.ctx.Err()
}
