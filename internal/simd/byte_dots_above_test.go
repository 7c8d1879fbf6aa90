package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// A bytesCase is a call of ByteDotsAbove, from rows that are not laid out yet.
type bytesCase struct {
	a, b            []int8
	panel           []uint8
	depth           int
	bias, threshold []int32
}

// newBytesCase draws bytes of all kinds, with whole rows of the extremes, and
// thresholds that some sums meet exactly and some miss by one.
func newBytesCase(r *rand.Rand, t testing.TB, rows, columns, depth int) *bytesCase {
	draw := func(n int) []int8 {
		s := guarded[int8](t, n)
		for lo := 0; lo < n; lo += depth {
			kind := r.IntN(6)
			for i := range s[lo : lo+depth] {
				s[lo+i] = int8(r.Uint32())
				switch {
				case kind == 0:
					s[lo+i] = math.MinInt8
				case kind == 1:
					s[lo+i] = math.MaxInt8
				case kind == 2:
					s[lo+i] = int8(r.IntN(2)*255 - 128)
				}
			}
		}
		return s
	}
	c := &bytesCase{
		a: draw(rows * depth), b: draw(columns * depth), depth: depth,
		panel: guarded[uint8](t, columns*depth), bias: guarded[int32](t, columns), threshold: guarded[int32](t, rows),
	}
	PackBytes(c.panel, c.b, depth)
	for j := range c.bias {
		c.bias[j] = r.Int32N(1<<20) - 1<<19
	}
	for i := range c.threshold {
		c.threshold[i] = c.sum(i, r.IntN(columns)) + r.Int32N(3) - 1
	}
	return c
}

// sum is the definition, from the original rows.
func (c *bytesCase) sum(i, j int) int32 {
	sum := c.bias[j]
	for t := range c.depth {
		sum += int32(c.a[i*c.depth+t]) * (int32(c.b[j*c.depth+t]) + 128)
	}
	return sum
}

func (c *bytesCase) want() []uint64 {
	columns := len(c.bias)
	mask := make([]uint64, len(c.threshold)*columns/64)
	for i, least := range c.threshold {
		for j := range columns {
			if c.sum(i, j) >= least {
				mask[(i*columns+j)/64] |= 1 << (j % 64)
			}
		}
	}
	return mask
}

// check compares all levels with the definition.
func (c *bytesCase) check(t testing.TB) {
	t.Helper()
	want := c.want()
	for _, level := range Levels() {
		got := guarded[uint64](t, len(want))
		for i := range got {
			got[i] = 0x5555555555555555
		}
		At(level).ByteDotsAbove(got, c.a, c.panel, c.depth, c.bias, c.threshold)
		if !slices.Equal(got, want) {
			t.Fatalf("%v, %d rows, %d columns, depth %d: %x, want %x", level, len(c.threshold), len(c.bias), c.depth, got, want)
		}
	}
}

func TestByteDotsAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, depth := range []int{64, 128, 192, 512} {
		for _, columns := range []int{64, 128, 192, 320} {
			t.Run(fmt.Sprintf("depth=%d/columns=%d", depth, columns), func(t *testing.T) {
				for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 70} {
					if rows*depth*columns > 1<<20 {
						break
					}
					newBytesCase(r, t, rows, columns, depth).check(t)
				}
			})
		}
	}
	t.Run("deep", func(t *testing.T) {
		newBytesCase(r, t, 19, 64, 4096).check(t)
	})
}

// The largest sums, the smallest, and sums that wrap are the same at all levels.
func TestByteDotsAboveExtremes(t *testing.T) {
	for _, depth := range []int{64, 4096} {
		for _, x := range []int8{math.MinInt8, math.MaxInt8} {
			for _, y := range []int8{math.MinInt8, math.MaxInt8} {
				c := &bytesCase{
					a: slices.Repeat([]int8{x}, 17*depth), b: slices.Repeat([]int8{y}, 64*depth), depth: depth,
					panel: make([]uint8, 64*depth), bias: make([]int32, 64), threshold: make([]int32, 17),
				}
				PackBytes(c.panel, c.b, depth)
				for j := range c.bias {
					c.bias[j] = []int32{0, 1, -1, math.MaxInt32, math.MinInt32}[j%5]
				}
				for i := range c.threshold {
					exact := int32(depth) * int32(x) * (int32(y) + 128)
					c.threshold[i] = []int32{exact, exact + 1, exact - 1, math.MaxInt32, math.MinInt32}[i%5]
				}
				c.check(t)
			}
		}
	}
}

