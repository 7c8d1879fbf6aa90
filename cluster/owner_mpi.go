//go:build mpi && cgo

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/seed-64e14a55/privatemail/par"
)

// An owner is the goroutine that calls MPI, and its state. It is the par.Link of its rank.
type owner struct {
	silence       time.Duration
	work, control *communicator
	beats         *heart
	jobs          chan func()
	active        []*transfer   // the newest last
	left          bool          // MPI has ended
	gone          chan struct{} // closed when left
	turns         atomic.Int64  // of the loop, for the watch
	failed        []*transfer   // MPI may still work on a part of them: their memory stays pinned
	calls         calls         // of work
	broken        atomic.Bool   // a call has failed or was abandoned: further ones are refused
	ended         atomic.Bool   // End was called
}

// Times of the owner.
const (
	turnTime = 100 * time.Millisecond // the longest delay of a new job while transfers are active
	idleTime = 500 * time.Millisecond // the longest time between checks for messages while none is active
)

var (
	errBroken = errors.New("an earlier call of this rank has failed")
	errLeft   = errors.New("the run has ended")
)

// Open connects this process with the others that a launcher has started. If the
// environment names no launcher, or one that has started only this process, Open returns a
// world of one rank and does not start MPI.
func Open() (*World, error) { return open(mostSilence) }

// mostSilence is how long a rank may be silent before it counts as lost.
const mostSilence = 20 * time.Second

func open(silence time.Duration) (*World, error) {
	l := readLaunch(os.Getenv)
	if l.variable == "" || l.size == 1 {
		return &World{}, nil
	}
	o := &owner{silence: silence, jobs: make(chan func()), gone: make(chan struct{})}
	opened := make(chan error)
	w := &World{}
	go func() {
		runtime.LockOSThread() // for good: MPI knows its thread
		var err error
		w.neighbours, err = o.start(l)
		opened <- err
		if err == nil {
			o.serve()
		}
	}()
	if err := <-opened; err != nil {
		return nil, err
	}
	if o.Size() == 1 { // the launcher did not say
		return w, o.leave()
	}
	go o.watch()
	w.ranks, w.end = par.NewRanks(o), o.end
	return w, nil
}

// start starts MPI and makes the communicators of the ranks.
func (o *owner) start(l launch) (neighbours int, err error) {
	if err := startMPI(); err != nil {
		return 0, err
	}
	if o.work, err = newCommunicator(); err != nil {
		return 0, err
	}
	if l.several() && o.Size() == 1 {
		stopMPI()
		return 0, l.refuse(ErrLauncher)
	}
	if o.control, err = newCommunicator(); err != nil {
		return 0, err
	}
	if o.beats, err = newHeart(o.silence, &o.calls); err != nil {
		return 0, err
	}
	return o.work.neighbours()
}

// serve runs the jobs of other goroutines, attends to transfers and reports to the next rank
// that this one lives, until leave.
func (o *owner) serve() {
	idle := time.NewTicker(idleTime)
	defer close(o.gone)
	for !o.left {
		o.turns.Add(1)
		if len(o.active) > 0 {
			select {
			case job := <-o.jobs:
				job()
			default:
			}
		} else {
			select {
			case job := <-o.jobs:
				job()
			case <-idle.C:
			}
		}
		if o.left {
			return
		}
		o.progress()
		if err := o.beats.turn(); err != nil {
			o.quit(err)
		}
	}
}

// progress checks all transfers, and waits a while for the newest: older ones were
// abandoned.
func (o *owner) progress() {
	for i := 0; i < len(o.active); i++ {
		t, limit := o.active[i], time.Duration(0)
		if i == len(o.active)-1 {
			limit = turnTime
		}
		if t.test(limit) {
			if t.err == nil {
				t.pins.Unpin()
			} else {
				o.failed = append(o.failed, t)
			}
			close(t.done)
			o.active = slices.Delete(o.active, i, i+1)
			i--
		}
	}
}

// do makes the owner call f and waits for it. It returns false if the owner has left.
func (o *owner) do(f func()) bool {
	done := make(chan struct{})
	select {
	case o.jobs <- func() { defer close(done); f() }:
		<-done
		return true
	case <-o.gone:
		return false
	}
}

// begin makes the owner begin a transfer with post.
func (o *owner) begin(what string, post func(*transfer) error) (*transfer, error) {
	t := newTransfer(what)
	select {
	case o.jobs <- func() { o.post(t, post) }:
		return t, nil
	case <-o.gone:
		return nil, fmt.Errorf("cluster: %s: %w", what, errLeft)
	}
}

// post is called by the owner.
func (o *owner) post(t *transfer, post func(*transfer) error) {
	t.err = post(t)
	switch {
	case t.err == nil:
		o.active = append(o.active, t)
		return
	case len(t.requests) > 0:
		o.failed = append(o.failed, t)
	default: // nothing was started
		t.pins.Unpin()
	}
	close(t.done)
}

// await waits for the end of a transfer or of the context. MPI cannot cancel a transfer of
// all ranks: it continues, and its memory stays pinned.
func (o *owner) await(ctx context.Context, t *transfer) error {
	select {
	case <-t.done:
		if t.err != nil {
			o.broken.Store(true)
		}
		return t.err
	case <-ctx.Done():
		o.broken.Store(true)
		return fmt.Errorf("cluster: %s: %w", t.what, ctx.Err())
	}
}
