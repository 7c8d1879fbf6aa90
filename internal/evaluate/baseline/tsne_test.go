package baseline

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/pca"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
)

func randomPoints(n int, seed uint64) []point {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := make([]point, n)
	for i := range p {
		p[i] = point{rng.NormFloat64(), 3 * rng.NormFloat64()}
	}
	return p
}

// With theta = 0 the tree is the plain double sum; with 0.5 it is close.
func TestQuadtree(t *testing.T) {
	p := randomPoints(300, 1)
	p = append(p, p[0], p[0], p[1], point{p[2].x + 1e-15, p[2].y}) // coincident and nearly so
	var tree quadtree
	for range 2 { // the memory is used again
		tree.build(p)
	}
	var stack []int32
	for _, at := range append(p[:20:20], point{100, -50}) {
		var weight float64
		var force point
		for _, q := range p {
			dx, dy := at.x-q.x, at.y-q.y
			w := 1 / (1 + dx*dx + dy*dy)
			weight += w
			force.x += w * w * dx
			force.y += w * w * dy
		}
		for _, c := range []struct{ theta, tolerance float64 }{{0, 1e-11}, {0.5, 0.05}} {
			var w float64
			var f point
			w, f, stack = tree.repulsion(at, c.theta, stack)
			if math.Abs(w-weight) > c.tolerance*weight || math.Hypot(f.x-force.x, f.y-force.y) > c.tolerance*(1+math.Hypot(force.x, force.y)) {
				t.Errorf("theta %g: %g %v, want %g %v", c.theta, w, f, weight, force)
			}
		}
	}
}

func TestConditional(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, perplexity := range []float64{2, 5, 20} {
		p := make([]float64, 60)
		for j := range p {
			p[j] = 100 + rng.Float64()
		}
		conditional(p, perplexity)
		sum, entropy := 0.0, 0.0
		for _, v := range p {
			sum += v
			entropy -= v * math.Log(v)
		}
		if math.Abs(sum-1) > 1e-12 || math.Abs(math.Exp(entropy)-perplexity) > 1e-6*perplexity {
			t.Errorf("sum %g, perplexity %g, want %g", sum, math.Exp(entropy), perplexity)
		}
	}
	equal := []float64{2, 2, 2, 2}
	conditional(equal, 2)
	for _, v := range equal {
		if v != 0.25 {
			t.Errorf("equal distances: %v", equal)
		}
	}
}

