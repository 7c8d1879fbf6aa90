package server

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const (
	// largestByte is the largest size of an entry of a stored row.
	largestByte = 127
	// clippedBeyond is how many times the root mean square an entry may be without being
	// clipped. For entries that are normal, steps of bytes are then the best: those of rotated
	// rows are about normal, and one in 16,000 is clipped.
	clippedBeyond = 4
	// mostScale is the largest scale that a manifest may have, and 1/mostScale the least.
	mostScale = 1e100
	// normRoom says by which share the squared norm of a row that comes later may be above
	// that of all rows before it: one 16th, for which scores give up 3 percent of their scale.
	normRoom = 16
)

// scaleOf returns S = 127 / min(max, 4 rms), where max and rms are the largest size and the
// root of the mean square of all entries of rows that rotation.Row has rotated. The rows are
// finite. Rows of nothing but zeros have none.
func scaleOf[M points.Matrix](ctx context.Context, x M, n, d int, workers *par.Workers) (float64, error) {
	type entries struct{ largest, squares float64 }
	blocks := make([]entries, split.Blocks(n, layoutRows))
	if err := workers.Do(ctx, len(blocks), par.Func(func(_, block int) {
		row, of := make([]float64, d), entries{}
		lo, hi := split.Block(block, n, layoutRows)
		for i := lo; i < hi; i++ {
			points.ReadRow(row, x, i)
			rotation.Row(row, row)
			for _, v := range row {
				of.largest = max(of.largest, math.Abs(v))
			}
			of.squares += squaredNorm(row)
		}
		blocks[block] = of
	})); err != nil {
		return 0, err
	}
	var all entries
	for _, of := range blocks {
		all.largest, all.squares = max(all.largest, of.largest), all.squares+of.squares
	}
	rms := math.Sqrt(all.squares / float64(n) / float64(d))
	scale := largestByte / min(all.largest, clippedBeyond*rms)
	// Centres are float32, and rows have no larger numbers where rotated ones have none.
	if !(scale >= 1/mostScale && scale <= mostScale && all.largest*math.Sqrt(float64(d)) <= math.MaxFloat32) {
		return 0, fmt.Errorf("%w: the largest number of all rows is too small or too large", ErrGallery)
	}
	return scale, nil
}

// quantise sets code to what is stored of a row, which it rotates in place, and returns the
// squared norm of that.
func quantise(code []int8, row []float64, scale float64) (norm int64) {
	rotation.Row(row, row)
	return round(code, row, scale)
}

// round sets code to row * scale in whole numbers, the even one where two are as near, at most
// 127 in size, and returns the squared norm of that.
func round(code []int8, row []float64, scale float64) (norm int64) {
	for j, v := range row {
		v = min(max(math.RoundToEven(v*scale), -largestByte), largestByte)
		code[j] = int8(v)
		norm += int64(v) * int64(v)
	}
	return norm
}

// A normScale says how squared norms are published as 16-bit numbers.
type normScale struct{ base, unit int64 }

// newNormScale returns a scale on which norms from least to largest have room, and others as
// far from them again.
func newNormScale(least, largest int64) normScale {
	return normScale{base: least + (largest-least)/2, unit: max(1, (largest-least+math.MaxInt16-1)/math.MaxInt16)}
}

// number returns the published number nearest to a norm, and whether there is one.
func (s normScale) number(norm int64) (int16, bool) {
	const most = math.MaxInt16 - 1
	v := int64(math.Floor(float64(norm-s.base)/float64(s.unit) + 0.5))
	return int16(v), v >= -most && v <= most && v != wire.EmptySlot
}
