package post_test

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// made returns a release of zeros and noise: post treats every release alike.
// Alpha is 0.5, with 4 classes.
func made(t testing.TB, n int, mode string) *release.Release {
	t.Helper()
	q, err := iterate.RandomStart(t.Context(), n, 2, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	query := sensitivity.Query{Operator: sensitivity.Full{}, Sigma: 2, Alpha: 0.5, Table: sensitivity.Equal{Classes: 4}}
	relation := sensitivity.ReplaceOne
	if mode == release.ModePublic {
		relation = sensitivity.FeaturesReplace
	}
	bound, err := query.Tight(relation, q, sensitivity.Rows{})
	if err != nil {
		t.Fatal(err)
	}
	eta, err := query.RoundingError(q, sensitivity.Arithmetic{UnitRoundoff: 0x1p-53, Dimension: 3})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err = bound.Inflate(eta); err != nil {
		t.Fatal(err)
	}
	c, err := mechanism.Calibrate(mechanism.CalibrationSettings{Epsilon: 4, Delta: 1e-4, Sensitivity: bound, Reach: 10})
	if err != nil {
		t.Fatal(err)
	}
	request := mechanism.FirstStep{
		Displacement: blas64.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float64, 2*n)},
		Query:        release.Query{Sigma: 2, Alpha: 0.5, Table: "equal", Classes: 4, SigmaQ: 1, Seed: 5},
		Unit:         mechanism.Unit{Kind: release.UnitRecord, Name: "x"},
		Labels:       mechanism.LabelSettings{Mode: mode},
	}
	if mode == release.ModeRandomised {
		request.Labels.Epsilon, request.Labels.Values = 3, labels(n)
	}
	r, err := c.Privatize(t.Context(), mechanism.NoLedger, request, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func labels(n int) []int32 {
	y := make([]int32, n)
	for i := range y {
		y[i] = int32(i % 4)
	}
	return y
}

func declared(t testing.TB, y []int32, classes int) *release.PublicLabels {
	t.Helper()
	p, err := release.Declare(y, classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPointsAreStartPlusGrid(t *testing.T) {
	r := made(t, 40, release.ModeDropped)
	got, err := post.Points(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	q, err := iterate.RandomStart(t.Context(), 40, 2, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.RawMatrix().Data {
		if want := q.Data[i] + float64(r.Grid[i])*r.Step; v != want {
			t.Fatalf("entry %d: %v, want %v", i, v, want)
		}
	}
}

// Continue builds the graph of the centred released points and takes plain
// steps.
func TestContinueEqualsItsParts(t *testing.T) {
	const n = 60
	half := -0.25
	for _, c := range []struct {
		name   string
		mode   string
		public bool
		set    post.Settings
		alpha  float64 // 0: no label term
		sigma  float64
	}{
		{"public", release.ModePublic, true, post.Settings{Steps: 3}, 0.5, 2},
		{"public, none given", release.ModePublic, false, post.Settings{Steps: 3}, 0, 2},
		{"dropped", release.ModeDropped, false, post.Settings{Steps: 2}, 0, 2},
		{"randomised", release.ModeRandomised, false, post.Settings{Steps: 2}, 0.5, 2},
		{"other alpha", release.ModePublic, true, post.Settings{Alpha: &half}, half, 2},
		{"other sigma", release.ModePublic, true, post.Settings{Bandwidth: kernel.Sigma(5)}, 0.5, 5},
		{"normalised", release.ModePublic, true, post.Settings{Normalize: iterate.Centred, Steps: 6}, 0.5, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := made(t, n, c.mode)
			y := labels(n)
			if c.mode == release.ModeRandomised {
				y = r.Labels.Values
			}
			var given *release.PublicLabels
			if c.public {
				given = declared(t, y, 4)
			}
			got, err := post.Continue(t.Context(), r, given, &c.set)
			if err != nil {
				t.Fatal(err)
			}
			released, err := post.Points(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			p := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
			for col := range 2 {
				mean := 0.0
				for i := range n {
					mean += released.At(i, col) / n
				}
				for i := range n {
					p.Data[2*i+col] = float32(released.At(i, col) - mean)
				}
			}
			op, err := kernel.NewDense(t.Context(), p, kernel.Sigma(c.sigma), nil)
			if err != nil {
				t.Fatal(err)
			}
			step := kernel.Step{Coefficient: c.alpha}
			if c.alpha != 0 {
				if step.Labels, err = kernel.NewLabels(y, kernel.EqualTable(), false); err != nil {
					t.Fatal(err)
				}
			}
			steps := c.set.Steps
			if steps == 0 {
				steps = 4
			}
			x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: slices.Clone(p.Data)}
			if _, err := iterate.Run(t.Context(), op, x, step, &iterate.Settings{Steps: steps, Normalize: c.set.Normalize}, nil); err != nil {
				t.Fatal(err)
			}
			if len(got.Trace) != steps {
				t.Errorf("%d steps, want %d", len(got.Trace), steps)
			}
			for i, v := range x.Data {
				if e := math.Abs(got.Points.At(i/2, i%2) - float64(v)); e > 1e-5*(1+math.Abs(float64(v))) {
					t.Fatalf("entry %d: %v, by hand %v", i, got.Points.At(i/2, i%2), v)
				}
			}
		})
	}
}

func TestContinueRefuses(t *testing.T) {
	r := made(t, 40, release.ModePublic)
	dropped, randomised := made(t, 40, release.ModeDropped), made(t, 40, release.ModeRandomised)
	damaged := *r
	damaged.Grid = damaged.Grid[1:]
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		release  *release.Release
		labels   *release.PublicLabels
		settings *post.Settings
		want     error
	}{
		{"labels of a dropped release", dropped, declared(t, labels(40), 4), nil, post.ErrLabelMode},
		{"labels of a randomised release", randomised, declared(t, labels(40), 4), nil, post.ErrLabelMode},
		{"too few labels", r, declared(t, labels(39), 4), nil, post.ErrLabelMode},
		{"more classes", r, declared(t, labels(40), 5), nil, post.ErrLabelMode},
		{"damaged", &damaged, nil, nil, release.ErrRelease},
		{"no release", nil, nil, nil, release.ErrRelease},
		{"two bandwidths", r, nil, &post.Settings{Bandwidth: kernel.Sigma(1), MeanNeighbours: 3}, kernel.ErrOption},
		{"negative steps", r, nil, &post.Settings{Steps: -1}, kernel.ErrOption},
		{"degree NaN", r, nil, &post.Settings{MeanNeighbours: nan}, kernel.ErrOption},
		{"cutoff 2", r, nil, &post.Settings{CutoffWeight: 2}, kernel.ErrOption},
		{"stop NaN", r, nil, &post.Settings{StopTolerance: nan}, kernel.ErrOption},
		{"alpha NaN", r, declared(t, labels(40), 4), &post.Settings{Alpha: &nan}, kernel.ErrNonFinite},
		{"no memory", r, nil, &post.Settings{MaxMemory: 100}, kernel.ErrMemory},
		{"unknown operator", r, nil, &post.Settings{Operator: "x"}, kernel.ErrOperator},
	} {
		if out, err := post.Continue(t.Context(), c.release, c.labels, c.settings); !errors.Is(err, c.want) || out != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := post.Continue(ctx, r, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Fewer classes than the release allows are valid: the table is the same.
func TestContinueWithFewerClasses(t *testing.T) {
	r := made(t, 40, release.ModePublic)
	y := make([]int32, 40)
	for i := range y {
		y[i] = int32(i % 2)
	}
	if _, err := post.Continue(t.Context(), r, declared(t, y, 2), nil); err != nil {
		t.Error(err)
	}
}

// The package imports nothing that could break its promise.
func TestReach(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/seed-64e14a55/privatemail"
	for dep := range strings.FieldsSeq(string(out)) {
		for _, never := range []string{module, module + "/mechanism", module + "/formats", module + "/sensitivity", module + "/internal/digits"} {
			if dep == never {
				t.Errorf("post reaches %s", dep)
			}
		}
	}
}
