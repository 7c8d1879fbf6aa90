package poly

import "math"

// A Series is a polynomial a_0 + a_1 u + ... + a_P u^P that stands for exp(u) on
// an interval [lo, hi] with lo <= 0 <= hi.
type Series struct {
	A      []float64
	lo, hi float64
	Taylor bool
}

// taylorSeries is the Taylor polynomial at 0.
func taylorSeries(lo, hi float64, order int) Series {
	s := Series{A: make([]float64, order+1), lo: lo, hi: hi, Taylor: true}
	s.A[0] = 1
	for r := 1; r <= order; r++ {
		s.A[r] = s.A[r-1] / float64(r)
	}
	return s
}

// chebyshevSeries interpolates exp at the Chebyshev nodes of [lo, hi]. Its error
// is 2^-order that of the Taylor polynomial on a symmetric interval.
func chebyshevSeries(lo, hi float64, order int) Series {
	half, middle := (hi-lo)/2, lo+(hi-lo)/2
	if half < 1e-12 { // Taylor's is as good to all digits, and nothing is divided by half
		s := taylorSeries(lo, hi, order)
		s.Taylor = false
		if order == 0 {
			s.A[0] = math.Exp(middle)
		}
		return s
	}
	// The interpolant is a sum of c_k T_k(s), u = middle + half s, with c_k from
	// values at the nodes; then powers of s; then powers of u.
	nodes := order + 1
	c := make([]float64, nodes)
	for j := range nodes {
		angle := math.Pi * (float64(j) + 0.5) / float64(nodes)
		value := math.Exp(middle + half*math.Cos(angle))
		for k := range c {
			c[k] += value * math.Cos(float64(k)*angle) * 2 / float64(nodes)
		}
	}
	c[0] /= 2
	powers := make([]float64, nodes)
	before, now := make([]float64, nodes), make([]float64, nodes) // T_{k-1} and T_k
	now[0] = 1
	for k, v := range c {
		for r, t := range now {
			powers[r] += v * t
		}
		next := make([]float64, nodes)
		factor := 2.0
		if k == 0 {
			factor = 1
		}
		for r := range nodes {
			if r > 0 {
				next[r] = factor * now[r-1]
			}
			next[r] -= before[r]
		}
		before, now = now, next
	}
	// Horner in s = (u - middle)/half, kept as powers of u.
	s := Series{A: make([]float64, nodes), lo: lo, hi: hi}
	for r := order; r >= 0; r-- {
		for q := nodes - 1; q >= 0; q-- {
			v := -s.A[q] * (middle / half)
			if q > 0 {
				v += s.A[q-1] / half
			}
			s.A[q] = v
		}
		s.A[0] += powers[r]
	}
	return s
}

// Order is the degree of the polynomial.
func (s Series) Order() int { return len(s.A) - 1 }

// reach is the largest |u|.
func (s Series) reach() float64 { return max(-s.lo, s.hi) }

// At evaluates the polynomial.
func (s Series) At(u float64) float64 {
	v := 0.0
	for r := s.Order(); r >= 0; r-- {
		v = v*u + s.A[r]
	}
	return v
}

// from evaluates the terms of a degree and more.
func (s Series) from(degree int, u float64) float64 {
	v := 0.0
	for r := s.Order(); r >= degree; r-- {
		v = v*u + s.A[r]
	}
	return v * math.Pow(u, float64(degree))
}

// size is the sum of |a_r| |u|^r over r >= from for |u| <= reach.
func (s Series) size(from int) float64 {
	sum := 0.0
	for r := s.Order(); r >= from; r-- {
		sum = sum*s.reach() + math.Abs(s.A[r])
	}
	return sum * math.Pow(s.reach(), float64(from))
}

// slope bounds how much the terms of degree 2 and more change with u.
func (s Series) slope() float64 {
	sum := 0.0
	for r := s.Order(); r >= 2; r-- {
		sum += float64(r) * math.Abs(s.A[r]) * math.Pow(s.reach(), float64(r-1))
	}
	return sum
}

// linear is the coefficient of u.
func (s Series) linear() float64 {
	if s.Order() == 0 {
		return 0
	}
	return s.A[1]
}

// Error bounds |p(u) - exp(u)| on the interval, the rounding of the coefficients
// included:
//
//	Taylor      max(1, e^u) |u|^(P+1)/(P+1)!
//	Chebyshev   e^hi 2 (h/2)^(P+1)/(P+1)!,   h half the length of the interval
func (s Series) Error() float64 {
	next := s.Order() + 1
	if s.Taylor {
		return math.Exp(s.hi)*powerOver(s.reach(), next) + s.slack()
	}
	return math.Exp(s.hi)*2*powerOver((s.hi-s.lo)/4, next) + s.slack()
}

// slack is the rounding of the coefficients, and of the formulas around it. An
// interval that is not about 0 costs digits when powers of s become powers of u.
func (s Series) slack() float64 {
	if s.hi == s.lo {
		return 0
	}
	if s.Taylor {
		return 0x1p-52 * s.size(2)
	}
	shift := math.Pow(1+math.Abs(s.hi+s.lo)/(s.hi-s.lo), float64(s.Order()))
	return float64(8*len(s.A)) * 0x1p-52 * math.Exp(2*s.reach()) * shift
}

// least bounds the polynomial from below on its interval; it may be negative,
// and then the weights it makes cannot be used.
func (s Series) least() float64 {
	below := s.Error()
	if s.Taylor { // the error is least where exp is
		below = powerOver(-s.lo, s.Order()+1) + s.slack()
	}
	return math.Exp(s.lo) - below
}

// powerOver returns x^n/n!, rounded up a little.
func powerOver(x float64, n int) float64 {
	v := 1.0
	for r := 1; r <= n; r++ {
		v *= x / float64(r)
	}
	return v * (1 + float64(2*n+2)*0x1p-53)
}
