package margin

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// theorem is the bound of the theorem for balls of radius delta that have at least the mass eta,
// with the best epsilon and Q: the largest epsilon that room leaves, which is
// gamma/2 - L delta - A_delta and above 0, and the best Q of those tried. n is the number of rows of
// the class, columns those of the embedding, and carry stands for L delta.
func theorem(n int, eta, carry, room float64, columns int) (accuracy, epsilon float64, q int) {
	epsilon = room / math.Sqrt(float64(columns))
	at := func(q int) float64 {
		few := float64(n)*eta - float64(q)
		v := 1 - math.Exp(-2*few*few/float64(n))
		if carry > 0 { // otherwise all images are one
			ratio := epsilon / carry
			v -= 2 * float64(columns) * math.Exp(-float64(q)*ratio*ratio/2)
		}
		return v
	}
	most := int(math.Ceil(float64(n)*eta)) - 1 // Q < n eta
	if most < 1 {
		return 0, epsilon, 0
	}
	best := 1
	for _, c := range countsUpTo(most) {
		if at(c) > at(best) {
			best = c
		}
	}
	for by := max(1, best/7); by > 0; by /= 2 { // between those
		for _, c := range []int{best - by, best + by} {
			if c >= 1 && c <= most && at(c) > at(best) {
				best = c
			}
		}
	}
	return max(0, at(best)), epsilon, best
}

// direct is the probability that at least need of n rows lie in a ball of mass eta.
func direct(n int, eta float64, need int) float64 {
	switch {
	case need > n:
		return 0
	case need == 1:
		return -math.Expm1(float64(n) * math.Log1p(-eta))
	}
	return mathext.RegIncBeta(float64(need), float64(n-need+1), eta)
}

// bounds fills in what follows for a class from its masses, and from A_delta for each of them.
func (d *diagnosis) bounds(c *Class, m *masses, spread []float64) {
	c.Unseen = m.unseen
	half, off := c.Gamma/2*(1-slack), c.Off*(1+slack)
	need := max(1, d.Neighbours)
	for j, delta := range m.delta {
		p := Promise{Delta: delta, Eta: m.eta[j], Carry: d.carry(delta), Spread: spread[j], Q: need}
		short := p.Carry // of a place of the class within delta
		if d.Neighbours > 0 {
			if p.Carry = math.Inf(1); !(2*delta < c.Apart*(1-slack)) {
				continue // a neighbour may be of another class
			}
			short = d.divided(p.Spread)
		}
		if (short+off)*(1+slack) < half {
			if p.Accuracy = (1 - m.unseen) * direct(c.Rows, p.Eta, need); p.Accuracy > c.Direct.Accuracy {
				c.Direct = p
			}
		}
		if room := half - (p.Carry+p.Spread+off)*(1+slack); room > 0 {
			c.met = true
			p.Accuracy, p.Epsilon, p.Q = theorem(c.Rows, p.Eta, p.Carry, room, d.Places.Cols)
			if p.Accuracy *= 1 - m.unseen; p.Accuracy > c.Theorem.Accuracy {
				c.Theorem = p
			}
		}
	}
}
