package baseline

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

func unitRow(rng *rand.Rand, d int) []float64 {
	v := make([]float64, d)
	norm := 0.0
	for j := range v {
		v[j] = rng.NormFloat64()
		norm += v[j] * v[j]
	}
	for j := range v {
		v[j] /= math.Sqrt(norm)
	}
	return v
}

func upperMoment(rows ...[]float64) []float64 {
	d := len(rows[0])
	var out []float64
	for i := range d {
		for j := i; j < d; j++ {
			s := 0.0
			for _, r := range rows {
				s += r[i] * r[j]
			}
			out = append(out, s)
		}
	}
	return out
}

func distance(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(s)
}

// No replaced unit row moves the upper triangle of the second moment further
// than the bound; orthogonal coordinate axes come close to the whole matrix's
// sqrt(2).
func TestMomentSensitivity(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rest := [][]float64{unitRow(rng, 5), unitRow(rng, 5)}
	worst := 0.0
	for range 2000 {
		a, b := unitRow(rng, 5), unitRow(rng, 5)
		worst = max(worst, distance(upperMoment(append(rest, a)...), upperMoment(append(rest, b)...)))
	}
	axis := func(j int) []float64 { v := make([]float64, 5); v[j] = 1; return v }
	worst = max(worst, distance(upperMoment(append(rest, axis(0))...), upperMoment(append(rest, axis(1))...)))
	if bound := momentSensitivity(3); worst > bound || worst < 0.99*math.Sqrt2 {
		t.Errorf("moved by %g, bound %g", worst, bound)
	}
	if b := momentSensitivity(100_000); b > 1.42 {
		t.Errorf("rounding errors of 100,000 rows make the bound %g", b)
	}
}

