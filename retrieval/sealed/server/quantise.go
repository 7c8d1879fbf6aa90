package server

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/points"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// largestByte is the largest size of an entry of a stored row.
const largestByte = 127

// scaleOf returns S = 127 / max|x|. The rows are finite. Rows of nothing but zeros have none.
func scaleOf[M points.Matrix](x M, n, d int) (float64, error) {
	largest, row := 0.0, make([]float64, d)
	for i := range n {
		points.ReadRow(row, x, i)
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
	}
	scale := largestByte / largest
	if !(scale > 0 && scale <= math.MaxFloat64) {
		return 0, fmt.Errorf("%w: the largest number of all rows is too small to divide by", ErrGallery)
	}
	return scale, nil
}

// quantise sets code to round(row * scale), the even number where two are as near, at most 127
// in size, and returns the squared norm of that.
func quantise(code []int8, row []float64, scale float64) (norm int64) {
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
