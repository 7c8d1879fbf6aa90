package mechanism

import (
	"cmp"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Values that were computed by hand: e^epsilon 8/98 up to epsilon ln(90/8) = 2.42, and
// 1 - e^-epsilon 90/98 from there on; the recall of the paper's claim (docs/paper.md)
// needs ln(0.815 98/8).
func TestNullCeilingValues(t *testing.T) {
	c := Ceiling{Answers: 8, Classes: 98}
	for epsilon, want := range map[float64]float64{0: .0816, 0.1: .0902, 1: .2219, 2: .6032, 2.42: .9180, 4: .9832, 8: .9997} {
		if got, err := c.NullRecall(epsilon); err != nil || math.Abs(got-want) > 0.00006 {
			t.Errorf("epsilon %g: %g, want %g, %v", epsilon, got, want, err)
		}
	}
	for recall, want := range map[float64]float64{.815: 2.30, .95: 2.91} {
		for _, delta := range []float64{0, 1e-5} {
			c.Delta = delta
			if got, err := c.NullEpsilon(recall); err != nil || math.Abs(got-want) > 0.005 {
				t.Errorf("a recall of %g needs epsilon %g, want %g, %v", recall, got, want, err)
			}
		}
	}
}

// subsets lists the sets of k of n classes, a bit for each.
func subsets(n, k int) (sets []uint) {
	for s := range uint(1) << n {
		if bits.OnesCount(s) == k {
			sets = append(sets, s)
		}
	}
	return sets
}

// massBeyond returns the least delta with which p is within e^epsilon of q: the largest
// p(E) - e^epsilon q(E) of all events E.
func massBeyond(p, q []float64, epsilon float64) (delta float64) {
	for z := range p {
		delta += max(0, p[z]-math.Exp(epsilon)*q[z])
	}
	return delta
}

// Drawn laws and shares of classes, answered as well as can be: with what epsilon and
// delta really are between these laws, neither ceiling is exceeded.
func TestCeilingHoldsForAnyLaws(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 4))
	law := func(n int) []float64 {
		p, sum := make([]float64, n), 0.0
		for i := range p {
			p[i] = math.Pow(random.Float64(), 3)
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
		return p
	}
	near := 0 // cases that come near to a ceiling
	for range 2000 {
		classes := 2 + random.IntN(5)
		c := Ceiling{Classes: classes, Answers: 1 + random.IntN(classes-1)}
		outcomes := 1 + random.IntN(4)
		share, null, laws := law(classes), law(outcomes), make([][]float64, classes)
		for i := range laws {
			laws[i] = law(outcomes)
		}
		recall := 0.0
		for z := range null {
			best := make([]float64, classes)
			for i, p := range laws {
				best[i] = share[i] * p[z]
			}
			slices.SortFunc(best, func(a, b float64) int { return cmp.Compare(b, a) })
			for _, v := range best[:c.Answers] {
				recall += v
			}
		}
		slices.SortFunc(share, func(a, b float64) int { return cmp.Compare(b, a) })
		for _, v := range share[:c.Answers] {
			c.Mass += v
		}
		for _, epsilon := range []float64{0, 0.2, 1, 3} {
			between, fromNull := 0.0, 0.0
			for _, p := range laws {
				fromNull = max(fromNull, massBeyond(p, null, epsilon), massBeyond(null, p, epsilon))
				for _, q := range laws {
					between = max(between, massBeyond(p, q, epsilon))
				}
			}
			for i, delta := range []float64{between, fromNull} {
				r := relations()[i]
				c.Delta = delta
				ceiling, err := r.recall(c, epsilon)
				if err != nil || recall > ceiling+1e-12 {
					t.Errorf("%s, %+v, epsilon %g: a recall of %g above %g, %v", r.name, c, epsilon, recall, ceiling, err)
				}
				least, err := r.epsilon(c, recall)
				if err != nil || least > epsilon+1e-9 {
					t.Errorf("%s, %+v: a recall of %g at epsilon %g, needs %g, %v", r.name, c, recall, epsilon, least, err)
				}
				if ceiling < 0.99 && recall > 0.95*ceiling {
					near++
				}
			}
		}
	}
	if near < 100 {
		t.Errorf("only %d cases come near", near)
	}
}

