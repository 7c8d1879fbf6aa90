package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-64e14a55/privatemail/par"
)

// Local runs the given number of ranks as goroutines, each with its own call of run, and
// returns when all have returned. As soon as one fails, calls of the others that all
// ranks make together fail too, and Local returns the first error.
func Local(size int, run func(ranks *par.Ranks) error) error {
	h := &hub{size: size, seats: make([]seat, size), lost: make(chan struct{}), turn: make(chan struct{})}
	var all sync.WaitGroup
	for rank := range size {
		all.Go(func() {
			if err := runCaught(run, par.NewRanks(&localLink{h, rank})); err != nil {
				h.fail(rank, err)
			}
		})
	}
	all.Wait()
	return h.err
}

// runCaught turns a panic of run into an error; otherwise the other ranks would wait for ever.
func runCaught(run func(*par.Ranks) error, ranks *par.Ranks) (err error) {
	defer par.Catch(&err)
	return run(ranks)
}

// A hub is the meeting point of the ranks of one process.
type hub struct {
	size  int
	mu    sync.Mutex
	seats []seat        // the seat of each rank
	here  int           // ranks that have come to the current meeting
	turn  chan struct{} // closed when all have come
	lost  chan struct{} // closed when a rank has failed
	err   error         // its error
}

// A seat is what a rank brings to a meeting: its call and its memory.
type seat struct {
	what   string
	pieces [][]byte // of Exchange, by rank; of Gather, the data alone
	bounds []int    // of Gather
}

var errMismatch = errors.New("ranks make different calls")

// fail keeps the error of the first rank that fails.
func (h *hub) fail(rank int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err == nil {
		h.err = fmt.Errorf("cluster: rank %d: %w", rank, err)
		close(h.lost)
	}
}

// meet waits until all ranks have come.
func (h *hub) meet(ctx context.Context) error {
	h.mu.Lock()
	turn := h.turn
	if h.here++; h.here == h.size {
		h.here, h.turn = 0, make(chan struct{})
		close(turn)
	}
	h.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-h.lost:
		return h.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// localLink is the link of one rank.
type localLink struct {
	*hub
	rank int
}

func (l *localLink) Rank() int { return l.rank }
func (l *localLink) Size() int { return l.size }

// Gather copies from the memory of the other ranks.
func (l *localLink) Gather(ctx context.Context, data []byte, bounds []int) error {
	l.seats[l.rank] = seat{what: "gather", pieces: [][]byte{data}, bounds: bounds}
	return l.share(ctx, func(other int, s seat) error {
		lo, hi := bounds[other], bounds[other+1]
		if s.what != "gather" || len(s.pieces[0]) < hi || !slices.Equal(s.bounds, bounds) {
			return errMismatch
		}
		copy(data[lo:hi], s.pieces[0][lo:hi])
		return nil
	})
}

// Exchange copies from the memory of the other ranks when the caller waits for it.
func (l *localLink) Exchange(_ context.Context, out, in [][]byte) (func(context.Context) error, error) {
	l.seats[l.rank] = seat{what: "exchange", pieces: out}
	return func(ctx context.Context) error {
		return l.share(ctx, func(other int, s seat) error {
			if s.what != "exchange" || len(s.pieces[l.rank]) != len(in[other]) {
				return errMismatch
			}
			copy(in[other], s.pieces[l.rank])
			return nil
		})
	}, nil
}

// share calls take for every other rank once all have come, and waits until all ranks have
// taken.
func (l *localLink) share(ctx context.Context, take func(other int, s seat) error) error {
	if err := l.meet(ctx); err != nil {
		return err
	}
	for other, s := range l.seats {
		if other != l.rank {
			if err := take(other, s); err != nil {
				return fmt.Errorf("cluster: rank %d and rank %d: %w", l.rank, other, err)
			}
		}
	}
	return l.meet(ctx)
}
