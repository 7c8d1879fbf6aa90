package sensitivity

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// digits is the precision of the reference step.
const digits = 240

func exactly(v float64) *big.Float     { return new(big.Float).SetPrec(digits).SetFloat64(v) }
func plus(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(digits).Add(a, b) }
func minus(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(digits).Sub(a, b) }
func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(digits).Mul(a, b) }
func over(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(digits).Quo(a, b) }

// expOf returns e^-t for t >= 0: the series at t/2^p, squared p times.
func expOf(t *big.Float) *big.Float {
	p := max(0, t.MantExp(nil)) + 8
	small := new(big.Float).SetPrec(digits).SetMantExp(t, -p)
	sum, term := exactly(1), exactly(1)
	for i := 1; i < 26; i++ {
		term = over(times(term, small), exactly(-float64(i)))
		sum = plus(sum, term)
	}
	for range p {
		sum = times(sum, sum)
	}
	return sum
}

// roundingCase is a query with data to compute it on. The features are as given,
// of any norm; a zero row is the null record.
type roundingCase struct {
	sigma, alpha float64
	table        Table
	kernelTable  kernel.Table
	back         Background // for the background
	features     blas64.General
	labels       []int32
	q            blas64.General
}

func (c *roundingCase) unit() blas64.General {
	x := clone(c.features)
	for i := range x.Rows {
		v := blas64.Vector{N: x.Cols, Inc: 1, Data: x.Data[i*x.Stride:]}
		if n := blas64.Nrm2(v); n > 0 {
			blas64.Scal(1/n, v)
		}
	}
	return x
}

// near reports whether a pair of computed rows is within the radius of the
// background.
func (c *roundingCase) near(x blas64.General, i, j int) bool {
	a, b := x.Data[i*x.Stride:][:x.Cols], x.Data[j*x.Stride:][:x.Cols]
	if null := make([]float64, x.Cols); slices.Equal(a, null) || slices.Equal(b, null) {
		return c.back.Radius >= 1
	}
	return squared(a, b) <= c.back.Radius*c.back.Radius
}

// exact returns f - Q with that many digits, for rows divided by their exact
// norms.
func (c *roundingCase) exact() []*big.Float {
	n, k, x := c.q.Rows, c.q.Cols, c.unit()
	rows := make([][]*big.Float, n)
	for i := range rows {
		norm2 := exactly(0)
		for _, v := range c.features.Data[i*c.features.Stride:][:c.features.Cols] {
			rows[i] = append(rows[i], exactly(v))
			norm2 = plus(norm2, times(exactly(v), exactly(v)))
		}
		if norm2.Sign() > 0 {
			norm := new(big.Float).SetPrec(digits).Sqrt(norm2)
			for j, v := range rows[i] {
				rows[i][j] = over(v, norm)
			}
		}
	}
	half := over(exactly(1), times(exactly(2), times(exactly(c.sigma), exactly(c.sigma))))
	w := make([]*big.Float, n*n)
	for i := range n {
		for j := range i {
			d2 := exactly(0)
			for a, v := range rows[i] {
				d := minus(v, rows[j][a])
				d2 = plus(d2, times(d, d))
			}
			w[i*n+j] = expOf(times(d2, half))
			if c.back.Radius > 0 && !c.near(x, i, j) {
				w[i*n+j] = exactly(c.back.Weight)
			}
			w[j*n+i] = w[i*n+j]
		}
	}
	label := func(a, b int32) *big.Float {
		switch t := c.table.(type) {
		case Gaussian:
			d := exactly(float64(a) - float64(b))
			return expOf(over(times(d, d), times(exactly(2), times(exactly(t.Sigma), exactly(t.Sigma)))))
		case Equal, Different:
			if _, equal := t.(Equal); equal == (a == b) {
				return exactly(1)
			}
		}
		return exactly(0)
	}
	f := make([]*big.Float, n*k)
	for i := range n {
		degree := exactly(0)
		for a := range k {
			f[i*k+a] = exactly(0)
		}
		for j := range n {
			if j == i {
				continue
			}
			degree = plus(degree, w[i*n+j])
			weight := minus(w[i*n+j], times(exactly(c.alpha), label(c.labels[i], c.labels[j])))
			for a := range k {
				f[i*k+a] = plus(f[i*k+a], times(weight, minus(exactly(c.q.Data[j*k+a]), exactly(c.q.Data[i*k+a]))))
			}
		}
		for a := range k {
			f[i*k+a] = over(f[i*k+a], times(exactly(2), degree))
		}
	}
	return f
}

