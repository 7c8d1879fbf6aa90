//go:build mpi && cgo

package cluster

import (
	"context"
	"fmt"
	"math"
)

// largestPiece is the largest number of bytes in one message: MPI counts them in an int
// of 32 bits. Tests change it.
var largestPiece = 1 << 30

// Rank is the number of this process.
func (o *owner) Rank() int { return o.work.rank }

// Size is the number of processes.
func (o *owner) Size() int { return o.work.size }

// Gather is one MPI_Iallgatherv, or several broadcasts of pieces if there are too many bytes.
func (o *owner) Gather(ctx context.Context, data []byte, bounds []int) error {
	const what = "a gather of all ranks"
	if err := o.usable(what); err != nil {
		return err
	}
	return o.gather(ctx, what, o.work, data, bounds)
}

func (o *owner) gather(ctx context.Context, what string, c *communicator, data []byte, bounds []int) error {
	t, err := o.begin(what, func(t *transfer) error {
		if c == o.work {
			o.calls.add(gathering, bounds)
		}
		if bounds[c.size]-bounds[0] <= min(2*(largestPiece-1)+1, math.MaxInt32) {
			return t.gather(c, data, bounds)
		}
		for r := range c.size {
			err := pieces(data[bounds[r]:bounds[r+1]], func(piece []byte) error { return t.broadcast(c, piece, r) })
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return o.await(ctx, t)
}

// Exchange begins to send and receive. The owner attends to the transfer while workers compute.
func (o *owner) Exchange(_ context.Context, out, in [][]byte) (func(context.Context) error, error) {
	const what = "an exchange between ranks"
	if err := o.usable(what); err != nil {
		return nil, err
	}
	t, err := o.begin(what, func(t *transfer) error {
		o.calls.add(exchanging, nil)    // lengths differ between ranks
		for s := 1; s < o.Size(); s++ { // receive first, so that arriving data has a place
			from := (o.Rank() + o.Size() - s) % o.Size()
			if err := pieces(in[from], func(piece []byte) error { return t.receive(o.work, piece, from) }); err != nil {
				return err
			}
		}
		for s := 1; s < o.Size(); s++ {
			to := (o.Rank() + s) % o.Size()
			if err := pieces(out[to], func(piece []byte) error { return t.send(o.work, piece, to) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error { return o.await(ctx, t) }, nil
}

// usable refuses further calls of a rank that has failed, since the others do not make them.
func (o *owner) usable(what string) error {
	if o.broken.Load() {
		return fmt.Errorf("cluster: %s: %w", what, errBroken)
	}
	return nil
}

// pieces calls f for each piece of data.
func pieces(data []byte, f func(piece []byte) error) error {
	for len(data) > 0 {
		n := min(len(data), largestPiece)
		if err := f(data[:n:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
