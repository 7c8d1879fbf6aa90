package files

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
)

// readShared lets every rank read its rows of a file, and hands all of them to every rank. It
// returns nil where the rows cannot be reached without reading others, where they do not fit
// into memory with those of other ranks, or where a rank fails: then every rank reads the
// whole file, and finds out what is wrong with it as one process does. All ranks call it; able
// is false on a rank for which the file has no such rows.
func readShared(ctx context.Context, ranks *par.Ranks, path string, limit int64, able bool) (*formats.Table, error) {
	var own *formats.Matrix
	size := []int64{-1, 0}
	if able {
		var err error
		own, err = progress.Await(ctx, func() (*formats.Matrix, error) { return readPart(ranks, path, limit) })
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && own != nil {
			size = []int64{int64(own.Rows), int64(own.Cols)}
		}
	}
	all, err := exchange.GatherEqual(ctx, ranks, size)
	if err != nil {
		return nil, err
	}
	for r := range ranks.Size() {
		rows, cols := all[2*r], all[2*r+1]
		if rows < 0 {
			return nil, nil
		}
		if rows != all[0] || cols != all[1] {
			return nil, fmt.Errorf("%s: ranks 0 and %d find different files there; all need the same one", path, r)
		}
	}
	bounds := ranks.Bounds(own.Rows)
	for r := range bounds {
		bounds[r] *= own.Cols
	}
	return &formats.Table{Matrix: *own}, exchange.Gather(ctx, ranks, own.Data, bounds)
}

// readPart returns a matrix of which the rows of this rank are read. It returns nil where they
// cannot be read alone.
func readPart(ranks *par.Ranks, path string, limit int64) (m *formats.Matrix, err error) {
	const inOrder = 1 // bytes for rows that are stored by columns, which every rank reads as a whole
	err = formats.StreamMatrix(path, inOrder, func(r *formats.RowReader) error {
		if !r.Seeks() || 4*float64(r.Rows)*float64(r.Cols) > float64(limit) {
			return nil
		}
		lo, hi := ranks.Part(r.Rows)
		if err := r.Seek(lo); err != nil {
			return err
		}
		m = &formats.Matrix{Rows: r.Rows, Cols: r.Cols, Data: make([]float32, r.Rows*r.Cols)}
		for rest := m.Data[lo*r.Cols : hi*r.Cols]; len(rest) > 0; {
			rows, err := r.Read(rest)
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			rest = rest[rows*r.Cols:]
		}
		return nil
	})
	return m, err
}

// AgreeInput refuses rows and labels that ranks have read from different files. err is that of
// this rank.
func AgreeInput(ctx context.Context, ranks *par.Ranks, in Input, data []float32, y []int32, err error) error {
	if ranks.Alone() {
		return err
	}
	return agreeMark(ctx, ranks, in.Features, mark(in, data, y), err)
}

// AgreeRelease is AgreeInput for a release.
func AgreeRelease(ctx context.Context, ranks *par.Ranks, path string, r *release.Release, err error) error {
	if ranks.Alone() {
		return err
	}
	h := sha256.New()
	if err == nil {
		_, err = r.WriteTo(h)
	}
	return agreeMark(ctx, ranks, path, binary.LittleEndian.Uint64(h.Sum(nil)), err)
}

// agreeMark refuses files with different marks on different ranks.
func agreeMark(ctx context.Context, ranks *par.Ranks, path string, own uint64, err error) error {
	if err = agreeError(ctx, ranks, err); err != nil {
		return err
	}
	all, err := exchange.GatherEqual(ctx, ranks, []uint64{own})
	if err != nil {
		return err
	}
	if r := slices.IndexFunc(all, func(other uint64) bool { return other != all[0] }); r >= 0 {
		return fmt.Errorf("%s: ranks 0 and %d have read something else there; all need the same files", path, r)
	}
	return nil
}

// mark returns a number that differs, except by accident, where any value that was read differs: a
// sum of words in the manner of Fowler, Noll and Vo.
func mark(in Input, data []float32, y []int32) uint64 {
	const start, prime = 14695981039346656037, 1099511628211
	sum := uint64(start)
	add := func(word uint64) { sum = (sum ^ word) * prime }
	add(uint64(len(data)))
	for _, v := range data {
		add(uint64(math.Float32bits(v)))
	}
	add(uint64(len(y)))
	for _, label := range y {
		add(uint64(uint32(label)))
	}
	for _, name := range in.ClassNames() {
		add(uint64(len(name)))
		for i := range len(name) {
			add(uint64(name[i]))
		}
	}
	return sum
}