// The gradient is that of the divergence, by differences.
func TestGradient(t *testing.T) {
	x := mat.NewDense(30, 4, nil)
	rng := rand.New(rand.NewPCG(5, 1))
	for i := range 30 {
		for j := range 4 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	d, err := newDescent(t.Context(), x, tsneSettings{Perplexity: 9, Theta: -1})
	if err != nil {
		t.Fatal(err)
	}
	d.y = randomPoints(30, 7)
	divergence := func() (kl float64) {
		total := 0.0
		weight := func(i, j int) float64 {
			dx, dy := d.y[i].x-d.y[j].x, d.y[i].y-d.y[j].y
			return 1 / (1 + dx*dx + dy*dy)
		}
		for i := range d.y {
			for j := range d.y {
				if i != j {
					total += weight(i, j)
				}
			}
		}
		for i := range d.y {
			for _, e := range d.affinity[i] {
				kl += e.p * math.Log(e.p*total/weight(i, int(e.row)))
			}
		}
		return kl
	}
	const h = 1e-5
	want := make([]point, len(d.y))
	for i := range d.y {
		for _, c := range []struct{ at, out *float64 }{{&d.y[i].x, &want[i].x}, {&d.y[i].y, &want[i].y}} {
			old := *c.at
			*c.at = old + h
			up := divergence()
			*c.at = old - h
			*c.out = (up - divergence()) / (2 * h)
			*c.at = old
		}
	}
	before := append([]point(nil), d.y...)
	d.rate = 1
	if err := d.step(t.Context(), nil, 1, 0); err != nil {
		t.Fatal(err)
	}
	// From rest a coordinate moves by gain times gradient, with gain 1.2 where the
	// gradient is above 0 and 0.8 elsewhere; then all are moved alike.
	gained := func(g float64) float64 {
		if g > 0 {
			return 1.2 * g
		}
		return 0.8 * g
	}
	shift := point{before[0].x - d.y[0].x - gained(want[0].x), before[0].y - d.y[0].y - gained(want[0].y)}
	for i, w := range want {
		dx, dy := before[i].x-d.y[i].x-shift.x, before[i].y-d.y[i].y-shift.y
		if math.Abs(dx-gained(w.x)) > 1e-7 || math.Abs(dy-gained(w.y)) > 1e-7 {
			t.Fatalf("point %d moved by %g, %g, gradient %v", i, dx, dy, w)
		}
	}
}

func someDigits(t *testing.T, n int) (*mat.Dense, []int32) {
	t.Helper()
	x, y := digits.Load()
	x.Rows = n
	f, err := evaluate.Features(x, upTo(n), 32)
	if err != nil {
		t.Fatal(err)
	}
	return f, y[:n]
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// On 500 digits the map keeps far more of the neighbourhoods than the plane of
// the principal components, and classes stay together.
func TestTSNEKeepsNeighbourhoods(t *testing.T) {
	f, labels := someDigits(t, 500)
	y, err := tsne(t.Context(), f, &tsneSettings{Iterations: 300})
	if err != nil {
		t.Fatal(err)
	}
	components, err := pca.Fit(f.RawMatrix(), 2)
	if err != nil {
		t.Fatal(err)
	}
	plane, err := pca.Project(components, f.RawMatrix())
	if err != nil {
		t.Fatal(err)
	}
	all := upTo(500)
	rank := func(x *mat.Dense) *evaluate.Ranking {
		index, _, err := nearest.Within(t.Context(), x.RawMatrix(), all, all, 8, nearest.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return &evaluate.Ranking{K: 8, Index: index}
	}
	exact, mapped := rank(f), rank(y)
	kept, err := evaluate.Overlap(exact, mapped, 8)
	if err != nil {
		t.Fatal(err)
	}
	linear, err := evaluate.Overlap(exact, rank(plane), 8)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mapped.Score(labels, labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	if kept < 0.5 || kept < 2.5*linear || s.At[0].Recall < 0.9 {
		t.Errorf("overlap %.3f in the map, %.3f in the plane; R@1 %.3f", kept, linear, s.At[0].Recall)
	}
}

func TestTSNESameBits(t *testing.T) {
	f, _ := someDigits(t, 150)
	var first *mat.Dense
	for _, count := range []int{1, 2, 5} {
		workers := par.New(count)
		y, err := tsne(t.Context(), f, &tsneSettings{Iterations: 40, Workers: workers})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = y
		} else if !mat.Equal(first, y) {
			t.Errorf("%d workers give other bits", count)
		}
	}
}

func TestTSNERefuses(t *testing.T) {
	f, _ := someDigits(t, 50)
	for name, c := range map[string]struct {
		x *mat.Dense
		s *tsneSettings
	}{
		"too few rows":   {mat.NewDense(3, 2, nil), nil},
		"perplexity":     {f, &tsneSettings{Perplexity: 60}},
		"NaN perplexity": {f, &tsneSettings{Perplexity: math.NaN()}},
		"iterations":     {f, &tsneSettings{Iterations: -1}},
	} {
		if _, err := tsne(t.Context(), c.x, c.s); !errors.Is(err, evaluate.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := mat.DenseCopyOf(f)
	bad.Set(3, 3, math.Inf(1))
	if _, err := tsne(t.Context(), bad, nil); !errors.Is(err, evaluate.ErrNonFinite) {
		t.Errorf("infinite: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tsne(ctx, f, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	// All rows equal: no neighbourhood to keep, and no panic.
	same := mat.NewDense(20, 3, nil)
	if y, err := tsne(t.Context(), same, &tsneSettings{Iterations: 20}); err != nil || points.CheckFinite(y.RawMatrix()) != nil {
		t.Errorf("equal rows: %v", err)
	}
}
