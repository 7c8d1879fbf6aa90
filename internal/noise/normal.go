package noise

import "math/bits"

// A Sampler draws normal numbers rounded to integers, exactly: the result has
// the distribution of the nearest integer to S Z with Z standard normal, and no
// floating point number takes part (Karney 2016, algorithm N).
//
// The method rests on an idea of von Neumann. The chance that uniform
// numbers fall n times in a row from y, y > z_1 > ... > z_n, is y^n/n!, so the
// chance that the run ends after an even number is 1 - y + y^2/2 - ... = e^-y.
type Sampler struct {
	Words Source
}

// A uniform is a number in [0, 1). Its leading words are drawn at first, and
// more when a comparison needs them. Drawn words are kept.
type uniform struct {
	first uint64
	rest  []uint64
}

func (s *Sampler) uniform() uniform { return uniform{first: s.Words.Uint64()} }

// digit returns word i after the first one.
func (s *Sampler) digit(u *uniform, i int) uint64 {
	for len(u.rest) <= i {
		u.rest = append(u.rest, s.Words.Uint64())
	}
	return u.rest[i]
}

// less reports whether a < b.
func (s *Sampler) less(a, b *uniform) bool {
	if a.first != b.first {
		return a.first < b.first
	}
	return s.lessAfter(a, b)
}

// lessAfter is less for numbers that agree in their first word.
func (s *Sampler) lessAfter(a, b *uniform) bool {
	for i := 0; ; i++ {
		if x, y := s.digit(a, i), s.digit(b, i); x != y {
			return x < y
		}
	}
}

// Draw returns the nearest integer to S Z, S the multiple.
func (s *Sampler) Draw(multiple int64) int64 {
	for {
		// The whole part k has weight e^(-k^2/2): k successes of chance e^-1/2
		// and then a failure, and k (k-1) more successes.
		k := 0
		for s.half() {
			k++
		}
		if !s.halves(k * (k - 1)) {
			continue
		}
		// The fraction x has weight e^(-x(2k+x)/2), k+1 times the chance below.
		x := s.uniform()
		if !s.fits(&x, k) {
			continue
		}
		n := s.round(multiple, k, &x)
		if s.Words.Uint64()>>63 != 0 {
			return -n
		}
		return n
	}
}

// half succeeds with chance e^-1/2: the run begins at 1/2, so that the first
// comparison looks at one bit.
func (s *Sampler) half() bool {
	y := s.uniform()
	if y.first>>63 != 0 {
		return true
	}
	for even := false; ; even = !even {
		z := s.uniform()
		if !s.less(&z, &y) {
			return even
		}
		y = z
	}
}

// halves reports n successes of half.
func (s *Sampler) halves(n int) bool {
	for ; n > 0; n-- {
		if !s.half() {
			return false
		}
	}
	return true
}

// fits reports k+1 successes of chance exp(-x(2k+x)/(2k+2)).
func (s *Sampler) fits(x *uniform, k int) bool {
	for i := 0; i <= k; i++ {
		if !s.run(x, k) {
			return false
		}
	}
	return true
}

// run succeeds with chance exp(-x(2k+x)/(2k+2)): a run that begins at x, and
// continues after each step with chance (2k+x)/(2k+2).
func (s *Sampler) run(x *uniform, k int) bool {
	y := s.uniform()
	if !s.less(&y, x) || !s.thin(x, k) {
		return true
	}
	for even := false; ; even = !even {
		z := s.uniform()
		if !s.less(&z, &y) || !s.thin(x, k) {
			return even
		}
		y = z
	}
}

// thin succeeds with chance (2k+x)/(2k+2): of 2k+2 equal parts 2k count whole
// and one counts x.
func (s *Sampler) thin(x *uniform, k int) bool {
	switch part := Below(uint64(2*k+2), s.Words); {
	case part < uint64(2*k):
		return true
	case part == uint64(2*k):
		u := s.uniform()
		return s.less(&u, x)
	}
	return false
}

// round returns the nearest integer to S (k+x). S k is an integer; S x + 1/2 is
// known up to S 2^-64 by the first word of x, and if that does not determine
// its whole part more words are drawn. S k overflows for k >= 2^21 only, which
// has chance e^-(2^41).
func (s *Sampler) round(multiple int64, k int, x *uniform) int64 {
	scale := uint64(multiple)
	whole, part := bits.Mul64(scale, x.first)
	part, carry := bits.Add64(part, half, 0)
	whole += carry
	// The rest of x adds less than S to part, in units of 2^-64. Each further
	// word decides whether that carries, unless less than one unit remains open.
	for i := 0; part > -scale; i++ {
		high, low := bits.Mul64(scale, s.digit(x, i))
		part, carry = bits.Add64(part, high, 0)
		if whole += carry; carry != 0 || part != ^uint64(0) {
			break
		}
		part = low
	}
	return multiple*int64(k) + int64(whole)
}

// half is added before rounding down, in units of 2^-64.
const half = 1 << 63