// dense returns f - Q as package kernel computes it.
func (c *roundingCase) dense(t *testing.T) []float64 {
	t.Helper()
	ctx := context.Background()
	op, err := kernel.NewDense(ctx, c.unit(), kernel.Sigma(c.sigma), nil)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := kernel.NewLabels(c.labels, c.kernelTable, false)
	if err != nil {
		t.Fatal(err)
	}
	var st kernel.Stats
	if err := st.Gather64(c.q, labels); err != nil {
		t.Fatal(err)
	}
	f := clone(c.q)
	if err := op.Step64(ctx, f, c.q, &kernel.Step{Form: kernel.Paper, Labels: labels, Coefficient: c.alpha}, &st); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.q.Data {
		f.Data[i] -= v
	}
	return f.Data
}

// background returns f - Q with the constant background, by plain sums over the
// pairs within the radius and the class sums of the labels.
func (c *roundingCase) background() []float64 {
	n, k, x, om := c.q.Rows, c.q.Cols, c.unit(), c.back.Weight
	q := slicesOf(c.q)
	weight, classes, _ := c.table.entries()
	total, mean := make([]float64, k), make([]float64, k)
	counts, sums := make([]float64, classes), make([]float64, classes*k)
	for i, row := range q {
		counts[c.labels[i]]++
		for a, v := range row {
			total[a] += v
			sums[int(c.labels[i])*k+a] += v
		}
	}
	for a := range mean {
		mean[a] = total[a] / float64(n)
	}
	f := make([]float64, n*k)
	for i, row := range q {
		degree := om * float64(n-1)
		product := make([]float64, k)
		for a, v := range row {
			product[a] = om * (total[a] - v)
		}
		for j := range n {
			if j == i || !c.near(x, i, j) {
				continue
			}
			d2 := squared(x.Data[i*x.Stride:][:x.Cols], x.Data[j*x.Stride:][:x.Cols])
			w := math.Exp(-d2/(2*c.sigma*c.sigma)) - om
			degree += w
			for a, v := range q[j] {
				product[a] += w * v
			}
		}
		own := 0.0
		target := make([]float64, k)
		for y := range classes {
			u := weight(c.labels[i], int32(y))
			own += u * counts[y]
			for a := range target {
				target[a] += u * (sums[y*k+a] - counts[y]*mean[a])
			}
		}
		for a, v := range row {
			next := v - 0.5*(v-product[a]/degree) + 0.5*(c.alpha/degree)*(own*(v-mean[a])-target[a])
			f[i*k+a] = next - v
		}
	}
	return f
}

func farFrom(f []float64, exact []*big.Float) float64 {
	sum := 0.0
	for i, v := range f {
		d, _ := minus(exactly(v), exact[i]).Float64()
		sum += d * d
	}
	return math.Sqrt(sum)
}