// Slices begin anywhere.
func TestByteDotsAboveMisaligned(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for shift := range 64 {
		c := newBytesCase(r, t, 35, 64, 64)
		a, panel := make([]int8, len(c.a)+64), make([]uint8, len(c.panel)+64)
		bias, threshold := make([]int32, len(c.bias)+16), make([]int32, len(c.threshold)+16)
		a, panel, bias, threshold = a[shift:], panel[63-shift:], bias[shift%16:], threshold[(shift+7)%16:]
		copy(a, c.a)
		copy(panel, c.panel)
		c.a, c.panel = a[:len(c.a)], panel[:len(c.panel)]
		c.bias, c.threshold = bias[:copy(bias, c.bias)], threshold[:copy(threshold, c.threshold)]
		c.check(t)
	}
}

// Tiles are thread state that Go does not know. Calls on many goroutines, with switches
// between them, garbage collections and growing stacks, must not see each other's
// tiles.
func TestByteDotsAboveTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	const workers = 8
	s, calls := At(Best()), 20
	if s.Level() == AMX {
		calls = 1000
	}
	cases := make([]*bytesCase, workers)
	for i := range cases {
		cases[i] = newBytesCase(r, t, 16*i+i+1, 128, 64*(1+i%3)) // each with its own shape
	}
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
		}
	})
	defer others.Wait()
	defer close(stop)
	var all sync.WaitGroup
	for _, c := range cases {
		want := c.want()
		all.Go(func() {
			got := make([]uint64, len(want))
			for n := range calls {
				clear(got)
				if n%50 == 0 { // a stack that has to grow
					done := make(chan struct{})
					go func() {
						defer close(done)
						s.ByteDotsAbove(got, c.a, c.panel, c.depth, c.bias, c.threshold)
					}()
					<-done
				} else {
					s.ByteDotsAbove(got, c.a, c.panel, c.depth, c.bias, c.threshold)
				}
				if !slices.Equal(got, want) {
					t.Errorf("call %d of %d rows differs", n, len(c.threshold))
					return
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}

func TestPackBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 38))
	for _, depth := range []int{4, 64, 68, 256} {
		for columns := range 50 {
			room := (columns + 15) / 16 * 16
			rows, panel := guarded[int8](t, columns*depth), guarded[uint8](t, room*depth)
			for i := range rows {
				rows[i] = int8(r.Uint32())
			}
			PackBytes(panel, rows, depth)
			for j := range room {
				for p := range depth {
					want := uint8(128)
					if j < columns {
						want = uint8(int(rows[j*depth+p]) + 128)
					}
					if got := panel[(j/16)*16*depth+(p/4)*64+(j%16)*4+p%4]; got != want {
						t.Fatalf("%d columns of %d: byte %d of column %d is %d, want %d", columns, depth, p, j, got, want)
					}
				}
			}
		}
	}
}

func TestByteDotsAbovePanics(t *testing.T) {
	mask, a, panel, bias, threshold := make([]uint64, 6), make([]int8, 3*64), make([]uint8, 128*64), make([]int32, 128), make([]int32, 3)
	for _, level := range Levels() {
		s := At(level)
		for name, f := range map[string]func(){
			"mask":    func() { s.ByteDotsAbove(mask[:5], a, panel, 64, bias, threshold) },
			"a":       func() { s.ByteDotsAbove(mask, a[:3*64-1], panel, 64, bias, threshold) },
			"panel":   func() { s.ByteDotsAbove(mask, a, panel[:128*64-1], 64, bias, threshold) },
			"columns": func() { s.ByteDotsAbove(mask, a, panel, 64, bias[:100], threshold) },
			"depth":   func() { s.ByteDotsAbove(mask, a, panel, 32, bias, threshold) },
			"none":    func() { s.ByteDotsAbove(mask, a, panel, 0, bias, threshold) },
			"deep":    func() { s.ByteDotsAbove(mask, make([]int8, 3*4160), make([]uint8, 128*4160), 4160, bias, threshold) },
			"pack":    func() { PackBytes(panel[:100*64], a, 64) },
			"short":   func() { PackBytes(panel[:16*64], make([]int8, 17*64), 64) },
			"odd":     func() { PackBytes(panel, a, 7) },
			"ragged":  func() { PackBytes(panel, a[:100], 64) },
		} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v, %s: no panic", level, name)
					}
				}()
				f()
			}()
		}
		s.ByteDotsAbove(nil, nil, nil, 64, nil, threshold)
		s.ByteDotsAbove(nil, nil, nil, 64, bias, nil)
	}
}
