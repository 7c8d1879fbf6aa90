package simd

import "math"

// A StepFinish holds what FinishStep needs in addition to the rows, and the sums that it
// adds up. Everything except the sums stays the same over a chunk of rows. k is len(Mean).
// A slot stands for a class of labels; tables have a number, or a row of numbers, for each
// slot, one after the other.
type StepFinish struct {
	Mean []float64 // of the input, k numbers
	// The label term of a row in slot s is Weight[s] (x - Mean) - Target[s]. Pull is its
	// factor, and Extra[s] >= 0 its part of the diagonal.
	Pull          float64
	Weight, Extra []float64
	Target        []float64 // rows of k
	// Class takes the sums of the next iterate over the rows of a slot. It has
	// ClassWidth(k) numbers for each slot; ClassSum adds up those of a column.
	Class []float64
	Sums  StepSums
}

// StepSums are sums over the numbers FinishStep has processed, in eight lanes. The lane of
// column c of row r of a call is c mod 8, or (r k + c) mod 8 where k is 1 or 2.
type StepSums struct {
	Objective, Change, Spread [8]float64
	MaxAbs                    [8]float32
}

// Total returns the sums over the lanes.
func (s *StepSums) Total() (objective, change, spread, maxAbs float64) {
	for l := range s.Spread {
		objective += s.Objective[l]
		change += s.Change[l]
		spread += s.Spread[l]
		maxAbs = max(maxAbs, float64(s.MaxAbs[l])) // max keeps a NaN
	}
	return objective, change, spread, maxAbs
}

// finishLanes is the number of lanes.
const finishLanes = 8

// packed reports whether vectors hold several rows of k columns.
func packed(k int) bool { return k == 1 || k == 2 }

// ClassWidth returns how many numbers StepFinish.Class has for a slot: k, or, where k is 1
// or 2, one for each lane, so that no sum waits for the row before.
func ClassWidth(k int) int {
	if packed(k) {
		return finishLanes
	}
	return k
}

// ClassSum returns the sum over the rows of a slot in column c.
func (f *StepFinish) ClassSum(slot, c int) (sum float64) {
	k := len(f.Mean)
	width := ClassWidth(k)
	for l := c; l < width; l += k {
		sum += f.Class[slot*width+l]
	}
	return sum
}

// FinishStep turns rows of W x into rows of the next iterate. For row r, of slot s, and
// column c, it computes in float64
//
//	centred  = x - Mean
//	label    = Weight centred - Target
//	gradient = (degree x - wx) - Pull label
//	step     = 1/2 / (degree + Extra),   0 where the sum is 0
//	next     = x - step gradient,        rounded to float32
//
// where x, wx and degree are those of the row. Products are fused with the sums they go
// into, except in the label: in a class of one row its two parts are the same numbers, and
// fusing would leave a difference, which is divided by a degree that may be tiny.
// FinishStep writes next to dst, and updates the sums:
//
//	Objective += centred gradient
//	Change    += (next - x)^2
//	Spread    += (next - Mean)^2
//	MaxAbs     = max(MaxAbs, |next|)    NaN counts as the largest
//	Class[s]  += next
//
// lane by lane in the order of the rows. The bits do not depend on the level.
//
// wx has rows of k numbers one after the other. x and dst may be the same memory with the
// same stride. There are as many rows as slots. FinishStep panics where a slice is too
// short or a slot is out of range. It allocates nothing.
func (s *Kernels) FinishStep(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	k, rows := len(f.Mean), len(slots)
	switch {
	case dst.Stride < k || x.Stride < k:
		panic("simd: finish step: bad stride")
	case rows == 0 || k == 0:
		return
	case !dst.holds(rows, k):
		panic("simd: finish step: short destination")
	case !x.holds(rows, k) || len(wx) < rows*k:
		panic("simd: finish step: short x")
	case len(degrees) < rows:
		panic("simd: finish step: short degrees")
	}
	last := uint32(0)
	for _, slot := range slots {
		last = max(last, slot)
	}
	if int(last) >= min(len(f.Weight), len(f.Extra), len(f.Target)/k, len(f.Class)/ClassWidth(k)) {
		panic("simd: finish step: slot out of range")
	}
	reads(x.span(rows, k))
	reads(wx[:rows*k])
	writes(dst.span(rows, k))
	s.finishStep(f, dst, x, wx, degrees, slots)
}

// finishStepGo is the reference.
func finishStepGo(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32) {
	k := len(f.Mean)
	acc := &f.Sums
	width, mask := ClassWidth(k), 0 // the bits of a lane that depend on the row
	if packed(k) {
		mask = finishLanes - 1
	}
	for r, slot := range slots {
		degree, weight := degrees[r], f.Weight[slot]
		step := 0.0
		if diagonal := degree + f.Extra[slot]; diagonal > 0 {
			step = 0.5 / diagonal
		}
		first := r * k & mask
		in, out, product := x.row(r, k), dst.row(r, k), wx[r*k:][:k]
		target, class := f.Target[int(slot)*k:][:k], f.Class[int(slot)*width+first:][:k]
		for c, m := range f.Mean {
			value := float64(in[c])
			centred := value - m
			label := float64(weight*centred) - target[c] // the conversion prevents fusing
			gradient := math.FMA(-f.Pull, label, math.FMA(degree, value, -float64(product[c])))
			rounded := float32(math.FMA(-step, gradient, value))
			out[c] = rounded
			moved := float64(rounded)
			lane := (first + c) & (finishLanes - 1)
			change, spread := moved-value, moved-m
			acc.Objective[lane] = math.FMA(centred, gradient, acc.Objective[lane])
			acc.Change[lane] = math.FMA(change, change, acc.Change[lane])
			acc.Spread[lane] = math.FMA(spread, spread, acc.Spread[lane])
			acc.MaxAbs[lane] = math.Float32frombits(max(math.Float32bits(acc.MaxAbs[lane]), math.Float32bits(rounded)&^(1<<31)))
			class[c] += moved
		}
	}
}