// A projected pair of unit rows is never further apart than 2 |P|, and the row
// norms of P, the published bound for one attribute, would be too small.
func TestProjectionSensitivity(t *testing.T) {
	q, err := iterate.RandomStart(t.Context(), 64, 16, 1, 0.25)
	if err != nil {
		t.Fatal(err)
	}
	p := mat.NewDense(q.Rows, q.Cols, q.Data)
	norm, err := spectralNorm(p)
	if err != nil {
		t.Fatal(err)
	}
	var svd mat.SVD
	svd.Factorize(p, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	image := func(scale float64) []float64 {
		out := make([]float64, 16)
		for j := range out {
			for i := range 64 {
				out[j] += scale * u.At(i, 0) * p.At(i, j)
			}
		}
		return out
	}
	apart := distance(image(1), image(-1))
	widest := 0.0
	for i := range 64 {
		widest = max(widest, mat.Norm(p.RowView(i), 2))
	}
	if apart > ballSensitivity(norm)*(1+1e-12) || apart < 1.999*norm || widest >= apart {
		t.Errorf("apart %g, bound %g, largest row norm %g", apart, ballSensitivity(norm), widest)
	}
}

func TestClip(t *testing.T) {
	v := []float64{3, 4}
	clip(v, 10)
	if v[0] != 3 || v[1] != 4 {
		t.Errorf("a short vector became %v", v)
	}
	clip(v, 1)
	if math.Abs(math.Hypot(v[0], v[1])-1) > 1e-15 {
		t.Errorf("clipped to %v", v)
	}
}

// Components of many rows with little noise are those without.
func TestPrivateComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x := mat.NewDense(5000, 6, nil)
	for i := range 5000 {
		row := []float64{3 * rng.NormFloat64(), 2 * rng.NormFloat64(), .1 * rng.NormFloat64(), .1 * rng.NormFloat64(), .1 * rng.NormFloat64(), .1 * rng.NormFloat64()}
		norm := 0.0
		for _, v := range row {
			norm += v * v
		}
		for j := range row {
			row[j] /= math.Sqrt(norm)
		}
		x.SetRow(i, row)
	}
	v, err := privateComponents(x, 2, 1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 2 {
		// The span is that of the first two axes.
		if inside := math.Hypot(v.At(0, j), v.At(1, j)); inside < 0.99 {
			t.Errorf("component %d lies by %g in the plane", j, inside)
		}
	}
	if _, err := privateComponents(x, 7, 1, 1e-5); !errors.Is(err, evaluate.ErrShape) {
		t.Errorf("7 of 6: %v", err)
	}
	if _, err := privateComponents(x, 2, 0, 1e-5); !errors.Is(err, mechanism.ErrParam) {
		t.Errorf("epsilon 0: %v", err)
	}
}

func digitsData() *evaluate.Data {
	x, y := digits.Load()
	return &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
}

func sweep(t *testing.T, modes []evaluate.Mode, epsilons ...float64) []evaluate.Record {
	t.Helper()
	g := evaluate.Grid{Data: []*evaluate.Data{digitsData()}, Modes: modes, Seeds: []uint64{1}, Epsilons: epsilons}
	cells, err := g.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&evaluate.Sweep{Data: g.Data, Modes: modes}).Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// At epsilon 0.01 nothing is left of the query: overlap is that of chance, 8 of
// 1000 rows, and R@8 below its ceiling. At 100 the noise is small enough for
// neighbours to be found, which a broken mode would not do either. Noise is
// fresh in every run, so both bounds are six standard deviations away from the
// means of 300 runs: at most 0.0075 (0.002) at 0.01, and at 100 at least 0.0725
// (0.0065), which is projection's.
func TestNoiseHidesTheQuery(t *testing.T) {
	for _, r := range sweep(t, []evaluate.Mode{Gaussian(), PCA(), Projection()}, 0.01, 100) {
		overlap := r.Figures[evaluate.OverlapAt8]
		switch {
		case r.Epsilon == 0.01 && (overlap > 0.02 || r.Figures[evaluate.RecallAt8] > evaluate.Ceiling(r.Classes, r.Epsilon, r.Delta)+0.06):
			t.Errorf("%s at epsilon 0.01: %v", r.Mode, r.Figures)
		case r.Epsilon == 100 && overlap < 0.033:
			t.Errorf("%s at epsilon 100: %v", r.Mode, r.Figures)
		}
		if r.Facts["noise to signal"] <= 0 {
			t.Errorf("%s: %v", r.Mode, r.Facts)
		}
	}
}

// The way to a place in the map, without noise, mostly leads to rows of the
// class: ten steps that tell little more than a direction.
func TestPlacing(t *testing.T) {
	f, labels := someDigits(t, 400)
	y, err := tsne(t.Context(), f, &tsneSettings{Iterations: 250})
	if err != nil {
		t.Fatal(err)
	}
	public, queries := 350, 50
	c := newPlacing(rows(y, 0, public), 10)
	places := mat.NewDense(queries, 2, nil)
	for i := range queries {
		steps := 0
		p, err := c.place(affinities(f.RawRowView(public+i), rows(f, 0, public)), func(v []float64) ([]float64, error) {
			steps++
			if math.Hypot(v[0], v[1]) > clipLength*(1+1e-12) {
				t.Errorf("a step of %v", v)
			}
			return v, nil
		})
		if err != nil || steps != 10 {
			t.Fatal(steps, err)
		}
		places.SetRow(i, p)
	}
	index, _, err := nearest.Rows(t.Context(), places.RawMatrix(), rows(y, 0, public).RawMatrix(), 8, nearest.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&evaluate.Ranking{K: 8, Index: index}).Score(labels[public:], labels[:public], 8)
	if err != nil || s.At[0].Recall < 0.6 {
		t.Errorf("%v, %v", s, err)
	}
	broken := errors.New("broken")
	if _, err := c.place(make([]float64, public), func([]float64) ([]float64, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a release that fails: %v", err)
	}
}

// The paper's iteration retrieves next to nothing, and its objective falls.
func TestSMLQ(t *testing.T) {
	r := sweep(t, []evaluate.Mode{SMLQ()})[0]
	if r.Figures[evaluate.OverlapAt8] > 0.05 || r.Figures[evaluate.RecallAt1] > 0.2 {
		t.Errorf("%v", r.Figures)
	}
	if r.Facts["objective before the last step"] >= r.Facts["objective before the first step"] {
		t.Errorf("%v", r.Facts)
	}
	// No classes of it are apart, which is said.
	if half, carry, spread := r.Facts["gamma/2"], r.Facts["L delta"], r.Facts["A_delta"]; !(half >= 0 && half < carry && carry <= r.Facts["L"] && spread <= 2*carry) || !strings.Contains(r.Note, "The theorem says nothing here: gamma") {
		t.Errorf("%v %q", r.Facts, r.Note)
	}
}
