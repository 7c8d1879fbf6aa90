package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// finishCase is a random input of FinishStep, every slice in guarded memory.
type finishCase struct {
	k, stride, dstStride, classes int
	x, wx                         []float32
	degrees                       []float64
	slots                         []uint32
	tables                        StepFinish // without its sums
}

func newFinishCase(r *rand.Rand, t testing.TB, rows, k int, gaps bool) *finishCase {
	c := &finishCase{k: k, stride: k, dstStride: k, classes: 4}
	if gaps {
		c.stride, c.dstStride = k+r.IntN(3), k+r.IntN(3)
	}
	single := func(n int) []float32 {
		s := guarded[float32](t, n)
		for i := range s {
			s[i] = float32(r.NormFloat64())
		}
		return s
	}
	double := func(n int) []float64 {
		s := guarded[float64](t, n)
		for i := range s {
			s[i] = r.NormFloat64()
		}
		return s
	}
	if rows > 0 {
		c.x = single((rows-1)*c.stride + k)
	}
	c.wx, c.degrees, c.slots = single(rows*k), double(rows), guarded[uint32](t, rows)
	for i, v := range c.degrees {
		c.degrees[i] = max(v*v-0.1, 0) // some have no neighbours
		c.slots[i] = uint32(r.IntN(c.classes))
	}
	c.tables = StepFinish{Mean: double(k), Pull: 0.7, Weight: double(c.classes), Extra: double(c.classes), Target: double(c.classes * k)}
	for i, v := range c.tables.Extra {
		c.tables.Extra[i] = max(v, 0)
	}
	return c
}

func (c *finishCase) rows() int { return len(c.slots) }

type finished struct {
	dst  []float32
	sums StepFinish
}

// at runs the case at a level.
func (c *finishCase) at(t testing.TB, level Level, piece int) *finished {
	return c.with(t, At(level), piece)
}

// with runs the case in pieces of some rows each.
func (c *finishCase) with(t testing.TB, s *Kernels, piece int) *finished {
	f := &finished{sums: c.tables}
	f.sums.Class = guarded[float64](t, c.classes*ClassWidth(c.k))
	if c.rows() > 0 {
		f.dst = guarded[float32](t, (c.rows()-1)*c.dstStride+c.k)
	}
	for i := range f.dst {
		f.dst[i] = -7 // the gaps between rows must stay
	}
	for lo := 0; lo < c.rows(); lo += piece {
		hi := min(lo+piece, c.rows())
		s.FinishStep(&f.sums, RowsOf(f.dst[lo*c.dstStride:], c.dstStride), RowsOf(c.x[lo*c.stride:], c.stride), c.wx[lo*c.k:], c.degrees[lo:hi], c.slots[lo:hi])
	}
	return f
}

func (f *finished) compare(t *testing.T, want *finished) {
	t.Helper()
	for i := range want.dst {
		if math.Float32bits(f.dst[i]) != math.Float32bits(want.dst[i]) && !(f.dst[i] != f.dst[i] && want.dst[i] != want.dst[i]) {
			t.Fatalf("dst[%d] = %v, want %v", i, f.dst[i], want.dst[i])
		}
	}
	same := func(name string, got, want []float64) {
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
				t.Fatalf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			}
		}
	}
	same("class", f.sums.Class, want.sums.Class)
	same("objective", f.sums.Sums.Objective[:], want.sums.Sums.Objective[:])
	same("change", f.sums.Sums.Change[:], want.sums.Sums.Change[:])
	same("spread", f.sums.Sums.Spread[:], want.sums.Sums.Spread[:])
	for i, v := range want.sums.Sums.MaxAbs {
		if got := f.sums.Sums.MaxAbs[i]; got != v && !(got != got && v != v) {
			t.Fatalf("maxAbs[%d] = %v, want %v", i, got, v)
		}
	}
}

// widths are numbers of columns that have their own kernel or a tail.
var widths = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 25, 31, 32, 33, 47, 48, 63, 64, 65, 127, 128, 129, 150}

