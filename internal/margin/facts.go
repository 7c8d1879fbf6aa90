package margin

import "math"

// Facts are the figures of a report that tables compare: gamma/2, and at the radius that holds
// another row of their class for half of the rows, L delta and A_delta, as far as they are finite;
// L itself, and what is promised.
func (r *Report) Facts() map[string]float64 {
	out := map[string]float64{"gamma/2": r.Gamma / 2, "L": r.Lipschitz, "promised by the theorem": r.Theorem, "promised by the direct argument": r.Direct}
	for _, s := range r.Scales {
		if s.Share == .5 {
			out["L delta"], out["A_delta"] = s.Carry, s.Spread
		}
	}
	for name, v := range out {
		if math.IsInf(v, 0) || math.IsNaN(v) {
			delete(out, name)
		}
	}
	return out
}
