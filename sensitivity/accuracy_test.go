package sensitivity

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// The bounds against their formulas in 240 bits, where float64 has to be careful.

func rootOf(v *big.Float) *big.Float { return new(big.Float).SetPrec(digits).Sqrt(v) }

func largestOf(values ...*big.Float) *big.Float {
	best := values[0]
	for _, v := range values[1:] {
		if v.Cmp(best) > 0 {
			best = v
		}
	}
	return best
}

func smallestOf(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// ratioOf returns got/want - 1.
func ratioOf(got float64, want *big.Float) float64 {
	v, _ := minus(over(exactly(got), want), exactly(1)).Float64()
	return v
}

func scaledBy(a *big.Float, v float64) *big.Float { return times(a, exactly(v)) }

// The constants of Theorem 1, over the whole range of bandwidths and rows.
func TestConstantsInManyDigits(t *testing.T) {
	worst := 0.0
	one := exactly(1)
	for _, sigma := range []float64{0.0535, 0.1, 0.24, 0.3, 1, 6, 1e3, 1e8, 1e20} {
		x := over(one, scaledBy(times(exactly(sigma), exactly(sigma)), 2))
		for _, radius := range []float64{0, 0.4, 0.999, 1, 1.5, 2} {
			l, rho := expOf(scaledBy(x, 4)), expOf(x)
			query := Query{Operator: Full{}, Sigma: sigma}
			if radius > 0 {
				if sigma > 1e3 {
					continue // the weight itself has no more digits
				}
				m := Midpoint(sigma, radius)
				query.Operator = m
				l = smallestOf(exactly(m.Weight), expOf(times(x, times(exactly(radius), exactly(radius)))))
				if radius < 1 {
					rho = exactly(m.Weight)
				}
			}
			lv, err := query.Operator.levels(sigma)
			if err != nil {
				t.Fatal(err)
			}
			oneL, oneRho := minus(one, l), minus(one, rho)
			for _, table := range []span{{0, 1, 1, false}, {1, 1, 0, false}, {-2, -0.5, 1.5, false}, {-1, 3, 4, false}} {
				lo, hi := exactly(table.lo), exactly(table.hi)
				p := func(d, e *big.Float) *big.Float { return minus(over(hi, d), over(lo, e)) }
				for _, rows := range []float64{1, 2, 1e3, 1e8} {
					n, less := exactly(rows), exactly(rows-1)
					for _, rel := range relations {
						got := newTheorem1(rel, lv, table, 1, rows)
						rootL := rootOf(l)
						psi := over(oneL, plus(times(less, l), one))
						kF, kT := over(oneL, rootL), over(scaledBy(oneL, 2), plus(one, l))
						d0 := times(n, l)
						inverse := minus(over(one, l), one)
						kL := largestOf(p(l, l), p(l, one), p(one, l), p(one, one))
						if rel.usesNull() {
							d0 = plus(times(less, l), rho)
							psi = largestOf(over(oneRho, plus(times(less, l), one)), over(minus(rho, l), d0))
							kF, kT = scaledBy(kF, 0.5), over(scaledBy(minus(one, rootL), 2), plus(one, rootL))
							inverse = largestOf(minus(over(one, l), over(one, rho)), minus(over(one, rho), one))
							kL = largestOf(p(l, rho), p(one, rho), p(rho, l), p(rho, one))
						}
						if !rel.LabelPrivate() {
							kL = scaledBy(inverse, table.largest())
						}
						for name, c := range map[string]struct {
							got  float64
							want *big.Float
						}{"psi": {got.psi, psi}, "kF": {got.kF, kF}, "kT": {got.kT, kT}, "d0": {got.d0, d0}, "kL": {got.kL, kL}} {
							if c.want.Sign() == 0 && c.got == 0 {
								continue
							}
							off := ratioOf(c.got, c.want)
							worst = max(worst, math.Abs(off))
							if !(math.Abs(off) < 1e-11) {
								t.Fatalf("%v, %v, table %v, n %g: %s = %g is off by %g", query.Operator, rel, table, rows, name, c.got, off)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("largest relative error %.2g", worst)
}

// bigMatrix is a small matrix with many digits.
type bigMatrix [][]*big.Float

func (m bigMatrix) centred() (bigMatrix, []*big.Float) {
	out := make(bigMatrix, len(m))
	mean := make([]*big.Float, len(m[0]))
	for c := range mean {
		mean[c] = exactly(0)
		for _, row := range m {
			mean[c] = plus(mean[c], row[c])
		}
		mean[c] = over(mean[c], exactly(float64(len(m))))
	}
	for i, row := range m {
		for c, v := range row {
			out[i] = append(out[i], minus(v, mean[c]))
		}
	}
	return out, mean
}

// spectral returns the largest singular value of a matrix of one or two columns.
func (m bigMatrix) spectral() *big.Float {
	g := [2][2]*big.Float{{exactly(0), exactly(0)}, {exactly(0), exactly(0)}}
	for _, row := range m {
		for a, v := range row {
			for b, w := range row {
				g[a][b] = plus(g[a][b], times(v, w))
			}
		}
	}
	sum, difference := scaledBy(plus(g[0][0], g[1][1]), 0.5), scaledBy(minus(g[0][0], g[1][1]), 0.5)
	return rootOf(plus(sum, rootOf(plus(times(difference, difference), times(g[0][1], g[0][1])))))
}

func lengthOf(v []*big.Float) *big.Float { return rootOf(dotOf(v, v)) }

func dotOf(a, b []*big.Float) *big.Float {
	sum := exactly(0)
	for i := range a {
		sum = plus(sum, times(a[i], b[i]))
	}
	return sum
}

// knownExactly evaluates the statement of Theorem 2 as it is written, for at
// most two columns and two dimensions.
func knownExactly(rel Relation, query Query, q blas64.General, public Public, released []int, classes int, label func(a, b int32) *big.Float) *big.Float {
	one := exactly(1)
	n, k, r := public.Features.Rows, q.Cols, public.Row
	x := over(one, scaledBy(times(exactly(query.Sigma), exactly(query.Sigma)), 2))
	inverse, l, rho := scaledBy(x, 2), expOf(scaledBy(x, 4)), expOf(x)
	rows, starts := make(bigMatrix, n), make(bigMatrix, n) // x_j and q_j - q_r
	for j := range n {
		for _, v := range public.Features.Data[j*public.Features.Stride:][:public.Features.Cols] {
			rows[j] = append(rows[j], exactly(v))
		}
		norm := lengthOf(rows[j])
		for c, v := range rows[j] {
			rows[j][c] = over(v, norm)
		}
		for c := range k {
			starts[j] = append(starts[j], minus(exactly(q.Data[position(j, r)*q.Stride+c]), exactly(q.Data[r*q.Stride+c])))
		}
	}
	xc, xbar := rows.centred()
	qc, _ := starts.centred()
	beta := lengthOf(xbar)
	m := exactly(float64(n))
	lo := times(m, expOf(times(plus(one, beta), inverse)))
	hi := times(m, scaledBy(plus(plus(one, beta), times(l, minus(one, beta))), 0.5))
	pm := exactly(0)
	for _, row := range xc {
		pm = largestOf(pm, times(inverse, lengthOf(row)))
	}
	cross := make(bigMatrix, k)
	for a := range k {
		for c := range xc[0] {
			sum := exactly(0)
			for j := range n {
				sum = plus(sum, times(qc[j][a], xc[j][c]))
			}
			cross[a] = append(cross[a], sum)
		}
	}
	psi := over(times(plus(cross.spectral(), scaledBy(times(times(over(pm, expOf(pm)), xc.spectral()), qc.spectral()), 0.5)), inverse), m)
	phi := smallestOf(psi, over(times(over(minus(one, l), scaledBy(rootOf(l), 2)), qc.spectral()), rootOf(m)))

	alpha := exactly(query.Alpha)
	degree := make([]*big.Float, n)
	pull := make(bigMatrix, n)
	for i := range n {
		degree[i] = exactly(0)
		for range k {
			pull[i] = append(pull[i], exactly(0))
		}
		for j := range n {
			if j == i {
				continue
			}
			d2 := minus(exactly(2), scaledBy(dotOf(rows[i], rows[j]), 2))
			w := expOf(times(new(big.Float).Abs(d2), x))
			degree[i] = plus(degree[i], w)
			u := times(alpha, label(public.Labels[i], public.Labels[j]))
			for c := range k {
				pull[i][c] = plus(pull[i][c], plus(times(w, starts[j][c]), times(u, minus(starts[i][c], starts[j][c]))))
			}
		}
	}
	type situation struct {
		null bool
		y    int32
	}
	in := func(i int) bool {
		if released == nil {
			return true
		}
		for _, v := range released {
			if v == i {
				return true
			}
		}
		return false
	}
	pair := func(a, b situation) *big.Float {
		total := exactly(0)
		ends := func(s situation) []*big.Float {
			if s.null {
				return []*big.Float{over(one, times(m, rho))}
			}
			return []*big.Float{over(one, lo), over(one, hi)}
		}
		if in(r) {
			turn := func(y int32) []*big.Float {
				v := make([]*big.Float, k)
				for c := range v {
					v[c] = exactly(0)
					for j := range n {
						v[c] = minus(v[c], times(label(y, public.Labels[j]), starts[j][c]))
					}
				}
				return v
			}
			va, vb, best := turn(a.y), turn(b.y), exactly(0)
			for _, da := range ends(a) {
				for _, db := range ends(b) {
					d := make([]*big.Float, k)
					for c := range d {
						d[c] = minus(times(va[c], da), times(vb[c], db))
					}
					best = largestOf(best, lengthOf(d))
				}
			}
			h := 2.0
			if a.null {
				h = 1
			}
			own := plus(times(new(big.Float).Abs(alpha), best), scaledBy(phi, h))
			total = plus(total, times(own, own))
		}
		for i := range n {
			if !in(position(i, r)) {
				continue
			}
			thetas := func(s situation) []*big.Float {
				if s.null {
					return []*big.Float{over(one, plus(degree[i], rho))}
				}
				return []*big.Float{over(one, plus(degree[i], one)), over(one, plus(degree[i], l))}
			}
			towards := func(y int32) []*big.Float {
				v := make([]*big.Float, k)
				for c := range v {
					v[c] = plus(pull[i][c], times(times(alpha, label(y, public.Labels[i])), starts[i][c]))
				}
				return v
			}
			ua, ub, best := towards(a.y), towards(b.y), exactly(0)
			for _, ta := range thetas(a) {
				for _, tb := range thetas(b) {
					d := make([]*big.Float, k)
					for c := range d {
						d[c] = minus(times(ta, ua[c]), times(tb, ub[c]))
					}
					best = largestOf(best, dotOf(d, d))
				}
			}
			total = plus(total, best)
		}
		return total
	}
	best := exactly(0)
	for y := range int32(classes) {
		switch rel {
		case Null:
			best = largestOf(best, pair(situation{true, 0}, situation{false, y}))
		case ReplaceOne:
			for z := range int32(classes) {
				best = largestOf(best, pair(situation{false, y}, situation{false, z}))
			}
		}
	}
	switch rel {
	case FeaturesNull:
		best = pair(situation{true, public.Label}, situation{false, public.Label})
	case FeaturesReplace:
		best = pair(situation{false, public.Label}, situation{false, public.Label})
	}
	return scaledBy(rootOf(best), 0.5)
}

// Theorem 2 is made of differences of inverse degrees, of table entries and of
// sums that cancel. It must not be below its formula anywhere, and not far
// above it.
func TestKnownInManyDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 25))
	most := 0.0
	for round := range 120 {
		n, k, dim := 1+rng.IntN(5), 1+rng.IntN(2), 1+rng.IntN(2)
		q := gaussianStart(rng, n+1, k)
		if round%3 == 0 { // a common offset, and rows that agree
			for i := range q.Data {
				q.Data[i] = 1e5 + math.Round(q.Data[i])
			}
		}
		if round%4 == 0 { // one row far from the rest
			q.Data[0] += 1e7
		}
		public := Public{Row: rng.IntN(n + 1)}
		const classes = 3
		public.Label = int32(rng.IntN(classes))
		var flat []float64
		for j := range n {
			x := randomUnit(rng, dim)
			if round%2 == 0 && j > 0 { // opposite rows, so that the mean vanishes
				x = negated(flat[(j-1)*dim:])
			}
			flat = append(flat, x...)
			public.Labels = append(public.Labels, int32(rng.IntN(classes)))
		}
		public.Features = matrix(dim, flat...)
		sigma := []float64{0.09, 0.5, 6, 1e4, 1e9, 1e15}[rng.IntN(6)]
		query := Query{Operator: Full{}, Sigma: sigma, Alpha: []float64{0.6, -100, 1e-3}[rng.IntN(3)]}
		var label func(a, b int32) *big.Float
		switch rng.IntN(3) {
		case 0:
			query.Table = Gaussian{Classes: classes, Sigma: sigma}
			label = func(a, b int32) *big.Float {
				d := exactly(float64(a) - float64(b))
				return expOf(over(times(d, d), scaledBy(times(exactly(sigma), exactly(sigma)), 2)))
			}
		case 1:
			query.Table = Equal{classes}
		default: // nearly constant
			query.Table = Values{Name: "level", Classes: classes, Weight: func(a, b int32) float64 { return 1 + float64(a*b)*0x1p-45 }}
		}
		weight, _, err := query.Table.entries()
		if err != nil {
			t.Fatal(err)
		}
		if label == nil {
			label = func(a, b int32) *big.Float { return exactly(weight(a, b)) }
		}
		var released []int
		if rng.IntN(2) == 0 {
			released = rng.Perm(n + 1)[:1+rng.IntN(n+1)]
		}
		for _, rel := range relations {
			b, err := query.Known(context.Background(), rel, q, public, released)
			want := knownExactly(rel, query, q, public, released, classes, label)
			if errors.Is(err, errDegenerate) && want.Sign() == 0 {
				continue
			}
			if err != nil {
				t.Fatalf("%v, %v: %v", rel, query, err)
			}
			if want.Sign() == 0 {
				continue // bounded by rounding errors
			}
			off := ratioOf(b.Exact(), want)
			most = max(most, off)
			if off < 0 || off > 1e-7 {
				t.Errorf("round %d: %v, %v, n %d, released %v: %g is off the theorem by %g", round, rel, query, n, released, b.Exact(), off)
			}
		}
	}
	t.Logf("above the theorem by at most %.2g", most)
}

// Sums over public rows that cancel except for rounding: in float64 they may be
// zero, and the bound must not be below the theorem.
func TestKnownCancelling(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 27))
	none := func(a, b int32) *big.Float { return exactly(0) }
	for round := range 200 {
		query := Query{Operator: Full{}, Sigma: 1e9, Table: Different{1}}
		var q blas64.General
		public := Public{}
		var released []int
		if round%2 == 0 {
			// V_1 = w_12 (q_2 - q_r) + w_13 (q_3 - q_r) nearly vanishes; only row 1 is released.
			query.Sigma = 1
			var flat []float64
			for range 3 {
				flat = append(flat, randomUnit(rng, 2)...)
			}
			public.Features, public.Labels = matrix(2, flat...), make([]int32, 3)
			weight := fullKernel(1)
			x := slicesOf(public.Features)
			q = matrix(1, 0, rng.NormFloat64(), 1, -weight(x[0], x[1])/weight(x[0], x[2]))
			released = []int{1}
		} else {
			// Qc^T Xc nearly vanishes; only row r is released.
			public.Features, public.Labels = matrix(1, 1, 1, -1, -1), make([]int32, 4)
			a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
			q = matrix(1, 0, a, b, c, a+b-c)
			released = []int{0}
		}
		for _, rel := range relations {
			want := knownExactly(rel, query, q, public, released, 1, none)
			b, err := query.Known(context.Background(), rel, q, public, released)
			if err != nil {
				t.Fatal(err)
			}
			if off := ratioOf(b.Exact(), want); want.Sign() > 0 && off < 0 {
				t.Fatalf("round %d: %v: %g is below the theorem by %g", round, rel, b.Exact(), -off)
			}
		}
	}
}

// Where the bandwidth is wide everything in Theorem 2 tends to zero like
// 1/sigma^2.
func TestKnownWideBandwidth(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 22))
	const n, dim = 200, 4
	q := gaussianStart(rng, n+1, 2)
	public := Public{Row: 17, Label: 1}
	var flat []float64
	for range n {
		x := randomUnit(rng, dim)
		x[0] += 1
		norm := math.Sqrt(squared(x, make([]float64, dim)))
		for _, v := range x {
			flat = append(flat, v/norm)
		}
		public.Labels = append(public.Labels, int32(rng.IntN(3)))
	}
	public.Features = matrix(dim, flat...)
	for _, rel := range relations {
		at := func(sigma float64) float64 {
			query := Query{Operator: Full{}, Sigma: sigma, Alpha: 0.6, Table: Gaussian{Classes: 3, Sigma: sigma}}
			b, err := query.Known(context.Background(), rel, q, public, nil)
			if err != nil {
				t.Fatal(err)
			}
			return b.Exact() * sigma * sigma
		}
		a, b, c := at(1e5), at(1e7), at(1e30)
		if math.Abs(a/c-1) > 1e-9 || math.Abs(b/c-1) > 1e-10 {
			t.Errorf("%v: sigma^2 Delta is %.15g, %.15g, %.15g", rel, a, b, c)
		}
	}
}

// A floor near the largest possible degree: the two inverses nearly agree.
func TestFloorNextToTheDegree(t *testing.T) {
	const n = 40
	for _, gap := range []float64{1e-3, 1e-9, 1e-13} {
		tau := n * (1 - gap)
		want := over(minus(exactly(n), exactly(tau)), scaledBy(exactly(tau), n)) // 1/tau - 1/n
		for _, rel := range relations {
			c := newFloorForm(rel, Floor{tau}, span{lo: 2, hi: 2}, 1, n)
			if off := ratioOf(c.kL, scaledBy(want, 2)); math.Abs(off) > 1e-14 {
				t.Errorf("%v, gap %g: kL is off by %g", rel, gap, off)
			}
		}
		for _, tau := range []float64{n, 2 * n} {
			if c := newFloorForm(ReplaceOne, Floor{tau}, span{lo: 2, hi: 2}, 1, n); c.kL != 0 {
				t.Errorf("floor %g: kL = %g, want 0", tau, c.kL)
			}
		}
	}
}

// Released rows that nearly agree with the private one and are far from the
// others: no number that the bound is made of is below the exact one.
func TestShapesFromAbove(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 26))
	for range 300 {
		n, k := 4+rng.IntN(20), 1+rng.IntN(3)
		q := gaussianStart(rng, n, k)
		offset := []float64{0, 1, 1e8}[rng.IntN(3)]
		close := math.Ldexp(1, -rng.IntN(45))
		var released []int
		for i := range n {
			if i > 0 && rng.IntN(2) == 0 {
				released = append(released, i)
				for c := range k {
					q.Data[i*k+c] *= close
				}
			}
			for c := range k {
				q.Data[i*k+c] += offset
			}
		}
		if len(released) == 0 {
			continue
		}
		s := released[0]
		if rng.IntN(2) == 0 {
			released = released[1:] // the private row is not among them
		}
		if len(released) == 0 {
			continue
		}
		g, err := newGeometry(q)
		if err != nil {
			t.Fatal(err)
		}
		search := newSearch(g, Rows{Released: released})
		r := search.evaluate(s)
		up := func(v float64) float64 { return math.Ldexp(v, g.exponent) }
		part, all, sum, far := exactly(0), exactly(0), exactly(0), exactly(0)
		in := make(map[int]bool)
		for _, i := range released {
			in[i] = true
		}
		for j := range n {
			d2 := exactly(0)
			for c := range k {
				d := minus(exactly(q.Data[j*k+c]), exactly(q.Data[s*k+c]))
				d2 = plus(d2, times(d, d))
			}
			all = plus(all, d2)
			if in[j] {
				part = plus(part, d2)
			}
			sum, far = plus(sum, rootOf(d2)), largestOf(far, rootOf(d2))
		}
		for name, c := range map[string]struct {
			got   float64
			want  *big.Float
			above float64 // in units of the largest difference
		}{
			"|Z_T|_F": {r.zPart, rootOf(part), 1e-13}, "|Z|_F": {r.zFrob, rootOf(all), 1e-13}, "sum": {r.sum, sum, 1e-12}, "farthest": {r.farthest, far, 1e-13},
		} {
			off, _ := minus(exactly(up(c.got)), c.want).Float64()
			relative, _ := c.want.Float64()
			if off < -1e-14*relative || off > c.above*up(1) {
				t.Errorf("%s = %g is off by %g", name, up(c.got), off)
			}
		}
	}
}