func TestFinishStep(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, s := range All() {
		for _, k := range widths {
			t.Run(fmt.Sprintf("level=%v/k=%d", s, k), func(t *testing.T) {
				for _, rows := range []int{0, 1, 2, 7, 16, 33, 131} {
					c := newFinishCase(r, t, rows, k, rows%2 == 1 && rows > 30)
					c.with(t, s, 1000).compare(t, c.at(t, Generic, 1000))
					c.with(t, s, 5).compare(t, c.at(t, Generic, 5))
				}
			})
		}
	}
}

// NaN and Inf show in MaxAbs, and do not affect numbers beyond a row.
func TestFinishStepNonFinite(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, s := range All() {
		for _, k := range widths {
			for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				c := newFinishCase(r, t, 9, k, false)
				c.degrees[4] = 1
				c.x[4*k+r.IntN(k)] = float32(v)
				f := c.with(t, s, 100)
				f.compare(t, c.at(t, Generic, 100))
				if _, _, _, maxAbs := f.sums.Sums.Total(); maxAbs <= math.MaxFloat32 {
					t.Errorf("%v, k=%d, %v: the largest is %v", s, k, v, maxAbs)
				}
			}
			c := newFinishCase(r, t, 9, k, false)
			c.tables.Weight[1], c.tables.Extra[2], c.degrees[3] = math.Inf(1), 1e-310, math.Inf(1)
			c.with(t, s, 100).compare(t, c.at(t, Generic, 100))
		}
	}
}

// The reference agrees with its formulas in high precision, for degrees and iterates of
// any size in float32.
func TestFinishStepError(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	mul := func(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
	sub := func(a, b *big.Float) *big.Float { return new(big.Float).Sub(a, b) }
	value := func(v *big.Float) float64 { f, _ := v.Float64(); return f }
	for _, k := range []int{1, 2, 5, 8, 32} {
		for _, size := range []struct{ x, degree float64 }{{1, 1}, {1e30, 1e-40}, {1e30, 1e7}, {1e-30, 1e-44}, {1e-30, 1e7}} {
			c := newFinishCase(r, t, 200, k, false)
			for i := range c.x {
				c.x[i] *= float32(size.x)
			}
			for i := range c.degrees {
				c.degrees[i] *= size.degree
			}
			for i := range c.wx {
				c.wx[i] *= float32(size.x * size.degree)
			}
			for i := range c.tables.Mean {
				c.tables.Mean[i] *= size.x
			}
			for s := range c.classes {
				c.tables.Weight[s] *= size.degree
				c.tables.Extra[s] *= size.degree
				for i := range k {
					c.tables.Target[s*k+i] *= size.degree * size.x
				}
			}
			f := c.at(t, Generic, 1000)
			var objective, objectiveSize, change, spread float64
			sums := make([]float64, c.classes*k)
			for row, slot := range c.slots {
				degree := c.degrees[row]
				diagonal := degree + c.tables.Extra[slot]
				for column := range k {
					at := int(slot)*k + column
					v, m, wx := float64(c.x[row*k+column]), c.tables.Mean[column], float64(c.wx[row*k+column])
					spring := sub(mul(number(degree), number(v)), number(wx))
					label := sub(mul(number(c.tables.Weight[slot]), sub(number(v), number(m))), number(c.tables.Target[at]))
					gradient := sub(spring, mul(number(c.tables.Pull), label))
					terms := math.Abs(degree*v) + math.Abs(wx) + math.Abs(c.tables.Weight[slot])*(math.Abs(v)+math.Abs(m)) + math.Abs(c.tables.Target[at])
					next := number(v)
					if diagonal > 0 {
						next = sub(next, new(big.Float).Quo(mul(number(0.5), gradient), number(diagonal)))
						terms /= diagonal
					}
					got := float64(f.dst[row*k+column])
					if room := 0x1p-24*math.Abs(got) + 0x1p-150 + 0x1p-50*(terms+math.Abs(v)); math.Abs(value(sub(number(got), next))) > room {
						t.Fatalf("k=%d, %v: next = %v, want %v", k, size, got, value(next))
					}
					objective += (v - m) * value(gradient)
					objectiveSize += math.Abs((v - m) * value(gradient))
					change += (got - v) * (got - v)
					spread += (got - m) * (got - m)
					sums[at] += got
				}
			}
			gotObjective, gotChange, gotSpread, _ := f.sums.Sums.Total()
			if math.Abs(gotChange-change) > 1e-12*change || math.Abs(gotSpread-spread) > 1e-12*spread {
				t.Errorf("k=%d: change %v and spread %v, want %v and %v", k, gotChange, gotSpread, change, spread)
			}
			if math.Abs(gotObjective-objective) > 1e-11*objectiveSize {
				t.Errorf("k=%d: objective %v, want %v", k, gotObjective, objective)
			}
			for i, want := range sums {
				if got := f.sums.ClassSum(i/k, i%k); math.Abs(got-want) > 1e-11*size.x {
					t.Errorf("k=%d: sums[%d] = %v, want %v", k, i, got, want)
				}
			}
		}
	}
}

func TestFinishStepPanics(t *testing.T) {
	for name, change := range map[string]func(c *finishCase, f *StepFinish, dst *[]float32){
		"slot":    func(c *finishCase, _ *StepFinish, _ *[]float32) { c.slots[2] = 4 },
		"weight":  func(_ *finishCase, f *StepFinish, _ *[]float32) { f.Weight = f.Weight[:1] },
		"extra":   func(_ *finishCase, f *StepFinish, _ *[]float32) { f.Extra = f.Extra[:1] },
		"target":  func(_ *finishCase, f *StepFinish, _ *[]float32) { f.Target = f.Target[:2] },
		"class":   func(_ *finishCase, f *StepFinish, _ *[]float32) { f.Class = f.Class[:8] },
		"x":       func(c *finishCase, _ *StepFinish, _ *[]float32) { c.x = c.x[:1] },
		"wx":      func(c *finishCase, _ *StepFinish, _ *[]float32) { c.wx = c.wx[:1] },
		"dst":     func(_ *finishCase, _ *StepFinish, dst *[]float32) { *dst = (*dst)[:1] },
		"stride":  func(c *finishCase, _ *StepFinish, _ *[]float32) { c.stride = 1 },
		"degrees": func(c *finishCase, _ *StepFinish, _ *[]float32) { c.degrees = c.degrees[:1] },
	} {
		c := newFinishCase(rand.New(rand.NewPCG(1, 1)), t, 3, 2, false)
		for i := range c.slots {
			c.slots[i] = 3
		}
		f, dst := c.tables, make([]float32, 6)
		f.Class = make([]float64, 32)
		change(c, &f, &dst)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			At(Best()).FinishStep(&f, RowsOf(dst, c.dstStride), RowsOf(c.x, c.stride), c.wx, c.degrees, c.slots)
		}()
	}
}

