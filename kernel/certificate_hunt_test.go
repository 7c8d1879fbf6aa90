package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/poly"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// The hunt looks for a row of any operator whose weights are farther from the kernel
// than its certificate says: over random data of all kinds, bandwidths from a
// thousandth to a thousand times the extent and all tolerances, and from there uphill,
// towards the largest ratio of what is measured to what is certified.
//
// go test runs a part of it. PM_HUNT=N runs 2,000 random cases and 20 climbs for each
// operator, drawn from seed N.

// A huntCase is what all operators are built of.
type huntCase struct {
	kind             string
	p                blas32.General
	sigma, tolerance float64
	policy           IsolatedPolicy
}

func (c *huntCase) String() string {
	return fmt.Sprintf("%s, %d x %d, sigma %g, tolerance %g, %v", c.kind, c.p.Rows, c.p.Cols, c.sigma, c.tolerance, c.policy)
}

// huntKinds are the shapes of data: those that break searches, and rows of unit norm,
// scattered and in tight bundles.
func huntKinds() []string { return append(pointtest.Kinds(), "unit", "bundles") }

func makeHunted(rng *rand.Rand, kind string, n, d int) blas32.General {
	seed := rng.Uint64()
	switch kind {
	case "unit", "bundles":
		p := blas32.General{Rows: n, Cols: d, Stride: d, Data: pointtest.Fill(n*d, func(int) float64 { return rng.NormFloat64() })}
		for i := range n {
			if kind == "bundles" && i >= 3 {
				for a := range d {
					p.Data[i*d+a] = p.Data[i%3*d+a] + float32(0.05*rng.NormFloat64())
				}
			}
		}
		if points.NormalizeRows(p, p) != nil { // a row of zeros
			return pointtest.Make("uniform", n, d, seed)
		}
		return p
	}
	return pointtest.Make(kind, n, d, seed)
}

// drawHunt draws a case of up to most points.
func drawHunt(rng *rand.Rand, least, most int) *huntCase {
	dims := []int{1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 9, 16, 32, 64, 128, 512}
	c := &huntCase{kind: huntKinds()[rng.IntN(len(huntKinds()))], policy: IsolatedPolicy(rng.IntN(2))}
	n, d := least+rng.IntN(most-least+1), dims[rng.IntN(len(dims))]
	c.p = makeHunted(rng, c.kind, n, d)
	extent := 1.0
	if e := math.Sqrt(mustInspect(c.p).Extent2()); e > 0 {
		extent = e
	}
	c.sigma = extent * math.Pow(10, 6*rng.Float64()-3)
	c.tolerance = math.Pow(10, -6*rng.Float64()-0.5)
	return c
}

func mustInspect(p blas32.General) *rows.Points {
	pts, err := base.Points32(context.Background(), p, &base.Options{Kernels: simd.At(simd.Best())})
	if err != nil {
		panic(err)
	}
	return pts
}

// build builds an operator, nil where it says that it cannot serve.
func (c *huntCase) build(t *testing.T, name string) Operator {
	t.Helper()
	op, err := Build(t.Context(), c.p, Sigma(c.sigma), &Options{
		Operator: name, Tolerance: c.tolerance, Isolated: c.policy, Calibration: new(Calibration), MaxMemory: 1 << 30,
	})
	if errors.Is(err, ErrTolerance) || errors.Is(err, ErrOperator) || errors.Is(err, ErrMemory) {
		return nil
	}
	if err != nil {
		t.Fatalf("%s: %v: %v", name, c, err)
	}
	return op
}

// ratio returns the largest ratio of the error of a row of op, entry by entry, to what
// its certificate allows; above 1 it is violated.
func (c *huntCase) ratio(t *testing.T, op Operator) (worst float64) {
	t.Helper()
	n, d := c.p.Rows, c.p.Cols
	b, p, cert := Sigma(c.sigma), rows.View32(pointtest.PermuteRows(c.p, op.Order())), op.Certificate()
	got := pointtest.Zeros64(n, n)
	if wide, ok := op.(Operator64); ok {
		identity := pointtest.Zeros64(n, n)
		for i := range n {
			identity.Data[i*n+i] = 1
		}
		if err := wide.Apply64(t.Context(), got, identity); err != nil {
			t.Fatal(err)
		}
	} else {
		identity := pointtest.Zeros32(n, n)
		for i := range n {
			identity.Data[i*n+i] = 1
		}
		got = pointtest.Widen(apply(t, op, identity))
	}
	for i := range n {
		degree, eta := op.Degrees()[i], cert.Eta(i)
		if math.IsInf(eta, 1) {
			continue
		}
		off, sum, slack := 0.0, 0.0, float64(n)*0x1p-149
		for j := range n {
			what, w := got.Data[i*n+j], 0.0
			if i != j {
				d2 := rows.Dist2(p.Row(i), p.Row(j))
				w = b.Weight(d2)
				slack += w * (b.Gamma()*d2*float64(d+4)*0x1p-53 + 0x1p-51) // the reference's own error
			}
			off += math.Abs(what - w)
			sum += what
			slack += cert.Rounding * math.Abs(what)
		}
		worst = max(worst, off/(eta*degree+slack))
		if e := math.Abs(sum - degree); e > slack+float64(n)*0x1p-52*degree {
			t.Fatalf("%s: %v: row %d has degree %g and weights that sum to %g", op.Name(), c, i, degree, sum)
		}
	}
	return worst
}

