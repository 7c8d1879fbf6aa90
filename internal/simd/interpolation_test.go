package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nodesCase is a grid of some rows of p nodes each, and m points.
type nodesCase struct {
	rows, p, m int
	row, last  []float64
	x, nodes   []float64
}

// misaligned returns a guarded slice of normally distributed numbers. Memory after it
// may not be touched, so it begins at any multiple of eight bytes.
func misaligned(r *rand.Rand, t *testing.T, n int) []float64 {
	s := guarded[float64](t, n)
	for i := range s {
		s[i] = r.NormFloat64()
	}
	return s
}

func newNodesCase(r *rand.Rand, t *testing.T, rows, p, m int) *nodesCase {
	c := &nodesCase{
		rows: rows, p: p, m: m, row: misaligned(r, t, rows*m), last: misaligned(r, t, p*m),
		x: misaligned(r, t, m), nodes: misaligned(r, t, rows*p),
	}
	for i := range c.x { // points whose number is 0, including the last ones
		if r.IntN(5) == 0 || i >= m-r.IntN(NodeLanes) {
			c.x[i] = 0
		}
	}
	return c
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// Every level has the bits of the reference, which computes the sums of the contract.
// Nothing beyond the slices is touched.
func TestNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, level := range Levels() {
		s := At(level)
		for p := range 18 {
			t.Run(fmt.Sprintf("level=%v/p=%d", level, p), func(t *testing.T) {
				for _, rows := range []int{0, 1, 2, 3, p, p + 1, p * p} {
					for _, m := range []int{8, 16, 24, 128} {
						newNodesCase(r, t, rows, p, m).check(r, t, s)
					}
				}
			})
		}
	}
}

func (c *nodesCase) check(r *rand.Rand, t *testing.T, s *Kernels) {
	t.Helper()
	got := guarded[float64](t, c.rows*c.p)
	copy(got, c.nodes)
	want := slices.Clone(got)
	s.PointsToNodes(got, c.row, c.last, c.x)
	for at := range want {
		var chain [NodeLanes]float64
		for i, v := range c.x {
			product := c.row[at/c.p*c.m+i] * v
			chain[i%NodeLanes] += float64(product * c.last[at%c.p*c.m+i])
		}
		for half := NodeLanes / 2; half > 0; half /= 2 {
			for l := range half {
				chain[l] += chain[half+l]
			}
		}
		want[at] += chain[0]
	}
	if !sameBits(got, want) {
		t.Fatalf("to %d rows from %d points: %v, want %v", c.rows, c.m, got, want)
	}

	n := r.IntN(c.m + 1)
	back, plain := guarded[float64](t, c.m), make([]float64, n)
	s.NodesToPoints(back, c.row, c.last, c.nodes, n)
	for i := range plain {
		for row := range c.rows {
			inner := 0.0
			for b := range c.p {
				inner += float64(c.last[b*c.m+i] * c.nodes[row*c.p+b])
			}
			plain[i] += float64(c.row[row*c.m+i] * inner)
		}
	}
	if !sameBits(back[:n], plain) {
		t.Fatalf("from %d rows to %d of %d points: %v, want %v", c.rows, n, c.m, back[:n], plain)
	}
}

func TestLagrangeBasis(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	for _, level := range Levels() {
		for p := range 26 {
			for _, m := range []int{0, 8, 16, 40, 128} {
				t.Run(fmt.Sprintf("level=%v/p=%d/m=%d", level, p, m), func(t *testing.T) {
					at, nodes, factor := misaligned(r, t, m), misaligned(r, t, p), misaligned(r, t, p)
					if m > 0 && p > 0 {
						at[r.IntN(m)] = nodes[r.IntN(p)] // at a node all other polynomials are zero
					}
					got, want := guarded[float64](t, p*m), make([]float64, p*m)
					At(level).LagrangeBasis(got, at, nodes, factor)
					lagrangeBasisGo(want, at, nodes, factor)
					if !sameBits(got, want) {
						t.Fatalf("%v, want %v", got, want)
					}
					for a := range p {
						for i, v := range at {
							product := factor[a]
							for b, node := range nodes {
								if b != a {
									product *= v - node
								}
							}
							if e := math.Abs(got[a*m+i] - product); e > float64(4*p+4)*0x1p-53*math.Abs(product) {
								t.Fatalf("node %d at %g: %g, want %g", a, v, got[a*m+i], product)
							}
						}
					}
				})
			}
		}
	}
}

func TestNodesPanics(t *testing.T) {
	s, v := At(Best()), make([]float64, 64)
	mustPanic(t, "points of a basis", func() { s.LagrangeBasis(v, v[:9], v[:2], v[:2]) })
	mustPanic(t, "short basis", func() { s.LagrangeBasis(v[:15], v[:8], v[:2], v[:2]) })
	mustPanic(t, "short factors", func() { s.LagrangeBasis(v, v[:8], v[:2], v[:1]) })
	mustPanic(t, "points to nodes", func() { s.PointsToNodes(v[:1], v[:9], v[:9], v[:9]) })
	mustPanic(t, "rows", func() { s.PointsToNodes(v[:1], v[:12], v[:8], v[:8]) })
	mustPanic(t, "nodes", func() { s.PointsToNodes(v[:5], v[:16], v[:16], v[:8]) })
	mustPanic(t, "last", func() { s.NodesToPoints(v[:8], v[:8], v[:9], v[:1], 8) })
	mustPanic(t, "too many points", func() { s.NodesToPoints(v[:8], v[:8], v[:8], v[:1], 9) })
}
