package noise

import (
	"math"
	"math/big"
	chacha "math/rand/v2"
	"testing"
)

// script is a source that returns the words of a test.
type script struct {
	t     *testing.T
	words []uint64
}

func (s *script) Uint64() uint64 {
	if len(s.words) == 0 {
		s.t.Fatal("the script is over")
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

const (
	top  = uint64(1) << 63
	full = ^uint64(0)
)

// fail ends a count of successes of e^-1/2: below a half, then not below that.
var fail = []uint64{1 << 62, 1 << 62, 5, 4} // the second pair separates the two draws

// rounded returns the nearest integer to S (k + 0.x) in exact arithmetic, for a
// fraction given by its words; all further words are zero.
func rounded(multiple int64, k int, fraction ...uint64) int64 {
	x := new(big.Int).SetInt64(int64(k))
	for _, w := range fraction {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(w))
	}
	bits := uint(64 * len(fraction))
	x.Mul(x, big.NewInt(multiple)).Add(x, new(big.Int).Lsh(big.NewInt(1), bits-1))
	return x.Rsh(x, bits).Int64()
}

// T-11: scripted words, each script used up to the last word.
func TestDrawScripted(t *testing.T) {
	const s = 1<<41 - 87
	// edge is the last word before the half-integer above 0.3 S, and edge2 the
	// last one after it: S (edge + edge2/2^64) is within S/2^128 below.
	q := new(big.Int).SetInt64(s * 3 / 10)
	target := new(big.Int).Lsh(q, 1)
	target.Add(target, big.NewInt(1)).Lsh(target, 127) // (q + 1/2) 2^128
	point := new(big.Int).Div(target, big.NewInt(s))   // its x, in units of 2^-128
	edge := new(big.Int).Rsh(point, 64).Uint64()
	edge2 := new(big.Int).And(point, new(big.Int).SetUint64(full)).Uint64()
	below, above := q.Int64(), q.Int64()+1

	const x = uint64(0x123456789abcdef1)
	join := func(parts ...[]uint64) (all []uint64) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	w := func(words ...uint64) []uint64 { return words }
	for _, test := range []struct {
		name  string
		words []uint64
		want  int64
	}{
		// The one word after x is not below it, so the run is empty and x fits.
		{"k = 0", join(fail, w(x, full, 0)), rounded(s, 0, x)},
		{"sign", join(fail, w(x, full, top)), -rounded(s, 0, x)},
		{"k = 1", join(w(top), fail, w(x, full, x+1, 1)), rounded(s, 1, x)},
		{"k = 3", join(w(top, full, top), fail, w(top, top, top, top, top, top), w(x, full, full, full, full, full)), -rounded(s, 3, x)},
		// Two steps down from 1/2 are a success, too, and three are not.
		{"long runs", join(w(1<<62, 1<<61, top), w(1<<62, 1<<61, 1<<60, top), w(x, full, full, 0)), rounded(s, 1, x)},
		// k = 2 needs two more successes; here the second fails.
		{"restart for k", join(w(top, top), fail, w(top), fail, fail, w(x, full, 0)), rounded(s, 0, x)},
		// One step down from x that counts (part 0 of 2 with u < x): odd, so
		// restart; then one that does not count (part 1): the run is empty.
		{"restart for x", join(fail, w(x, x-1, 0, x-2, full), fail, w(x+9, x, top, 0)), rounded(s, 0, x+9)},
		{"part 0 not below x", join(fail, w(x, x-1, 0, x+1, 0)), rounded(s, 0, x)},
		// With k = 1 there are four parts: 0 and 1 count, 2 by x, 3 does not.
		{"thinning", join(w(top), fail, w(x, x-1, 0, x-2, 1<<62, full), w(x-1, 2<<62, x+1, 0)), rounded(s, 1, x)},
		{"last part", join(w(top), fail, w(x, x-1, 3<<62, full, 0)), rounded(s, 1, x)},
		// x and y agree in a word, then y is larger: not below. The second word
		// of x is kept: the next tie draws a word for y only.
		{"tie", join(w(top), fail, w(x, x, 8, 7, x, 9, 0)), rounded(s, 1, x, 7)},
		// y is smaller in the third word, so the run goes on; part 3 ends it.
		{"tie twice", join(w(top), fail, w(x, x, 7, 7, 1, 2, 3<<62, full, 0)), rounded(s, 1, x, 7, 2)},
		{"below the half-integer", join(fail, w(edge, full, 0, 0)), below},
		{"above the half-integer", join(fail, w(edge, full, full, 0)), above},
		{"just below", join(fail, w(edge, full, edge2, 0, 0)), below},
		{"just above", join(fail, w(edge, full, edge2, full, top)), -above},
		{"settled by the next word", join(fail, w(edge, full, edge2-1, top)), -below},
		{"settled above", join(fail, w(edge, full, edge2+1, 0)), above},
		// The rounding uses the word that a tie has drawn, and draws no other.
		{"tie at the half-integer", join(fail, w(edge, edge, full, full-1, 0)), above},
	} {
		source := &script{t, test.words}
		normal := Sampler{source}
		if got := normal.Draw(s); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
		if len(source.words) != 0 {
			t.Errorf("%s: %d words are left", test.name, len(source.words))
		}
	}
	if below == above || rounded(s, 0, edge, 0) != below || rounded(s, 0, edge, full) != above ||
		rounded(s, 0, edge, edge2, 0) != below || rounded(s, 0, edge, edge2, full) != above {
		t.Error("the edge is no edge")
	}
}

// Rounding against integer arithmetic, half of the cases near a half-integer.
func TestRoundAgainstIntegers(t *testing.T) {
	source := chacha.NewPCG(3, 4)
	for range 200_000 {
		multiple := int64(1)<<40 + int64(source.Uint64()>>23)
		k := int(source.Uint64() >> 61)
		x := uniform{first: source.Uint64(), rest: []uint64{source.Uint64(), source.Uint64()}}
		if source.Uint64()&1 == 0 { // near a half-integer
			half := new(big.Int).SetUint64(source.Uint64()>>24 | 1)
			x.first = half.Lsh(half, 63).Div(half, big.NewInt(multiple)).Uint64()
		}
		want := rounded(multiple, k, x.first, x.rest[0], x.rest[1])
		normal := Sampler{&script{t: t}}
		if got := normal.round(multiple, k, &x); got != want {
			t.Fatalf("S = %d, k = %d, x = %x: %d, want %d", multiple, k, x, got, want)
		}
	}
}

func TestBelow(t *testing.T) {
	// 2^64 mod 6 is 4: the products whose low word is below 4 are drawn again.
	source := &script{t, []uint64{0, full, top + 1}}
	if got := Below(6, source); got != 5 {
		t.Errorf("%d, want 5", got)
	}
	if got := Below(6, source); got != 3 {
		t.Errorf("%d, want 3", got)
	}
}

func TestNearest(t *testing.T) {
	const step = 0x1p-20
	for _, test := range []struct {
		x    float64
		want int64
	}{
		{0, 0}, {step, 1}, {-step, -1}, {0.49 * step, 0}, {0.51 * step, 1}, {-0.51 * step, -1}, {-1.4 * step, -1}, {1.75 * step, 2},
		{0x1p51 * step, 1 << 51}, {1e300, 1 << 51}, {-1e300, -1 << 51}, {math.Inf(1), 1 << 51}, {5e-324, 0}, {math.NaN(), 0},
	} {
		if got := Nearest(test.x, step); got != test.want {
			t.Errorf("nearest(%g) = %d, want %d", test.x, got, test.want)
		}
	}
	if got := Nearest(5e-324, 0x1p900); got != 0 {
		t.Errorf("underflow: %d", got)
	}
	if got := Nearest(math.MaxFloat64, 0x1p-900); got != 1<<51 {
		t.Errorf("overflow: %d", got)
	}
}

func TestOnGrid(t *testing.T) {
	const most, least, limit = math.MaxInt64, math.MinInt64, GridLimit
	for _, test := range [][3]int64{
		{1, 2, 3}, {limit - 1, 1, limit}, {limit, 1, limit}, {1 - limit, -1, -limit}, {-limit, -1, -limit}, {limit, -limit, 0},
		{limit, most, limit}, {-limit, least, -limit}, {-limit, most, limit}, {0, least, -limit}, {1, most, limit}, {-1, least, -limit},
	} {
		if got := OnGrid(test[0], test[1]); got != test[2] {
			t.Errorf("%d + %d = %d", test[0], test[1], got)
		}
	}
}

func TestDrawAllocatesNothing(t *testing.T) {
	normal := Sampler{chacha.NewChaCha8(Seed{9})}
	if n := testing.AllocsPerRun(1000, func() { normal.Draw(1 << 41) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// For every outcome j of below the words that lead to it are a range. In it the
// low words start below n and ascend by n, so at most the first word is drawn
// again. Checking it and the next shows that exactly floor(2^64/n) words remain
// for each outcome.
func TestBelowIsExactlyUniform(t *testing.T) {
	ceil := func(j, n uint64) *big.Int { // of j 2^64 / n
		x := new(big.Int).Lsh(new(big.Int).SetUint64(j), 64)
		x.Add(x, new(big.Int).SetUint64(n-1))
		return x.Quo(x, new(big.Int).SetUint64(n))
	}
	for _, n := range []uint64{1, 2, 3, 5, 6, 7, 9, 97, 256, 999, 1000} {
		each := new(big.Int).Quo(new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int).SetUint64(n))
		for j := range n {
			first, end := ceil(j, n), ceil(j+1, n)
			left := new(big.Int).Sub(end, first)
			const sentinel = math.MaxUint64
			words := &script{t, []uint64{first.Uint64(), sentinel}}
			if got := Below(n, words); len(words.words) == 0 {
				left.Sub(left, big.NewInt(1))
			} else if got != j {
				t.Fatalf("below(%d) = %d at the first word of %d", n, got, j)
			}
			words = &script{t, []uint64{first.Uint64() + 1, sentinel}}
			if got := Below(n, words); len(words.words) != 1 || got != j {
				t.Fatalf("below(%d) = %d with %d words left at the second word of %d", n, got, len(words.words), j)
			}
			if left.Cmp(each) != 0 {
				t.Fatalf("below(%d): %v words for %d, want %v", n, left, j, each)
			}
		}
	}
}