// The rounding bound against 240 bits, on hard cases: a
// large common offset of Q, as many classes as rows, a narrow bandwidth, a large
// alpha of either sign, rows close together, orthonormal, opposite, and null.
func TestRoundingErrorCoversTheStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	largest := 0.0
	for round := range 48 {
		n := []int{2, 9, 21}[round%3]
		dim := []int{2, 8, 20, 40}[round%4]
		c := &roundingCase{
			sigma: []float64{6, 0.8, 0.09, 200}[rng.IntN(4)], alpha: []float64{100, -100, 0.6, 0}[rng.IntN(4)],
			q: gaussianStart(rng, n, 2), labels: make([]int32, n),
		}
		classes := []int{n, 2, 1}[rng.IntN(3)]
		for i := range c.labels {
			c.labels[i] = int32(i % classes)
		}
		switch rng.IntN(3) {
		case 0:
			c.table, c.kernelTable = Equal{classes}, kernel.EqualTable()
		case 1:
			c.table, c.kernelTable = Different{classes}, kernel.DifferentTable()
		default:
			s := []float64{6, 0.3}[rng.IntN(2)]
			c.table, c.kernelTable = Gaussian{classes, s}, kernel.GaussianTable(kernel.Sigma(s))
		}
		if offset := []float64{0, 1e6, -3e9}[rng.IntN(3)]; offset != 0 {
			for i := range c.q.Data {
				c.q.Data[i] += offset
			}
		}
		var flat []float64
		for i := range n {
			x := randomUnit(rng, dim)
			switch rng.IntN(4) {
			case 0: // an axis
				clear(x)
				x[i%dim] = 1
			case 1: // opposite to the row before
				if i > 0 {
					x = negated(flat[(i-1)*dim:])
				}
			case 2: // next to the row before
				if i > 0 {
					for a := range x {
						x[a] = flat[(i-1)*dim+a] + 1e-9*x[a]
					}
				}
			}
			flat = append(flat, x...)
		}
		if round%2 == 0 { // a null record
			clear(flat[:dim])
		}
		c.features = matrix(dim, flat...)
		query := Query{Operator: Full{}, Sigma: c.sigma, Alpha: c.alpha, Table: c.table}
		arithmetic := Arithmetic{UnitRoundoff: 0x1p-53, Dimension: dim}
		check := func(query Query, f []float64) {
			t.Helper()
			eta, err := query.RoundingError(c.q, arithmetic)
			if err != nil {
				t.Fatal(err)
			}
			ratio := farFrom(f, c.exact()) / eta.Value()
			largest = max(largest, ratio)
			if !(ratio <= 1) {
				t.Errorf("round %d: %v, N %d, %d dimensions: off by %g of the bound %g", round, query, n, dim, ratio, eta.Value())
			}
		}
		check(query, c.dense(t))
		c.back = Midpoint(c.sigma, []float64{0.7, 1, 1.5}[rng.IntN(3)])
		query.Operator = c.back
		check(query, c.background())
	}
	t.Logf("largest error over bound: %.3g", largest)
}

// Figures: the formula, a step in float32, and a first-order estimate, which
// has |Q|_F sqrt(n) where this bound has a factor 32.
func TestRoundingError(t *testing.T) {
	query := Query{Operator: Full{}, Sigma: 6, Alpha: 0.6, Table: Gaussian{Classes: 98, Sigma: 6}}
	rng := rand.New(rand.NewPCG(15, 15))
	const rows, dim = 1001, 64
	q := gaussianStart(rng, rows, 2)
	q.Data[0], q.Data[1] = 3.8, 0
	for i := 2; i < len(q.Data); i++ {
		q.Data[i] = min(max(q.Data[i], -2.6), 2.6)
	}
	for _, u := range []float64{0x1p-53, 0x1p-24} {
		eta, err := query.RoundingError(q, Arithmetic{UnitRoundoff: u, Dimension: dim})
		if err != nil {
			t.Fatal(err)
		}
		th := 4.0/72*(dim+8)*11*11*u + 8*u
		label := 0.6 * math.Exp(2.0/36)
		want := (1 + label) * (4*th + 32*(rows+16)*u/(1-(rows+16)*u)) * math.Sqrt(rows) * 3.8
		if math.Abs(eta.Value()/want-1) > 2e-4 || eta.Value() < want {
			t.Errorf("unit roundoff %g: %.9g, want %.9g", u, eta.Value(), want)
		}
		steps := (rows - 1 + 16 + 2.0/36*(dim+3)) * u
		first := steps / (1 - steps) * (1 + math.Sqrt(rows-1)*(1+label)) * frobeniusNorm(q)
		if v := eta.Value() / first; v < 1 || v > 10 {
			t.Errorf("unit roundoff %g: %g, the estimate is %g", u, eta.Value(), first)
		}
	}
	// A relative error of the sums adds to that of the weights.
	base, _ := query.RoundingError(q, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: dim})
	more, err := query.RoundingError(q, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: dim, Relative: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := more.Value()-base.Value(), (1+0.6*math.Exp(2.0/36))*4e-6*math.Sqrt(rows)*3.8; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("a relative error of 1e-6 adds %g, want %g", got, want)
	}
	// It is very small compared with Delta.
	eta, _ := query.RoundingError(q, Arithmetic{UnitRoundoff: 0x1p-53, Dimension: dim})
	if v := 2 * eta.Value() / mustTight(t, FeaturesReplace, query, q, Rows{}); v > 1e-7 {
		t.Errorf("2 eta is %g of Delta", v)
	}
	d := exampleData(exampleQuery)
	eta, err = exampleQuery.RoundingError(exampleQ, Arithmetic{UnitRoundoff: 0x1p-24, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	if v := distance(d.step(), step32(d)); v > eta.Value() || v == 0 {
		t.Errorf("float32 is off by %g, bound %g", v, eta.Value())
	}
	floor := exampleQuery
	floor.Operator = Floor{1.5}
	other, err := floor.RoundingError(exampleQ, Arithmetic{UnitRoundoff: 0x1p-24, Dimension: 2})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "floor", other.Value()/eta.Value(), (1+0.6*3/1.5)/(1+0.6*math.Exp(2)))
}