// change returns a case near c.
func (c *huntCase) change(rng *rand.Rand) *huntCase {
	out := *c
	out.p.Data = slices.Clone(c.p.Data)
	row := func() []float32 { return rows.View32(out.p).Row(rng.IntN(out.p.Rows)) }
	switch rng.IntN(6) {
	case 0:
		out.sigma *= math.Exp(0.3 * rng.NormFloat64())
	case 1:
		out.tolerance = min(out.tolerance*math.Exp(rng.NormFloat64()), 0.5)
	case 2:
		copy(row(), row())
	case 3: // one point along one axis, by any part of sigma
		r := row()
		r[rng.IntN(len(r))] += float32(c.sigma * rng.NormFloat64() * math.Pow(10, -3*rng.Float64()))
	default: // one point towards or past another
		r, other, share := row(), row(), 2*rng.NormFloat64()
		for a := range r {
			r[a] += float32(share) * (other[a] - r[a])
		}
	}
	for _, v := range out.p.Data {
		if v-v != 0 {
			return c
		}
	}
	return &out
}

// huntTally counts the cases an operator has served, and keeps its largest ratio.
type huntTally struct {
	sync.Mutex
	served map[string]int
	worst  map[string]float64
}

func (h *huntTally) add(name string, ratio float64) {
	h.Lock()
	defer h.Unlock()
	h.served[name]++
	h.worst[name] = max(h.worst[name], ratio)
}

func TestCertificateHunt(t *testing.T) {
	t.Parallel()
	const seed = 1
	cases, climbs := longtest.Pick(24, 120, 2000), longtest.Pick(1, 1, 20)
	large, largest := longtest.Pick(1, 2, 40), longtest.Pick(600, 1000, 3000)
	tally := &huntTally{served: map[string]int{}, worst: map[string]float64{}}
	const shards = 4
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(strconv.Itoa(shard), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(seed, uint64(shard)))
				for i := range cases / shards {
					most := 40
					if i%20 == 19 {
						most = 300
					}
					c := drawHunt(rng, 1, most)
					for _, name := range OperatorNames() {
						c.hunt(t, name, tally)
					}
				}
				for range max(large/shards, 1) {
					c := drawHunt(rng, 500, largest)
					for _, name := range OperatorNames() {
						if op := c.build(t, name); op != nil {
							checkAgainstDense(t, op, c.p, Sigma(c.sigma))
						}
					}
				}
				for i, name := range OperatorNames() {
					for climb := range climbs {
						if (i+climb)%shards == shard {
							climbHunt(t, rng, name, tally)
						}
					}
				}
			})
		}
	})
	for _, name := range OperatorNames() {
		t.Logf("%s: %d cases served, largest ratio %.3f", name, tally.served[name], tally.worst[name])
		if tally.served[name] < cases/20 {
			t.Errorf("%s served %d of %d cases: they do not try it", name, tally.served[name], cases)
		}
	}
}

// hunt tries one operator on the case and returns its ratio, -1 where it cannot serve.
func (c *huntCase) hunt(t *testing.T, name string, tally *huntTally) float64 {
	t.Helper()
	op := c.build(t, name)
	if op == nil {
		return -1
	}
	if poly, ok := roomOf(op).(*poly.Poly); ok && float64(poly.Nest.Size())*float64(c.p.Rows)*float64(c.p.Rows) > 2e8 {
		return -1 // forced, it would take longer than all the others
	}
	ratio := c.ratio(t, op)
	if !(ratio <= 1) {
		t.Errorf("%s: %v: %g times the certificate (%v); points %v", name, c, ratio, op.Certificate(), c.p.Data[:min(len(c.p.Data), 60)])
	}
	tally.add(name, ratio)
	return ratio
}

// climbHunt goes uphill from the best of some random cases.
func climbHunt(t *testing.T, rng *rand.Rand, name string, tally *huntTally) {
	t.Helper()
	var at *huntCase
	height := -1.0
	for range 6 {
		c := drawHunt(rng, 2, 16)
		if ratio := c.hunt(t, name, tally); ratio > height {
			at, height = c, ratio
		}
	}
	for range 30 {
		if at == nil || height > 1 {
			return
		}
		next := at.change(rng)
		if ratio := next.hunt(t, name, tally); ratio >= height {
			at, height = next, ratio
		}
	}
}