// The laws of the proof of NullRecall, written out set by set: none of them is further
// from that of the null record than epsilon and delta say, and together they find as
// much as the ceiling. Both sides of the minimum are attained, and for a recall above the
// ceiling the same laws are too far apart.
func TestNullCeilingIsAttained(t *testing.T) {
	const rounding = 1e-12
	first, second := 0, 0 // cases by the side of the minimum that binds
	for _, c := range []Ceiling{
		{Answers: 1, Classes: 2}, {Answers: 2, Classes: 5}, {Answers: 3, Classes: 12}, {Answers: 3, Classes: 4},
		{Answers: 2, Classes: 5, Delta: 0.05}, {Answers: 3, Classes: 12, Delta: 0.01},
	} {
		sets := subsets(c.Classes, c.Answers)
		null := make([]float64, len(sets))
		for z := range null {
			null[z] = 1 / float64(len(sets))
		}
		// named is the law of a record of the class: a set with it with the probability
		// hit, and one without it otherwise.
		named := func(class int, hit float64) []float64 {
			with := len(sets) * c.Answers / c.Classes
			p := make([]float64, len(sets))
			for z, s := range sets {
				if s>>class&1 == 1 {
					p[z] = hit / float64(with)
				} else {
					p[z] = (1 - hit) / float64(len(sets)-with)
				}
			}
			return p
		}
		for _, epsilon := range []float64{0, 0.05, 0.3, 1, 2, 5} {
			ceiling, err := c.NullRecall(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			recall := 0.0
			for class := range c.Classes {
				p := named(class, ceiling)
				if far := max(massBeyond(p, null, epsilon), massBeyond(null, p, epsilon)); far > c.Delta+rounding {
					t.Errorf("%+v, epsilon %g: class %d needs a delta of %g", c, epsilon, class, far)
				}
				sum := 0.0
				for z, s := range sets {
					sum += p[z]
					if s>>class&1 == 1 {
						recall += p[z] / float64(c.Classes)
					}
				}
				if math.Abs(sum-1) > rounding {
					t.Fatalf("%+v, epsilon %g: probabilities add up to %g", c, epsilon, sum)
				}
			}
			if math.Abs(recall-ceiling) > rounding {
				t.Errorf("%+v, epsilon %g: a recall of %g, ceiling %g", c, epsilon, recall, ceiling)
			}
			if ceiling < 0.999 {
				p := named(0, ceiling+1e-3)
				if far := max(massBeyond(p, null, epsilon), massBeyond(null, p, epsilon)); far <= c.Delta+rounding {
					t.Errorf("%+v, epsilon %g: %g is not the most", c, epsilon, ceiling)
				}
			}
			if epsilon > 0 {
				if pi := c.mass(); math.Exp(epsilon)*pi < 1-math.Exp(-epsilon)*(1-pi) {
					first++
				} else {
					second++
				}
			}
		}
	}
	if first < 5 || second < 5 {
		t.Errorf("%d cases on one side, %d on the other", first, second)
	}
}

// Laws that are private under replace-one are so under null with the same epsilon if the
// null record has their mean as its law, and laws that are private under null are so
// under replace-one with twice the epsilon.
func TestNullCeilingLiesBetween(t *testing.T) {
	for _, c := range []Ceiling{{Answers: 8, Classes: 98}, {Answers: 1, Classes: 2}, {Answers: 3, Classes: 4}, {Answers: 2, Classes: 50, Mass: 0.3}} {
		for _, epsilon := range []float64{0.01, 0.5, 1, 2, 4, 8} {
			null, err := c.NullRecall(epsilon)
			if low, high := recallAt(t, c, epsilon), recallAt(t, c, 2*epsilon); err != nil || !(low < null && null < high) {
				t.Errorf("%+v, epsilon %g: %g, replace-one has %g and with twice the epsilon %g, %v", c, epsilon, null, low, high, err)
			}
		}
	}
}
