package simd

import "math"

// A FinishRow is what a row brings to FinishRows beside W x. A row without a
// label has Tie and Weight zero and refers to a row of zeros of targets and to
// a row of class that nobody reads; a row without neighbours has Degree 1 and
// Laplace and Spring zero.
type FinishRow struct {
	Degree  float64 // (W 1)_i, positive
	Laplace float64 // diagonal of the scaled Laplacian
	Spring  float64 // factor of x_i - m_i in the step
	Tie     float64 // factor of the label term in the step
	Weight  float64 // factor of x_i in the label term
	Target  uint32  // its row of targets
	Slot    uint32  // its row of class
}

// FinishSums are sums over the numbers that FinishRows has seen, in four lanes:
// that of column c is c mod 4.
type FinishSums struct {
	Objective, Change, Spread [4]float64
	MaxAbs                    [4]float32
}

// Total returns the sums over the lanes.
func (s *FinishSums) Total() (objective, change, spread, maxAbs float64) {
	add := func(l *[4]float64) float64 { return (l[0] + l[2]) + (l[1] + l[3]) }
	for _, v := range s.MaxAbs {
		maxAbs = max(maxAbs, float64(v)) // max keeps a NaN
	}
	return add(&s.Objective), add(&s.Change), add(&s.Spread), maxAbs
}

// FinishRows turns rows of W x into rows of the next iterate. For row r and
// column c from 0 to k-1, k = len(mean), with x, wx and target those of the row,
//
//	centred = x - mean
//	away    = x - wx/Degree
//	label   = Weight centred - target
//	next    = x - Spring away + Tie label,   rounded to float32
//
// next is written to dst, and the sums go on by
//
//	acc.Objective += centred (Laplace away - pull label)
//	acc.Change    += (next - x)^2
//	acc.Spread    += (next - mean)^2
//	acc.MaxAbs     = max(acc.MaxAbs, |next|)    NaN counts as the largest
//	sums[c]       += next
//	class[Slot][c] += next
//
// all in float64 and in the order of the rows. wx, targets and class have rows
// of k numbers one after the other; x and dst have strides, and may be the same
// memory with the same stride. So the results do not depend on how the rows are cut into calls that follow
// each other, and have the same bits at every level.
//
// FinishRows panics where a slice is too short or a Target or Slot is out of
// range. It allocates nothing.
func (s *Kernels) FinishRows(dst []float32, dstStride int, x []float32, stride int, wx []float64, rows []FinishRow, mean []float64, pull float64, targets, sums, class []float64, acc *FinishSums) {
	k := len(mean)
	switch {
	case dstStride < k || stride < k:
		panic("simd: finish rows: bad stride")
	case len(rows) == 0 || k == 0:
		return
	case len(dst) < (len(rows)-1)*dstStride+k:
		panic("simd: finish rows: short destination")
	case len(x) < (len(rows)-1)*stride+k || len(wx) < len(rows)*k:
		panic("simd: finish rows: short x")
	case len(sums) < k:
		panic("simd: finish rows: short sums")
	}
	var target, slot uint32 // the last ones
	for i := range rows {
		target, slot = max(target, rows[i].Target), max(slot, rows[i].Slot)
	}
	if int(target) >= len(targets)/k || int(slot) >= len(class)/k {
		panic("simd: finish rows: target or slot out of range")
	}
	reads(x[:(len(rows)-1)*stride+k])
	reads(wx[:len(rows)*k])
	writes(dst[:(len(rows)-1)*dstStride+k])
	writes(sums[:k])
	s.finishRows(dst, dstStride, x, stride, wx, rows, mean, pull, targets, sums, class, acc)
}

// finishRowsGo is the reference. The conversions around products keep the
// compiler from fusing them.
func finishRowsGo(dst []float32, dstStride int, x []float32, stride int, wx []float64, rows []FinishRow, mean []float64, pull float64, targets, sums, class []float64, acc *FinishSums) {
	k := len(mean)
	sums = sums[:k]
	for r := range rows {
		row := &rows[r]
		in, out, product := x[r*stride:][:k], dst[r*dstStride:][:k], wx[r*k:][:k]
		target, slot := targets[int(row.Target)*k:][:k], class[int(row.Slot)*k:][:k]
		for c, m := range mean {
			value := float64(in[c])
			centred := value - m
			away := value - product[c]/row.Degree
			label := float64(row.Weight*centred) - target[c]
			next := value - float64(row.Spring*away)
			rounded := float32(next + float64(row.Tie*label))
			out[c] = rounded
			moved := float64(rounded)
			lane := c & 3
			acc.Objective[lane] += float64(centred * (float64(row.Laplace*away) - float64(pull*label)))
			acc.Change[lane] += float64((moved - value) * (moved - value))
			acc.Spread[lane] += float64((moved - m) * (moved - m))
			acc.MaxAbs[lane] = math.Float32frombits(max(math.Float32bits(acc.MaxAbs[lane]), math.Float32bits(rounded)&^(1<<31)))
			sums[c] += moved
			slot[c] += moved
		}
	}
}
