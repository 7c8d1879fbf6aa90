package client

import (
	"context"
	"sync"
)

// turns let one goroutine at a time go on for each value of K. The zero value is ready.
type turns[K comparable] struct {
	mutex sync.Mutex
	taken map[K]*turn
}

// A turn is taken when there is something in the channel. users also counts those who wait.
type turn struct {
	taken chan struct{}
	users int
}

// take waits for a turn, in order, or until ctx is done. give ends the turn.
func (t *turns[K]) take(ctx context.Context, k K) (give func(), err error) {
	t.mutex.Lock()
	if t.taken == nil {
		t.taken = make(map[K]*turn)
	}
	own := t.taken[k]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.taken[k] = own
	}
	own.users++
	t.mutex.Unlock()
	select {
	case own.taken <- struct{}{}:
		return func() {
			<-own.taken
			t.leave(k, own)
		}, nil
	case <-ctx.Done():
		t.leave(k, own)
		return nil, ctx.Err()
	}
}

// leave forgets a turn that nobody uses.
func (t *turns[K]) leave(k K, own *turn) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if own.users--; own.users == 0 {
		delete(t.taken, k)
	}
}
