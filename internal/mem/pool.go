package mem

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
)

// All stands for the whole of a pool, of any size.
const All = math.MaxInt64

// ErrClosed reports a wait that Close has ended.
var ErrClosed = errors.New("the pool is closed")

// ErrWhole reports a request for more than the whole pool.
var ErrWhole = errors.New("more than the whole pool")

// A Pool shares one amount of memory among calls that run at the same time: callers reserve parts
// of it, in the order in which they came. No caller that holds memory waits for more: Grow answers
// immediately, and Exchange gives its memory back before it waits. So calls cannot wait for each
// other.
type Pool struct {
	measure func() int64 // returns the total; called while nobody holds any

	mu      sync.Mutex
	whole   int64
	held    int64
	holders int
	arrived uint64         // the last place given
	queue   []*Reservation // waiting callers, by their places
	closed  bool
}

// NewPool returns a pool of the bytes that measure returns. The pool calls measure again
// whenever nobody holds any bytes: memory that other programs have taken in the
// meantime is not available.
func NewPool(measure func() int64) *Pool { return &Pool{measure: measure} }

// A Reservation is memory that one caller holds. One goroutine at a time may use it,
// except for Grow, which many may call.
type Reservation struct {
	pool   *Pool
	place  uint64        // in the order of arrival
	held   int64         // bytes
	wanted int64         // bytes, while it waits
	ready  chan struct{} // closed when the wait is over
}

// Whole returns the bytes of the whole pool.
func (p *Pool) Whole() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refresh()
	return p.whole
}

// refresh measures the whole while nobody holds a part of it.
func (p *Pool) refresh() {
	if p.holders == 0 {
		p.whole = p.measure()
	}
}

// Reserve waits until the bytes are free and all earlier callers have theirs. It refuses
// more than the whole immediately, with ErrWhole. The wait ends with the error of ctx, or
// with ErrClosed.
func (p *Pool) Reserve(ctx context.Context, bytes int64) (*Reservation, error) {
	p.mu.Lock()
	p.arrived++
	r := &Reservation{pool: p, place: p.arrived}
	p.mu.Unlock()
	return r, r.wait(ctx, bytes)
}

// Exchange gives back what r holds and waits for the bytes in the original place of r:
// later callers are behind it. Errors: those of Reserve. After an error r holds
// nothing.
func (r *Reservation) Exchange(ctx context.Context, bytes int64) error {
	r.Release()
	return r.wait(ctx, bytes)
}

// wait waits for the bytes while r holds nothing.
func (r *Reservation) wait(ctx context.Context, bytes int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.queue(bytes); err != nil {
		return err
	}
	select {
	case <-r.ready:
	case <-ctx.Done():
	}
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.queue, r)
	switch {
	case at < 0 && r.held == 0: // Close has ended the queue
		return ErrClosed
	case at < 0:
		return nil // also when ctx has ended since then
	}
	p.queue = slices.Delete(p.queue, at, at+1)
	p.serve() // requests behind it may fit
	return ctx.Err()
}

// queue puts r into its place in the queue, and serves the queue.
func (r *Reservation) queue(bytes int64) error {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.refresh()
	r.wanted, r.ready = max(bytes, 1), make(chan struct{})
	if bytes == All {
		r.wanted = max(p.whole, 1)
	}
	if r.wanted > max(p.whole, 1) {
		return ErrWhole
	}
	at, _ := slices.BinarySearchFunc(p.queue, r.place, func(q *Reservation, place uint64) int {
		if q.place < place {
			return -1
		}
		return 1
	})
	p.queue = slices.Insert(p.queue, at, r)
	p.serve()
	return nil
}

// serve gives memory to the first in the queue as long as it fits.
func (p *Pool) serve() {
	for len(p.queue) > 0 {
		p.refresh()
		r := p.queue[0]
		// When nobody holds any, the first is served whatever the measure says now: it was
		// within the whole when it came, and waiting would not change anything.
		if p.holders > 0 && r.wanted > p.whole-p.held {
			return
		}
		p.queue = p.queue[1:]
		r.held = r.wanted
		p.held += r.held
		p.holders++
		close(r.ready)
	}
}

// Grow makes r hold this many bytes in total, if they are free and no earlier caller
// waits. It reports whether r holds them now. It does not wait.
func (r *Reservation) Grow(bytes int64) bool {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if bytes <= r.held {
		return true
	}
	if r.held == 0 || bytes-r.held > p.whole-p.held || len(p.queue) > 0 && p.queue[0].place < r.place {
		return false
	}
	p.held += bytes - r.held
	r.held = bytes
	return true
}

// Held returns the bytes that r holds.
func (r *Reservation) Held() int64 {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	return r.held
}

// Release gives back what r holds. It may be called again.
func (r *Reservation) Release() {
	p := r.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.held == 0 {
		return
	}
	p.held -= r.held
	p.holders--
	r.held = 0
	p.serve()
}

// Close ends all waits with ErrClosed. Holders keep their memory until they release it.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, r := range p.queue {
		close(r.ready)
	}
	p.queue = nil
}
