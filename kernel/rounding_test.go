package kernel

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The first step in 200-bit arithmetic, from the definition: what is computed
// in float64 must be within the error that package sensitivity accounts for.

const bigBits = 200

func bigOf(v float64) *big.Float { return new(big.Float).SetPrec(bigBits).SetFloat64(v) }

func bigInt(v int64) *big.Float { return new(big.Float).SetPrec(bigBits).SetInt64(v) }

func bigNew() *big.Float { return new(big.Float).SetPrec(bigBits) }

// bigExp returns exp(-x) for x >= 0: the Taylor series of exp(-x/2^m), squared m
// times. The squarings double a relative error each, hence the bits to spare.
func bigExp(x *big.Float) *big.Float {
	const bits = bigBits + 64
	if x.Sign() == 0 {
		return bigInt(1)
	}
	m := max(0, x.MantExp(nil)+8)
	y := new(big.Float).SetPrec(bits).SetMantExp(x, -m)
	y.Neg(y)
	sum, term := new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -bits; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetPrec(bits).SetInt64(k))
		sum.Add(sum, term)
	}
	for range m {
		sum.Mul(sum, sum)
	}
	return bigNew().Set(sum)
}

func TestBigExp(t *testing.T) {
	rng := pointtest.Rand(1)
	for range 200 {
		x := math.Exp(rng.Float64()*30 - 23)
		got, _ := bigExp(bigOf(x)).Float64()
		if want := math.Exp(-x); math.Abs(got-want) > 4e-16*want {
			t.Errorf("exp(-%v) = %v, want %v", x, got, want)
		}
		// exp(-x) exp(-y) = exp(-x-y) to nearly all bits.
		y := 3 * rng.Float64()
		product := bigNew().Mul(bigExp(bigOf(x)), bigExp(bigOf(y)))
		whole := bigExp(bigNew().Add(bigOf(x), bigOf(y)))
		if gap := bigNew().Sub(product, whole); gap.Sign() != 0 && gap.MantExp(nil) > whole.MantExp(nil)-bigBits+8 {
			t.Errorf("exp(-%v) exp(-%v) is off", x, y)
		}
	}
}

// A firstStepCase is a query with all its data.
type firstStepCase struct {
	rows           *UnitRows
	sigma, alpha   float64
	radius, weight float64 // of the background; radius 0 for the full kernel
	labels         []int32
	table          string
	classes        int
	q              blas64.General
	level          simd.Level
}

func (c *firstStepCase) tables() (Table, sensitivity.Table) {
	switch c.table {
	case "equal":
		return EqualTable(), sensitivity.Equal{Classes: c.classes}
	case "different":
		return DifferentTable(), sensitivity.Different{Classes: c.classes}
	}
	return GaussianTable(Sigma(c.sigma)), sensitivity.Gaussian{Classes: c.classes, Sigma: c.sigma}
}

// computed returns f as the operators compute it.
func (c *firstStepCase) computed(t pointtest.Tester) blas64.General {
	t.Helper()
	var op Operator64
	var err error
	opt := &Options{Kernels: simd.At(c.level)}
	if c.radius > 0 {
		op, err = c.rows.Background(t.Context(), Sigma(c.sigma), c.radius, c.weight, opt)
	} else {
		op, err = c.rows.Dense(t.Context(), Sigma(c.sigma), opt)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	table, _ := c.tables()
	return firstStep64(t, op, c.q, c.labels, table, c.alpha)
}

func (c *firstStepCase) query() sensitivity.Query {
	_, table := c.tables()
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: c.sigma, Alpha: c.alpha, Table: table}
	if c.radius > 0 {
		query.Operator = sensitivity.Background{Radius: c.radius, Weight: c.weight}
	}
	return query
}

// allowed returns the error accounted for.
func (c *firstStepCase) allowed(t pointtest.Tester) sensitivity.Eta {
	t.Helper()
	eta, err := c.query().RoundingError(c.q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: c.rows.own.Dim()})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return eta
}