// The rounding bound grows with everything that makes rounding worse.
func TestRoundingErrorGrows(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 24))
	q := gaussianStart(rng, 40, 2)
	base := Query{Operator: Full{}, Sigma: 2, Alpha: 0.6, Table: Range{0, 1}}
	at := func(query Query, q blas64.General, u float64, dim int) float64 {
		eta, err := query.RoundingError(q, Arithmetic{UnitRoundoff: u, Dimension: dim})
		if err != nil {
			t.Fatal(err)
		}
		return eta.Value()
	}
	change := func(f func(q *Query)) Query { q := base; f(&q); return q }
	more := blas64.General{Rows: 41, Cols: 2, Stride: 2, Data: append(slices.Clone(q.Data), 0, 0)}
	shifted := clone(q)
	for i := range shifted.Data {
		shifted.Data[i] += 1e3
	}
	least := at(base, q, 0x1p-53, 8)
	for name, v := range map[string]float64{
		"unit roundoff": at(base, q, 0x1p-52, 8),
		"dimension":     at(base, q, 0x1p-53, 9),
		"rows":          at(base, more, 0x1p-53, 8),
		"offset":        at(base, shifted, 0x1p-53, 8),
		"alpha":         at(change(func(q *Query) { q.Alpha = -0.7 }), q, 0x1p-53, 8),
		"table":         at(change(func(q *Query) { q.Table = Range{-1.1, 1} }), q, 0x1p-53, 8),
		"bandwidth":     at(change(func(q *Query) { q.Sigma = 1.9 }), q, 0x1p-53, 8),
	} {
		if v <= least {
			t.Errorf("%s: %g, not above %g", name, v, least)
		}
	}
}

// There is no rounding bound where numbers leave the range of float64 on the
// way or weights are taken for zero.
func TestRoundingErrorRange(t *testing.T) {
	float64s := Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 2}
	ok := Query{Operator: Full{}, Sigma: 1, Alpha: 0.6, Table: Equal{3}}
	for name, c := range map[string]struct {
		query Query
		q     blas64.General
	}{
		"narrow bandwidth": {with(func(q *Query) { q.Sigma = 0.055 }), exampleQ},
		"tiny Q":           {ok, scaled(exampleQ, 0x1p-1000)},
		"huge Q":           {ok, scaled(exampleQ, 0x1p1000)},
		"huge alpha":       {with(func(q *Query) { q.Alpha = 1e290 }), exampleQ},
		"huge table":       {with(func(q *Query) { q.Table = Range{0, 1e290} }), exampleQ},
		"tiny floor":       {with(func(q *Query) { q.Operator = Floor{1e-290} }), exampleQ},
	} {
		if _, err := c.query.RoundingError(c.q, float64s); !errors.Is(err, errUnrepresentable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, s := range []float64{0.056, 1e100} {
		if _, err := with(func(q *Query) { q.Sigma = s }).RoundingError(exampleQ, float64s); err != nil {
			t.Errorf("sigma %g: %v", s, err)
		}
	}
}
