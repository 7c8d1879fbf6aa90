package privatemail

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// largeCall is the least memory of a large call, in bytes.
const largeCall = 16 << 20

// largeCalls lets as many large calls run at a time as there are workers, in the order
// of their arrival. All calls share the workers: more large calls at a time would end no
// sooner, and hold memory meanwhile. Small calls do not wait for large ones.
type largeCalls struct {
	from   int64         // bytes from which a call is large
	turns  chan struct{} // an element for each running one
	closed chan struct{} // closed with the Engine
}

func newLargeCalls(workers int) largeCalls {
	return largeCalls{from: largeCall, turns: make(chan struct{}, max(workers, 1)), closed: make(chan struct{})}
}

// give ends a turn.
func (c *largeCalls) give() { <-c.turns }

// reserveInTurn is reserve for a call that may be large: it waits for its turn first. A call
// within another is part of one that has its turn.
func (e *Engine) reserveInTurn(ctx context.Context, least float64, what string) (*share, error) {
	bytes := mem.Saturate(least)
	switch {
	case bytes < e.large.from || accountOf(ctx, e) != nil:
		return e.reserve(ctx, least, what)
	case bytes > e.pool.Whole():
		return nil, e.reserveError(mem.ErrWhole, what, bytes)
	}
	select {
	case e.large.turns <- struct{}{}:
	case <-e.large.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other calls: %w", ctx.Err())
	}
	m, err := e.reserve(ctx, least, what)
	if err != nil {
		e.large.give()
		return nil, err
	}
	m.turn = true
	return m, nil
}
