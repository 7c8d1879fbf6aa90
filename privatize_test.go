package privatemail

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// paid returns valid settings, paid from a new ledger.
func paid(t *testing.T) (*PrivateSettings, *mechanism.Ledger) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.GDP, Epsilon: 50, Delta: 1e-6}); err != nil {
		t.Fatal(err)
	}
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	return &PrivateSettings{
		Epsilon: 1, Delta: 1e-6, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped,
		Ledger: ledger, Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "a photo", New: true},
		Bandwidth: kernel.Sigma(1), Alpha: 0.6, Classes: 5, Seed: 3,
	}, ledger
}

// plainStep is f - Q by the formula, on rows divided by their norms; cut gives
// the weight of a pair at a squared distance, and a zero row has the weight
// null to all others.
func plainStep(x blas64.General, y []int32, q blas64.General, alpha float64, cut func(d2 float64) float64, null float64) []float64 {
	n, k := x.Rows, q.Cols
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = slices.Clone(x.Data[i*x.Stride:][:x.Cols])
		if norm := blas64.Nrm2(blas64.Vector{N: x.Cols, Inc: 1, Data: rows[i]}); norm > 0 {
			for j := range rows[i] {
				rows[i][j] /= norm
			}
		} else {
			rows[i] = nil
		}
	}
	out := make([]float64, n*k)
	for i := range n {
		degree := 0.0
		sum := make([]float64, k)
		for j := range n {
			if j == i {
				continue
			}
			w := null
			if rows[i] != nil && rows[j] != nil {
				d2 := 0.0
				for c, v := range rows[i] {
					d2 += (v - rows[j][c]) * (v - rows[j][c])
				}
				w = cut(d2)
			}
			degree += w
			u := 0.0
			if y[i] == y[j] {
				u = 1
			}
			for c := range k {
				sum[c] += (w - alpha*u) * (q.Data[j*k+c] - q.Data[i*k+c])
			}
		}
		for c := range k {
			out[i*k+c] = sum[c] / (2 * degree)
		}
	}
	return out
}

func widened(x blas32.General) blas64.General {
	out := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, x.Rows*x.Cols)}
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride:][:x.Cols] {
			out.Data[i*x.Cols+j] = float64(v)
		}
	}
	return out
}

