package client

import (
	"errors"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const module = "github.com/seed-64e14a55/privatemail/"

// The error says what is missing.
func TestNewAsksForAHash(t *testing.T) {
	g := newGallery(t, shapes[1])
	_, err := New(&g.manifest, g.hint(), Settings{})
	if !errors.Is(err, ErrEpoch) || !strings.Contains(err.Error(), "second path") {
		t.Errorf("error %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	g := newGallery(t, shapes[1])
	other := newGallery(t, shapes[2])
	right := Settings{Epoch: g.epoch}
	manifest := func(f func(*wire.SealedManifest)) *wire.SealedManifest {
		m := g.manifest
		m.Centres, m.Norms = slices.Clone(m.Centres), slices.Clone(m.Norms)
		f(&m)
		return &m
	}
	hint := func(f func(*wire.SealedHint)) *wire.SealedHint { h := g.hint(); f(h); return h }
	for name, c := range map[string]struct {
		manifest *wire.SealedManifest
		hint     *wire.SealedHint
		settings Settings
		err      error
	}{
		"no manifest":          {nil, g.hint(), right, ErrEpoch},
		"no hint":              {&g.manifest, nil, right, ErrEpoch},
		"empty manifest":       {new(wire.SealedManifest), g.hint(), right, wire.ErrMessage},
		"empty hint":           {&g.manifest, new(wire.SealedHint), right, wire.ErrMessage},
		"no hash":              {&g.manifest, g.hint(), Settings{}, ErrEpoch},
		"another hash":         {&g.manifest, g.hint(), Settings{Epoch: other.epoch}, ErrEpoch},
		"both":                 {&g.manifest, g.hint(), Settings{Epoch: g.epoch, UnconfirmedEpoch: true}, ErrEpoch},
		"another centre":       {manifest(func(m *wire.SealedManifest) { m.Centres[0]++ }), g.hint(), right, ErrEpoch},
		"hint of another":      {&g.manifest, other.hint(), right, ErrEpoch},
		"another epoch's hint": {&g.manifest, hint(func(h *wire.SealedHint) { h.Epoch[0]++ }), right, ErrEpoch},
		"hint of other rows":   {&g.manifest, hint(func(h *wire.SealedHint) { h.Rows--; h.Words = h.Words[scheme.SecretWords:] }), right, ErrEpoch},
		"a slot beyond":        {&g.manifest, hint(func(h *wire.SealedHint) { h.Names, h.Norms = []uint32{28}, []int16{0} }), right, ErrEpoch},
		"a norm beyond":        {&g.manifest, hint(func(h *wire.SealedHint) { h.Names, h.Norms = []uint32{2}, []int16{math.MaxInt16} }), right, wire.ErrMessage},
		"larger kappa":         {manifest(func(m *wire.SealedManifest) { m.Kappa++ }), g.hint(), Settings{UnconfirmedEpoch: true}, wire.ErrMessage},
		"smaller kappa":        {manifest(func(m *wire.SealedManifest) { m.Kappa /= 2 }), g.hint(), Settings{UnconfirmedEpoch: true}, wire.ErrMessage},
	} {
		if got, err := New(c.manifest, c.hint, c.settings); !errors.Is(err, c.err) || got != nil {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
	}
	if c, err := New(&g.manifest, g.hint(), Settings{UnconfirmedEpoch: true}); err != nil || c.Epoch() != g.epoch {
		t.Errorf("unconfirmed: %v", err)
	}
}

// The client has a manifest of its own.
func TestManifestIsCopied(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	rows := randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1)
	cells := c.newQueryRow(slices.Clone(rows.Data)).cells
	q := ask(t, c, rows)[0]
	answer := g.answer(q.Request())
	want, err := c.Rank(q, answer, 100)
	if err != nil {
		t.Fatal(err)
	}
	clear(g.manifest.Centres)
	for i := range g.manifest.Norms {
		g.manifest.Norms[i] = wire.EmptySlot
	}
	if got := c.newQueryRow(slices.Clone(rows.Data)).cells; !slices.Equal(got, cells) {
		t.Error("other cells")
	}
	if got, err := c.Rank(q, answer, 100); err != nil || !slices.Equal(got, want) {
		t.Errorf("other matches: %v", err)
	}
}

// Without row numbers a match has its name in their place.
func TestWithoutIDs(t *testing.T) {
	g := newGallery(t, shapes[1])
	c, err := New(&g.manifest, g.hint(), Settings{Epoch: g.epoch})
	if err != nil {
		t.Fatal(err)
	}
	q := ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1))[0]
	matches, err := c.Rank(q, g.answer(q.Request()), 4)
	if err != nil || len(matches) != 4 {
		t.Fatal(len(matches), err)
	}
	for _, m := range matches {
		if m.ID != m.Name {
			t.Errorf("%+v", m)
		}
	}
}

// Nothing of a query can reach a disk, a network or a log from here, no ledger can be touched,
// and secrets come from nowhere but the system: the packages that could are not imported.
func TestImports(t *testing.T) {
	never := []string{"os", "io/fs", "io/ioutil", "net", "net/http", "syscall", "log", "log/slog", "encoding/gob", "encoding/json", "math/rand", "math/rand/v2", "unsafe", module + "mechanism", module + "retrieval/client", module + "retrieval/sealed/server"}
	files, err := sources.ReadDir(".")
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, entry := range files {
		path := entry.Name()
		source, err := sources.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if slices.Contains(never, strings.Trim(i.Path.Value, `"`)) {
				t.Errorf("%s imports %s", path, i.Path.Value)
			}
		}
	}
}

func TestBound(t *testing.T) {
	c := &Client{manifest: wire.SealedManifest{Cells: 100, Dimension: 64, Scale: 200, MaxNorm: 40000, NormUnit: 1, Kappa: 1e7}}
	want := 2 * (10*scheme.ProbeTau*200*10 + 200*8/2) / 1e7 / 200
	if got := c.Bound(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("%g, want %g", got, want)
	}
	c.manifest.NormUnit = 7 // a squared norm is off by 3 at the most
	if got, want := c.Bound(), want+3./40000; math.Abs(got-want) > 1e-12*want {
		t.Errorf("with norms that are not exact: %g, want %g", got, want)
	}
}