// Numbers that have lost their digits on the way are refused, also where the
// scale of Q would make them look normal.
func TestNoDigitsLeft(t *testing.T) {
	q := scaled(matrix(1, 0, 1), 0x1p500)
	query := Query{Operator: Full{}, Sigma: 1e139, Alpha: 1e-40, Table: Range{1, 1}}
	if b, err := query.Tight(ReplaceOne, q, Rows{Private: []int{0}, Released: []int{1}}); !errors.Is(err, errUnrepresentable) {
		t.Errorf("%v, %v", b, err)
	}
	public := Public{Features: matrix(2, 1, 0, 0, 1), Labels: []int32{0, 1}}
	query = Query{Operator: Full{}, Sigma: 1e80, Alpha: 0.6, Table: Gaussian{2, 1e80}}
	if b, err := query.Known(context.Background(), ReplaceOne, scaled(exampleQ, 0x1p500), public, nil); err == nil {
		t.Errorf("%v", b)
	}
	for _, change := range []func(q *Query){
		func(q *Query) { q.Alpha = 1e-120 },
		func(q *Query) { q.Table = Range{0, 1e-120} },
	} {
		if _, err := with(change).Tight(ReplaceOne, exampleQ, Rows{}); !errors.Is(err, errUnrepresentable) {
			t.Errorf("%v", err)
		}
	}
}