// A release is the step by its formula plus noise of the stated size, for any
// operator, relation and private rows.
func TestPrivatizeIsTheStepPlusNoise(t *testing.T) {
	const n, d = 150, 6
	x, y := classes(t, n, d)
	gauss := func(sigma float64) func(float64) float64 {
		return func(d2 float64) float64 { return math.Exp(-d2 / (2 * sigma * sigma)) }
	}
	background := sensitivity.Midpoint(0.5, 0.8)
	cases := []struct {
		name   string
		change func(*PrivateSettings)
		weight func(float64) float64
		null   float64
	}{
		{"dense", func(*PrivateSettings) {}, gauss(1), 0},
		{"negative alpha", func(s *PrivateSettings) { s.Alpha = -3 }, gauss(1), 0},
		{"public labels", func(s *PrivateSettings) {
			s.Relation, s.LabelMode = sensitivity.FeaturesReplace, release.ModePublic
		}, gauss(1), 0},
		{"null record", func(s *PrivateSettings) { s.Relation = sensitivity.Null }, gauss(1), math.Exp(-0.5)},
		{"one private row", func(s *PrivateSettings) { s.PrivateRows = []int{4} }, gauss(1), 0},
		{"some private rows", func(s *PrivateSettings) { s.PrivateRows = []int{4, 9, 140} }, gauss(1), 0},
		{"rest public", func(s *PrivateSettings) { s.PrivateRows, s.RestPublic = []int{4}, true }, gauss(1), 0},
		{"background", func(s *PrivateSettings) {
			s.Operator, s.Radius, s.Bandwidth = "background", 0.8, kernel.Sigma(0.5)
		}, func(d2 float64) float64 {
			if d2 <= 0.8*0.8 {
				return gauss(0.5)(d2)
			}
			return background.Weight
		}, background.Weight},
		{"poly", func(s *PrivateSettings) { s.Operator = "poly" }, gauss(1), 0},
		{"poly, null record", func(s *PrivateSettings) {
			s.Operator, s.Relation = "poly", sensitivity.Null
		}, gauss(1), math.Exp(-0.5)},
		{"poly, rest public", func(s *PrivateSettings) {
			s.Operator, s.PrivateRows, s.RestPublic = "poly", []int{4}, true
		}, gauss(1), 0},
		{"classical", func(s *PrivateSettings) { s.Rule, s.Epsilon = mechanism.Classical, 0.9 }, gauss(1), 0},
		{"main text", func(s *PrivateSettings) { s.Bandwidth = kernel.SigmaMainText(2) }, gauss(1), 0},
	}
	e := engine(t, WithWorkers(2))
	sigmas := map[string]float64{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, _ := paid(t)
			c.change(s)
			features, labels := widened(x), slices.Clone(y)
			if s.Relation == sensitivity.Null {
				clear(features.Data[7*d:][:d])
				labels[7] = 0
			}
			got, err := e.Privatize64(t.Context(), features, labels, s)
			if err != nil {
				t.Fatal(err)
			}
			q, err := iterate.RandomStart(t.Context(), n, 2, 3, 1e-8)
			if err != nil {
				t.Fatal(err)
			}
			want := plainStep(features, labels, q, s.Alpha, c.weight, c.null)
			sigma, squares := got.Privacy.Sigma, 0.0
			sigmas[c.name] = sigma
			for i, v := range got.Displacement().RawMatrix().Data {
				z := (v - want[i]) / sigma
				squares += z * z
			}
			// chi-square of 300: false alarm below 1e-9 on either side
			if squares < 160 || squares > 500 {
				t.Errorf("the release is %.3g standard deviations from the step, want about 1", math.Sqrt(squares/(2*n)))
			}
			if got.Sensitivity.Relation != s.Relation.String() || got.Privacy.Epsilon != s.Epsilon || got.Ledger != 1 {
				t.Errorf("%+v", got)
			}
			// The release states who is protected, and by which kernel.
			var private []int
			for _, row := range got.Sensitivity.PrivateRows {
				private = append(private, int(row))
			}
			if !slices.Equal(private, s.PrivateRows) || got.Query.Radius != s.Radius || (got.Query.Background == background.Weight) != (s.Operator == "background") {
				t.Errorf("private rows %v, %+v", private, got.Query)
			}
		})
	}
	if sigmas["rest public"] > sigmas["one private row"]/2 || sigmas["one private row"] > sigmas["dense"] {
		t.Errorf("noise %v: knowing more should need less", sigmas)
	}
}

// Very little noise does not hide a wrong step: at a huge epsilon it is a small
// part of the step.
func TestPrivatizeComputesTheStep(t *testing.T) {
	const n = 60
	x, y := classes(t, n, 6)
	s, _ := paid(t)
	s.Ledger, s.Epsilon, s.Delta = mechanism.NoLedger, 4, 0.1
	s.Relation, s.LabelMode, s.Bandwidth = sensitivity.FeaturesReplace, release.ModePublic, kernel.Sigma(20)
	got, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	q, err := iterate.RandomStart(t.Context(), n, 2, 3, 1e-8)
	if err != nil {
		t.Fatal(err)
	}
	want := plainStep(widened(x), y, q, s.Alpha, func(d2 float64) float64 { return math.Exp(-d2 / 800) }, 0)
	worst, largest := 0.0, 0.0
	for i, v := range got.Displacement().RawMatrix().Data {
		worst, largest = max(worst, math.Abs(v-want[i])), max(largest, math.Abs(want[i]))
	}
	if worst > 7*got.Privacy.Sigma || got.Privacy.Sigma > largest/100 {
		t.Errorf("off by %g, noise %g, step %g", worst, got.Privacy.Sigma, largest)
	}
}

