package margin

import "math"

// carry returns how far the image of a row may be from that of one of the diagnosed rows within
// delta: what stands for L delta. Where images are divided by their norm, one of norm Floor and
// another within h of it differ by an angle of at most asin(h / Floor), and if h is not less than
// Floor by any angle.
func (d *diagnosis) carry(delta float64) float64 {
	if math.IsInf(d.lipschitz, 1) {
		return math.Inf(1)
	}
	return d.divided(d.lipschitz * delta)
}

// divided returns how far apart images within h of each other are after their division by norms.
func (d *diagnosis) divided(h float64) float64 {
	switch {
	case !d.Unit:
		return h
	case h >= d.Floor:
		return 2
	}
	return 2 * math.Sin(math.Asin(h/d.Floor)/2)
}

// constant is the Lipschitz constant of the interpolation where images have at least the norm
// Floor before they are divided by it: infinite where there is none.
func (d *diagnosis) constant() float64 {
	switch {
	case d.Neighbours > 0:
		return math.Inf(1)
	case d.Unit:
		return d.lipschitz / d.Floor
	}
	return d.lipschitz
}
