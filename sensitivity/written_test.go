package sensitivity

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// asWritten evaluates the formulas of the documentation literally, without care
// for cancellation.
func asWritten(rel Relation, query Query, r rowShape, q overall) (own, rest float64) {
	t, _ := query.Table.span()
	alpha, u := math.Abs(query.Alpha), max(math.Abs(t.lo), math.Abs(t.hi))
	n := q.n
	null, fixed := rel == Null || rel == FeaturesNull, rel == FeaturesNull || rel == FeaturesReplace
	p := func(d, e float64) float64 { return t.hi/d - t.lo/e }
	ku := t.hi - t.lo
	if fixed {
		ku = 0
	}
	if f, ok := query.Operator.(Floor); ok {
		g, h := max(1, f.Tau), max(n, f.Tau)
		kL := max(p(f.Tau, f.Tau), p(f.Tau, h), p(h, f.Tau), p(h, h))
		if fixed {
			kL = u * (1/f.Tau - 1/h)
		}
		own = alpha*kL*r.h + min(math.Sqrt(2/g)*r.zSpec, 2*r.farthest)
		rest = 1 / f.Tau * ((1+alpha*ku)*r.zPart + (1+math.Sqrt(n/g)+alpha*u*(n+1)/f.Tau)*q.frobenius)
		if r.others == 0 {
			rest = 0
		}
		return own, rest
	}
	l, rho := math.Exp(-2/(query.Sigma*query.Sigma)), math.Exp(-1/(2*query.Sigma*query.Sigma))
	if b, ok := query.Operator.(Background); ok {
		l = b.Weight
		if b.Radius < 1 {
			rho = l
		}
	}
	chi := (n - 1) / (1 + (n-1)*l)
	d0, psi, kF, kT := n*l, (1-l)/((n-1)*l+1), (1-l)/math.Sqrt(l), 2*(1-l)/(1+l)
	if null {
		d0, kF, kT = (n-1)*l+rho, kF/2, 2*(1-math.Sqrt(l))/(1+math.Sqrt(l))
		psi = max((1-rho)/((n-1)*l+1), (rho-l)/((n-1)*l+rho))
	}
	var kL, kS float64
	switch rel {
	case ReplaceOne:
		kL, kS = max(p(l, l), p(l, 1), p(1, l), p(1, 1)), 2/l
	case Null:
		kL, kS = max(p(l, rho), p(1, rho), p(rho, l), p(rho, 1)), 1/l+1/rho
	case FeaturesReplace:
		kS = 1/l - 1
		kL = u * kS
	case FeaturesNull:
		kS = max(1/l-1/rho, 1/rho-1)
		kL = u * kS
	}
	feature := min(kF*q.spectral/math.Sqrt(n), kT*q.radius)
	byRow := math.Sqrt(r.others) / (n * l) * (r.sum + alpha*u*q.sumPart)
	if t.classSize {
		own = alpha*kS*r.farthest/n + feature
		bracket := math.Sqrt(chi)*r.zFrob + alpha/(n*l)*(q.frobenius+r.zFrob/2)
		moved := r.zFrob
		if q.partial {
			bracket, moved = min(bracket, byRow), min(moved, math.Sqrt(r.others)*r.farthest)
		}
		return own, alpha*ku/d0*moved + psi*bracket
	}
	own = alpha*kL/n*r.h + feature
	bracket := math.Sqrt(chi)*r.zFrob + alpha*u/(n*l)*(n*q.frobenius+r.zFrob)
	if q.partial {
		bracket = min(bracket, byRow)
	}
	return own, alpha*ku/d0*r.zPart + psi*bracket
}

