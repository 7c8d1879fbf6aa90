package sparse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
)

// sharedPieces returns pieces of a random matrix of the given number of columns. Columns of a
// row are at most reach apart.
func sharedPieces(pieces, cols, reach int) (out []Rows) {
	rng := rand.New(rand.NewPCG(3, uint64(cols)))
	for range pieces {
		r := Rows{Ptr: []uint64{0}}
		for range 1 + rng.IntN(20) {
			first := rng.IntN(cols - reach)
			for c := first; c < first+reach; c += 1 + rng.IntN(reach) {
				r.Ind, r.Val = append(r.Ind, uint32(c)), append(r.Val, rng.Float32())
			}
			r.Ptr = append(r.Ptr, uint64(len(r.Ind)))
		}
		out = append(out, r)
	}
	return out
}

// A matrix that ranks share equals the matrix of one process: its shape, its chunks and its
// sizes, and on each rank the rows and products of its own rows.
func TestAdoptShared(t *testing.T) {
	const cols = 1 << 18
	ctx, kernels := t.Context(), simd.At(simd.Best())
	x := make([]float32, cols)
	for i := range x {
		x[i] = float32(i % 17)
	}
	for _, layout := range []Layout{Plain, Compact, Compact16} {
		for _, size := range []int{2, 3, 7} {
			for _, count := range []int{0, 1, 5, 40} {
				pieces := sharedPieces(count, cols, 1000)
				whole, err := adoptRows(ctx, nil, layout, cols, pieces)
				if err != nil {
					t.Fatal(err)
				}
				if err := cluster.Local(size, func(ranks *par.Ranks) error {
					from, to := ranks.Part(len(pieces))
					a, err := AdoptShared(ctx, nil, ranks, layout, cols, pieces[from:to])
					if err != nil {
						return err
					}
					return sameShare(ctx, a, whole, ranks, from, to, kernels, x)
				}); err != nil {
					t.Fatalf("%v, %d ranks, %d pieces: %v", layout, size, count, err)
				}
			}
		}
	}
}

// sameShare compares a with the matrix of one process. The chunks from to to-1 are here.
func sameShare(ctx context.Context, a, whole *CSR, ranks *par.Ranks, from, to int, kernels *simd.Kernels, x []float32) error {
	if a.Rows() != whole.Rows() || a.NNZ() != whole.NNZ() || a.Chunks() != whole.Chunks() || a.Layout() != whole.Layout() {
		return fmt.Errorf("%d rows, %d entries, %d chunks, %v", a.Rows(), a.NNZ(), a.Chunks(), a.Layout())
	}
	if a.Size() != whole.Size() || a.Streamed() != whole.Streamed() {
		return fmt.Errorf("%d and %d bytes, want %d and %d", a.Size(), a.Streamed(), whole.Size(), whole.Streamed())
	}
	if chunks := a.RankChunks(); chunks[ranks.Rank()] != from || chunks[ranks.Rank()+1] != to {
		return fmt.Errorf("chunks %v", chunks)
	}
	lo, hi := a.OwnRows()
	for c := range a.Chunks() {
		first, end := a.Chunk(c)
		if wantFirst, wantEnd := whole.Chunk(c); first != wantFirst || end != wantEnd {
			return fmt.Errorf("chunk %d is rows %d to %d", c, first, end)
		}
		if here := c >= from && c < to; here != (first >= lo && end <= hi) {
			return fmt.Errorf("chunk %d is among rows %d to %d: %v", c, lo, hi, !here)
		}
	}
	got, want := make([]float32, whole.Rows()), make([]float32, whole.Rows())
	a.MulRows(kernels, got[lo:], 1, lo, hi, 1, x, 1)
	whole.MulRows(kernels, want, 1, 0, whole.Rows(), 1, x, 1)
	if !slices.Equal(got[lo:hi], want[lo:hi]) {
		return errors.New("products differ")
	}
	for i := range whole.Rows() {
		if here, err := sameRow(a, whole, i); err != nil || here != (i >= lo && i < hi) {
			return fmt.Errorf("row %d: here %v, %v", i, here, err)
		}
	}
	all, err := a.Whole(ctx)
	if err != nil {
		return err
	}
	gotPtr, gotInd, gotVal := all.Arrays()
	wantPtr, wantInd, wantVal := whole.Arrays()
	if !slices.Equal(gotPtr, wantPtr) || !slices.Equal(gotInd, wantInd) || !slices.Equal(gotVal, wantVal) {
		return errors.New("the whole of all shares is another matrix")
	}
	return nil
}

// sameRow compares a row of two matrices, and reports whether the first matrix has the row here.
func sameRow(a, whole *CSR, i int) (here bool, err error) {
	defer func() {
		if r := recover(); r != nil && !strings.Contains(fmt.Sprint(r), "is with another rank") {
			err = fmt.Errorf("%v", r)
		}
	}()
	ind, val := a.Row(i, nil)
	wantInd, wantVal := whole.Row(i, nil)
	if !slices.Equal(ind, wantInd) || !slices.Equal(val, wantVal) {
		err = errors.New("another row")
	}
	return true, err
}

// All ranks refuse a layout, even if only the rows of one are too wide for it.
func TestAdoptSharedRefusesWideRowsOnAllRanks(t *testing.T) {
	const cols = 1 << 18
	wide := sharedPieces(30, cols, 1<<17)
	narrow := sharedPieces(1, cols, 1000)
	for _, layout := range []Layout{Compact, Compact16} {
		var errs [3]error
		if err := cluster.Local(3, func(ranks *par.Ranks) error {
			pieces := narrow
			if ranks.Rank() == 1 {
				pieces = wide
			}
			_, errs[ranks.Rank()] = AdoptShared(t.Context(), nil, ranks, layout, cols, pieces)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for rank, err := range errs {
			if !errors.Is(err, ErrRange) {
				t.Errorf("%v: rank %d: %v", layout, rank, err)
			}
		}
	}
}

// Methods that need all rows of a shared matrix report that.
func TestSharedMatrixRefusesWhatNeedsAllRows(t *testing.T) {
	// The first row pointers have room for those of all rows, as those of one slab may have.
	ptr := append(make([]uint64, 0, 9), 0, 1)
	if err := cluster.Local(2, func(ranks *par.Ranks) error {
		a, err := AdoptShared(t.Context(), nil, ranks, Plain, 2, []Rows{{Ptr: ptr, Ind: []uint32{1}, Val: []float32{1}}})
		if err != nil {
			return err
		}
		x, dst := blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}, blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float32, 2)}
		if err := a.MulTo(t.Context(), nil, nil, dst, x); !errors.Is(err, ErrShared) {
			t.Errorf("product: %v", err)
		}
		if _, err := a.Permute([]uint32{1, 0}); !errors.Is(err, ErrShared) {
			t.Errorf("permute: %v", err)
		}
		defer func() {
			if r := recover(); !strings.Contains(fmt.Sprint(r), "is with another rank") {
				t.Errorf("arrays: %v", r)
			}
		}()
		a.Arrays()
		return nil
	}); err != nil {
		t.Error(err)
	}
}