func TestPrivatizeRefuses(t *testing.T) {
	x, y := classes(t, 30, 6)
	at := func(i int, v float32) blas32.General {
		z := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Stride, Data: slices.Clone(x.Data)}
		z.Data[i] = v
		return z
	}
	secret := float32(0.987654321)
	labels := func(i int, v int32) []int32 {
		z := slices.Clone(y)
		z[i] = v
		return z
	}
	zero := blas32.General{Rows: 30, Cols: 6, Stride: 6, Data: make([]float32, 180)}
	copy(zero.Data[12:], x.Data[12:])
	nan := float32(math.NaN())
	closed, _ := paid(t)
	closed.Ledger.(*mechanism.Ledger).Close()
	for _, c := range []struct {
		name     string
		change   func(*PrivateSettings)
		features blas32.General
		labels   []int32
		want     error
	}{
		{"no epsilon", func(s *PrivateSettings) { s.Epsilon = 0 }, x, y, mechanism.ErrParam},
		{"no delta", func(s *PrivateSettings) { s.Delta = 0 }, x, y, mechanism.ErrParam},
		{"epsilon NaN", func(s *PrivateSettings) { s.Epsilon = math.NaN() }, x, y, mechanism.ErrParam},
		{"no relation", func(s *PrivateSettings) { s.Relation = 0 }, x, y, sensitivity.ErrRelation},
		{"no label mode", func(s *PrivateSettings) { s.LabelMode = "" }, x, y, mechanism.ErrLabels},
		{"unknown label mode", func(s *PrivateSettings) { s.LabelMode = "hidden" }, x, y, mechanism.ErrLabels},
		{"randomised for nothing", func(s *PrivateSettings) { s.LabelMode = release.ModeRandomised }, x, y, mechanism.ErrParam},
		{"label epsilon for nothing", func(s *PrivateSettings) { s.LabelEpsilon = 1 }, x, y, mechanism.ErrLabels},
		{"label epsilon too large, before rows are read", func(s *PrivateSettings) {
			s.LabelMode, s.LabelEpsilon = release.ModeRandomised, 50
		}, at(17, nan), y, mechanism.ErrParam},
		{"randomised where labels are public", func(s *PrivateSettings) {
			s.LabelMode, s.LabelEpsilon, s.Relation = release.ModeRandomised, 1, sensitivity.FeaturesReplace
		}, x, y, mechanism.ErrLabels},
		{"no ledger", func(s *PrivateSettings) { s.Ledger = nil }, x, y, mechanism.ErrLedger},
		{"nil ledger", func(s *PrivateSettings) { s.Ledger = (*mechanism.Ledger)(nil) }, x, y, mechanism.ErrLedger},
		{"closed ledger", func(s *PrivateSettings) { s.Ledger = closed.Ledger }, x, y, mechanism.ErrLedger},
		{"too expensive", func(s *PrivateSettings) { s.Epsilon = 51 }, x, y, mechanism.ErrBudgetExceeded},
		{"no unit", func(s *PrivateSettings) { s.Unit = mechanism.Unit{} }, x, y, mechanism.ErrParam},
		{"no unit, before rows are read", func(s *PrivateSettings) {
			s.Ledger, s.Unit = mechanism.NoLedger, mechanism.Unit{}
		}, at(17, nan), y, mechanism.ErrParam},
		{"classical at 1", func(s *PrivateSettings) { s.Rule = mechanism.Classical }, x, y, mechanism.ErrParam},
		{"no bandwidth", func(s *PrivateSettings) { s.Bandwidth = kernel.Bandwidth{} }, x, y, kernel.ErrBandwidth},
		{"truncated", func(s *PrivateSettings) { s.Operator = "csr" }, x, y, sensitivity.ErrNoBound},
		{"unknown operator", func(s *PrivateSettings) { s.Operator = "grid" }, x, y, ErrSettings},
		{"radius without background", func(s *PrivateSettings) { s.Operator, s.Radius = "dense", 1 }, x, y, ErrSettings},
		{"radius too large", func(s *PrivateSettings) { s.Operator, s.Radius = "background", 3 }, x, y, sensitivity.ErrQuery},
		{"balanced table", func(s *PrivateSettings) { s.Table = "balanced" }, x, y, sensitivity.ErrNoBound},
		{"centred table", func(s *PrivateSettings) { s.Table = "centred" }, x, y, sensitivity.ErrNoBound},
		{"unknown table", func(s *PrivateSettings) { s.Table = "round" }, x, y, kernel.ErrOption},
		{"no classes", func(s *PrivateSettings) { s.Classes = 0 }, x, y, sensitivity.ErrQuery},
		{"more records than rows", func(s *PrivateSettings) { s.Records = 31 }, x, y, ErrSettings},
		{"negative columns", func(s *PrivateSettings) { s.Dim = -1 }, x, y, ErrSettings},
		{"tiny bandwidth", func(s *PrivateSettings) { s.Bandwidth = kernel.Sigma(0.01) }, x, y, sensitivity.ErrNoBound},
		{"private row outside", func(s *PrivateSettings) { s.PrivateRows = []int{30} }, x, y, sensitivity.ErrQuery},
		{"rest public, two private", func(s *PrivateSettings) { s.PrivateRows, s.RestPublic = []int{1, 2}, true }, x, y, ErrSettings},
		{"rest public, row outside", func(s *PrivateSettings) { s.PrivateRows, s.RestPublic = []int{30}, true }, x, y, ErrSettings},
		{"one row", func(*PrivateSettings) {}, blas32.General{Rows: 1, Cols: 6, Stride: 6, Data: x.Data[:6]}, y[:1], kernel.ErrEmpty},
		{"NaN", func(*PrivateSettings) {}, at(17, nan), y, kernel.ErrNonFinite},
		{"NaN, normalised", func(s *PrivateSettings) { s.NormalizeRows = true }, at(17, nan), y, kernel.ErrNonFinite},
		{"not of unit norm", func(*PrivateSettings) {}, at(17, secret), y, kernel.ErrUnitNorm},
		{"zero rows", func(*PrivateSettings) {}, zero, y, ErrZeroRow},
		{"zero rows, normalised", func(s *PrivateSettings) { s.NormalizeRows = true }, zero, y, ErrZeroRow},
		{"two null records", func(s *PrivateSettings) { s.Relation = sensitivity.Null }, zero, y, ErrZeroRow},
		{"null record with a label", func(s *PrivateSettings) { s.Relation = sensitivity.Null }, blas32.General{Rows: 30, Cols: 6, Stride: 6, Data: append(slices.Clone(x.Data[:174]), make([]float32, 6)...)}, labels(29, 3), kernel.ErrLabels},
		{"label above", func(*PrivateSettings) {}, x, labels(3, 5), kernel.ErrLabels},
		{"label below", func(*PrivateSettings) {}, x, labels(3, -1), kernel.ErrLabels},
		{"too few labels", func(*PrivateSettings) {}, x, y[:29], kernel.ErrLabels},
		{"no labels", func(*PrivateSettings) {}, x, nil, kernel.ErrLabels},
		{"no labels to randomise", func(s *PrivateSettings) {
			s.Alpha, s.LabelMode, s.LabelEpsilon = 0, release.ModeRandomised, 1
		}, x, nil, kernel.ErrLabels},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ledger := paid(t)
			c.change(s)
			r, err := engine(t).Privatize(t.Context(), c.features, c.labels, s)
			if !errors.Is(err, c.want) || r != nil {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if message := err.Error(); strings.Contains(message, "0.987") || strings.Contains(message, "photo") || strings.Contains(message, "NaN") && c.name != "epsilon NaN" {
				t.Errorf("%q tells too much", message)
			}
			if sequence, _ := ledger.Head(); sequence != 0 {
				t.Errorf("%d records in the ledger", sequence)
			}
		})
	}
	if _, err := engine(t).Privatize(t.Context(), x, y, nil); !errors.Is(err, ErrSettings) {
		t.Errorf("no settings: %v", err)
	}
}