// Every form against its formula, and the numbers of Q that it needs against
// their definitions.
func TestFormsAsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 19))
	same := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-10*math.Abs(want)) {
			t.Errorf("%s: got %.15g, want %.15g", what, got, want)
		}
	}
	for range 2000 {
		n := 2 + rng.IntN(8)
		query, _ := randomQuery(rng, n)
		q := gaussianStart(rng, n, 1+rng.IntN(4))
		var rows Rows
		if rng.IntN(2) == 0 {
			rows.Released = rng.Perm(n)[:1+rng.IntN(n)]
		}
		g, err := newGeometry(q)
		if err != nil {
			t.Fatal(err)
		}
		s := newSearch(g, rows)
		i := rng.IntN(n)
		r := s.evaluate(i)
		for _, rel := range relations {
			f, _, _, err := formOf(rel, query, n)
			if err != nil {
				t.Fatal(err)
			}
			own, rest := f.row(r, s.q)
			wantOwn, wantRest := asWritten(rel, query, r, s.q)
			same("own row", own, wantOwn)
			same("other rows", rest, wantRest)
			total := both(f, r, s.q)
			if !r.released {
				wantOwn = 0
			}
			same("both", total, math.Hypot(wantOwn, wantRest))
			// The bound from above is above.
			if above := both(f, s.fromAbove(i), s.q); above < total*(1-1e-12) {
				t.Errorf("%.15g from above, %.15g in full", above, total)
			}
		}
		var sum, far, frob2, part2 float64
		in := make(map[int]bool)
		for _, j := range rows.Released {
			in[j] = true
		}
		for j := range n {
			d := math.Sqrt(squared(g.row(i), g.row(j)))
			sum, far, frob2 = sum+d, max(far, d), frob2+d*d
			if rows.Released == nil || in[j] {
				part2 += d * d
			}
		}
		others := n - 1
		if rows.Released != nil {
			others = len(in)
			if in[i] {
				others--
			}
		}
		if int(r.others) != others || r.released != (rows.Released == nil || in[i]) {
			t.Errorf("%g other rows released, want %d; own row %v", r.others, others, r.released)
		}
		same("sum", r.sum, sum)
		same("farthest", r.farthest, far)
		same("|Z|_F", r.zFrob, math.Sqrt(frob2))
		if math.Abs(r.zPart-math.Sqrt(part2)) > 1e-10*r.zFrob {
			t.Errorf("|Z_T|_F: got %.15g, want %.15g", r.zPart, math.Sqrt(part2))
		}
		largest := 0.0
		for j := range in {
			d, _ := g.distances(j)
			largest = max(largest, d)
		}
		if s.q.partial {
			same("largest sum", s.q.sumPart, largest)
		}
		if t.Failed() {
			t.Fatalf("%v, released %v, row %d", query, rows.Released, i)
		}
	}
}

// More rows than a block of the Gram matrix has, and than the sums of distances
// are computed for.
func TestLongMatrices(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 20))
	const n = 12_000
	for _, k := range []int{1, 2, 3} {
		q := gaussianStart(rng, n, k)
		g, err := newGeometry(q)
		if err != nil {
			t.Fatal(err)
		}
		// The spectral norm by iteration on the vector it belongs to.
		v := make([]float64, k)
		v[0] = 1
		norm := 0.0
		for range 2000 {
			next := make([]float64, k)
			for i := range n {
				dot := 0.0
				for c, x := range g.row(i) {
					dot += x * v[c]
				}
				for c, x := range g.row(i) {
					next[c] += dot * x
				}
			}
			norm = math.Sqrt(squared(next, make([]float64, k)))
			if k == 1 {
				break
			}
			for c := range v {
				v[c] = next[c] / norm
			}
			if norm2 := norm / (g.spectral * g.spectral); math.Abs(norm2-1) < 1e-13 {
				break
			}
		}
		if math.Abs(math.Sqrt(norm)/g.spectral-1) > 1e-12 {
			t.Errorf("k = %d: spectral norm %.15g, want %.15g", k, g.spectral, math.Sqrt(norm))
		}
		released := rng.Perm(n)[:n-1]
		s := newSearch(g, Rows{Released: released})
		for _, i := range released[:50] {
			if sum, _ := g.distances(i); sum > s.q.sumPart {
				t.Errorf("k = %d: the largest sum %g is not above %g", k, s.q.sumPart, sum)
			}
		}
	}
}

// The constants of the paper and their repair as written, also for tables other
// than the paper's: nu is the smallest entry.
func TestLemmaAsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	for range 500 {
		n, alpha, sigma := float64(1+rng.IntN(60)), 2*rng.Float64(), 0.8+5*rng.Float64()
		nu := rng.Float64() * 0.7
		query := Query{Operator: Full{}, Sigma: sigma, Alpha: alpha, Table: Range{nu, nu + (1-nu)*rng.Float64()}}
		l, rho := math.Exp(-2/(sigma*sigma)), math.Exp(-1/(2*sigma*sigma))
		mij := func(a, b float64) float64 {
			c := n + rho - 1
			return (alpha*alpha+1)*(1/(a*a)+1/(b*b)) - 2*alpha*nu*l*(1/(c*c)+1/(n*n)) - 2*(alpha*alpha*nu*nu+l*l)/(n*c) + 4*alpha/(a*b)
		}
		mii := func(a, b, e float64) float64 {
			return alpha * alpha * (n*n/(a*a) + n*n/(b*b) - 2*e*e/(n*(n+rho-1)))
		}
		in, err := newLemma(query, int(n)+1)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "Mcorr", in.corrected(), mii((n-1)*l+rho, n*l, n*nu)+n*mij((n-1)*l+rho, n*l))
		a, b := n*l+rho-1, (n+1)*l-1
		c, err := in.paper()
		if a <= 0 || b <= 0 {
			if !errors.Is(err, errPaperUndefined) {
				t.Errorf("A = %g, B = %g: %v", a, b, err)
			}
			continue
		}
		near(t, "Mii", c.MII, mii(a, b, (n+1)*nu-1))
		near(t, "Mij", c.MIJ, mij(a, b))
	}
}
