package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// unitRows returns n rows of unit length about some middles.
func unitRows(seed uint64, n, d, middles int) blas64.General {
	random := rand.New(rand.NewPCG(seed, 1))
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		row := x.Data[i*d : (i+1)*d]
		row[i%middles%d] = 3
		for j := range row {
			row[j] += random.NormFloat64() / 2
		}
		points.Normalize(row)
	}
	return x
}

func newGallery(t testing.TB, x blas64.General, s Settings) *Gallery {
	t.Helper()
	g, err := New(t.Context(), x, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// checkGallery fails where a version does not hold together: each id in one slot, the rows of
// x as they are rounded, their norms, and the hint of the matrix.
func checkGallery(t testing.TB, g *Gallery, x blas64.General) {
	t.Helper()
	m := g.Manifest()
	hint, ids := g.Hint(), g.IDs()
	norms := slices.Clone(m.Norms)
	for i, name := range hint.Names {
		norms[name] = hint.Norms[i]
	}
	if err := errors.Join(m.Check(), hint.Check(), ids.Check()); err != nil {
		t.Fatal(err)
	}
	seen, code, got := map[uint32]bool{}, make([]int8, m.Dimension), make([]int8, m.Dimension)
	for name, id := range ids.IDs {
		clear(code)
		want := int64(-1)
		if id != wire.Padding {
			if seen[id] {
				t.Fatalf("row %d is there twice", id)
			}
			seen[id] = true
			want = quantise(code, slices.Clone(x.Data[int(id)*x.Stride:][:x.Cols]), m.Scale)
		}
		if g.slots.matrix.row(got, name%m.Length, name/m.Length*m.Dimension); !slices.Equal(got, code) {
			t.Fatalf("slot %d does not have row %d", name, id)
		}
		switch v := norms[name]; {
		case want < 0 && v != wire.EmptySlot:
			t.Fatalf("slot %d is empty and has a norm", name)
		case want >= 0 && (v == wire.EmptySlot || 2*math.Abs(float64(m.NormBase+m.NormUnit*int64(v)-want)) > float64(m.NormUnit)):
			t.Fatalf("slot %d: norm %d is published as %d", name, want, v)
		}
	}
	if len(seen) != g.Rows() {
		t.Fatalf("%d rows have a slot, of %d", len(seen), g.Rows())
	}
	words, err := g.slots.matrix.hint(t.Context(), nil, scheme.NewMatrix(g.Epoch()), nil)
	if err != nil || !slices.Equal(words, hint.Words) {
		t.Fatalf("another hint than that of the matrix: %v", err)
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct{ n, d, middles, cells, wantCells, wantLength, wantProbes int }{
		{1, 1, 1, 0, 1, 2, 1}, {3, 2, 1, 0, 3, 2, 3}, {200, 5, 4, 0, 7, 36, 7}, {300, 65, 9, 20, 20, 19, 8}, {12, 63, 3, 12, 12, 2, 8}, {2000, 3, 3, 3, 3, 834, 3},
	} {
		x := unitRows(uint64(c.n), c.n, c.d, c.middles)
		g := newGallery(t, x, Settings{Cells: c.cells, Seed: 5, Map: []byte("a map"), Source: "a model"})
		m := g.Manifest()
		if m.Cells != c.wantCells || m.Length != c.wantLength || m.Probes != c.wantProbes || m.Rows != c.n || m.Map != sha256.Sum256([]byte("a map")) {
			t.Errorf("%+v: %d cells of %d slots, %d probes, %d rows", c, m.Cells, m.Length, m.Probes, m.Rows)
		}
		if hash, err := m.Hash(); err != nil || g.Epoch() != hash || g.Version() != 0 || g.Rows() != c.n || string(g.Map()) != "a map" || g.Source() != "a model" {
			t.Errorf("%+v: %v", c, err)
		}
		largest, squares, row := 0.0, 0.0, make([]float64, c.d)
		for i := range c.n {
			rotation.Row(row, x.Data[i*c.d:(i+1)*c.d])
			for _, v := range row {
				largest, squares = max(largest, math.Abs(v)), squares+v*v
			}
		}
		largest = min(largest, 4*math.Sqrt(squares/float64(c.n*c.d)))
		if math.Abs(m.Scale*largest-127) > 1e-9 || m.Kappa != scheme.Kappa(m.MaxNorm, m.Cells, m.Dimension) {
			t.Errorf("%+v: scale %g, kappa %d", c, m.Scale, m.Kappa)
		}
		if len(g.Hint().Names) > 0 {
			t.Errorf("%+v: norms that are not those of the manifest", c)
		}
		checkGallery(t, g, x)
	}
}

// A gallery has the same epoch for any number of workers, for rows of both types, and with the
// same seed only.
func TestNewSameBits(t *testing.T) {
	x := points.Single(unitRows(1, 1500, 6, 5))
	double := blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float64, len(x.Data))}
	for i, v := range x.Data {
		double.Data[i] = float64(v)
	}
	want := newGallery(t, double, Settings{Cells: 5, Seed: 1}) // of 1280 rows, a sample
	for _, count := range []int{1, 2, 5} {
		workers := par.New(count)
		stages := map[string]bool{}
		got, err := New(t.Context(), x, Settings{Cells: 5, Seed: 1, Workers: workers, Progress: func(stage string, done, total int) {
			stages[stage] = done == total || stage == "centres"
		}})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got.Epoch() != want.Epoch() || !slices.Equal(got.Hint().Words, want.Hint().Words) || !slices.Equal(got.IDs().IDs, want.IDs().IDs) {
			t.Errorf("%d workers: another gallery", count)
		}
		if len(stages) != 3 || !stages["centres"] || !stages["layout"] || !stages["hint"] {
			t.Errorf("stages %v", stages)
		}
	}
	if other := newGallery(t, double, Settings{Cells: 5, Seed: 2}); other.Epoch() == want.Epoch() {
		t.Error("another seed gives the same epoch")
	}
}

func TestNewRefuses(t *testing.T) {
	x, sampled := unitRows(1, 20, 3, 2), unitRows(1, 600, 3, 2)
	for i := range sampled.Data {
		sampled.Data[i] *= 1e40
	}
	with := func(i int, v float64) blas64.General {
		y := x
		y.Data = slices.Clone(x.Data)
		y.Data[i] = v
		return y
	}
	for name, c := range map[string]struct {
		x    blas64.General
		s    Settings
		want error
	}{
		"no rows":         {x: blas64.General{Cols: 3, Stride: 3}},
		"no columns":      {x: blas64.General{Rows: 3}},
		"bad shape":       {x: blas64.General{Rows: 30, Cols: 3, Stride: 3, Data: x.Data}, want: points.ErrShape},
		"NaN":             {x: with(31, math.NaN()), want: points.ErrNonFinite},
		"infinite":        {x: with(31, math.Inf(-1)), want: points.ErrNonFinite},
		"zeros":           {x: blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: make([]float64, 2)}},
		"tiny":            {x: blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1e-310, 0}}},
		"huge":            {x: with(5, 1e103)},
		"beyond float32":  {x: sampled, s: Settings{Cells: 2}}, // of which k-means looks at a sample
		"more cells":      {x: x, s: Settings{Cells: 21}},
		"negative cells":  {x: x, s: Settings{Cells: -1}},
		"more probes":     {x: x, s: Settings{Cells: 4, Probes: 5}},
		"negative probes": {x: x, s: Settings{Probes: -1}},
		"history":         {x: x, s: Settings{History: -1}},
		"long source":     {x: x, s: Settings{Source: strings.Repeat("s", maxSource+1)}},
		"source":          {x: x, s: Settings{Source: "\xff"}},
	} {
		if g, err := New(t.Context(), c.x, c.s); g != nil || !errors.Is(err, ErrGallery) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The context is looked at in every stage.
func TestNewStops(t *testing.T) {
	x := points.Single(unitRows(1, 400, 40, 5))
	for _, at := range []string{"", "centres", "layout", "hint"} {
		ctx, cancel := context.WithCancel(t.Context())
		if at == "" {
			cancel()
		}
		g, err := New(ctx, x, Settings{Cells: 60, Progress: func(stage string, _, _ int) {
			if stage == at {
				cancel()
			}
		}})
		if g != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("stage %q: %v", at, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	s, err := Settings{}.withDefaults(1_000_000, 64)
	if err != nil || s.Cells != 500 || s.Probes != 8 || s.length(1_000_000) != 2500 || s.Rounds != 3 || s.History != 4096 {
		t.Errorf("%+v: %v", s, err)
	}
	if s, err := (Settings{Rounds: -1}).withDefaults(10, 2); err != nil || s.Rounds != 0 || s.Cells != 4 || s.Probes != 4 {
		t.Errorf("%+v: %v", s, err)
	}
}

// Memory is estimated for what is asked, whatever the size.
func TestGalleryBytes(t *testing.T) {
	s, err := Settings{}.withDefaults(10_000_000, 64)
	if err != nil {
		t.Fatal(err)
	}
	if got := galleryBytes(10_000_000, 64, s); got < 12e8 || got > 3e9 {
		t.Errorf("ten million rows: %d bytes", got)
	}
	if s, err = (Settings{Cells: 1000}).withDefaults(limits.MaxRows/2, 16384); err == nil {
		if got := galleryBytes(limits.MaxRows/2, 16384, s); got < 1e12 {
			t.Errorf("many rows: %d bytes", got)
		}
	}
	if _, err := (Settings{Cells: 4}).withDefaults(limits.MaxRows, 4); !errors.Is(err, ErrGallery) {
		t.Errorf("slots without names: %v", err)
	}
}

func TestAnswerRefuses(t *testing.T) {
	g := newGallery(t, unitRows(1, 50, 3, 2), Settings{Cells: 5, Probes: 2})
	random := rand.New(rand.NewPCG(1, 1))
	good := func() *wire.SealedRequest { return drawnRequest(random, g.Epoch(), 2, 15, 3) }
	for name, c := range map[string]struct {
		change func(*wire.SealedRequest) *wire.SealedRequest
		want   error
	}{
		"none":      {func(*wire.SealedRequest) *wire.SealedRequest { return nil }, ErrQuestion},
		"epoch":     {func(r *wire.SealedRequest) *wire.SealedRequest { r.Epoch[3]++; return r }, ErrEpoch},
		"fewer":     {func(*wire.SealedRequest) *wire.SealedRequest { return drawnRequest(random, g.Epoch(), 1, 15, 3) }, ErrQuestion},
		"more":      {func(*wire.SealedRequest) *wire.SealedRequest { return drawnRequest(random, g.Epoch(), 3, 15, 3) }, ErrQuestion},
		"columns":   {func(*wire.SealedRequest) *wire.SealedRequest { return drawnRequest(random, g.Epoch(), 2, 16, 3) }, ErrQuestion},
		"width":     {func(*wire.SealedRequest) *wire.SealedRequest { return drawnRequest(random, g.Epoch(), 2, 15, 4) }, ErrQuestion},
		"too short": {func(r *wire.SealedRequest) *wire.SealedRequest { r.Bytes = r.Bytes[1:]; return r }, ErrQuestion},
	} {
		bad := c.change(good())
		if err := g.CheckRequest(bad); !errors.Is(err, c.want) {
			t.Errorf("%s: CheckRequest: %v", name, err)
		}
		if answers, err := g.Answer(t.Context(), good(), bad); answers != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), "request 1") {
			t.Errorf("%s: Answer: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if answers, err := g.Answer(ctx, good()); answers != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
	answers, err := g.Answer(t.Context(), good(), good())
	if err != nil || len(answers) != 2 || answers[1].Check() != nil {
		t.Errorf("%d answers, %v", len(answers), err)
	}
}

func TestClose(t *testing.T) {
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{1, 2, 3, 4}}
	g, err := New(t.Context(), x, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	release, err := g.Hold()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- g.Close() }()
	for { // until Close has begun
		if _, err := g.Changes(0, 0); errors.Is(err, ErrClosed) {
			break
		}
	}
	select {
	case <-closed:
		t.Error("Close did not wait")
	default:
	}
	release()
	release()
	if err := errors.Join(<-closed, g.Close()); err != nil {
		t.Error(err)
	}
	_, insertErr := g.Insert([]float64{1}, 9)
	_, answerErr := g.Answer(t.Context())
	_, holdErr := g.Hold()
	for name, err := range map[string]error{"Insert": insertErr, "Answer": answerErr, "Hold": holdErr, "Remove": g.Remove(0), "Save": g.Save(t.Context(), "never")} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