func TestPrivatizeMemory(t *testing.T) {
	x, y := classes(t, 400, 6)
	s, ledger := paid(t)
	for _, c := range []struct {
		operator string
		limit    int64
	}{{"dense", 1000}, {"background", 60_000}} {
		s.Operator = c.operator
		_, err := engine(t, WithMaxMemory(c.limit)).Privatize(t.Context(), x, y, s)
		if !errors.Is(err, kernel.ErrMemory) {
			t.Errorf("%s: %v", c.operator, err)
		}
		// The error does not reveal how many neighbours private rows have.
		if c.operator == "background" && strings.ContainsAny(strings.TrimPrefix(err.Error(), "privatemail"), "0123456789") {
			t.Errorf("%q has a number", err)
		}
	}
	if sequence, _ := ledger.Head(); sequence != 0 {
		t.Errorf("%d records in the ledger", sequence)
	}
}

// A call that is cancelled before the spend costs nothing, nor does a call on a
// closed engine.
func TestPrivatizeCancelled(t *testing.T) {
	x, y := classes(t, 300, 6)
	s, ledger := paid(t)
	ctx, cancel := context.WithCancel(t.Context())
	e := engine(t, WithProgress(func(p Progress) { cancel() }))
	if _, err := e.Privatize(ctx, x, y, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	e.Close()
	if _, err := e.Privatize(t.Context(), x, y, s); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := e.Continue(t.Context(), nil, nil, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if sequence, _ := ledger.Head(); sequence != 0 {
		t.Errorf("%d records in the ledger", sequence)
	}
}

// Two releases of the same data differ, and both are paid for.
func TestPrivatizeTwice(t *testing.T) {
	x, y := classes(t, 50, 6)
	s, ledger := paid(t)
	s.LabelMode, s.LabelEpsilon = release.ModeRandomised, 0.5
	e := engine(t)
	first, err := e.Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(first.Grid, second.Grid) || first.ID == second.ID || slices.Equal(first.Labels.Values, second.Labels.Values) {
		t.Error("two releases share their randomness")
	}
	spent, err := ledger.Spent(s.Unit)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mechanism.Analytic.Multiplier(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	// rho of the noise, and mu^2/2 of epsilon 0.5, computed with 50 digits
	if want := 2 * (1/(2*c*c) + 0.194620983238); math.Abs(spent.Rho.Float()-want) > 1e-9 {
		t.Errorf("spent %v, want %v", spent, want)
	}
}

// Privatize does what Sensitivity says.
func TestSensitivityForetellsTheRelease(t *testing.T) {
	x, y := classes(t, 80, 6)
	s, _ := paid(t)
	for _, operator := range []string{"dense", "background"} {
		s.Operator = operator
		a, err := Sensitivity(t.Context(), 80, 6, s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine(t).Privatize(t.Context(), x, y, s)
		if err != nil {
			t.Fatal(err)
		}
		if a.Calibration.Sigma() != r.Privacy.Sigma || a.Calibration.L2Sensitivity() != r.Sensitivity.Total || a.Tight.Exact() != r.Sensitivity.Bound {
			t.Errorf("%s: foretold %v, made %+v", operator, a.Tight, r.Sensitivity)
		}
		if (a.Corrected != nil) != (operator == "dense") || (a.Paper == nil) != (a.PaperError != nil) {
			t.Errorf("%s: corrected %v, paper %v, %v", operator, a.Corrected, a.Paper, a.PaperError)
		}
	}
	s.Epsilon, s.Delta, s.Ledger = 0, 0, nil
	if a, err := Sensitivity(t.Context(), 80, 6, s); err != nil || a.Calibration != nil || !a.Tight.ErrorStated() {
		t.Errorf("without a price: %+v, %v", a, err)
	}
	s.RestPublic = true
	if _, err := Sensitivity(t.Context(), 80, 6, s); !errors.Is(err, ErrSettings) {
		t.Error(err)
	}
}

// The choice of the operator depends on public numbers only.
func TestPrivateOperatorFromPublicNumbers(t *testing.T) {
	for _, c := range []struct {
		n     int
		sigma float64
		want  string
	}{{1000, 0.1, "full"}, {denseRows, 0.1, "full"}, {denseRows + 1, 0.1, "background"}, {denseRows + 1, 6, "full"}} {
		s := PrivateSettings{Bandwidth: kernel.Sigma(c.sigma), Table: "equal", Classes: 2}
		q, err := s.query(s.operator(c.n))
		if err != nil || q.Operator.Kind() != c.want {
			t.Errorf("n = %d, sigma %g: %v, %v", c.n, c.sigma, q.Operator, err)
		}
	}
}

// A release read from bytes gives the same embedding as the original, bit for
// bit, for any number of workers.
func TestContinueFromBytes(t *testing.T) {
	x, y := classes(t, 200, 6)
	s, _ := paid(t)
	s.LabelMode, s.Relation = release.ModePublic, sensitivity.FeaturesReplace
	one := engine(t, WithWorkers(1))
	r, err := one.Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := release.Declare(y, 5)
	if err != nil {
		t.Fatal(err)
	}
	settings := &post.Settings{MeanNeighbours: 10, Steps: 3}
	want, err := one.Continue(t.Context(), r, labels, settings)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range [][]byte{data, text} {
		travelled, err := release.Read(bytes.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine(t, WithWorkers(3)).Continue(t.Context(), travelled, labels, settings)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Points.RawMatrix().Data, want.Points.RawMatrix().Data) {
			t.Error("the embeddings differ")
		}
	}
	if settings.Workers != nil {
		t.Error("the caller's settings were changed")
	}
}

// A null record outside the private row is refused.
func TestNullRecordMustBePrivate(t *testing.T) {
	const n, d = 30, 4
	for _, relation := range []sensitivity.Relation{sensitivity.Null, sensitivity.FeaturesNull} {
		for _, rest := range []bool{false, true} {
			x, y := classes(t, n, d)
			clear(x.Data[7*x.Stride:][:d])
			y[7] = 0
			s, ledger := paid(t)
			s.Relation, s.RestPublic, s.PrivateRows = relation, rest, []int{4}
			_, err := engine(t).Privatize(t.Context(), x, y, s)
			if zero, ok := errors.AsType[*points.ZeroRowError](err); !ok || zero.Row != 7 {
				t.Errorf("%v, rest public %v: %v", relation, rest, err)
			}
			if sequence, _ := ledger.Head(); sequence != 0 {
				t.Errorf("%d records in the ledger", sequence)
			}
			s.PrivateRows = []int{7}
			if _, err := engine(t).Privatize(t.Context(), x, y, s); err != nil {
				t.Errorf("%v, rest public %v: %v", relation, rest, err)
			}
		}
	}
}

// The number of private labels neither matters nor appears in errors.
func TestManyPrivateLabels(t *testing.T) {
	const n = 4200
	x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
	for i := range n {
		x.Data[2*i] = 1
	}
	refusal := func(distinct, classes int) error {
		y := make([]int32, n)
		for i := range y {
			y[i] = int32(i % distinct)
		}
		s, _ := paid(t)
		s.Table, s.Classes, s.Bandwidth = "gaussian", classes, kernel.Sigma(200)
		_, err := engine(t).Privatize(t.Context(), x, y, s)
		return err
	}
	few, many := refusal(5, 65536), refusal(4097, 65536)
	if !errors.Is(few, kernel.ErrMemory) || few.Error() != many.Error() {
		t.Errorf("5 labels: %v, 4097 labels: %v", few, many)
	}
	if err := refusal(5, 4096); err != nil {
		t.Errorf("4096 classes: %v", err)
	}
}

// The rows of a client change together, and all of them are paid for.
func TestClientOfSeveralRows(t *testing.T) {
	x, y := classes(t, 50, 4)
	s, _ := paid(t)
	s.Unit.Kind = release.UnitClient
	if _, err := engine(t).Privatize(t.Context(), x, y, s); !errors.Is(err, ErrSettings) {
		t.Errorf("a client of unknown size: %v", err)
	}
	s.Records = 1
	one, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Records, s.Unit.OtherRelation = 7, true
	seven, err := engine(t).Privatize(t.Context(), x, y, s)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := seven.Privacy.Sigma / one.Privacy.Sigma; math.Abs(ratio-7) > 1e-6 || seven.Sensitivity.Records != 7 {
		t.Errorf("noise for seven rows is %g times that for one", ratio)
	}
	for _, change := range []func(){
		func() { s.Records = -1 },
		func() { s.Records, s.Relation = 2, sensitivity.Null },
		func() { s.Relation, s.PrivateRows, s.RestPublic = sensitivity.ReplaceOne, []int{3}, true },
	} {
		change()
		if _, err := engine(t).Privatize(t.Context(), x, y, s); !errors.Is(err, ErrSettings) && !errors.Is(err, sensitivity.ErrNoBound) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// Above the limit of dense, a wide bandwidth takes poly with the least order whose
// error adds no more than a hundredth; where no order suffices it takes dense,
// unless poly was asked for. The error is in the bound.
func TestPolyFromPublicNumbers(t *testing.T) {
	assess := func(n, d int, sigma float64, operator string) (*privatePlan, error) {
		s, err := (&PrivateSettings{Bandwidth: kernel.Sigma(sigma), Alpha: 0.6, Relation: sensitivity.ReplaceOne, Table: "equal", Classes: 10, Operator: operator, Seed: 1}).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		p := &privatePlan{settings: &s}
		if err := p.draw(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if err := p.measure(); err != nil {
			t.Fatal(err)
		}
		if p.bound, err = p.tight(s.Relation); err != nil {
			t.Fatal(err)
		}
		return p, p.inflate(d)
	}
	for _, c := range []struct {
		n, d     int
		sigma    float64
		operator string
		want     string
		order    int
	}{
		{denseRows, 64, 6, "", "dense", 0},
		{denseRows + 1, 64, 6, "", "poly", 2},
		{denseRows + 1, 64, 0.1, "", "background", 0},
		{denseRows + 1, 64, 0.5, "", "dense", 0},
		{denseRows + 1, 2, 0.5, "", "poly", 15},
		{1000, 64, 6, "poly", "poly", 2},
		{1000, 64, 1000, "poly", "poly", 0},
		{1000, 64, 20, "poly", "poly", 1},
	} {
		p, err := assess(c.n, c.d, c.sigma, c.operator)
		if err != nil {
			t.Fatal(err)
		}
		if p.operator != c.want || p.order != c.order && c.want == "poly" {
			t.Errorf("n = %d, d = %d, sigma %g: %s of order %d, want %s of order %d", c.n, c.d, c.sigma, p.operator, p.order, c.want, c.order)
		}
		if extra := 2 * p.bound.Eta() / p.bound.Exact(); extra > 0.01 || p.operator == "poly" && extra < 1e-9 {
			t.Errorf("n = %d, d = %d, sigma %g: the error adds %g", c.n, c.d, c.sigma, extra)
		}
	}
	if _, err := assess(1000, 64, 0.5, "poly"); !errors.Is(err, kernel.ErrTolerance) {
		t.Errorf("poly at sigma 0.5: %v", err)
	}
}
