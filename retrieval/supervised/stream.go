package supervised

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/dense"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

const (
	// streamBytes is about what a block of rows takes, and as much for its images: enough for
	// all workers, and few enough to stay in the caches on the way.
	streamBytes = 1 << 19
	// streamBlocks is how many blocks there are: one is read, one placed and one written, and
	// one more keeps each of the three from waiting for the others.
	streamBlocks = 4
)

// Stream places rows that come block by block, however many there are. read fills the rows of
// dst from the first on and returns how many it has filled; it returns io.EOF when there are no
// more rows, possibly together with the last ones. write gets the images in the order of the rows, and may
// use them until it returns. The images have the bits of Apply.
//
// One goroutine calls read and another one write, while the workers of e place rows between them.
// No call of either is running when Stream returns.
//
// Errors: those of Map.Apply, with rows counted from the first one read, those of read and write
// as they are, kernel.ErrMemory, and that of ctx.
func (m *Map) Stream(ctx context.Context, e *privatemail.Engine, read func(dst blas32.General) (rows int, err error), write func(z blas32.General) error) (err error) {
	defer par.Catch(&err)
	p, err := newPlacer(m, &dense.Core{Kernels: simd.At(e.Level())})
	if err != nil {
		return err
	}
	rows := blockRows(m.Dim, m.Columns())
	bytes := 4 * streamBlocks * float64(rows) * float64(m.Dim+m.Columns())
	s := &stream{placer: p, workers: e.Lend(), read: read, write: write}
	return e.Reserve(ctx, mem.Saturate(bytes), func(ctx context.Context) error { return s.run(ctx, rows) })
}

// blockRows is how many rows make a block.
func blockRows(d, k int) int {
	return max(1, streamBytes/4/max(d, k)/placedAtOnce) * placedAtOnce
}

// stream is one call of Map.Stream.
type stream struct {
	*placer
	workers *par.Workers
	read    func(dst blas32.General) (int, error)
	write   func(z blas32.General) error
}

// streamBlock is a block of rows on its way, and its images.
type streamBlock struct {
	in, out blas32.General
	rows    int
	first   int // number of its first row
}

// run sends blocks round: from the reader to the workers, to the writer and back. The first
// error ends all three.
func (s *stream) run(ctx context.Context, rows int) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	free, filled, placed := make(chan *streamBlock, streamBlocks), make(chan *streamBlock, streamBlocks), make(chan *streamBlock, streamBlocks)
	for range streamBlocks {
		free <- &streamBlock{in: newRows(rows, s.m.Dim), out: newRows(rows, s.m.Columns())}
	}
	stage := func(work func() error) (err error) {
		defer func() {
			if err != nil {
				fail(err)
			}
		}()
		defer par.Catch(&err) // read and write are the caller's
		return work()
	}
	var ends sync.WaitGroup
	ends.Go(func() {
		defer close(filled)
		stage(func() error { return s.fill(ctx, free, filled) })
	})
	ends.Go(func() { stage(func() error { return s.empty(ctx, placed, free) }) })
	stage(func() error {
		defer close(placed)
		return s.placeAll(ctx, filled, placed)
	})
	ends.Wait()
	return context.Cause(ctx)
}

// take receives a block. There is none when the channel is closed or ctx has ended.
func take(ctx context.Context, from <-chan *streamBlock) (*streamBlock, error) {
	select {
	case b := <-from:
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fill reads the rows. Every channel has room for all blocks, so nobody waits to send one.
func (s *stream) fill(ctx context.Context, free <-chan *streamBlock, filled chan<- *streamBlock) error {
	for first, more := 0, true; more; {
		b, err := take(ctx, free)
		if err != nil {
			return err
		}
		n, err := s.read(b.in)
		more = !errors.Is(err, io.EOF)
		switch {
		case more && err != nil:
			return err
		case n < 0 || n > b.in.Rows:
			return fmt.Errorf("supervised: map: %w: %d rows were read in place of at most %d", points.ErrShape, n, b.in.Rows)
		case n == 0 && more:
			return fmt.Errorf("supervised: map: reading: %w", io.ErrNoProgress)
		}
		b.rows, b.first = n, first
		if first += n; n > 0 {
			filled <- b
		}
	}
	return nil
}

// placeAll places the rows of every block.
func (s *stream) placeAll(ctx context.Context, filled <-chan *streamBlock, placed chan<- *streamBlock) error {
	for {
		b, err := take(ctx, filled)
		if b == nil {
			return err
		}
		if err := s.place(ctx, s.workers, partOf(b.out, 0, b.rows), partOf(b.in, 0, b.rows)); err != nil {
			if e, ok := errors.AsType[*points.NonFiniteError](err); ok {
				err = &points.NonFiniteError{What: e.What, Row: e.Row + b.first, Col: e.Col}
			}
			return fmt.Errorf("supervised: map: %w", err)
		}
		placed <- b
	}
}

// empty writes the images.
func (s *stream) empty(ctx context.Context, placed <-chan *streamBlock, free chan<- *streamBlock) error {
	for {
		b, err := take(ctx, placed)
		if b == nil {
			return err
		}
		if err := s.write(partOf(b.out, 0, b.rows)); err != nil {
			return err
		}
		free <- b
	}
}