// exact returns f - Q from the definition. Which pairs are within the radius is
// part of it: the float64 distance decides.
func (c *firstStepCase) exact() []*big.Float {
	n, k := c.q.Rows, c.q.Cols
	gamma := bigOf(c.sigma) // 1/(2 sigma^2)
	gamma.Mul(gamma, gamma)
	gamma.Quo(bigOf(.5), gamma)
	constant := bigOf(c.weight)
	byClass := make(map[int32]*big.Float)
	degree, out := make([]*big.Float, n), make([]*big.Float, n*k)
	for i := range degree {
		degree[i] = bigNew()
	}
	for i := range out {
		out[i] = bigNew()
	}
	alpha, four, term, step := bigOf(c.alpha), bigInt(4), bigNew(), bigNew()
	for i := range n {
		for j := range i {
			d2, near := bigInt(1), c.radius >= 1 // the null record
			null := c.rows.Null(i) || c.rows.Null(j)
			if !null {
				d2 = bigNew()
				a, b := c.rows.own.Rows.Row(i), c.rows.own.Rows.Row(j)
				for e := range a {
					term.Sub(bigOf(a[e]), bigOf(b[e]))
					d2.Add(d2, step.Mul(term, term))
				}
				if d2.Cmp(four) > 0 {
					d2 = four
				}
				near = math.Sqrt(min(rows.Dist2(a, b), 4)) <= c.radius
			}
			w := bigExp(bigNew().Mul(gamma, d2))
			if c.radius > 0 && (!near || !null && w.Cmp(constant) < 0) {
				w = constant
			}
			degree[i].Add(degree[i], w)
			degree[j].Add(degree[j], w)
			weight := bigNew().Mul(alpha, c.labelWeight(c.labels[i], c.labels[j], gamma, byClass))
			weight.Sub(weight, w)
			for col := range k {
				term.Sub(bigOf(c.q.Data[i*k+col]), bigOf(c.q.Data[j*k+col]))
				term.Mul(term, weight)
				out[i*k+col].Add(out[i*k+col], term)
				out[j*k+col].Sub(out[j*k+col], term)
			}
		}
	}
	for i := range out {
		out[i].Quo(out[i], degree[i/k])
		out[i].Mul(out[i], bigOf(.5))
	}
	return out
}

func (c *firstStepCase) labelWeight(a, b int32, gamma *big.Float, known map[int32]*big.Float) *big.Float {
	switch {
	case c.table == "equal" && a == b, c.table == "different" && a != b:
		return bigInt(1)
	case c.table != "gaussian":
		return bigNew()
	}
	d := max(a-b, b-a)
	if known[d] == nil {
		known[d] = bigExp(bigNew().Mul(gamma, bigInt(int64(d)*int64(d))))
	}
	return known[d]
}

// ratio returns the error of f, and of f - Q as a caller computes it, the larger,
// as a part of the error accounted for, at the level where it is largest.
func (c *firstStepCase) ratio(t pointtest.Tester) (most float64) {
	t.Helper()
	exact, allowed := c.exact(), c.allowed(t).Value()
	for _, c.level = range simd.Levels() {
		f := c.computed(t)
		ofStep, ofChange := 0.0, 0.0
		for i, want := range exact {
			v, q := f.Data[i], c.q.Data[i]
			e, _ := bigNew().Sub(bigOf(v-q), want).Float64()
			ofChange = math.Hypot(ofChange, e)
			e, _ = bigNew().Sub(bigNew().Sub(bigOf(v), bigOf(q)), want).Float64()
			ofStep = math.Hypot(ofStep, e)
		}
		ratio := max(ofStep, ofChange) / allowed
		if !(ratio <= most) { // also a NaN, which stays
			most = max(most, ratio)
		}
	}
	return most
}

func drawFirstStep(t *rapid.T, background bool) *firstStepCase {
	c := &firstStepCase{level: rapid.SampledFrom(simd.Levels()).Draw(t, "level"), rows: drawUnit(t, rapid.SampledFrom([]int{3, 12, 60}).Draw(t, "most rows"), []int{1, 2, 5, 9, 24})}
	n := c.rows.N()
	c.sigma = math.Exp(rapid.Float64Range(math.Log(.3), math.Log(50)).Draw(t, "log sigma"))
	c.alpha = rapid.OneOf(rapid.Float64Range(-100, 100), rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-100, 0, 100})).Draw(t, "alpha")
	if math.Abs(c.alpha) < 1e-80 {
		c.alpha = 0 // products with it may underflow, and the bound is refused
	}
	c.table = rapid.SampledFrom([]string{"gaussian", "equal", "different"}).Draw(t, "table")
	c.classes = rapid.SampledFrom([]int{1, 2, n, n}).Draw(t, "classes")
	rng := pointtest.Rand(rapid.Uint64().Draw(t, "seed of labels and Q"))
	c.labels = make([]int32, n)
	for i, v := range rng.Perm(n) {
		c.labels[i] = int32(v % c.classes)
	}
	c.q = pointtest.Zeros64(n, rapid.IntRange(1, 3).Draw(t, "k"))
	start := rapid.SampledFrom([]string{"gaussian", "offset", "grains", "equal"}).Draw(t, "start")
	drawStart(rng, start, math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log scale")), c.q.Data)
	if background {
		b := Sigma(c.sigma)
		c.radius = drawRadius(t, c.rows)
		low, high := b.Weight(4), b.Weight(c.radius*c.radius)
		c.weight = min(max(low+rapid.SampledFrom([]float64{0, .5, .5, 1}).Draw(t, "part")*(high-low), low), high)
	}
	return c
}

