//go:build mpi && cgo

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// Times at the end of a run.
const (
	patience     = 3 * time.Second        // how long a rank with an error waits for the others
	haste        = 500 * time.Millisecond // the same for a rank that a signal asked to end; launchers kill soon after
	abortTime    = 5 * time.Second        // how long MPI has to end the processes
	forwarding   = 200 * time.Millisecond // how long a launcher has to forward output: it drops the rest at an abort
	watchingTime = time.Second
)

var (
	errUnfinished = errors.New("cluster: the rank ended without waiting for an exchange")
	errStuck      = errors.New("cluster: a call of MPI does not return")
)

// end is World.End.
func (o *owner) end(err error) error {
	if o.ended.Swap(true) {
		return fmt.Errorf("cluster: End: %w", errLeft)
	}
	var own outcome
	o.do(func() {
		if own.pending = len(o.failed)+len(o.active) > 0; own.pending && err == nil {
			err = errUnfinished
		}
		if err == nil {
			o.calls.add(ending, nil)
		}
	})
	ctx := context.Background()
	if err != nil {
		own.failed = true
		own.text, own.code = err.Error(), exitCode(err)
		limit := patience
		if errors.Is(err, context.Canceled) {
			limit = haste
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, limit)
		defer stop()
	}
	outcomes, agreement := o.agree(ctx, own)
	if agreement != nil {
		if !own.failed {
			own.text, own.code = agreement.Error(), 1
		}
		say(o.Rank(), own.text)
		o.abortFromOutside(own.code)
	}
	lines, code := verdict(outcomes)
	if o.Rank() == 0 {
		os.Stderr.WriteString(lines)
	}
	for _, other := range outcomes {
		if !other.pending {
			continue
		}
		if o.Rank() != 0 {
			time.Sleep(abortTime) // rank 0 aborts when it has printed
		}
		o.abortFromOutside(code)
	}
	// Launchers end all ranks when one exits with a code, so every rank waits until rank 0 has
	// printed.
	if _, err := o.agree(context.Background(), own); err != nil {
		o.abortFromOutside(max(code, 1))
	}
	if err := o.leave(); err != nil {
		say(o.Rank(), err.Error())
		code = max(code, 1)
	}
	if code != 0 {
		return &endedError{Code: code}
	}
	return nil
}

// agree gives every rank the outcomes of all ranks.
func (o *owner) agree(ctx context.Context, own outcome) ([]outcome, error) {
	size := o.Size()
	data, bounds := make([]byte, size*outcomeBytes), make([]int, size+1)
	for r := range bounds {
		bounds[r] = r * outcomeBytes
	}
	own.put(data[bounds[o.Rank()]:bounds[o.Rank()+1]])
	if err := o.gather(ctx, "the end of a run", o.control, data, bounds); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, size)
	for r := range outcomes {
		outcomes[r] = readOutcome(data[bounds[r]:bounds[r+1]])
	}
	return outcomes, nil
}

// leave ends MPI and the owner. All ranks call it.
func (o *owner) leave() (err error) {
	o.do(func() {
		if err = o.beats.stop(); err == nil {
			err = stopMPI()
		}
		o.left = true
	})
	return err
}

// say prints a line of this rank in one write, since others print at the same time.
func say(rank int, text string) {
	if text != "" {
		fmt.Fprintf(os.Stderr, "rank %d: %s\n", rank, text)
	}
}

// quit prints an error and ends the processes of all ranks. The owner calls it.
func (o *owner) quit(err error) {
	say(o.Rank(), err.Error())
	abort(1)
}

// abort ends the processes of all ranks. The owner calls it.
func abort(code int) {
	time.AfterFunc(abortTime, func() { os.Exit(code) })
	time.Sleep(forwarding)
	abortMPI(code)
	os.Exit(code)
}

// abortFromOutside is abort for other goroutines. The owner may hang in a call of MPI.
func (o *owner) abortFromOutside(code int) {
	time.AfterFunc(abortTime, func() { os.Exit(code) })
	o.do(func() { abort(code) })
	os.Exit(code)
}

// watch ends this process if the owner hangs in a call of MPI, since then nothing else
// would notice the silence of other ranks. The launcher ends the others. Only seconds in
// which this process has run count.
func (o *owner) watch() {
	second := time.NewTicker(watchingTime)
	defer second.Stop()
	turns, still := o.turns.Load(), time.Duration(0)
	for {
		select {
		case <-o.gone:
			return
		case <-second.C:
		}
		if now := o.turns.Load(); now != turns {
			turns, still = now, 0
			continue
		}
		if still += watchingTime; still >= o.silence+watchingTime {
			say(o.Rank(), errStuck.Error())
			os.Exit(1)
		}
	}
}
