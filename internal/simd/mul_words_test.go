package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// A wordsCase is a call of MulWords, from rows and columns that are not laid out yet.
type wordsCase struct {
	rows, depth, columns, width int
	a                           []int8   // row by row
	words                       []uint32 // column by column
	panel                       []int8
	stride                      int
	before                      []uint32 // sums
}

// newWordsCase draws bytes and words of all kinds, with whole rows and columns of extremes.
func newWordsCase(r *rand.Rand, t testing.TB, rows, depth, columns, width int) *wordsCase {
	c := &wordsCase{
		rows: rows, depth: depth, columns: columns, width: width,
		a: make([]int8, rows*depth), words: guarded[uint32](t, columns*depth), panel: guarded[int8](t, rows*depth),
		stride: rows + r.IntN(3)*5,
	}
	for row := range rows {
		kind := r.IntN(6)
		for i := range c.a[row*depth : (row+1)*depth] {
			v := int8(r.Uint32())
			switch kind {
			case 0:
				v = math.MinInt8
			case 1:
				v = math.MaxInt8
			case 2:
				v = int8(r.IntN(2)*255 - 128)
			}
			c.a[row*depth+i] = v
		}
	}
	edges := []uint32{0x00000000, 0xffffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 0x7fff8000, 0x80000000}
	for column := range columns {
		kind := r.IntN(6)
		for i := range depth {
			v := r.Uint32()
			switch kind {
			case 0:
				v = math.MaxUint32
			case 1:
				v = edges[r.IntN(len(edges))]
			}
			c.words[column*depth+i] = c.upper(v)
		}
	}
	c.before = make([]uint32, (columns-1)*c.stride+rows)
	for i := range c.before {
		c.before[i] = r.Uint32()
	}
	PackRows(c.panel, c.a, depth)
	return c
}

// upper clears the bytes of a word that are not used.
func (c *wordsCase) upper(v uint32) uint32 { return v >> (8 * (4 - c.width)) << (8 * (4 - c.width)) }

// want is the definition, from the original rows and columns.
func (c *wordsCase) want() []uint32 {
	want := slices.Clone(c.before)
	for column := range c.columns {
		words := c.words[column*c.depth : (column+1)*c.depth]
		for row := range c.rows {
			sum := uint64(0)
			for p, v := range c.a[row*c.depth : (row+1)*c.depth] {
				sum += uint64(int64(v)) * uint64(words[p])
			}
			want[column*c.stride+row] += uint32(sum)
		}
	}
	return want
}

// check compares all levels with the definition. Numbers between the columns of sums stay.
func (c *wordsCase) check(t testing.TB) {
	t.Helper()
	want := c.want()
	for _, level := range Levels() {
		s := At(level)
		var w Words
		s.PackWords(&w, c.words, c.depth, c.width)
		if w.Columns() != c.columns {
			t.Fatalf("%v: %d columns, want %d", level, w.Columns(), c.columns)
		}
		// Nothing after the packed words may be read.
		packed := guarded[uint32](t, len(w.packed))
		copy(packed, w.packed)
		w.packed = packed
		got := guarded[uint32](t, len(want))
		copy(got, c.before)
		s.MulWords(got, c.stride, c.panel, c.rows, &w)
		if !slices.Equal(got, want) {
			t.Fatalf("%v: sums of %d rows, depth %d, %d columns, width %d differ", level, c.rows, c.depth, c.columns, c.width)
		}
	}
}

func TestMulWords(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, width := range []int{1, 2, 3, 4} {
		t.Run(fmt.Sprintf("width=%d", width), func(t *testing.T) {
			for _, rows := range []int{16, 32, 48, 64, 80, 112, 144} {
				for _, columns := range []int{1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 16, 21} {
					newWordsCase(r, t, rows, 64, columns, width).check(t)
				}
			}
			for _, depth := range []int{128, 192, 448, 512, 576, 1024, 1088} {
				newWordsCase(r, t, 80, depth, 9, width).check(t)
			}
		})
	}
}

// Many random shapes.
func TestMulWordsShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for range 60 {
		newWordsCase(r, t, 16*(1+r.IntN(9)), 64*(1+r.IntN(10)), 1+r.IntN(30), 1+r.IntN(4)).check(t)
	}
}

// Sums of bytes, and of halves, that exceed int32 on the way: deep, and only of extremes.
func TestMulWordsWrap(t *testing.T) {
	const depth = 1 << 17 // 2^17 * 128 * 255 is beyond 2^32
	r := rand.New(rand.NewPCG(45, 46))
	for _, x := range []int8{math.MinInt8, math.MaxInt8} {
		for _, word := range []uint32{math.MaxUint32, 0xff00ff00, 0x80808080, 0x80008000, 0x7fff7fff, 0x7fff8000} {
			c := newWordsCase(r, t, 16, 64, 1, 4)
			c.depth, c.a, c.words = depth, slices.Repeat([]int8{x}, 16*depth), slices.Repeat([]uint32{word}, depth)
			c.panel = c.a // the same bytes everywhere
			c.check(t)
		}
	}
}

