package paper

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/align"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

const hiddenRows = 3

// fixture returns a server and a question it can answer, in the given mode.
func fixture(t *testing.T, mode string) (*Server, *Question) {
	t.Helper()
	const gallery, public, classes = 60, 30, 4
	x, y, err := synth.Classes(hiddenRows+gallery+public, 6, classes, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(lo, hi int) blas64.General {
		out := blas64.General{Rows: hi - lo, Cols: 6, Stride: 6}
		for _, v := range x.Data[6*lo : 6*hi] {
			out.Data = append(out.Data, float64(v))
		}
		return out
	}
	engine, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	const first = hiddenRows + gallery
	set, err := NewPublic(rows(first, len(y)), y[first:], classes)
	if err != nil {
		t.Fatal(err)
	}
	method := DefaultMethod()
	p, err := NewServer(t.Context(), engine, Rows{rows(hiddenRows, first), y[hiddenRows:first]}, set, method, 5, 7)
	if err != nil {
		t.Fatal(err)
	}
	asked := rows(0, hiddenRows+public)
	copy(asked.Data[6*hiddenRows:], set.Features().Data)
	labels := slices.Concat(y[:hiddenRows], set.Labels())
	r, err := engine.Privatize64(t.Context(), asked, labels, &privatemail.PrivateSettings{
		Epsilon: 5, Delta: 1e-5, Relation: sensitivity.FeaturesReplace, LabelMode: mode, Ledger: mechanism.NoLedger,
		Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "x"}, Bandwidth: method.Bandwidth, Alpha: method.Alpha,
		Table: method.Table, Classes: classes, Dim: method.Dim, SigmaQ: method.SigmaQ, NormalizeRows: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	q := &Question{Public: set.Hash(), Release: r}
	if mode == release.ModePublic {
		q.Labels = labels
	}
	return p, q
}

// An answer is its parts: continue, align on the public rows, look at all.
func TestAnswerEqualsItsParts(t *testing.T) {
	for _, mode := range []string{release.ModePublic, release.ModeDropped} {
		p, q := fixture(t, mode)
		answer, err := p.Answer(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Check(); err != nil {
			t.Fatal(err)
		}
		var labels *release.PublicLabels
		if mode == release.ModePublic {
			if labels, err = release.Declare(q.Labels, 4); err != nil {
				t.Fatal(err)
			}
		}
		out, err := post.Continue(t.Context(), q.Release, labels, &post.Settings{Steps: 5})
		if err != nil {
			t.Fatal(err)
		}
		x := out.Points.RawMatrix()
		s, err := align.Find(rows(x, hiddenRows, x.Rows), p.anchors)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := s.Apply(rows(x, 0, hiddenRows))
		if err != nil {
			t.Fatal(err)
		}
		for i := range hiddenRows {
			ids, distances := answer.Row(i)
			for j, want := range plain(p.gallery.points, asked.Data[i*asked.Stride:][:2], 5) {
				if ids[j] != int64(want.row) || math.Abs(distances[j]-math.Sqrt(want.squaredDistance)) > 1e-12*distances[j] {
					t.Errorf("%s, row %d: match %d is %d at %v, want %v", mode, i, j, ids[j], distances[j], want)
				}
			}
		}
		if answer.Question != q.Release.ID || answer.Hidden != hiddenRows || answer.Each != 5 {
			t.Errorf("%+v", answer)
		}
	}
}

func TestAnswerRefuses(t *testing.T) {
	p, q := fixture(t, release.ModeDropped)
	change := func(f func(*release.Release)) *Question {
		r := *q.Release
		f(&r)
		return &Question{Public: q.Public, Release: &r}
	}
	for name, c := range map[string]struct {
		question *Question
		want     error
	}{
		"none":             {nil, ErrQuestion},
		"empty":            {new(Question), ErrQuestion},
		"other public set": {&Question{Release: q.Release}, ErrQuestion},
		"too few rows":     {change(func(r *release.Release) { r.Rows, r.Grid = 20, r.Grid[:40] }), ErrQuestion},
		"other alpha":      {change(func(r *release.Release) { r.Query.Alpha = 0.5 }), ErrMethod},
		"other sigma":      {change(func(r *release.Release) { r.Query.Sigma = 5 }), ErrMethod},
		"other table":      {change(func(r *release.Release) { r.Query.Table = "equal" }), ErrMethod},
		"damaged":          {change(func(r *release.Release) { r.Step = 3 }), release.ErrRelease},
	} {
		if a, err := p.Answer(t.Context(), c.question); !errors.Is(err, c.want) || a != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	// More hidden rows than there can be dummies.
	few, err := NewPublic(rows(p.public.Features(), 0, 20), p.public.Labels()[:20], p.public.Classes())
	if err != nil {
		t.Fatal(err)
	}
	smaller := &Server{engine: p.engine, public: few, method: p.method, matches: 5, anchors: p.anchors, gallery: p.gallery}
	if _, err := smaller.Answer(t.Context(), &Question{Public: few.Hash(), Release: q.Release}); !errors.Is(err, ErrQuestion) {
		t.Errorf("too many rows: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Answer(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestNewServerRefuses(t *testing.T) {
	p, _ := fixture(t, release.ModeDropped)
	one := blas64.General{Rows: 1, Cols: 6, Stride: 6, Data: []float64{1, 0, 0, 0, 0, 0}}
	none := Method{}
	for name, c := range map[string]struct {
		gallery Rows
		method  Method
		matches int
		want    error
	}{
		"no labels":        {Rows{Features: one}, p.method, 1, kernel.ErrShape},
		"too many matches": {Rows{one, []int32{0}}, p.method, 2, kernel.ErrShape},
		"no matches":       {Rows{one, []int32{0}}, p.method, 0, kernel.ErrShape},
		"dimension":        {Rows{blas64.General{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 0}}, []int32{0}}, p.method, 1, kernel.ErrShape},
		"storage":          {Rows{blas64.General{Rows: 1 << 30, Cols: 6, Stride: 6}, nil}, p.method, 1, kernel.ErrShape},
		"no method":        {Rows{one, []int32{0}}, none, 1, ErrMethod},
	} {
		if _, err := NewServer(t.Context(), p.engine, c.gallery, p.public, c.method, c.matches, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
