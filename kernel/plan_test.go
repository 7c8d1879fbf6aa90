package kernel

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/kernel/internal/truncated"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

func TestPlanPicks(t *testing.T) {
	t.Parallel()
	small := pointtest.Make("uniform", 500, 2, 1)
	large := pointtest.Make("uniform", 6000, 2, 1)
	high := pointtest.Make("uniform", 6000, 12, 1)
	unit := pointtest.Zeros32(2000, 12)
	if err := points.NormalizeRows(unit, pointtest.Make("uniform", 2000, 12, 1)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		opt   Options
		p     blas32.General
		sigma float64
		want  string
		serve string // the feasible ones, in the order of OperatorNames
	}{
		{"small: dense", Options{}, small, 0.05, "dense", "dense csr pairs grid"},
		{"large and narrow: csr", Options{}, large, 0.004, "csr", "dense csr pairs grid"},
		{"a cutoff is a graph of its own", Options{CutoffRadius: 0.01}, small, 0.05, "csr", "csr pairs"},
		{"forced", Options{Operator: "csr"}, small, 0.05, "csr", "csr"},
		{"forced pairs", Options{Operator: "pairs"}, small, 0.05, "pairs", "pairs"},
		{"some neighbours, little memory: pairs", Options{MaxMemory: 5 << 20}, large, 0.01, "pairs", "dense pairs grid"},
		{"many neighbours, little memory: grid", Options{MaxMemory: 16 << 20}, large, 0.02, "grid", "dense pairs grid"},
		{"most are neighbours: grid", Options{}, large, 0.2, "grid", "dense csr pairs grid"},
		{"many dimensions, wide: poly", Options{MaxMemory: 64 << 20}, high, 10, "poly", "dense poly"},
		{"finer than float32: dense", Options{Tolerance: 1e-9}, large, 0.004, "dense", "dense grid"},
		{"unit rows", Options{}, unit, 0.2, "dense", "dense csr background"},
	} {
		c.opt.Calibration = new(Calibration)
		plan, err := planOf(t.Context(), c.p, Sigma(c.sigma), &c.opt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var serve []string
		for _, name := range OperatorNames() {
			for _, cand := range plan {
				if cand.Name == name && cand.Feasible {
					serve = append(serve, name)
				}
			}
		}
		for _, cand := range plan {
			if cand.Reason == "" || cand.Feasible && (!(cand.Seconds > 0) || cand.Cost.PeakBytes <= 0 || cand.Eta > 1e-4 && c.opt.CutoffRadius == 0) {
				t.Errorf("%s: %+v", c.name, cand)
			}
		}
		if plan[0].Name != c.want || strings.Join(serve, " ") != c.serve {
			t.Errorf("%s: %v can serve, want %s; first %+v", c.name, serve, c.serve, plan[0])
		}
		op, err := Build(t.Context(), c.p, Sigma(c.sigma), &c.opt)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if op.Name() != c.want {
			t.Errorf("%s: built %s", c.name, op.Name())
		}
	}
}

// The choice does not depend on the number of workers, the estimate does.
func TestPlanAndWorkers(t *testing.T) {
	workers := par.New(4)
	defer workers.Close()
	p := pointtest.Make("uniform", 6000, 2, 1)
	one, err := planOf(t.Context(), p, Sigma(0.01), &Options{Calibration: new(Calibration)})
	if err != nil {
		t.Fatal(err)
	}
	four, err := planOf(t.Context(), p, Sigma(0.01), &Options{Calibration: new(Calibration), Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	for i := range one {
		if one[i].Name != four[i].Name || one[i].Reason != four[i].Reason || math.Abs(one[i].Seconds-4*four[i].Seconds) > 1e-9*one[i].Seconds {
			t.Errorf("one worker %+v, four %+v", one[i], four[i])
		}
	}
}

// A machine that is slow at one class of work chooses another.
func TestCalibrationDecides(t *testing.T) {
	for _, c := range []struct {
		d           int
		sigma       float64
		calibration Calibration
		want        string
	}{
		{2, 0.01, Calibration{}, "csr"},
		{2, 0.01, Calibration{Sparse: 1e4, Scalar: 1e4}, "pairs"},
		{12, 0.1, Calibration{}, "csr"},
		{12, 0.1, Calibration{Scalar: 1e4}, "dense"},
	} {
		p := pointtest.Make("uniform", 6000, c.d, 1)
		plan, err := planOf(t.Context(), p, Sigma(c.sigma), &Options{Calibration: &c.calibration, Isolated: Keep})
		if err != nil {
			t.Fatal(err)
		}
		if plan[0].Name != c.want {
			t.Errorf("%d dimensions, %+v: %s, want %s", c.d, c.calibration, plan[0].Name, c.want)
		}
	}
}

func TestPlanReasons(t *testing.T) {
	p := pointtest.Make("uniform", 6000, 2, 1)
	plan, err := planOf(t.Context(), p, Sigma(0.05), &Options{Calibration: new(Calibration), MaxMemory: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan {
		words := map[string]string{
			"csr":        "of weights, limit 16.0 MiB: about",
			"dense":      "exact, every pair at every step; takes",
			"pairs":      "weights recomputed",
			"background": "rows of unit norm",
		}[c.Name]
		if !strings.Contains(c.Reason, words) {
			t.Errorf("%s: %s", c.Name, c.Reason)
		}
	}
}

// The degrees that a plan expects are those of the graph.
func TestPlanDegrees(t *testing.T) {
	p := pointtest.Make("uniform", 4000, 2, 3)
	for _, opt := range []*Options{{Operator: "csr"}, {Operator: "dense"}, {CutoffRadius: 0.015}} {
		plan, err := planOf(t.Context(), p, Sigma(0.01), opt)
		if err != nil {
			t.Fatal(err)
		}
		op, err := Build(t.Context(), p, Sigma(0.01), opt)
		if err != nil {
			t.Fatal(err)
		}
		degrees := slices.Sorted(slices.Values(op.Degrees()))
		mean, isolated := 0.0, 0
		for _, d := range degrees {
			mean += d / float64(len(degrees))
			if d == 0 {
				isolated++
			}
		}
		got := plan[0].Degrees
		if math.Abs(got.Mean-mean) > 0.1*mean || math.Abs(got.Isolated-float64(isolated)) > 0.05*float64(p.Rows) {
			t.Errorf("%+v: %+v, want mean %g, %d isolated", opt, got, mean, isolated)
		}
		if median := degrees[len(degrees)/2]; math.Abs(got.Quantiles[2]-median) > 0.2*median {
			t.Errorf("%+v: %+v, want median %g", opt, got, median)
		}
		if !slices.IsSorted(got.Quantiles[:]) {
			t.Errorf("%+v", got)
		}
	}
}

// Where the rows that no sample meets are of another kind, the radius is raised; where
// that does not help another operator is taken.
func TestBuildEscalates(t *testing.T) {
	t.Parallel()
	const n = 6000
	p := pointtest.Zeros32(n, 2)
	sampled := map[int]bool{}
	for _, i := range rows.Spread(profile.SampleRows(n, 2), n) {
		sampled[i] = true
	}
	// Most rows are a crowd. The others are groups of two at 4.5 sigma and one at 5.5
	// from both, which the radius of the crowd leaves out.
	const sigma = 0.01
	group := [3][2]float64{{0, 0}, {4.5 * sigma, 0}, {2.25 * sigma, math.Sqrt(5.5*5.5-2.25*2.25) * sigma}}
	rng, thin := pointtest.Rand(1), 0
	for i := range n {
		x, y := 0.1*rng.Float64(), 0.1*rng.Float64()
		if !sampled[i] && thin < n/10 {
			x, y = 1+0.5*float64(thin/3)+group[thin%3][0], group[thin%3][1]
			thin++
		}
		p.Data[2*i], p.Data[2*i+1] = float32(x), float32(y)
	}
	b, opt := Sigma(sigma), &Options{Calibration: new(Calibration)}
	plain, err := openCSR(t.Context(), p, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if missed, _ := step.Shortfall(roomOf(plain), 1e-4); !missed {
		t.Fatalf("the sample is like the rows: nothing is tested (radius %g, %v)", plain.Radius(), plain.Certificate())
	}
	op, err := Build(t.Context(), p, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if missed, eta := shortfallOf(roomOf(op), 1e-4); missed {
		t.Errorf("%s misses the tolerance: %g", op.Name(), eta)
	}
	checkAgainstDense(t, op, p, b)
	// Where memory does not allow the larger radius, what is forced has the first.
	for force, want := range map[string]error{"csr": nil, "": ErrMemory} {
		o := base.Options{Tolerance: 1e-4, Operator: force}
		op, err := truncated.WithinTolerance(b.own, plain.Radius(), &o, func(radius float64) (step.Operator, error) {
			if radius > plain.Radius() {
				return nil, &MemoryError{}
			}
			return as[*truncated.CSR](openCSR(t.Context(), p, b, opt))
		})
		if !errors.Is(err, want) || (op == nil) != (want != nil) {
			t.Errorf("forced %q: built %v, %v", force, op != nil, err)
		}
	}
}

// The graph of nearest neighbours is built in the memory that is planned, to the byte, in
// few dimensions too.
func TestPlanKnowsNearestNeighbours(t *testing.T) {
	for _, d := range []int{2, 12} {
		for _, layout := range []sparse.Layout{sparse.Plain, sparse.Compact} {
			p, b := pointtest.Make("uniform", 500, d, 1), Sigma(0.1)
			opt := Options{Neighbours: 10, Layout: layout, Calibration: new(Calibration)}
			all, err := planOf(t.Context(), p, b, &opt)
			if err != nil {
				t.Fatal(err)
			}
			peak := all[0].Cost.PeakBytes
			for _, opt.MaxMemory = range []int64{peak, peak - 1} {
				planned, err := planOf(t.Context(), p, b, &opt)
				if err != nil {
					t.Fatal(err)
				}
				_, err = Build(t.Context(), p, b, &opt)
				if fits := opt.MaxMemory == peak; planned[0].Feasible != fits || errors.Is(err, ErrMemory) == fits {
					t.Errorf("d=%d, %v: %d of %d bytes: feasible %v, built with %v", d, layout, opt.MaxMemory, peak, planned[0].Feasible, err)
				}
			}
		}
	}
}

func TestCutGraphsAreRefused(t *testing.T) {
	p := pointtest.Make("uniform", 50, 2, 1)
	for _, opt := range []*Options{{CutoffRadius: 0.1}, {Neighbours: 5}} {
		_, dense := NewDense(t.Context(), p, Sigma(1), opt)
		_, poly := openPoly(t.Context(), p, Sigma(1), opt)
		_, grid := openGrid(t.Context(), p, Sigma(1), opt)
		for _, err := range []error{dense, poly, grid} {
			if !errors.Is(err, ErrOperator) {
				t.Errorf("%+v: %v", opt, err)
			}
		}
	}
}

func TestBuildNamesTheBestReachable(t *testing.T) {
	p := pointtest.Make("uniform", 300, 2, 1)
	_, err := Build(t.Context(), p, Sigma(0.1), &Options{Tolerance: 1e-17})
	var e *ToleranceError
	if !errors.As(err, &e) || !errors.Is(err, ErrTolerance) || e.Operator != "dense" || !(e.Eta > 1e-17 && e.Eta < 1e-9) || !strings.Contains(e.Error(), " in about ") {
		t.Errorf("%v", err)
	}
	_, err = Build(t.Context(), p, Sigma(0.1), &Options{MaxMemory: 1})
	if !errors.Is(err, ErrMemory) {
		t.Errorf("%v", err)
	}
	_, err = Build(t.Context(), p, Sigma(0.1), &Options{Operator: "background"})
	if !errors.Is(err, ErrOperator) || !strings.Contains(err.Error(), "unit norm") {
		t.Errorf("%v", err)
	}
	// Rows that miss the tolerance are refused with what they reach.
	_, err = openCSR(t.Context(), pointtest.Make("clustered", 3000, 2, 1), Sigma(0.01), &Options{Isolated: Fail})
	if errors.Is(err, ErrTolerance) && (!errors.As(err, &e) || e.Operator != "csr" || !(e.Eta > 1e-4)) || err == nil {
		t.Errorf("%v", err)
	}
	// A cut graph whose weights do not fit is served without them.
	p = pointtest.Make("uniform", 20000, 2, 1)
	op, err := Build(t.Context(), p, Sigma(0.1), &Options{CutoffRadius: 0.1, MaxMemory: 16 << 20})
	if err != nil || op.Name() != "pairs" {
		t.Errorf("%v, %v", op, err)
	}
}

// The estimate of the stored weights is what is stored, within sampling error.
func TestPlanEstimatesTheGraph(t *testing.T) {
	for _, d := range []int{2, 3, 10} {
		p := pointtest.Make("uniform", 5000, d, 3)
		b := Sigma(pointtest.TypicalDistance(p, pointtest.Rand(1)) / 20)
		plan, err := planOf(t.Context(), p, b, &Options{Operator: "csr"})
		if err != nil {
			t.Fatal(err)
		}
		op, err := openCSR(t.Context(), p, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := plan[0].MeanNeighbours, op.MeanNeighbours(); math.Abs(got-want) > 0.1*want+0.05 {
			t.Errorf("d=%d: planned %g neighbours, got %g", d, got, want)
		}
	}
}

func TestBandwidthForDegree(t *testing.T) {
	for _, c := range []struct {
		kind   string
		d      int
		degree float64
	}{{"uniform", 2, 32}, {"uniform", 3, 10}, {"uniform", 12, 20}, {"clustered", 2, 40}} {
		p := pointtest.Make(c.kind, 5000, c.d, 2)
		b, radius, err := bandwidthForDegree(t.Context(), p, c.degree, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if w := b.Weight(radius * radius); math.Abs(w-DegreeCutoff) > 1e-9 {
			t.Errorf("weight %g at the radius, want %g", w, DegreeCutoff)
		}
		op, err := openCSR(t.Context(), p, b, &Options{CutoffRadius: radius})
		if err != nil {
			t.Fatal(err)
		}
		if got := op.MeanNeighbours(); math.Abs(got-c.degree) > 0.15*c.degree {
			t.Errorf("%s d=%d: asked for %g neighbours, got %g", c.kind, c.d, c.degree, got)
		}
	}
	p := pointtest.Make("uniform", 50, 2, 1)
	for _, degree := range []float64{0, -1, 50, math.NaN(), math.Inf(1)} {
		if _, _, err := bandwidthForDegree(t.Context(), p, degree, 0, nil); !errors.Is(err, ErrOption) {
			t.Errorf("degree %g: err = %v", degree, err)
		}
	}
	if _, _, err := bandwidthForDegree(t.Context(), p, 3, 2, nil); !errors.Is(err, ErrOption) {
		t.Errorf("cutoff 2: err = %v", err)
	}
	far := pointtest.Make("uniform", 2000, 2, 1)
	far.Data[0] = 1e20
	if b, radius, err := bandwidthForDegree(t.Context(), far, 10, 0, nil); err != nil || radius > 0.1 {
		t.Errorf("with an outlier: %v, radius %g, %v", b, radius, err)
	}
	if _, _, err := bandwidthForDegree(t.Context(), pointtest.Make("uniform", 1, 2, 1), 1, 0, nil); !errors.Is(err, ErrOption) {
		t.Errorf("one point: err = %v", err)
	}
	lattice := pointtest.Make("lattice", 500, 1, 1) // five places for 500 points
	if _, _, err := bandwidthForDegree(t.Context(), lattice, 5, 0, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("equal points: err = %v", err)
	}
	same := pointtest.Make("identical", 50, 2, 1)
	if _, _, err := bandwidthForDegree(t.Context(), same, 3, 0, nil); !errors.Is(err, ErrBandwidth) {
		t.Errorf("equal points: err = %v", err)
	}
}

func TestBandwidthConventions(t *testing.T) {
	// The three conventions at nominal 6, as appendix sigma.
	for _, c := range []struct {
		b    Bandwidth
		want float64
	}{{Sigma(6), 6}, {SigmaProgram(6), 6 / math.Sqrt2}, {SigmaMainText(6), math.Sqrt(3)}, {Gamma(1.0 / 72), 6}} {
		if got := c.b.Sigma(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("sigma %g, want %g", got, c.want)
		}
		if got, want := c.b.Weight(4), math.Exp(-2/(c.want*c.want)); math.Abs(got-want) > 1e-15 {
			t.Errorf("weight %g, want %g", got, want)
		}
		if got := c.b.Weight(math.Pow(c.b.Radius(0.25), 2)); math.Abs(got-0.25) > 1e-14 {
			t.Errorf("weight %g at Radius(0.25)", got)
		}
	}
	for _, b := range []Bandwidth{{}, Sigma(0), Sigma(-1), SigmaProgram(-1), SigmaMainText(math.NaN()), Gamma(math.Inf(1)), Sigma(1e200)} {
		if err := b.Check(); !errors.Is(err, ErrBandwidth) {
			t.Errorf("%v: err = %v", b, err)
		}
	}
}

// Rows that grid would cut off have neighbours: where they are many, or where none may
// be isolated, another operator serves.
func TestBuildCutsNobodyOff(t *testing.T) {
	p := pointtest.Make("uniform", 4000, 2, 3)
	for i := range p.Data {
		p.Data[i] *= 10
	}
	far := func(i int) (x, y float32) { return float32(100 + 8*(i%20)), float32(8 * (i / 20)) }
	for _, c := range []struct {
		name     string
		lattice  int
		isolated IsolatedPolicy
	}{{"many", 400, Keep}, {"a few, none may be isolated", 2, Fail}} {
		q := blas32.General{Rows: p.Rows, Cols: 2, Stride: 2, Data: slices.Clone(p.Data)}
		for i := range c.lattice {
			q.Data[2*i], q.Data[2*i+1] = far(i)
		}
		op, err := Build(t.Context(), q, Sigma(1), &Options{Isolated: c.isolated, Calibration: new(Calibration)})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if cert := op.Certificate(); cert.Isolated > 0 {
			t.Errorf("%s: %s has cut off %d rows", c.name, op.Name(), cert.Isolated)
		}
	}
}