// A row that is alone in its class has no label term, however small its degree.
func TestFinishStepOfAClassOfOne(t *testing.T) {
	for _, s := range All() {
		for _, k := range []int{1, 2, 3, 8, 19} {
			r := rand.New(rand.NewPCG(3, uint64(k)))
			x, mean, target := make([]float32, 8*k), make([]float64, k), make([]float64, 8*k)
			weight := make([]float64, 8)
			slots, degrees := make([]uint32, 8), make([]float64, 8)
			for i := range x {
				x[i] = float32(r.NormFloat64())
				mean[i%k] += float64(x[i]) / 8
			}
			for row := range slots {
				slots[row], degrees[row], weight[row] = uint32(row), 1e-12, 0.1+r.Float64()
				for c := range k {
					target[row*k+c] = weight[row] * (float64(x[row*k+c]) - mean[c])
				}
			}
			f := &StepFinish{Mean: mean, Pull: 0.6, Weight: weight, Extra: make([]float64, 8), Target: target, Class: make([]float64, 8*ClassWidth(k))}
			wx, dst := make([]float32, 8*k), make([]float32, 8*k)
			for i, v := range x {
				wx[i] = float32(1e-12 * float64(v))
			}
			s.FinishStep(f, RowsOf(dst, k), RowsOf(x, k), wx, degrees, slots)
			for i, v := range x {
				if math.Abs(float64(dst[i]-v)) > 0x1p-22*math.Abs(float64(v)) {
					t.Fatalf("%v, k=%d: %g moved to %g", s, k, v, dst[i])
				}
			}
		}
	}
}