// drawStart fills in Q: offsets and equal entries round the same way again and
// again, grains are numbers of few bits next to a large one.
func drawStart(rng *rand.Rand, kind string, scale float64, q []float64) {
	offset := scale * rng.NormFloat64()
	for i := range q {
		switch kind {
		case "gaussian":
			q[i] = scale * rng.NormFloat64()
		case "offset":
			q[i] = offset + math.Pow(10, -12*rng.Float64())*scale*rng.NormFloat64()
		case "grains":
			q[i] = scale * (1 + float64(rng.IntN(4))*0x1p-52)
		case "equal":
			q[i] = offset
		}
	}
	if kind == "grains" || kind == "equal" {
		q[0] = -q[0] // where all rows are equal there is no query
	}
}

func TestRoundingError(t *testing.T) {
	for _, background := range []bool{false, true} {
		name := "dense"
		if background {
			name = "background"
		}
		t.Run(name, func(t *testing.T) {
			most := 0.0
			rapid.Check(t, func(t *rapid.T) {
				c := drawFirstStep(t, background)
				ratio := c.ratio(t)
				most = max(most, ratio)
				if !(ratio <= 1) {
					t.Fatalf("the error is %g of what is accounted for", ratio)
				}
			})
			t.Logf("largest part of the error accounted for: %.3g", most)
		})
	}
}

// The same with more rows than a block has, and with more columns than a kernel takes at
// once.
func TestRoundingErrorOfBlocks(t *testing.T) {
	for _, size := range []struct{ n, d int }{{distance.BlockRows + 37, 9}, {27, 300}} {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprintf("n=%d/d=%d/background=%v", size.n, size.d, background), func(t *testing.T) {
				t.Parallel()
				rng := pointtest.Rand(uint64(size.n))
				c := &firstStepCase{
					rows: unitRows(t, makeUnit("random", size.n, size.d, size.n/2, 5)), sigma: 2, alpha: 3, table: "equal", classes: 4,
					labels: pointtest.RandomLabels(rng, size.n, 4, false), q: pointtest.Zeros64(size.n, 2),
				}
				c.labels[size.n/2] = 0
				drawStart(rng, "offset", 5, c.q.Data)
				if background {
					c.radius, c.weight = 1.2, Sigma(c.sigma).Weight(2)
				}
				ratio := c.ratio(t)
				t.Logf("part of the error accounted for: %.3g", ratio)
				if !(ratio <= 1) {
					t.Errorf("the error is %g of what is accounted for", ratio)
				}
			})
		}
	}
}

// replace returns the case with another record s: the null record, the opposite
// of another row, a copy of it, or anything; and another label if labels are
// private.
func (c *firstStepCase) replace(t *rapid.T, s int, null, label bool) *firstStepCase {
	n, d := c.rows.N(), c.rows.own.Dim()
	other := *c
	other.rows = &UnitRows{distance.UnitRows{NullRow: c.rows.own.NullRow, Rows: rows.NewView(n, d, d, slices.Clone(c.rows.own.Rows.Data))}}
	other.labels = slices.Clone(c.labels)
	row := other.rows.own.Rows.Row(s)
	if null {
		clear(row)
		other.rows.own.NullRow = s
	} else {
		source := c.rows.own.Rows.Row(rapid.IntRange(0, n-1).Draw(t, "like row"))
		sign := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sign")
		for e, v := range source {
			row[e] = sign * v
		}
		if rapid.Bool().Draw(t, "anywhere") || distance.ToUnit(row) == 0 {
			gaussianRow(pointtest.Rand(rapid.Uint64().Draw(t, "seed of row")), row)
			distance.ToUnit(row)
		}
		if other.rows.own.NullRow == s {
			other.rows.own.NullRow = -1
		}
	}
	if label {
		other.labels[s] = 0
		if !null {
			other.labels[s] = int32(rapid.IntRange(0, c.classes-1).Draw(t, "label"))
		}
	}
	return &other
}

// Two computed first steps of neighbouring data are no farther apart than the
// bound with its error says.
func TestNeighboursWithinTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawFirstStep(t, rapid.Bool().Draw(t, "background"))
		s := rapid.IntRange(0, c.rows.N()-1).Draw(t, "s")
		if c.rows.own.NullRow >= 0 { // the only null record there may be is row s
			c = c.replace(t, c.rows.own.NullRow, false, false)
		}
		relation := rapid.SampledFrom([]sensitivity.Relation{
			sensitivity.ReplaceOne, sensitivity.Null, sensitivity.FeaturesReplace, sensitivity.FeaturesNull,
		}).Draw(t, "relation")
		null := relation == sensitivity.Null || relation == sensitivity.FeaturesNull
		other := c.replace(t, s, null, relation.LabelPrivate())
		eta := c.allowed(t)
		limit := 2 * eta.Value() // all there is where every weight is 1, or next to it
		bound, err := c.query().Tight(relation, c.q, sensitivity.Rows{Private: []int{s}})
		if err == nil {
			bound, err = bound.Inflate(eta)
			limit = bound.Value()
		}
		if err != nil && !errors.Is(err, sensitivity.ErrNoBound) {
			t.Fatalf("%v", err)
		}
		if apart := frobenius(c.computed(t), other.computed(t)); apart > limit {
			t.Fatalf("%g apart, bound %g", apart, limit)
		}
	})
}