// Slices begin anywhere.
func TestMulWordsMisaligned(t *testing.T) {
	r := rand.New(rand.NewPCG(47, 48))
	for shift := range 16 {
		c := newWordsCase(r, t, 48, 64, 3, 3)
		words, panel := make([]uint32, len(c.words)+16), make([]int8, len(c.panel)+64)
		words, panel = words[shift:], panel[63-4*shift:]
		copy(words, c.words)
		copy(panel, c.panel)
		c.words, c.panel = words[:len(c.words)], panel[:len(c.panel)]
		c.check(t)
	}
}

// PackWords reuses the memory of words that were packed before, whatever it holds.
func TestPackWordsAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(49, 50))
	for _, s := range All() {
		var w Words
		for _, shape := range [][4]int{{32, 128, 7, 3}, {16, 64, 3, 1}, {16, 128, 1, 3}, {16, 64, 5, 4}, {48, 192, 9, 3}} {
			c := newWordsCase(r, t, shape[0], shape[1], shape[2], shape[3])
			for i := range w.packed {
				w.packed[i] = r.Uint32()
			}
			s.PackWords(&w, c.words, c.depth, c.width)
			got := slices.Clone(c.before)
			s.MulWords(got, c.stride, c.panel, c.rows, &w)
			if !slices.Equal(got, c.want()) {
				t.Errorf("%v, %v: sums differ", s, shape)
			}
		}
		big := make([]uint32, 9*192)
		if got := testing.AllocsPerRun(10, func() { s.PackWords(&w, big, 192, 3) }); got != 0 {
			t.Errorf("%v: %v allocations", s, got)
		}
	}
}

// Tiles are state of a thread: calls on several goroutines must not see each other's.
func TestMulWordsTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	s := At(Best())
	var all sync.WaitGroup
	for i := range 6 {
		c := newWordsCase(r, t, 16*(i+1), 64*(1+i%3), 1+5*i, 3)
		want := c.want()
		all.Go(func() {
			var w Words
			for n := range 50 {
				got := slices.Clone(c.before)
				s.PackWords(&w, c.words, c.depth, c.width)
				s.MulWords(got, c.stride, c.panel, c.rows, &w)
				if !slices.Equal(got, want) {
					t.Errorf("call %d of %d rows differs", n, c.rows)
					return
				}
				runtime.Gosched()
			}
		})
	}
	all.Wait()
}

func TestPackRows(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 54))
	for _, depth := range []int{4, 64, 68} {
		for rows := range 35 {
			room := (rows+15)/16*16 + r.IntN(2)*16
			from, panel := guarded[int8](t, rows*depth), guarded[int8](t, room*depth)
			for i := range from {
				from[i] = int8(r.Uint32())
			}
			for i := range panel {
				panel[i] = 77
			}
			PackRows(panel, from, depth)
			for row := range room {
				for p := range depth {
					want := int8(0)
					if row < rows {
						want = from[row*depth+p]
					}
					if got := panel[(row/16)*16*depth+(p/4)*64+(row%16)*4+p%4]; got != want {
						t.Fatalf("%d rows of %d: byte %d of row %d is %d, want %d", rows, depth, p, row, got, want)
					}
				}
			}
		}
	}
}

func TestMulWordsPanics(t *testing.T) {
	words, panel, sums := make([]uint32, 3*64), make([]int8, 32*64), make([]uint32, 2*40+32)
	for _, s := range All() {
		var w, empty Words
		s.PackWords(&w, words, 64, 3)
		s.PackWords(&empty, nil, 64, 3)
		other := w
		other.level++
		for name, f := range map[string]func(){
			"depth":   func() { s.PackWords(&w, words, 32, 3) },
			"none":    func() { s.PackWords(&w, nil, 0, 3) },
			"ragged":  func() { s.PackWords(&w, words[:100], 64, 3) },
			"width 0": func() { s.PackWords(&w, words, 64, 0) },
			"width 5": func() { s.PackWords(&w, words, 64, 5) },
			"level":   func() { s.MulWords(sums, 40, panel, 32, &other) },
			"rows":    func() { s.MulWords(sums, 40, panel, 24, &w) },
			"fewer":   func() { s.MulWords(sums, 40, panel, -16, &w) },
			"stride":  func() { s.MulWords(sums, 31, panel, 32, &w) },
			"panel":   func() { s.MulWords(sums, 40, panel[:32*64-1], 32, &w) },
			"sums":    func() { s.MulWords(sums[:2*40+31], 40, panel, 32, &w) },
			"pack":    func() { PackRows(panel[:24*64], panel[:64], 64) },
			"short":   func() { PackRows(panel[:16*64], panel[:17*64], 64) },
			"odd":     func() { PackRows(panel, panel[:6], 6) },
		} {
			mustPanic(t, fmt.Sprintf("%v, %s", s, name), f)
		}
		s.MulWords(sums, 40, panel, 32, &w)
		s.MulWords(nil, 40, nil, 32, &empty)
		s.MulWords(nil, 0, nil, 0, &w)
	}
}
